"""Tasks that finish although their caller is cancelled, locks with fair turns, and waiting for events."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Coroutine
from typing import Any, Generic, TypeVar

import anyio

logger = logging.getLogger(__name__)

T = TypeVar("T")

_tasks: set[asyncio.Task[Any]] = set()


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task and keep a reference to it; an error that nobody awaits is logged."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_ended)
    return task


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of `work`, which continues to its end if the caller is cancelled."""
    return await asyncio.shield(begin(work))


async def within(seconds: float, work: Coroutine[Any, Any, Any]) -> bool:
    """Wait for work `seconds` at most; whether it has ended, by an error too. Otherwise it continues."""
    done, _ = await asyncio.wait({begin(work)}, timeout=seconds)
    return bool(done)


async def first(*works: Awaitable[T], seconds: float | None = None) -> T | None:
    """The outcome of what ends first (of two, the earlier one's), None after `seconds`; cancels the rest."""
    running = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(running, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return next((one.result() for one in running if one.done()), None)
    finally:
        for one in running:
            one.cancel()


class SingleFlight(Generic[T]):
    """Runs something once for all concurrent callers; it continues if they give up."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        """The outcome of the run under way, or of a new one."""
        if self._task is None or self._task.done():
            self._task = begin(self._work())
        return await asyncio.shield(self._task)

    async def cancel(self) -> None:
        """Cancel a run under way, and wait for its end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def ended(self, seconds: float) -> None:
        """Wait for a run under way, `seconds` at most."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)


class Condition:
    """Wakes all current waiters; later ones wait for the next wake-up."""

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


def added(listeners: list[T], listener: T) -> Callable[[], None]:
    """Add a listener; the function returned removes it."""
    listeners.append(listener)

    def end() -> None:
        with contextlib.suppress(ValueError):
            listeners.remove(listener)

    return end


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.debug("Work in a task of its own failed: %s", error)


KEPT_FREE = 4  # One turn in this many is kept free for other owners


class FairSemaphore:
    """A bounded number of turns, given round robin to the owners, and in order to each owner's sessions.

    No owner has more than three quarters of the turns, so that a new owner need not wait for long calls.
    """

    def __init__(self, most: int, *, crowds: Container[str] = ()) -> None:
        """Give `most` turns at a time; `crowds` are owners that stand for many callers: they may have all."""
        self._most = most
        self._crowds = crowds
        self._running: Counter[str] = Counter()
        self._queue: list[tuple[str, asyncio.Future[None]]] = []  # Whose turn is next comes first

    @property
    def running(self) -> int:
        return self._running.total()

    async def take(self, owner: str) -> None:
        """Wait for a turn for this owner."""
        if self._may_begin(owner) and owner not in dict(self._queue):
            self._running[owner] += 1
            return
        mine = owner, asyncio.get_running_loop().create_future()
        self._queue.append(mine)
        try:
            await mine[1]
        except asyncio.CancelledError:
            if mine in self._queue:
                # The owner's next session takes its place.
                place = self._queue.index(mine)
                following = next((one for one in self._queue[place + 1 :] if one[0] == owner), None)
                if following is not None:
                    self._queue.remove(following)
                    self._queue[place] = following
                else:
                    del self._queue[place]
            else:
                self.give_back(owner)
            raise

    def give_back(self, owner: str) -> None:
        """End a turn; the next waiters begin."""
        self._running[owner] -= 1
        for other in dict(self._queue):
            if not self._may_begin(other):
                continue
            first = next((one for one in self._queue if one[0] == other and not one[1].done()), None)
            if first is not None:
                self._queue.remove(first)
                self._queue.sort(key=lambda one: one[0] == other)
                self._running[other] += 1
                first[1].set_result(None)
        self._running = +self._running  # Without owners that have no turn

    def _may_begin(self, owner: str) -> bool:
        share = self._most if owner in self._crowds else max(1, self._most - self._most // KEPT_FREE)
        return self.running < self._most and self._running[owner] < share


class SessionLock:
    """One call at a time in a session, in order of arrival; each takes a turn."""

    def __init__(self, lock: anyio.Lock, turns: FairSemaphore, owner: str) -> None:
        """Take turns for `owner`; a person who may keep the session for long holds the `lock` alone."""
        self._lock = lock
        self._turns = turns
        self._owner = owner

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        try:
            await self._turns.take(self._owner)
        except BaseException:
            self._lock.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._turns.give_back(self._owner)
        self._lock.release()

    def locked(self) -> bool:
        """Whether a call works in the session."""
        return self._lock.locked()
