"""Work in tasks of its own, which a cancelled caller leaves nothing half done of, and waiting for events."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

_tasks: set[asyncio.Task[Any]] = set()


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task and keep it; its error is read also where nobody waits for it any more."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of `work`, which goes on to its end also where the caller is cancelled."""
    return await asyncio.shield(begin(work))


async def within(seconds: float, work: Coroutine[Any, Any, Any]) -> bool:
    """Wait for work `seconds` at most, without failing with it; whether it has ended. Else it goes on."""
    done, _ = await asyncio.wait({begin(work)}, timeout=seconds)
    return bool(done)


class SingleFlight(Generic[T]):
    """Starts something once for all who want it meanwhile; it goes on where they give up."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """The outcome of the start under way, or of a new one."""
        if self._task is None or self._task.done():
            self._task = begin(self._work())
        return await asyncio.shield(self._task)

    async def ended(self, seconds: float) -> None:
        """Wait for a start under way, `seconds` at most."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)


class Condition:
    """Wakes all who wait for something; whoever begins to wait later waits for its next time."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def wake(self) -> None:
        """Wake those who wait now."""
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self, limit: float | None = None) -> None:
        """Wait until it happens, `limit` seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._next.wait()


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.debug("Work in a task of its own failed: %s", error)
