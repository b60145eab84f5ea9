"""Waiting for the next time that something happens."""

import asyncio


class Wakeup:
    """Wakes all who wait for something; whoever begins to wait later waits for its next time."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def wake(self) -> None:
        """It has happened."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, limit: float | None = None) -> None:
        """Wait until it happens, `limit` seconds at most."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait({waiter}, timeout=None if limit is None else max(0.0, limit))
        finally:
            self._waiters.discard(waiter)
