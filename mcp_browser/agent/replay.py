"""Repeat a recorded run without a model, and compare the effects of its actions."""

import copy
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.code import secrets_named
from mcp_browser.actions.observing import view_size
from mcp_browser.actions.recording import element_arguments, place_of
from mcp_browser.agent.record.history import NUMBER, ActionRecord, AgentHistory, Evidence, Sent, StepRecord
from mcp_browser.agent.record.variables import Variables
from mcp_browser.agent.task import ActionCall, TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.identities import ElementRecord, Located
from mcp_browser.errors import ActionError, DialogOpen, InvalidArguments, NotActionable, NotFound
from mcp_browser.text import counted, quoted

if TYPE_CHECKING:
    from mcp_browser.agent.executor import ActionOutcome, Look


NOTHING = "nothing"
CLOCK_SECONDS = 600.0  # So far from now a number is not read from the clock
CREATED = 201  # The HTTP status where a request has made something, which gets a name of its own
_SWITCHED = re.compile(r" (checked|pressed|selected)\b(?!=)")
_NO_STATE = re.compile(r'"(?:[^"\\]|\\.)*"| \(was .*')  # Of an element's line
_BESIDE = re.compile(r"-\d{1,2}(?=(?:\.\w+)* (?:saved|failed)$)")
_STAMP = re.compile(r"\d{10}(?:\d{3})?")  # Seconds or milliseconds since 1970


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides; `certain` if they cannot mean the same."""

    what: str
    recorded: str
    now: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.what} differs: recorded {self.recorded}, now {self.now}"


class Comparison:
    """Compares the actions of a recorded run, in order, with those of its replay.

    A page may save by itself at any time: of requests that the recorded run has `PUT` to an address several
    times, one suffices, and a later action may send it.
    """

    def __init__(self, recorded: AgentHistory, variables: Variables) -> None:
        self._variables = variables
        sent = [one for action in recorded.actions() if action.evidence for one in action.evidence.sent]
        times = Counter(variables.put_in(one.saves) for one in sent if one.saves)
        self._saved = frozenset(address for address, count in times.items() if count > 1)
        self._early: set[str] = set()  # What was saved before it was due
        self._created: set[str] = set()  # Where both runs have made something

    def difference(self, recorded: ActionRecord, now: ActionRecord) -> Difference | None:
        """The most important difference in the effects of an action; None if there is none."""
        after = now.evidence or Evidence()
        if (before := self._recorded(recorded)) is None:
            return Difference("Evidence", "none was kept", "the action was done", certain=False)
        given = recorded.call.arguments
        found = [
            *self._differently_sent(before, after),
            *_elsewhere("The address", self._variables.put_in(recorded.url), now.url),
            # Another value may be the one that was there already.
            *(_changed(recorded, now) if self._variables.put_in(given) == given else ()),
            *_paired("A dialog", [f"{one.kind} {one.message}" for one in before.dialogs],
                     [f"{one.kind} {one.message}" for one in after.dialogs]),
            *_downloaded(before, after),
        ]  # fmt: skip
        return min(found, key=lambda one: not one.certain, default=None)

    def go_on(self, recorded: ActionRecord, after: Evidence | None) -> None:
        """Take in all effects of an action before the next one begins."""
        before, after = self._recorded(recorded) or Evidence(), after or Evidence()
        self._early = (self._early | self._saves(after).keys()) - self._saves(before).keys()
        self._created |= _created(before) & _created(after)

    def _recorded(self, recorded: ActionRecord) -> Evidence | None:
        if recorded.evidence is None:
            return None
        return Evidence.model_validate(self._variables.put_in(recorded.evidence.model_dump(mode="json")))

    def _saves(self, evidence: Evidence) -> dict[str, Sent]:
        return {one.saves: one for one in evidence.sent if one.saves in self._saved}

    def _others(self, sent: Iterable[Sent]) -> list[Sent]:
        return [one for one in sent if one.weighs and one.saves not in self._saved]

    def _differently_sent(self, before: Evidence, after: Evidence) -> Iterator[Difference]:
        """Match requests of the same shape, in order."""
        left = self._others(after.sent)
        saved = self._early | self._saves(after).keys()
        missing = [one for address, one in self._saves(before).items() if address not in saved]
        created = self._created | (_created(before) & _created(after))
        for old in (*self._others(before.sent), *missing):
            alike = [one for one in left if one.shape == old.shape]
            new = next((one for one in alike if one.outcome == old.outcome), alike[0] if alike else None)
            if new is None:
                others = "; ".join(map(_brief, left)) or f"{NOTHING} was sent"
                yield Difference("What was sent", _brief(old), others, certain=old.method != "GET")
                continue
            left.remove(new)
            if new.outcome != old.outcome and old.status is not None:
                yield Difference("What was sent", _brief(old), _brief(new), certain=new.failed or old.failed)
            else:
                for found in _elsewhere("What was sent", _unnamed(old, created), _unnamed(new, created)):
                    yield replace(found, recorded=_brief(old), now=_brief(new))
        for new in left:
            if new.method != "GET" or new.failed:
                yield Difference("What was sent", NOTHING, _brief(new), certain=new.failed)


def _created(evidence: Evidence) -> set[str]:
    return {one.location for one in evidence.sent if one.method == "POST" and one.status == CREATED}


def _unnamed(sent: Sent, created: set[str]) -> str:
    """A request's address without the name of what the run itself created."""
    where = next((one for one in created if sent.location.startswith(f"{one}/")), None)
    return sent.url if where is None else re.sub(f"(?<={re.escape(where)}/)[^/?#]+", "…", sent.url)


