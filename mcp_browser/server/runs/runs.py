"""The runs of a server, each in a task of its own that outlives the calls which start and steer it.

How each stands: as the result of a tool, and by the tasks extension.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import mcp_types as types

from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.control import Progress
from mcp_browser.agent.record.history import HISTORY_FILE
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.browser.concurrency import begin
from mcp_browser.errors import ActionError, NotFound
from mcp_browser.server.calls import SessionLease
from mcp_browser.server.elicitation import Mailbox
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import Principal
from mcp_browser.server.runs.files import files_in, is_picture, uri_of
from mcp_browser.server.runs.saved import FolderLock, SavedRun, SavedRuns, outcome_of
from mcp_browser.server.tasks import KEPT_SECONDS, LongCall
from mcp_browser.server.tools import SESSION_META
from mcp_browser.text import counted

logger = logging.getLogger(__name__)

MOST_RUNS = 100  # How many runs are kept; the oldest ended ones go first


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


def message(run: Run, text: str) -> types.CallToolResult:
    """The result of a call that steers a run."""
    data = {"task_id": run.id, "status": run.status.value, "message": text}
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=data)


def answer(run: Run) -> types.CallToolResult:
    """How a run stands; an error where it has ended without success."""
    outcome, lease = run.outcome or run.agent.outcome(), run.lease
    waits = run.is_working or run.status is TaskStatus.PAUSED
    folder = run.agent.folder.path if run.agent.folder is not None and not waits else None
    lines = [*lease.notes, *_lines(outcome, progress=run.progress, waits=waits)]
    # A client may give its model nothing else.
    data: dict[str, Any] = {"notes": list(lease.notes)}
    if lease.handle is not None and not lease.ephemeral:
        data["session"] = lease.handle
    result = _result(outcome, lines, folder, data, waits=waits)
    is_new = lease.is_new and "session" in data
    return result.model_copy(update={"meta": {SESSION_META: lease.handle}}) if is_new else result


def saved_answer(run: SavedRun) -> types.CallToolResult:
    """How a run stands that no server works on."""
    outcome = outcome_of(run.history)
    return _result(outcome, _lines(outcome), run.folder, {})


def _result(
    outcome: TaskOutcome, lines: list[str], folder: Path | None, data: dict[str, Any], *, waits: bool = False
) -> types.CallToolResult:
    links = [
        types.ResourceLink(name=file.name, uri=file.uri, mime_type=file.mime_type, size=file.size)
        for file in (files_in(folder) if folder is not None else ())
        if not is_picture(file.name)
    ]
    known = {"task_id": outcome.id, **outcome.model_dump(mode="json", exclude={"id"})}
    return types.CallToolResult(
        content=[types.TextContent(text="\n".join(lines)), *links],
        structured_content={**known, "history": uri_of(outcome.id, HISTORY_FILE), **data},
        is_error=not waits and not outcome.succeeded,
    )


def _lines(outcome: TaskOutcome, *, progress: Progress | None = None, waits: bool = False) -> list[str]:
    status = outcome.status.value.replace("_", " ")
    lines: list[str] = []
    if outcome.succeeded:
        lines.append(outcome.answer or "Done.")
    elif waits:
        lines.append(f"Task {outcome.id} is {status}. {progress or ''}".rstrip())
        lines.append("get_task tells how it stands; pause_task, stop_task and add_instructions steer it.")
    elif outcome.status is TaskStatus.UNCONFIRMED:
        lines.append(f"The task is unconfirmed. {outcome.obstacle}")
        lines.append(f"What it reported: {outcome.answer or '(nothing)'}")
        lines += [f"Evidence: {line}" for line in outcome.evidence]
    else:
        lines.append(f"The task is not done ({status}): {outcome.obstacle or 'no reason is known'}")
        if outcome.answer:
            lines.append(f"What it reported: {outcome.answer}")
        if outcome.status is TaskStatus.NEEDS_PERSON:
            lines.append(f'Answer with run_task(task_id="{outcome.id}", task="…"); it then goes on.')
    if outcome.data is not None:
        lines.append(f"Data: {json.dumps(outcome.data, ensure_ascii=False)}")
    for error in outcome.errors[-3:]:
        lines.append(f"Error on the way: {error.splitlines()[0][:300]}")
    lines.append(
        f"{counted(outcome.steps, 'step')}, {outcome.usage}, {outcome.seconds:.0f} s. Task {outcome.id}."
    )
    return lines


class RunCall(LongCall):
    """One turn of a run: from the call that started it until it stops.

    Its client attends all the while by asking for its state, which has the questions. A later turn is another
    call with an identifier of its own, since an ended call stays ended.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.turn = run.turn
        # The number of the turn is part of it from the second on.
        name = run.id if run.turn == 1 else f"{run.id}.{run.turn}"
        super().__init__(name, self._attend(), mailbox=run.mailbox, created=run.created)

    @property
    def updated(self) -> datetime:
        return self.run.updated

    @property
    def doing(self) -> str:
        paused = self.run.status is TaskStatus.PAUSED
        step = "It is paused." if paused else str(self.run.progress or "It begins.")
        return " ".join([*self.run.lease.notes, step])

    async def cancel(self) -> None:
        """End the run."""
        if self.status in ("working", "input_required"):
            await self.run.cancel()

    async def _attend(self) -> types.CallToolResult:
        run = self.run
        async with run.attend():
            while run.is_working and run.turn == self.turn:
                await run.mailbox.news.wait()
        if run.status is TaskStatus.CANCELLED:
            raise asyncio.CancelledError
        return await fit(answer(run), None)


