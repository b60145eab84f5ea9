"""The steps of a person as Playwright tests and as the history of a run."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.code import CodeLanguage, RecordedAction, Script
from mcp_browser.actions.navigation import close_tab, go_back, go_forward, go_to_url, open_tab, reload
from mcp_browser.actions.recording import as_test, without_address_secrets
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.actions.waiting import wait_for
from mcp_browser.agent.record.history import (
    NUMBER,
    ActionRecord,
    AgentHistory,
    Evidence,
    StepRecord,
    new_task_id,
)
from mcp_browser.agent.record.report import as_recorded
from mcp_browser.agent.task import ActionCall, Task, TaskOutcome, TaskStatus
from mcp_browser.agent.watch import ActionWatch
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.privacy.hiding import hide, hide_in, redact_addresses
from mcp_browser.text import counted, in_texts

if TYPE_CHECKING:
    import asyncio

    from mcp_browser.browser.observation import DialogAnswer
    from mcp_browser.dom.identities import ElementLocator

Named = Callable[..., object]  # An action's function
LANGUAGES: tuple[CodeLanguage, ...] = ("python", "typescript")
SHORTEST_SECRET = 4  # A shorter text stands in too many words to be taken out of them


class Moment:
    """What happens from one thing that a person does in a tab to the next."""

    def __init__(
        self, session: BrowserSession, log: NetworkLog, tab: Tab, before: "Moment | None", *, is_new: bool
    ) -> None:
        """Begin after the moment before; `is_new` if the tab itself is new."""
        self._session = session
        self.tab = tab
        self.url_before = tab.url
        self.visited: list[str] = []  # Where the tab has gone since
        self.started = datetime.now(UTC)
        self._watch = ActionWatch(session, log, before._watch if before else None)
        self._tabs = set(session.tabs) - ({tab.id} if is_new else set())
        self._files = len(session.downloads)
        self.evidence = Evidence()
        self._opened_url = ""
        self.opened: tuple[int, ...] = ()
        self.downloads: tuple[str, ...] = ()
        self.answered: DialogAnswer | None = None  # The dialog that was closed
        self.seconds = 0.0

    @property
    def url(self) -> str:
        """The address that it led to, in a new tab or in its own."""
        return self._opened_url or (self.visited[-1] if self.visited else self.url_before)

    def end(self) -> None:
        """End it, since the next thing begins."""
        session = self._session
        self.opened = tuple(sorted(set(session.tabs) - self._tabs))
        self.downloads = tuple(file.name for file in session.downloads[self._files :])
        self._opened_url = session.tabs[self.opened[-1]].url if self.opened else ""
        self.seconds = round((datetime.now(UTC) - self.started).total_seconds(), 3)
        closed = {"dialogs": (self.answered,)} if self.answered is not None else {}
        self.evidence = self._watch.evidence(lambda value: value, **closed)


@dataclass(eq=False, kw_only=True)
class PersonStep:
    """One thing that a person did, as an action; `note` describes what no action does.

    `key` identifies its element, by document and id; `secret` says that its content is. `finding` looks for
    its locators, None if Playwright has none. `moments` are the parts of it, `begun` the first report of it.
    A step that `is_added`, such as a wait, was done by nobody.
    """

    moments: list[Moment]
    action: str = ""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    elements: list[ElementRecord] = field(default_factory=list[ElementRecord])
    finding: dict[str, "asyncio.Task[ElementLocator | None]"] = field(default_factory=dict[str, Any])
    key: tuple[str, int] | None = None
    secret: bool = False
    note: str = ""
    begun: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_added: bool = False

    def __str__(self) -> str:
        elements = " onto ".join(map(str, self.elements))
        meant = {record.argument for record in self.elements}
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items() if name not in meant)
        return self.note or " ".join(part for part in (self.action, elements, given) if part)

    @property
    def tab(self) -> Tab:
        return self.moments[0].tab

    @property
    def opened(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(tab for moment in self.moments for tab in moment.opened))

    @property
    def downloads(self) -> tuple[str, ...]:
        return tuple(name for moment in self.moments for name in moment.downloads)

    def led_to(self, url: str) -> None:
        """Leave out a document that belongs to the next step."""
        for moment in self.moments:
            sent = tuple(one for one in moment.evidence.sent if one.kind != "document" or one.url != url)
            moment.evidence = moment.evidence.model_copy(update={"sent": sent})

    def evidence(self) -> Evidence:
        """The evidence of all its moments."""
        parts = [moment.evidence for moment in self.moments]
        names = ("sent", "dialogs", "downloads", "uploads", "console")
        joined = {name: dict.fromkeys(one for part in parts for one in getattr(part, name)) for name in names}
        return Evidence.model_validate({name: tuple(value) for name, value in joined.items()})


@dataclass(frozen=True, slots=True)
class Recording:
    """What a person did, as tests for Playwright and as a history."""

    name: str
    tests: Mapping[CodeLanguage, str]
    history: AgentHistory
    steps: int

    def files(self) -> Iterator[tuple[str, str, str]]:
        """The files of it: their names, kinds and contents."""
        yield f"test_{self.name}.py", "script", self.tests["python"]
        yield f"{self.name}.spec.ts", "script", self.tests["typescript"]
        yield f"{self.name}.json", "history", self.history.model_dump_json(indent=1)


def recording_of(
    session: BrowserSession, steps: Sequence[PersonStep], secrets: Mapping[str, str], *, name: str, start: str
) -> Recording:
    """Make a recording of steps; `secrets` are those typed, by name; an empty `start` is any page."""
    name = re.sub(r"\W+", "_", name).strip("_") or "recorded"
    first = steps[0] if steps else None
    if not start and first is not None and first.action not in (go_to_url.__name__, open_tab.__name__):
        start = without_address_secrets(first.moments[0].url_before)
    # What is a part of the site's own addresses would hide these.
    own = {urlsplit(moment.url_before).path for step in steps for moment in step.moments} | {start}
    long = {name: value for name, value in secrets.items() if len(value) >= SHORTEST_SECRET}
    session.services.hide(
        {name: value for name, value in long.items() if not any(value in one for one in own)}
    )
    for step in steps:
        step.arguments = hide_in(step.arguments, session.hidden)
    where = urlsplit(start).netloc or "a page"
    task = Task(text=f"What a person did on {where}", start_url=start or None, secrets=tuple(sorted(secrets)))
    history = AgentHistory(id=new_task_id(), task=task, status=TaskStatus.SUCCEEDED, ended=datetime.now(UTC))
    scripts: dict[CodeLanguage, Script] = {one: Script(one, start, lenient=True) for one in LANGUAGES}
    for step, record, action in _done(steps):
        for script in scripts.values():
            if action is None:
                script.comment(step.note)
            else:
                script.add(action)
        if record is not None:
            first, number, seconds = step.moments[0], len(history.steps) + 1, record.seconds
            url, started, actions = redact_addresses(first.url_before), first.started, (record,)
            history.steps.append(
                StepRecord(number=number, url=url, actions=actions, started=started, seconds=seconds)
            )
    answer = f"Recorded {counted(len(history.steps), 'action')}."
    history.outcome = TaskOutcome(id=history.id, status=history.status, answer=answer, urls=history.urls)
    tests: dict[CodeLanguage, str] = {
        language: hide(as_test(script, name=name), session.hidden, mark="<{}>")
        for language, script in scripts.items()
    }
    hidden = hide_in(history.model_dump(mode="json"), session.hidden)
    return Recording(name, tests, AgentHistory.model_validate(hidden), len(steps))


Done = tuple[PersonStep, ActionRecord | None, RecordedAction | None]


def _done(steps: Sequence[PersonStep]) -> Iterator[Done]:
    """Each step as an action, with steps that it needs before and after; None for a note."""
    actions = {action.name: action for action in default_registry()}
    known: set[int] = set()
    for step in steps:
        tab, before = step.tab.id, step.moments[0]
        if known and tab not in known:
            # It was there already.
            opening = _added(open_tab, before, url=before.url_before)
            yield opening, *_recorded(actions, opening, tab=min(known), opened=(tab,))
        known |= {tab, *step.opened}
        tab = min(known) if step.action == open_tab.__name__ else tab
        if step.note:
            yield step, None, None
        else:
            yield step, *_recorded(actions, step, tab=tab, opened=step.opened)
        if (url := _arrival(step)) is not None:
            waiting = _added(wait_for, step.moments[-1], url=url)
            yield waiting, *_recorded(actions, waiting, tab=tab)


def _added(action: Named, moment: Moment, **arguments: Any) -> PersonStep:
    return PersonStep(moments=[moment], action=action.__name__, arguments=arguments, is_added=True)


def _recorded(
    actions: Mapping[str, RegisteredAction], step: PersonStep, *, tab: int, opened: tuple[int, ...] = ()
) -> tuple[ActionRecord, RecordedAction]:
    first, last = step.moments[0], step.moments[-1]
    elements = in_texts([one.model_dump(mode="json") for one in step.elements], redact_addresses)
    record = ActionRecord(
        call=ActionCall(name=step.action, arguments=in_texts(step.arguments, without_address_secrets)),
        elements=tuple(map(ElementRecord.model_validate, elements)),
        url=redact_addresses(last.url),
        tab=tab,
        opened=opened,
        downloads=() if step.is_added else step.downloads,
        seconds=0 if step.is_added else first.seconds,
        evidence=Evidence() if step.is_added else step.evidence(),
    )
    found = {argument: task.result() for argument, task in step.finding.items() if task.exception() is None}
    action = as_recorded(record, actions[step.action], locators=found)
    return record, replace(action, url=without_address_secrets(last.url))


_GOING = frozenset(one.__name__ for one in (go_to_url, go_back, go_forward, reload, open_tab, close_tab))


def _arrival(step: PersonStep) -> str | None:
    """The address that a step led its tab to, as a pattern, since its numbers may change."""
    first, now = urlsplit(step.moments[0].url_before), urlsplit(step.moments[-1].url)
    left = step.tab.closed or step.opened or step.action in _GOING
    if left or first[:3] == now[:3] or now.scheme not in ("http", "https"):
        return None
    return f"**{NUMBER.sub('*', now.path)}{'?**' if now.query else ''}"