def _downloaded(before: Evidence, after: Evidence) -> Iterator[Difference]:
    """Downloads and how they ended; a file beside another of its name has a number of its own."""
    old, new = (
        [f"{one.name} {'failed' if one.error else 'saved'}" for one in evidence.downloads]
        for evidence in (before, after)
    )
    bare = {one: _BESIDE.sub("", one) for one in (*old, *new)}
    sides = ([bare[one] if bare[one] in bare else one for one in side] for side in (old, new))
    return _paired("A download", *sides)


def _changed(recorded: ActionRecord, now: ActionRecord) -> Iterator[Difference]:
    if recorded.changed is not None and now.changed is (not recorded.changed):
        sides = ("the page changed" if one.changed else "it did not" for one in (recorded, now))
        yield Difference("The effect on the page", *sides, certain=recorded.changed)
    for before, after in zip(_switched(recorded), _switched(now), strict=False):
        for state in sorted(before ^ after):
            sides = (state if state in side else f"not {state}" for side in (before, after))
            # A page may still be about to switch it.
            yield Difference(f"The state of {recorded.elements[0]}", *sides, certain=False)


def _switched(action: ActionRecord) -> Iterator[set[str]]:
    """How an action left the switch that it was done on, where the changes show it."""
    for element in action.elements[:1]:
        for passage in action.evidence.passages if action.evidence else ():
            if line := re.search(rf"^[ ~+*]*\[{element.index}\] .*", passage.text, re.MULTILINE):
                yield {*_SWITCHED.findall(_NO_STATE.sub("", line[0]))}


def _elsewhere(what: str, old: str, new: str) -> Iterator[Difference]:
    """The same of addresses, in which a value may be encoded in several ways."""
    for found in _unlike(what, unquote_plus(old), unquote_plus(new)):
        yield replace(found, recorded=old or NOTHING, now=new or NOTHING)


def _brief(sent: Sent) -> str:
    return f"{sent.method} {sent.url} → {sent.outcome}"


def _paired(what: str, before: list[str], after: list[str]) -> Iterator[Difference]:
    for number in range(max(len(before), len(after))):
        old, new = (side[number] if number < len(side) else NOTHING for side in (before, after))
        yield from _unlike(what, old, new)


