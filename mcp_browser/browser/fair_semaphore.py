"""Whose turn it is: how many sessions work at a time, and in what order the others get to it."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Container
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import anyio

KEPT_FREE = 4  # One turn in this many is kept from the owner who has all the others


class FairSemaphore:
    """A bounded number of turns, given round robin: to each owner in order, and to its sessions in order.

    No owner has more than three quarters of the turns at a time, so that whoever comes new need not wait
    until calls that may take a minute have ended.
    """

    def __init__(self, most: int, *, crowds: Container[str] = ()) -> None:
        """Give `most` turns at a time; `crowds` stand for many callers each, and may have all turns."""
        self._most = most
        self._crowds = crowds
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def running(self) -> int:
        return self._running.total()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def take(self, owner: str) -> None:
        """Wait for a turn of this owner's."""
        if owner not in self._waiting and self._may_begin(owner):
            self._running[owner] += 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.give_back(owner)
            else:
                self._stop_waiting(owner, mine)
            raise

    def give_back(self, owner: str) -> None:
        """End a turn; whoever waits longest begins."""
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        for waiting in list(self._waiting):
            if self._may_begin(waiting):
                self._begin(waiting)

    def _may_begin(self, owner: str) -> bool:
        share = self._most if owner in self._crowds else max(1, self._most - self._most // KEPT_FREE)
        return self.running < self._most and self._running[owner] < share

    def _begin(self, owner: str) -> None:
        next_one = self._waiting[owner][0]
        self._stop_waiting(owner, next_one)
        if owner in self._waiting:
            self._waiting.move_to_end(owner)
        self._running[owner] += 1
        next_one.set_result(None)

    def _stop_waiting(self, owner: str, future: asyncio.Future[None]) -> None:
        queue = self._waiting[owner]
        queue.remove(future)
        if not queue:
            del self._waiting[owner]


class SessionLock:
    """One call at a time in a session, in the order in which they came; each takes a turn, if those count."""

    def __init__(self, turns: FairSemaphore | None = None, owner: str = "") -> None:
        """Take turns of `owner`'s; without `turns` only the session's own order counts."""
        self._own = anyio.Lock()
        self._turns = turns
        self._owner = owner

    async def __aenter__(self) -> None:
        await self._own.acquire()
        if self._turns is None:
            return
        try:
            await self._turns.take(self._owner)
        except BaseException:
            self._own.release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._turns is not None:
            self._turns.give_back(self._owner)
        self._own.release()

    def alone(self) -> AbstractAsyncContextManager[None]:
        """The lock for a person, who may keep it for long and takes no turn of the calls'."""
        return self._own

    def locked(self) -> bool:
        """Whether a call works in the session."""
        return self._own.locked()
