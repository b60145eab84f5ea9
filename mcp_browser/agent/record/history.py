"""The history of a run, and its folder."""

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError

from mcp_browser.agent.record.evidence import Evidence, Passage, Verdict
from mcp_browser.agent.task import ActionCall, AgentBrain, Task, TaskOutcome, TaskStatus
from mcp_browser.browser.files.filenames import write_whole
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotFound
from mcp_browser.llm.messages import Usage
from mcp_browser.text import cut, escape_unseen
from mcp_browser.version import __version__

HISTORY_FILE = "history.json"
STATE_FILE = "state.json"
MOST_EVIDENCE = 20  # Lines of it that an outcome repeats
LONGEST_EVIDENCE = 1_000


class ActionRecord(Frozen):
    """One action of a step: what was called, with names in the places of secrets, and what came of it.

    `elements` are those that its indexes and points meant, as they were before it. `tab` is the number of the
    tab it was done in, `opened` those of the tabs it opened, `downloads` the names of files that began to
    come; `url` is the page after it. `changed` is whether it changed what is seen, None where that is not
    known. `seconds` is how long it took. `evidence` is what it caused, None in older records.
    """

    call: ActionCall
    result: str = ""
    error: str | None = None
    elements: tuple[ElementRecord, ...] = ()
    url: str = ""
    tab: int | None = None
    opened: tuple[int, ...] = ()
    downloads: tuple[str, ...] = ()
    changed: bool | None = None
    seconds: float = 0
    evidence: Evidence | None = None


class StepRecord(Frozen):
    """One step: the page before it, what the agent thought and did, what it used.

    `screenshot` is the name of a file in the run's folder, a picture of the page before the actions. `page`
    is that page as the model saw it, where it is not as at the step before. `verdict` is what a judge made
    of the claim that ended the step.
    """

    number: int
    url: str
    title: str = ""
    brain: AgentBrain = AgentBrain()
    actions: tuple[ActionRecord, ...] = ()
    notes: tuple[str, ...] = ()
    screenshot: str | None = None
    page: Passage | None = None
    verdict: Verdict | None = None
    started: datetime
    seconds: float = 0
    usage: Usage = Usage()
    model: str = ""


class RunSettings(Frozen):
    """What a run worked under, beside its task. `viewport` is the view's width and height, CSS pixels."""

    fallback_model: str | None = None
    gui_scale: str | None = None
    max_actions: int | None = None
    max_failures: int | None = None
    model_timeout: float | None = None
    step_timeout: float | None = None
    viewport: tuple[int, int] | None = None