def _unlike(what: str, old: str, new: str) -> Iterator[Difference]:
    """A difference, unless both are the same; not certain if only numbers and identifiers differ."""
    old_parts, new_parts = NUMBER.findall(old), NUMBER.findall(new)
    certain = NUMBER.sub("…", old) != NUMBER.sub("…", new)
    if certain or not all(map(_says_the_same, old_parts, new_parts)):
        yield Difference(what, old or NOTHING, new or NOTHING, certain)


def _says_the_same(old: str, new: str) -> bool:
    """Whether two numbers are equal, or both are the current time, as in addresses against caches."""
    if old == new:
        return True
    if len(old) != len(new) or not all(map(_STAMP.fullmatch, (old, new))):
        return False
    return abs(int(new[:10]) - time.time()) < CLOCK_SECONDS


ELEMENT_SECONDS = 10.0  # How long an element may take to appear
SURE_SECONDS = 0.7  # How long an element quite as recorded is waited for before another one is taken
POLL_SECONDS = 0.1
EFFECT_SECONDS = 3.0  # How much longer than when recorded an action may take to have its effect
LONGEST_EFFECT_SECONDS = 30.0

HOW_FOUND = {
    "attributes": "by an attribute that has stayed",
    "role": "by its role and name",
    "text": "by its text",
}

_ALIKE = frozenset({"button", "link", "menuitem", "tab"})  # Roles that redesigns exchange for one another
_FIELDS = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "listbox", "slider"})

COMPARED = (TaskStatus.SUCCEEDED, TaskStatus.UNCONFIRMED, TaskStatus.FAILED, TaskStatus.STUCK)
"""Ends of recorded runs that a replay with the same effects comes to, too."""

MOST_SHOWN = 20  # How many departures a result names


def same_meaning(wanted: ElementRecord, located: Located) -> bool:
    """Whether an element found again may replace the recorded one, by its role and name.

    A name may change as long as half of its words stay; numbers do not count. Fields may change their label:
    what is typed into them triggers nothing.
    """
    node = located.node
    if wanted.role and node.role and wanted.role != node.role and not {wanted.role, node.role} <= _ALIKE:
        return False
    if wanted.role in _FIELDS:
        return True
    before, now = (set(re.findall(r"[^\W\d_]+", one.name.casefold())) for one in (wanted, node))
    if not before or not now:
        return before == now or located.level == "role"
    return 2 * len(before & now) >= max(len(before), len(now))


