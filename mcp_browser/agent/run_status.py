"""How a run goes: its status, its working time, and what stands in its way."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from mcp_browser.agent.control import Control
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.task import TaskStatus
from mcp_browser.browser.takeover import Takeover


class RunStatus:
    """Keeps the status of a history, and counts the seconds in which the run works."""

    def __init__(
        self,
        history: AgentHistory,
        control: Control,
        takeover: Takeover,
        *,
        seconds: float = 0,
        resumable: bool = False,
    ) -> None:
        self._history = history
        self._control = control
        self._resumable = resumable
        self._before = seconds
        self._takeover = takeover
        self._since = self._clock()
        self.obstacle: str | None = None  # Why the run ended without success, or what it waits for

    @property
    def seconds(self) -> float:
        """Working time so far, pauses left out."""
        working = self._history.status is TaskStatus.WORKING
        return self._before + (self._clock() - self._since if working else 0)

    def _clock(self) -> float:
        """It stands still while a person has the browser."""
        return time.monotonic() - self._takeover.seconds

    def begin(self) -> None:
        """Work from now on; what was waited for before counts as no work."""
        self._since = self._clock()
        self._history.status = TaskStatus.WORKING

    def set(self, status: TaskStatus) -> None:
        """Change the status."""
        self._before = self.seconds
        self._since = self._clock()
        self._history.status = status

    def end(self, status: TaskStatus, obstacle: str | None) -> None:
        """End the run unless it has already ended."""
        if not self._history.status.is_final:
            self.set(status)
            self.obstacle = obstacle

    def break_off(self, why: str | None = None) -> None:
        """End from outside.

        The run has failed where there is a reason, and was else stopped or cancelled, as its control says;
        where its process ends, a resumable one is only interrupted.
        """
        if why is not None:
            self.end(TaskStatus.FAILED, why)
        elif self._control.closing and self._resumable:
            self.end(TaskStatus.INTERRUPTED, "It was broken off.")
        elif self._control.stopping:
            self.stop()
        else:
            self.end(TaskStatus.CANCELLED, "It was cancelled.")

    def stop(self) -> None:
        """End because somebody wants it so."""
        self.end(TaskStatus.STOPPED, "It was stopped.")

    @property
    def _held_back(self) -> bool:
        return self._control.paused or self._takeover.busy

    async def wait_while_paused(self, tell: Callable[[], Awaitable[None]]) -> None:
        """Wait while the run is paused or a person has the browser; `tell` is called once that has begun."""
        if not self._held_back:
            return
        self.set(TaskStatus.PAUSED)
        await tell()
        while self._held_back and not self._control.stopping:
            news = (self._control.changed(), self._takeover.changed.wait())
            waits = [asyncio.ensure_future(one) for one in news]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
        self.set(TaskStatus.WORKING)
