"""The Chrome DevTools Protocol, with types; how long an answer of a page is waited for."""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar, cast

from playwright.async_api import CDPSession, FloatRect

T = TypeVar("T")

SMALL = 5000  # A page of fewer elements is read in no time
ELEMENT_SECONDS = 0.0004  # What reading an element of a large page may take on a slow machine
MOST_SECONDS = 40.0  # How much longer a page is waited for at most, because it is large
TENTHS_BELOW = 10  # Shorter times are printed in tenths of a second


async def send(cdp: CDPSession, method: str, **parameters: Any) -> dict[str, Any]:
    """The answer to a command; raises Playwright's Error where it fails."""
    return cast("dict[str, Any]", await cdp.send(method, parameters))  # pyright: ignore[reportUnknownMemberType] (untyped)


async def capture(
    cdp: CDPSession,
    kind: Literal["jpeg", "png"],
    *,
    quality: int | None = None,
    full_page: bool = False,
    clip: FloatRect | None = None,
) -> bytes:
    """A picture of the view, the full page or a rectangle of either in CSS pixels, at device pixels."""
    parameters: dict[str, Any] = {"format": kind, **({"quality": quality} if quality is not None else {})}
    if full_page or clip is not None:
        metrics = await send(cdp, "Page.getLayoutMetrics")
        page, view = metrics["cssContentSize"], metrics["cssVisualViewport"]
        # CDP counts from the corner of the page.
        left, top = (0, 0) if full_page else (view["pageX"], view["pageY"])
        part = clip or {"x": 0, "y": 0, "width": page["width"], "height": page["height"]}
        parameters["clip"] = {**part, "x": part["x"] + left, "y": part["y"] + top, "scale": 1}
        parameters["captureBeyondViewport"] = True
    return base64.b64decode((await send(cdp, "Page.captureScreenshot", **parameters))["data"])


def extra_seconds(elements: int) -> float:
    """How much longer than others a page of so many elements may take to be read, seconds."""
    return min(MOST_SECONDS, elements * ELEMENT_SECONDS) if elements > SMALL else 0.0


async def within(work: Awaitable[T], limit: Callable[[], float]) -> T:
    """The outcome of `work`, which may take `limit()` seconds: that may grow. Raises TimeoutError."""
    begun = time.monotonic()
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            left = begun + limit() - time.monotonic()
            if left <= 0:
                raise TimeoutError
            await asyncio.wait({task}, timeout=left)
        return task.result()
    finally:
        if not task.done():
            # Nobody waits for its outcome any more: asyncio is not to complain.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            task.cancel()


def seconds(number: float) -> str:
    """A time in words: `0.4 s`, `12 s`."""
    return f"{round(number, 1 if number < TENTHS_BELOW else None):g} s"