class Runs:
    """The runs of one service by their identifiers, and the long calls of their turns."""

    def __init__(self, saved: SavedRuns) -> None:
        self._saved = saved
        self._runs: dict[str, Run] = {}
        self._calls: dict[str, RunCall] = {}

    def add(self, run: Run) -> None:
        """Keep a run, in the place of an earlier one of its identifier; forget old ones that have ended."""
        now = datetime.now(UTC)
        for old in [run for run in self if not run.is_working]:
            if (now - old.updated).total_seconds() > KEPT_SECONDS or len(self._runs) >= MOST_RUNS:
                old.lock.release()
                del self._runs[old.id]
        self._runs[run.id] = run

    def find(self, identifier: str, principal: Principal) -> Run | None:
        """The run of that identifier; None where this caller has none."""
        run = self._runs.get(identifier)
        return run if run is not None and run.principal == principal else None

    def __iter__(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))

    def call_of(self, run: Run) -> RunCall:
        """The call for the present turn of a run."""
        runs = list(self)
        self._calls = {name: call for name, call in self._calls.items() if call.run in runs}
        for call in self._calls.values():
            if call.run is run and call.turn == run.turn:
                return call
        call = RunCall(run)
        self._calls[call.id] = call
        return call

    async def find_call(self, identifier: str, principal: Principal) -> LongCall | None:
        """The long call of that identifier; None where this caller has none."""
        if (call := self._calls.get(identifier)) is not None:
            return call if call.run.principal == principal else None
        if self.find(identifier, principal) is not None:
            # It was not begun as a long call.
            return None
        try:
            run = self._saved.find(identifier, principal)
        except NotFound:
            return None
        # An earlier server had it: it has ended, and its folder holds the result.
        ended: asyncio.Future[types.CallToolResult] = asyncio.get_running_loop().create_future()
        ended.set_result(await fit(saved_answer(run), None))
        return LongCall(identifier, ended, created=run.history.created)

    async def close(self) -> None:
        """Break off working runs, which another server can go on with; wait for no results any more."""
        for run in self:
            run.agent.control.closing = True
        await asyncio.gather(*(run.cancel() for run in self))
        await asyncio.gather(*(run.written() for run in self))
        for run in self:
            run.lock.release()
        for call in self._calls.values():
            call.end()
