"""Runs of the agent, each in a task of its own that outlives the calls which start and steer it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from mcp_browser.agent.control import Progress
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.browser.concurrency import begin
from mcp_browser.errors import ActionError
from mcp_browser.server.agent.saved import Claim
from mcp_browser.server.ask import Mailbox
from mcp_browser.server.principals import Principal

logger = logging.getLogger(__name__)

KEPT_SECONDS = 3600.0  # How long a run that has ended is kept in memory; its folder stays
MOST_RUNS = 100  # How many runs are kept; the oldest ended ones go first

SessionEntry = Callable[[], contextlib.AbstractAsyncContextManager[object]]
"""Holds a run's session while its agent works."""


@dataclass(kw_only=True, eq=False)
class Run:
    """One run: its agent, or a replay, which needs no model; who may steer it, and how it stands.

    `mailbox` asks the client; where the model is the client's own, `asks_client`, that is only possible while
    calls attend, which `attended` counts. `claim` keeps other servers from the run's folder. `handle` is the
    name of its session, which is `passing` where it is
    there for the run only; `told` goes with results. `turn` is how often it has begun, or gone on.
    """

    agent: TaskRun
    principal: Principal
    mailbox: Mailbox
    claim: Claim
    asks_client: bool = False
    handle: str | None = None
    passing: bool = False
    told: tuple[str, ...] = ()
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress | None = None
    turn: int = 0
    files: set[str] = field(default_factory=set[str])
    attended: int = 0
    outcome: TaskOutcome | None = None
    failure: str | None = None
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

    def begin(self, place: SessionEntry) -> None:
        """Let the agent work, or go on after it has stopped; `place` holds its session meanwhile.

        Raises:
            NotActionable: another server works on it.
        """
        self.claim.take()
        self.outcome = self.failure = None
        self.turn += 1
        self._writing = None
        self._task = asyncio.create_task(self._work(place))
        self._task.add_done_callback(lambda _: self._let_go())

    async def _work(self, place: SessionEntry) -> None:
        try:
            async with place():
                self.outcome = await self.agent.run()
            # Files before the outcome is reported; a run that is broken off does not wait for them.
            await asyncio.shield(self._write_up())
        except asyncio.CancelledError:
            self.outcome = self.agent.break_off()
        except ActionError as error:
            self.failure = str(error)
            self.outcome = self.agent.break_off(self.failure)
        except Exception:
            logger.exception("The agent failed in run %s", self.id)
            self.failure = "The agent itself failed; the server's log has the details."
            self.outcome = self.agent.break_off(self.failure)
        finally:
            if self._writing is None:
                self._write_up()
            if self.status.is_final:
                self.claim.release()
            self.tell()

    def _let_go(self) -> None:
        """Close the tabs that were there for the run only; should it go on, it opens its page again."""
        if self.passing and self.status.is_final:
            begin(self.agent.session.rest("The tabs of the task were closed as it ended."))

    def _write_up(self) -> asyncio.Task[None]:
        self._writing = asyncio.create_task(self.agent.write_up())
        return self._writing

    async def written(self) -> None:
        """Wait until what was begun to be written about it is written."""
        if self._writing is not None:
            await asyncio.wait({self._writing})

    async def cancel(self) -> None:
        """End the run now; the session stays usable."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1)

    async def stop(self) -> None:
        """End the run now, with what it has reached; it counts as stopped, and can go on later."""
        self.agent.control.stop()
        await self.cancel()

    def tell(self, progress: Progress | None = None) -> None:
        """Note that something has happened, and wake who waits for it."""
        self.progress = progress or self.progress
        self.updated = datetime.now(UTC)
        self.mailbox.news.wake()

    async def news(self) -> None:
        """Wait until something happens: progress, a question or its answer, the end."""
        await self.mailbox.news.wait()

    @asynccontextmanager
    async def attend(self) -> AsyncGenerator[None]:
        """Take part: while somebody does, the client can be asked."""
        self.attended += 1
        try:
            yield
        finally:
            self.attended -= 1


class Runs:
    """The runs of a server, by their identifiers."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def add(self, run: Run) -> None:
        """Keep a run, in the place of an earlier one of its identifier."""
        self._forget_old()
        self._runs[run.id] = run

    def find(self, identifier: str, principal: Principal) -> Run | None:
        """The run of that identifier; None where this caller has none."""
        run = self._runs.get(identifier)
        return run if run is not None and run.principal == principal else None

    def __iter__(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))

    async def close(self) -> None:
        """Break off what still works; another server can go on with it."""
        for run in self:
            run.agent.control.closing = True
        await asyncio.gather(*(run.cancel() for run in self))
        await asyncio.gather(*(run.written() for run in self))
        for run in self:
            run.claim.release()

    def _forget_old(self) -> None:
        now = datetime.now(UTC)
        ended = [run for run in self if not run.is_working]
        for run in ended:
            if (now - run.updated).total_seconds() > KEPT_SECONDS or len(self._runs) >= MOST_RUNS:
                run.claim.release()
                del self._runs[run.id]