@dataclass(kw_only=True)
class Replay(TaskRun):
    """A repetition of a recorded run in one session, with a history of its own.

    `element_seconds` is how long an element may take to appear, `sure_seconds` how long it is waited for
    before a similar one is taken.
    """

    recorded: AgentHistory
    variables: Variables
    element_seconds: float = ELEMENT_SECONDS
    sure_seconds: float = SURE_SECONDS

    def __post_init__(self) -> None:
        """Check that all secrets of the recorded run are there; raises InvalidArguments."""
        arguments = [action.call.arguments for action in self.recorded.actions()]
        missing = sorted({*secrets_named(arguments)} - {*self.secrets.names})
        if missing:
            raise InvalidArguments(
                f"The recorded task types the secret {missing[0]!r}.",
                hint=f"Give secrets={missing}, in a terminal --secret {' --secret '.join(missing)}.",
            )
        super().__post_init__()
        self.most_steps = len(self.recorded.steps)
        self._comparison = Comparison(self.recorded, self.variables)
        self._tabs: dict[int, int] = {}
        self._departures: list[str] = []
        self._unsure: str | None = None  # What differs from the record, and may mean the same
        self._done = 0

    async def _work(self) -> None:
        first = next((step.url for step in self.recorded.steps), "")
        url = self.variables.put_in(self.recorded.task.start_url or first)
        is_other = "://" in url and not url.startswith(("http:", "https:", "file:", "data:"))
        if not is_other and url not in ("", "about:blank"):
            try:
                await self.executor.open(url)
            except ActionError as error:
                self.end(TaskStatus.FAILED, f"The start page could not be opened: {error}")
        for step in self.recorded.steps[len(self.history.steps) :]:
            if not await self._may_go_on():
                return
            await self._step(step)
        if self._unsure is not None:
            self.end(TaskStatus.UNCONFIRMED, self._unsure)
        status = self.recorded.status
        why = None if status is TaskStatus.SUCCEEDED else f"The recorded run ended as {status.value}."
        self.end(status if status in COMPARED else TaskStatus.UNCONFIRMED, why)

    def outcome(self) -> TaskOutcome:
        """The outcome of the replay so far."""
        done = len(self.history.steps)
        steps = f"{done} of {counted(len(self.recorded.steps), 'step')}"
        same = "" if self.obstacle or not self._done else "; each had the effect that was recorded"
        said = [f"Did {counted(self._done, 'action')} again ({steps}){same}."]
        said += [f"Departed: {departure}" for departure in self._departures[:MOST_SHOWN]]
        if len(self._departures) > MOST_SHOWN:
            said.append(f"And {len(self._departures) - MOST_SHOWN} more departures; the history has them.")
        data = {"replay_of": self.recorded.id, "actions": self._done, "departures": list(self._departures)}
        return self._outcome(answer="\n".join(said), data=data, steps=done)

    async def _step(self, step: StepRecord) -> None:
        started = datetime.now(UTC)
        notes: list[str] = []
        done: list[ActionRecord] = []
        look: Look | None = None
        self._note_late_evidence()
        try:
            look = await self.executor.look(picture=False, shot=self._wants_shot)
            again = tuple(
                str(ActionCall(name=one.call.name, arguments=self.variables.put_in(one.call.arguments)))
                for one in step.actions
                if one.call.name != DONE
            )
            number = len(self.history.steps) + 1
            await self._report(number, goal=step.brain.next_goal, actions=again, url=look.url)
            for action in step.actions:
                record = await self._again(step, action, notes)
                done += [record] if record is not None else []
                if self.history.status is not TaskStatus.WORKING:
                    break
        except ActionError as error:
            self.end(TaskStatus.FAILED, f"Step {step.number}: {self.secrets.hide(str(error))}")
        self._record(step.number, look, started, brain=step.brain, actions=tuple(done), notes=tuple(notes))
        self._save()

    async def _again(self, step: StepRecord, action: ActionRecord, notes: list[str]) -> ActionRecord | None:
        if (name := action.call.name) == DONE:
            return None
        if name == CALL_USER or action.error is not None:
            why = "Not asked again" if name == CALL_USER else "Not done again, since it had failed"
            notes.append(f"{why}: {action.call}")
            return None
        try:
            await self._go_to_tab(action, notes)
            call = await self._call(action, notes)
        except ActionError as error:
            notes.append(self.secrets.hide(str(error)))
            self.end(TaskStatus.FAILED, f"Step {step.number}, {action.call}: {notes[-1]}")
            return None
        outcomes: list[ActionOutcome] = []
        await self.executor.act([call], outcomes)
        (outcome,) = outcomes
        self._tabs.update(zip(action.opened, outcome.record.opened, strict=False))
        if outcome.record.error is not None:
            self.end(TaskStatus.FAILED, f"Step {step.number}, {call}: {outcome.record.error}")
        else:
            self._done += 1
            await self._compare(step, action, outcome.record)
            self._comparison.go_on(action, self.executor.late_evidence())
        return outcome.record

    async def _compare(self, step: StepRecord, recorded: ActionRecord, record: ActionRecord) -> None:
        """Compare the effects of an action with the record; wait for those that are missing."""
        registry = self.controller.registry
        if recorded.call.name in registry and registry[recorded.call.name].effect == "read":
            return
        # What a person did has taken as long as they waited for what it led to.
        ends = time.monotonic() + min(EFFECT_SECONDS + 2 * recorded.seconds, LONGEST_EFFECT_SECONDS)
        found: Difference | None
        while found := self._comparison.difference(recorded, self.executor.now(record)):
            if time.monotonic() >= ends or recorded.evidence is None:
                break
            await anyio.sleep(POLL_SECONDS)
        if found is not None and found.certain:
            self.end(TaskStatus.FAILED, f"Step {step.number}, {recorded.call.name}: {found}.")
        elif found is not None and self._unsure is None:
            self._unsure = f"Step {step.number}, {recorded.call.name}: {found}."

    async def _go_to_tab(self, action: ActionRecord, notes: list[str]) -> None:
        await self.session.ensure_open()
        current = self.session.current_tab.id
        if action.tab is None or self._tabs.setdefault(action.tab, current) == current:
            return
        wanted = self._tabs[action.tab]
        if wanted not in self.session.tabs:
            raise NotFound("The tab of this action is not open any more.")
        await self.executor.switch_tab(wanted)
        self._depart(notes, f"{action.call.name} was done in tab {wanted}, which was not the current one")

    async def _call(self, action: ActionRecord, notes: list[str]) -> ActionCall:
        """The recorded call with new values and the current elements and tabs; raises NotFound."""
        arguments: dict[str, Any] = copy.deepcopy(self.variables.put_in(action.call.arguments))
        if isinstance(tab := arguments.get("tab"), int):
            arguments["tab"] = self._tabs.get(tab, tab)
        records = {record.argument: record for record in action.elements}
        for argument, value in element_arguments(action.call.arguments):
            record = records.get(argument)
            if record is None:
                if isinstance(value, int):
                    raise NotFound(f"What [{value}] was has not been recorded.")
                continue
            wanted = self.variables.put_in_record(record)
            located = await self._find(wanted)
            if located.level != "exact":
                name, node = action.call.name, located.node
                now = f"[{node.index}] {node.role} {quoted(node.name)}"
                if not same_meaning(wanted, located):
                    await self._ask_whether(f"{name} was recorded on {wanted}, which is now {now}")
                self._depart(notes, f"{name}: {wanted} was found {HOW_FOUND[located.level]}, as {now}")
            await self._put(arguments, argument, record, located)
        return ActionCall(name=action.call.name, arguments=arguments)

    async def _ask_whether(self, change: str) -> None:
        """Ask the person if an element still is what was meant; raises NotActionable."""
        change = self.secrets.hide(change)
        if not await self._confirm(f"The replay of a task: {change}. Is that still what is meant?"):
            raise NotActionable(
                f"{change}: it may mean something else, so it was not done.",
                hint="Do this step by hand, or record the task again.",
            )

    async def _find(self, wanted: ElementRecord) -> Located:
        """A recorded element, as soon as it is there; raises NotFound, DialogOpen."""
        started = time.monotonic()
        while True:
            tab = self.session.current_tab
            why = f"{wanted} was not found."
            try:
                async with self.session.lock:
                    located = await tab.ask(tab.dom.locate(wanted))
            except DialogOpen:
                raise
            except (ActionError, PlaywrightError, FrameGone) as error:
                located = None
                why = error.message if isinstance(error, ActionError) else why
            waited = time.monotonic() - started
            if located is not None and (located.level == "exact" or waited >= self.sure_seconds):
                return located
            if waited >= self.element_seconds:
                raise NotFound(
                    f"{why} It was waited for {self.element_seconds:g} s on {tab.url[:200]}.",
                    hint="Look with get_state what is there; variables= changes values that have changed.",
                )
            await anyio.sleep(POLL_SECONDS)

    async def _put(
        self, arguments: dict[str, Any], argument: str, record: ElementRecord, located: Located
    ) -> None:
        holder, last = place_of(arguments, argument)
        assert located.node.index is not None
        if record.point is None:
            holder[last] = located.node.index
            return
        tab = self.session.current_tab
        async with self.session.lock:
            box = await tab.element(located.node.index).show()
            view = await view_size(tab)
        x = box.x + (record.point[0] - 0.5) * box.width
        y = box.y + (record.point[1] - 0.5) * box.height
        holder[last] = f"{x:.0f},{y:.0f}@{view}"

    def _depart(self, notes: list[str], what: str) -> None:
        notes.append(f"Departed: {self.secrets.hide(what)}.")
        self._departures.append(self.secrets.hide(what))
