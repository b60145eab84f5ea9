"""The history of a run, with the effects of its actions, and its folder."""

import re
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, cast
from urllib.parse import unquote_plus

from pydantic import BaseModel, Field, ValidationError

from mcp_browser.agent.task import ActionCall, AgentBrain, ModelT, Task, TaskOutcome, TaskStatus
from mcp_browser.browser.files.artifacts import write_whole
from mcp_browser.browser.observation import DialogAnswer
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotFound
from mcp_browser.llm.messages import Usage
from mcp_browser.text import counted, cut, escape_unseen, one_line, quoted
from mcp_browser.version import __version__

Origin = Literal["page", "agent", "person", "file"]
"""Where a text comes from. The agent's is what it typed, wrote into an address, or computed by a script."""

LONGEST_PASSAGE = 40_000  # Characters of a page, or of a change of it, that are kept
LONGEST_FIELD = 300
LONGEST_NAME = 80
LONGEST_CONTENT = 10_000  # Of all fields together
LONGEST_SENT = 2_000
NUMBER = re.compile(r"[^/?&=#\s]*\d[^/?&=#\s]*")  # A part of an address that may be an identifier

HTTP_ERROR = 400  # The least status that says that a request was not carried out


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values in JSON that hold no others, with their paths: `order.0.tea`."""
    if not isinstance(value, dict | list):
        yield path, value
        return
    inner = cast("Any", value)
    for key, part in inner.items() if isinstance(value, dict) else enumerate(inner):
        yield from leaves(part, f"{path}.{key}" if path else str(key))


class Passage(Frozen):
    """A text and where it comes from: `where` is the address of the page, or the name of the argument."""

    text: str
    origin: Origin = "page"
    where: str = ""


class Sent(Frozen):
    """A request that left the browser: what a form or a script sent, or the page that was asked for.

    `fields` is what a form contained, `body` another content, both without secrets. `status` and `failure`
    are None while there is no answer.
    """

    method: str
    url: str
    kind: str = ""
    status: int | None = None
    failure: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    body: str = ""

    @property
    def failed(self) -> bool:
        return self.failure is not None or (self.status or 0) >= HTTP_ERROR

    @property
    def weighs(self) -> bool:
        """Whether it is more than a look: it changes something, leads to a page, or has failed."""
        return (self.method != "GET" and self.kind != "ping") or self.kind == "document" or self.failed

    @property
    def location(self) -> str:
        """The address without its query."""
        return self.url.partition("?")[0]

    @property
    def saves(self) -> str:
        """What a `PUT` puts its content to, without numbers in the query; "" of other methods."""
        query = NUMBER.sub("…", self.url.partition("?")[2])
        return f"{self.location}?{query}" if self.method == "PUT" else ""

    @property
    def outcome(self) -> str:
        return str(self.failure or self.status or "no answer yet")

    @property
    def shape(self) -> str:
        """What it asks for, without numbers and identifiers in its address."""
        return f"{self.method} {NUMBER.sub('…', unquote_plus(self.url))}"

    def __str__(self) -> str:
        fields = (
            f"{one_line(name, LONGEST_NAME)}={quoted(value, LONGEST_FIELD)}" for name, value in self.fields
        )
        content = cut(", ".join(fields), LONGEST_CONTENT) or (
            quoted(self.body, LONGEST_SENT) if self.body else ""
        )
        request = f"{self.method} {one_line(self.url, LONGEST_SENT)}"
        return f"{request}{' with ' if content else ''}{content} → {self.outcome}"


class FileRecord(Frozen):
    """A file that was downloaded: `size` in bytes once it is there, `error` where it did not come."""

    name: str
    size: int | None = None
    error: str | None = None

    def __str__(self) -> str:
        ended = f"failed: {self.error}" if self.error else "not ended" if self.size is None else "saved"
        return f"{quoted(self.name)} {ended}{f' ({self.size:,} bytes)' if self.size is not None else ''}"


class Evidence(Frozen):
    """What an action caused, from its beginning to that of the next one.

    `result_from` is where the content of the action's result comes from, `passages` are further texts: what
    changed on the page, what a person answered. `left_out` counts earlier requests that are not in `sent` and
    did not fail. `uploads` are names of files that were given to the page.
    """

    result_from: Origin = "page"
    passages: tuple[Passage, ...] = ()
    sent: tuple[Sent, ...] = ()
    left_out: int = 0
    dialogs: tuple[DialogAnswer, ...] = ()
    downloads: tuple[FileRecord, ...] = ()
    uploads: tuple[str, ...] = ()
    console: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """What happened beside the page, one fact a line."""
        yield from (f"sent: {sent}" for sent in self.sent)
        if self.left_out:
            yield f"sent: {counted(self.left_out, 'more request')}, earlier ones"
        yield from (f"dialog: {dialog}" for dialog in self.dialogs)
        yield from (f"download: {file}" for file in self.downloads)
        yield from (f"given to the page: the file {quoted(name)}" for name in self.uploads)
        yield from (f"console error: {quoted(text)}" for text in self.console)


class Point(Frozen):
    """One point of a task: what was asked, what the evidence says of it, and whether it is met."""

    asked: str
    evidence: str
    met: bool

    def __str__(self) -> str:
        return f"{self.asked}: {self.evidence}"


class Verdict(Frozen):
    """A judge's answer, point by point, and the facts against the claim that it was given."""

    points: tuple[Point, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        return bool(self.points) and all(point.met for point in self.points)

    @property
    def reason(self) -> str:
        """Which points are not met."""
        if not self.points:
            return "the judge gave no verdict that can be read."
        return " ".join(f"Not met: {point}" for point in self.points if not point.met)


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

    @property
    def given(self) -> dict[str, Any]:
        """The arguments, without those that mean elements."""
        meant = {record.argument for record in self.elements}
        return {name: value for name, value in self.call.arguments.items() if name not in meant}


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
        """Update the evidence of the last action on pages; a person's answer is none."""
        for at, step in reversed([*enumerate(self.steps)]):
            for place, action in reversed([*enumerate(step.actions)]):
                known = action.evidence
                if known is not None and all(passage.origin != "person" for passage in known.passages):
                    kept = {"passages": known.passages, "result_from": known.result_from}
                    self._set_evidence(at, place, late.model_copy(update=kept))
                    return

    def note_answer(self, answer: str) -> None:
        """Keep what a person answered to the last action."""
        self._set_evidence(-1, -1, Evidence(passages=(Passage(text=answer, origin="person"),)))

    def _set_evidence(self, at: int, place: int, evidence: Evidence) -> None:
        actions = [*self.steps[at].actions]
        actions[place] = actions[place].model_copy(update={"evidence": evidence})
        self.steps[at] = self.steps[at].model_copy(update={"actions": tuple(actions)})

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

    def save_picture(self, step: int | None, data: bytes, mime_type: str) -> str:
        """Write the picture of a step, or of the page after the last one (None); its file's name."""
        suffix = {"image/png": "png", "image/webp": "webp"}.get(mime_type, "jpg")
        name = f"step-{step:03}.{suffix}" if step is not None else f"step-end.{suffix}"
        self.write(name, data)
        return name

    def history(self) -> AgentHistory:
        """The history as last saved; raises NotFound."""
        return self.state(AgentHistory, HISTORY_FILE)

    def state(self, model: type[ModelT], name: str = STATE_FILE) -> ModelT:
        """The state, or another file, as last saved, as an instance of `model`; raises NotFound."""
        try:
            return model.model_validate_json((self.path / name).read_bytes())
        except (OSError, ValidationError) as error:
            raise NotFound(f"{name} of the task {self.path.name} cannot be read.") from error

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
