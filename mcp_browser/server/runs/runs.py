"""The runs of a server, and how each stands: as the result of a tool, and by the tasks extension."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import mcp_types as types

from mcp_browser.agent.control import Progress
from mcp_browser.agent.record.history import HISTORY_FILE
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.errors import NotFound
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import Principal
from mcp_browser.server.runs.files import files_in, is_picture, uri_of
from mcp_browser.server.runs.run import Run
from mcp_browser.server.runs.saved import SavedRun, SavedRuns, outcome_of
from mcp_browser.server.tasks import KEPT_SECONDS, LongCall
from mcp_browser.server.tools import SESSION_META
from mcp_browser.text import counted

MOST_RUNS = 100  # How many runs are kept; the oldest ended ones go first


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
