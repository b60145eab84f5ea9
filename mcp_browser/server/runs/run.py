"""Runs of the agent, each in a task of its own that outlives the calls which start and steer it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.control import Progress
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.browser.concurrency import begin
from mcp_browser.errors import ActionError
from mcp_browser.server.calls import SessionLease
from mcp_browser.server.elicitation import Mailbox
from mcp_browser.server.principals import Principal
from mcp_browser.server.runs.saved import FolderLock

logger = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False)
class Run:
    """One run: its agent, or a replay, which needs no model; who may steer it, and how it stands."""

    agent: TaskRun
    principal: Principal
    mailbox: Mailbox  # Asks the client; its `news` are progress, questions, answers and the end
    lock: FolderLock  # Keeps other servers from the run's folder
    lease: SessionLease  # That of the call which began it
    asks_client: bool = False  # Its model is the client's own, which is there while calls attend
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress | None = None
    turn: int = 0  # How often it has begun, or gone on
    files: set[str] = field(default_factory=set[str])
    attended: int = 0  # How many calls attend
    outcome: TaskOutcome | None = None
    _task: asyncio.Task[None] | None = None
    _writing: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return self.agent.history.id

    @property
    def status(self) -> TaskStatus:
        return self.agent.history.status

    @property
    def is_working(self) -> bool:
        """Whether its agent is at work, or waits to be resumed."""
        return self._task is not None and not self._task.done()

    def begin(self, hold_session: Callable[[], AbstractAsyncContextManager[object]]) -> None:
        """Let the agent work, or go on, with others kept out by `hold_session`; raises NotActionable."""
        self.lock.take()
        self.outcome = None
        self.turn += 1
        self._writing = None
        self._task = asyncio.create_task(self._work(hold_session))

    async def _work(self, hold_session: Callable[[], AbstractAsyncContextManager[object]]) -> None:
        try:
            async with hold_session():
                self.outcome = await self.agent.run()
            # Files before the outcome is reported; a run that is broken off does not wait for them.
            await asyncio.shield(self._write_up())
        except asyncio.CancelledError:
            self.outcome = self.agent.break_off()
        except ActionError as error:
            self.outcome = self.agent.break_off(str(error))
        except Exception:
            logger.exception("The agent failed in run %s", self.id)
            why = "The agent itself failed; the server's log has the details."
            self.outcome = self.agent.break_off(why)
        finally:
            if self._writing is None:
                self._write_up()
            if self.status.is_final:
                self.lock.release()
                if self.lease.ephemeral:
                    # They were there for the run only; should it go on, it opens its page again.
                    begin(self.agent.session.rest("The tabs of the task were closed as it ended."))
            self.notify()

    def _write_up(self) -> asyncio.Task[None]:
        self._writing = asyncio.create_task(self.agent.write_up())
        return self._writing

    async def written(self) -> None:
        """Wait until its files are written."""
        if self._writing is not None:
            await asyncio.wait({self._writing})

    async def cancel(self) -> None:
        """End the run now; the session stays usable."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)

    async def stop(self) -> None:
        """End the run now; it counts as stopped, and can go on later."""
        self.agent.control.stop()
        await self.cancel()

    def notify(self, progress: Progress | None = None) -> None:
        """Note that something has happened, and wake those who wait for it."""
        self.progress = progress or self.progress
        self.updated = datetime.now(UTC)
        self.mailbox.news.wake()

    @asynccontextmanager
    async def attend(self) -> AsyncGenerator[None]:
        """Take part: while somebody does, the client can be asked."""
        self.attended += 1
        try:
            yield
        finally:
            self.attended -= 1


class SessionTurn:
    """Lets the runs of one session work in it one after the other."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._last: str | None = None
        self.holder: str | None = None

    @asynccontextmanager
    async def take(self, run: Run) -> AsyncGenerator[None]:
        """Hold the session for a run, once no other run does.

        A run that goes on after another one has worked there opens its own page again; so does one whose own
        session was closed.
        """
        if self.holder is not None:
            steps = run.agent.task.budget.steps
            goal = f"wait for task {self.holder}, which works here"
            run.notify(Progress(step=0, steps=steps, goal=goal))
        async with self._lock:
            self.holder = run.id
            closed = run.lease.ephemeral and run.agent.session.open_context is None
            moved = closed or self._last not in (None, run.id)
            if moved and run.turn > 1 and isinstance(run.agent, AgentRun):
                run.agent.taken_up = True
            try:
                yield
            finally:
                self.holder, self._last = None, run.id
