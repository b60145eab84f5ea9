"""Waiting for what no event announces: another process, a file."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], object | Awaitable[object]], *, seconds: float = 30) -> None:
    """Let others work until something holds."""
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if await holds if inspect.isawaitable(holds) else holds:
                return
            await asyncio.sleep(0.01)


def wait_until(condition: Callable[[], object], *, seconds: float = 30) -> None:
    """The same for a test that has no event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come about"
        time.sleep(0.01)
