"""How long an answer of a page is waited for: longer, the more there is to read."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")

SMALL = 5000  # A page of fewer elements is read in no time
ELEMENT_SECONDS = 0.0004  # What reading an element of a large page may take on a slow machine
MOST_SECONDS = 40.0  # How much longer a page is waited for at most, because it is large
TENTHS_BELOW = 10  # Shorter times are printed in tenths of a second


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
            task.add_done_callback(_forget)
            task.cancel()


def _forget(task: "asyncio.Future[Any]") -> None:
    """Take note of how something ended that nobody waits for any more, so that asyncio does not complain."""
    if not task.cancelled():
        task.exception()


def seconds(number: float) -> str:
    """A time in words: `0.4 s`, `12 s`."""
    return f"{round(number, 1 if number < TENTHS_BELOW else None):g} s"
