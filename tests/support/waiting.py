"""Waiting for what no event announces: another process, a file."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], object | Awaitable[object]], *, seconds: float = 30) -> None:
    """Let others work until something holds."""
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if await holds if inspect.isawaitable(holds) else holds:
                return
            await asyncio.sleep(0.01)
