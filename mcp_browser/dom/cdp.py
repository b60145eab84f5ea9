"""The Chrome DevTools Protocol, with types."""

import base64
from typing import Any, Literal, cast

from playwright.async_api import CDPSession, FloatRect


async def send(cdp: CDPSession, method: str, **parameters: Any) -> dict[str, Any]:
    """The answer to a command; raises Playwright's Error where it fails."""
    return cast("dict[str, Any]", await cdp.send(method, parameters))  # pyright: ignore[reportUnknownMemberType] (untyped)


async def evaluate(cdp: CDPSession, context: int | None, expression: str) -> dict[str, Any]:
    """The answer to an expression in a JavaScript context, with its value, for which a promise is awaited."""
    parameters = {"contextId": context, "expression": expression, "returnByValue": True, "awaitPromise": True}
    return await send(cdp, "Runtime.evaluate", **parameters)


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
