"""What agent runs and replays share: beginning, pauses, end, records."""

import contextlib
import logging
import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import anyio
import anyio.to_thread

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.control import Control, NobodyWatches, Progress, Watcher
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.record.history import AgentHistory, StepRecord, TaskFolder
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.task import Task, TaskOutcome, TaskStatus
from mcp_browser.browser.concurrency import first
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError

logger = logging.getLogger(__name__)

END_PICTURE_SECONDS = 5.0  # How long the picture of the last page may take

YES, NO = "Yes", "No"


@dataclass(kw_only=True)
class TaskRun(ABC):
    """A run of a task in a session; its history is saved to `folder`, if any, as it goes.

    With `step_pictures`, pictures of the pages are kept there for people.
    """

    resumable: ClassVar[bool] = False  # Whether a later process can continue it

    history: AgentHistory
    controller: Controller
    session: BrowserSession
    secrets: Secrets = field(default_factory=Secrets)
    folder: TaskFolder | None = None
    watcher: Watcher = field(default_factory=NobodyWatches)
    control: Control = field(default_factory=Control)
    step_pictures: bool = True

    def __post_init__(self) -> None:
        self.secrets.others = self.session.hidden
        self.executor = Executor(
            self.controller,
            self.session,
            secrets=self.secrets,
            allowed_domains=self.task.allowed_domains,
            confirm=self._confirm,
        )
        self.most_steps = self.task.budget.steps  # That progress is counted against
        self.obstacle: str | None = None  # Why the run ended without success, or what it waits for
        # Those of the run before it went on in this session.
        before = self.history.outcome
        self._seconds_before, self._files_before = (before.seconds, before.files) if before else (0.0, ())
        self._since = self._clock()
        self._step_limit = anyio.CancelScope()  # Ends the current step when it takes too long
        # The session may have others' downloads.
        self._downloads_before = len(self.session.downloads)
        self._known = len(self.secrets.values)

    @property
    def task(self) -> Task:
        return self.history.task

    async def run(self) -> TaskOutcome:
        """Work until the task ends, waits for a person, or is cancelled; the history is always saved."""
        self._since = self._clock()  # Time that passed before is not working time.
        self.history.status = TaskStatus.WORKING
        self.history.ended = None
        self.control.stopping = False
        try:
            await self._work()
            self._note_late_evidence()
            await self._keep_end()
        except anyio.get_cancelled_exc_class():
            self.break_off()
            raise
        except Exception as error:
            self.end(TaskStatus.FAILED, f"The run itself failed: {type(error).__name__}.")
            raise
        finally:
            if self.history.status.is_final:
                self.history.ended = datetime.now(UTC)
            self._save()
        return self.outcome()

    async def run_and_write_up(self) -> TaskOutcome:
        """Run, and write the run up however it ends."""
        try:
            return await self.run()
        finally:
            await self.write_up()

    @abstractmethod
    async def _work(self) -> None:
        """Take one step after the other."""

    @abstractmethod
    def outcome(self) -> TaskOutcome:
        """Return the outcome so far."""

    def _outcome(self, *, answer: str | None, data: Any, steps: int) -> TaskOutcome:
        history, own = self.history, self.session.downloads[self._downloads_before :]
        return TaskOutcome(
            id=history.id,
            status=history.status,
            answer=answer,
            data=data,
            obstacle=self.obstacle,
            evidence=history.evidence,
            steps=steps,
            urls=history.urls,
            errors=history.errors,
            files=(*self._files_before, *(download.place for download in own if download.place)),
            usage=history.usage,
            seconds=round(self.seconds, 2),
        )

    # -- status and working time

    @property
    def seconds(self) -> float:
        """Working time so far, without pauses."""
        working = self.history.status is TaskStatus.WORKING
        return self._seconds_before + (self._clock() - self._since if working else 0)

    def _clock(self) -> float:
        """A clock that stands still while a person has the browser."""
        return time.monotonic() - self.session.takeover.seconds

    def _set_status(self, status: TaskStatus) -> None:
        self._seconds_before, self._since = self.seconds, self._clock()
        self.history.status = status

    def end(self, status: TaskStatus, obstacle: str | None = None) -> None:
        """End the run unless it has already ended."""
        if not self.history.status.is_final:
            self._set_status(status)
            self.obstacle = obstacle

    def break_off(self, why: str | None = None) -> TaskOutcome:
        """End the run from outside.

        With a reason it has failed; else it was stopped or cancelled, as `control` says. A resumable run is
        only interrupted when its process ends.
        """
        if why is not None:
            self.end(TaskStatus.FAILED, why)
        elif self.control.closing and self.resumable:
            self.end(TaskStatus.INTERRUPTED, "It was broken off.")
        elif self.control.stopping:
            self.end(TaskStatus.STOPPED, "It was stopped.")
        else:
            self.end(TaskStatus.CANCELLED, "It was cancelled.")
        self._save()
        return self.outcome()

    async def _may_go_on(self) -> bool:
        """Wait while the run is paused or a person has the browser; whether to take another step."""

        def is_held() -> bool:
            return self.control.paused or self.session.takeover.busy

        if is_held():
            self._set_status(TaskStatus.PAUSED)
            self._save()
            await self._report_status()
            while is_held() and not self.control.stopping:
                await first(self.control.changed.wait(), self.session.takeover.changed.wait())
            self._set_status(TaskStatus.WORKING)
        if self.control.stopping:
            self.end(TaskStatus.STOPPED, "It was stopped.")
        return self.history.status is TaskStatus.WORKING

    # -- people

    async def _report(self, step: int, **more: Any) -> None:
        await self.watcher.progressed(Progress(step=step, steps=self.most_steps, **more))

    async def _report_status(self) -> None:
        last = self.history.steps[-1] if self.history.steps else None
        number, url = (last.number, last.url) if last is not None else (0, "")
        await self._report(number, status=self.history.status, url=url)

    async def _confirm(self, question: str) -> bool | None:
        """Ask the person for a yes; their time does not count for the step."""
        limit = self._step_limit
        started, ends = anyio.current_time(), limit.deadline
        limit.deadline = math.inf
        try:
            answer = await self.watcher.ask_person(question, (YES, NO))
        finally:
            limit.deadline = ends + anyio.current_time() - started
        return None if answer is None else answer == YES

    # -- the record

    @property
    def _wants_shot(self) -> bool:
        return self.folder is not None and self.step_pictures

    def _record(self, number: int, look: Look | None, started: datetime, **more: Any) -> None:
        """Add a step to the history; `more` are the other fields of its record."""
        seen: dict[str, Any] = {"url": ""}
        if look is not None:
            seen = {"url": look.url, "title": look.title}
            known = next((step.page for step in reversed(self.history.steps) if step.page is not None), None)
            if look.passage != known:
                seen["page"] = look.passage
            shown = look.shot or next(iter(look.images), None)
            if self.folder is not None and shown is not None:
                seen["screenshot"] = self.folder.save_picture(number, shown.data, shown.mime_type)
        seconds = round((datetime.now(UTC) - started).total_seconds(), 3)
        self.history.steps.append(StepRecord(number=number, started=started, seconds=seconds, **seen, **more))

    def _note_late_evidence(self) -> None:
        """Add effects of the last action that came after it was recorded."""
        if (late := self.executor.late_evidence()) is not None:
            self.history.complete(late)

    async def _keep_end(self) -> None:
        if self.folder is None or not self._wants_shot or not self.history.steps:
            return
        with anyio.move_on_after(END_PICTURE_SECONDS), contextlib.suppress(ActionError):
            shot = await self.executor.small_picture()
            if shot is not None:
                self.history.end_picture = self.folder.save_picture(None, shot.data, shot.mime_type)

    def _save(self) -> None:
        self.history.outcome = self.outcome()
        if self.folder is not None:
            self.folder.save_history(self._without_secrets())

    def _without_secrets(self) -> AgentHistory:
        """The history without secrets in the task, or in steps recorded before they were known."""
        history, hide = self.history, self.secrets.hide_in
        if (known := len(self.secrets.values)) != self._known:
            self._known = known
            history.steps = [StepRecord.model_validate(hide(step.model_dump())) for step in history.steps]
        words = hide({name: getattr(history.task, name) for name in ("text", "context", "start_url")})
        return history.model_copy(update={"task": history.task.model_copy(update=words)})

    async def write_up(self) -> None:
        """Write the current report and script of the run into its folder; a failure is only logged."""
        if self.folder is None:
            return
        # The run may go on while it is written up; its steps themselves never change.
        as_it_is = self._without_secrets().model_copy(update={"steps": list(self.history.steps)})
        try:
            own = self.executor.controller.registry
            texts = await anyio.to_thread.run_sync(_texts, as_it_is, self.folder.path, own)
            # In the event loop, where the listeners for new files are.
            for name, text in texts.items():
                self.folder.write(name, text.encode())
        except Exception:
            logger.exception("The run %s could not be written up", self.history.id)


def _texts(history: AgentHistory, folder: Path, own: Registry) -> dict[str, str]:
    # Imported late: a template library is wanted only once a run has ended.
    from mcp_browser.agent.record.report import REPORT_FILE, SCRIPT_FILE, export_script, render_report  # noqa: PLC0415

    return {REPORT_FILE: render_report(history, folder), SCRIPT_FILE: export_script(history, own)}