class AgentHistory(BaseModel, extra="forbid"):
    """The history of a run. Its JSON schema is published as docs/agent-history.schema.json.

    `format` is raised when a reader of older files could not read newer ones. `version` is that of
    mcp-browser. `replay_of` is the identifier of the run that this one does again. `end_picture` is the name
    of a file in the run's folder, a picture of the page after the last step.
    """

    format: Literal[1] = 1
    version: str = Field(default_factory=lambda: __version__)
    id: str
    task: Task
    model: str = ""
    settings: RunSettings = RunSettings()
    replay_of: str | None = None
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    ended: datetime | None = None
    status: TaskStatus = TaskStatus.WORKING
    outcome: TaskOutcome | None = None
    end_picture: str | None = None
    steps: list[StepRecord] = Field(default_factory=list[StepRecord])

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses visited, each once, in order."""
        return tuple(dict.fromkeys(self.urls_in_order))

    @property
    def urls_in_order(self) -> tuple[str, ...]:
        """The address of the page at each step and after each action."""
        found = [url for step in self.steps for url in (step.url, *(action.url for action in step.actions))]
        return tuple(url for url in found if url and url != "about:blank")

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(action.error for action in self.actions() if action.error)

    @property
    def usage(self) -> Usage:
        return sum((step.usage for step in self.steps), Usage())

    @property
    def evidence(self) -> tuple[str, ...]:
        """What happened beside the pages, and the facts against the last claim, the newest lines."""
        lines = [line for one in self.actions() if one.evidence for line in one.evidence.lines()]
        verdicts = [step.verdict for step in self.steps if step.verdict is not None]
        lines = [cut(line, LONGEST_EVIDENCE) for line in lines[-MOST_EVIDENCE:]]
        return (*lines, *(verdicts[-1].facts if verdicts else ()))

    def complete(self, late: Evidence) -> None:
        """Update the evidence of the last action on pages."""
        for at in reversed(range(len(self.steps))):
            actions = [*self.steps[at].actions]
            for place in reversed(range(len(actions))):
                if (known := actions[place].evidence) is not None and not known.is_answer:
                    late = late.model_copy(
                        update={"passages": known.passages, "result_from": known.result_from}
                    )
                    actions[place] = actions[place].model_copy(update={"evidence": late})
                    self.steps[at] = self.steps[at].model_copy(update={"actions": tuple(actions)})
                    return

    def note_answer(self, answer: str) -> None:
        """Keep what a person answered to the last action."""
        *actions, asked = self.steps[-1].actions
        evidence = Evidence(passages=(Passage(text=answer, origin="person"),))
        actions.append(asked.model_copy(update={"evidence": evidence}))
        self.steps[-1] = self.steps[-1].model_copy(update={"actions": tuple(actions)})

    def actions(self) -> Iterator[ActionRecord]:
        """Every action, in order."""
        for step in self.steps:
            yield from step.actions


class TaskFolder:
    """The folder of one run; every file in it is whole at any time, and readable for its owner only."""

    def __init__(self, path: Path, wrote: Callable[[str], None] | None = None) -> None:
        """Use a folder, made where it is missing. `wrote` is called with the name of each file written."""
        self.path = path
        self._wrote = wrote
        path.mkdir(parents=True, exist_ok=True, mode=0o700)

    @classmethod
    def read(cls, path: Path) -> Self:
        """A folder that is there already; raises NotFound where it is not."""
        if not (path / HISTORY_FILE).is_file():
            raise NotFound(f"{path} is no folder of a run: it has no {HISTORY_FILE}.")
        return cls(path)

    def save_history(self, history: AgentHistory) -> None:
        """Write the history; clients and models read it, too."""
        self.write(HISTORY_FILE, escape_unseen(history.model_dump_json(indent=1)).encode())

    def save_state(self, state: BaseModel) -> None:
        """Write what is needed to go on."""
        self.write(STATE_FILE, state.model_dump_json().encode())

    def save_picture(self, step: int | None, data: bytes, mime_type: str) -> str:
        """Write the picture of a step, or of the page after the last one (None); its file's name."""
        suffix = {"image/png": "png", "image/webp": "webp"}.get(mime_type, "jpg")
        name = f"step-{step:03}.{suffix}" if step is not None else f"step-end.{suffix}"
        self.write(name, data)
        return name

    def history(self) -> AgentHistory:
        """The history as last saved; raises NotFound."""
        return self._read(HISTORY_FILE, AgentHistory)

    def _read(self, name: str, model: type[Any]) -> Any:
        try:
            return model.model_validate_json((self.path / name).read_bytes())
        except (OSError, ValidationError) as error:
            raise NotFound(f"{name} of the task {self.path.name} cannot be read.") from error

    def state(self, model: type[Any]) -> Any:
        """The state as last saved, as an instance of `model`; raises NotFound."""
        return self._read(STATE_FILE, model)

    def write(self, name: str, data: bytes) -> None:
        """Write one file, all of it or none."""
        write_whole(self.path / name, data)
        if self._wrote is not None:
            self._wrote(name)


def history_schema() -> dict[str, Any]:
    """The JSON schema of a history's file."""
    schema = AgentHistory.model_json_schema(mode="serialization")
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The history of a run"}
    return title | {name: part for name, part in schema.items() if name not in title}


def new_task_id() -> str:
    """An identifier that nobody can guess."""
    return secrets.token_urlsafe(16)
