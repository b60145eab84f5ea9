"""What a run by an agent and a replay have in common: how they go, how they end, and what is kept of them."""

import contextlib
import logging
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.to_thread

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.control import Control, NobodyWatches, Watcher
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.record.history import AgentHistory, StepRecord, TaskFolder
from mcp_browser.agent.record.pictures import small_picture
from mcp_browser.agent.run_status import RunStatus
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.task import Task, TaskOutcome, TaskStatus
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError

logger = logging.getLogger(__name__)

END_PICTURE_SECONDS = 5.0  # How long the picture of the last page may take

YES, NO = "Yes", "No"


@dataclass(kw_only=True)
class TaskRun(ABC):
    """A run of a task in a session; its history is saved as it goes, into `folder` where there is one."""

    history: AgentHistory
    controller: Controller
    session: BrowserSession
    secrets: Secrets = field(default_factory=Secrets)
    folder: TaskFolder | None = None
    watcher: Watcher = field(default_factory=NobodyWatches)
    control: Control = field(default_factory=Control)

    def __post_init__(self) -> None:
        self.secrets.others = self.session.hidden
        self.executor = Executor(
            self.controller,
            self.session,
            secrets=self.secrets,
            allowed_domains=self.task.allowed_domains,
            confirm=self._confirm,
        )
        self.run_status = RunStatus(self.history, self.control, self.session.takeover)
        self._step_limit = anyio.CancelScope()  # What ends the step under way when it takes too long
        # The session may have others' downloads.
        self._downloads_before = len(self.session.downloads)
        self._known = len(self.secrets.values)

    @property
    def task(self) -> Task:
        return self.history.task

    async def run(self) -> TaskOutcome:
        """Work until the task ends, the run is held up by a person's part, or is cancelled.

        The history is saved after each step and at the end, however the run ends.
        """
        self.run_status.begin()
        self.history.ended = None
        self.control.stopping = False
        try:
            await self._work()
            await self._keep_end()
        except anyio.get_cancelled_exc_class():
            self.break_off()
            raise
        except Exception as error:
            self.run_status.end(TaskStatus.FAILED, f"The run itself failed: {type(error).__name__}.")
            raise
        finally:
            if self.history.status.is_final:
                self.history.ended = datetime.now(UTC)
            self._save()
        return self.outcome()

    async def write_up(self) -> None:
        """Write the report and the script of the run, as it stands now, into its folder.

        What goes wrong with it is no failure of the run; nothing else waits meanwhile.
        """
        if self.folder is None:
            return
        # The run may go on while it is written up; its steps themselves never change.
        as_it_is = self._without_secrets().model_copy(update={"steps": list(self.history.steps)})
        try:
            own = self.executor.controller.registry
            texts = await anyio.to_thread.run_sync(_texts, as_it_is, self.folder.path, own)
            # Here again: whoever hears of a new file is in the event loop.
            for name, text in texts.items():
                self.folder.save_text(name, text)
        except Exception:
            logger.exception("The run %s could not be written up", self.history.id)

    def break_off(self, why: str | None = None) -> TaskOutcome:
        """End the run from outside, wherever it stands; see `RunStatus.break_off`."""
        self.run_status.break_off(why)
        self._save()
        return self.outcome()

    @property
    @abstractmethod
    def keeps_pictures(self) -> bool:
        """Whether pictures are kept for people."""

    @abstractmethod
    def outcome(self) -> TaskOutcome:
        """What the run has come to so far."""

    @abstractmethod
    async def _work(self) -> None:
        """Take one step after the other."""

    @abstractmethod
    async def _tell_status(self) -> None:
        """Tell who watches how the run stands."""

    async def _may_go_on(self) -> bool:
        """Wait while the run is paused; false where it is to be stopped, and at its end."""
        await self.run_status.wait_while_paused(self._tell_pause)
        if self.control.stopping:
            self.run_status.stop()
        return self.history.status is TaskStatus.WORKING

    async def _confirm(self, question: str) -> bool | None:
        """Ask the person for a yes; the time that they take is not the step's."""
        limit = self._step_limit
        started, ends = anyio.current_time(), limit.deadline
        limit.deadline = math.inf
        try:
            answer = await self.watcher.ask_person(question, (YES, NO))
        finally:
            limit.deadline = ends + anyio.current_time() - started
        return None if answer is None else answer == YES

    async def _tell_pause(self) -> None:
        self._save()
        await self._tell_status()

    async def _keep_end(self) -> None:
        """Keep a picture of the page as the run has left it, where one can be had."""
        if self.folder is None or not self.keeps_pictures or not self.history.steps:
            return
        with anyio.move_on_after(END_PICTURE_SECONDS), contextlib.suppress(ActionError):
            shot = await small_picture(self.session)
            if shot is not None:
                self.history.end_picture = self.folder.save_picture(None, shot.data, shot.mime_type)

    def _downloaded(self) -> tuple[str, ...]:
        own = self.session.downloads[self._downloads_before :]
        return tuple(download.place for download in own if download.place)

    def _picture(self, step: int, look: Look | None) -> str | None:
        shown = (look.shot or next(iter(look.images), None)) if look is not None else None
        if self.folder is None or shown is None:
            return None
        return self.folder.save_picture(step, shown.data, shown.mime_type)

    def _save(self) -> None:
        self.history.outcome = self.outcome()
        if self.folder is not None:
            self.folder.save_history(self._without_secrets())

    def _without_secrets(self) -> AgentHistory:
        """The history without values in the task's own words, or in steps recorded before they were known."""
        history, hide = self.history, self.secrets.hide_in
        if (known := len(self.secrets.values)) != self._known:
            self._known = known
            history.steps = [StepRecord.model_validate(hide(step.model_dump())) for step in history.steps]
        words = hide({name: getattr(history.task, name) for name in ("text", "context", "start_url")})
        return history.model_copy(update={"task": history.task.model_copy(update=words)})


def _texts(history: AgentHistory, folder: Path, own: Registry) -> dict[str, str]:
    # Imported late: a template library is wanted only once a run has ended.
    from mcp_browser.agent.record.report import REPORT_FILE, render_report  # noqa: PLC0415
    from mcp_browser.agent.record.script import SCRIPT_FILE, export_script  # noqa: PLC0415

    return {REPORT_FILE: render_report(history, folder), SCRIPT_FILE: export_script(history, own)}
