"""Repeat a recorded run without a model, and compare the effects of its actions."""

import copy
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.code import secrets_named
from mcp_browser.actions.observing import view_size
from mcp_browser.actions.recording import element_arguments, place_of
from mcp_browser.agent.comparing import Comparison, Difference
from mcp_browser.agent.record.history import ActionRecord, AgentHistory, StepRecord
from mcp_browser.agent.record.variables import Variables
from mcp_browser.agent.task import ActionCall, TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.dom.identities import ElementRecord, Located
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, DialogOpen, InvalidArguments, NotActionable, NotFound
from mcp_browser.text import counted, quoted

if TYPE_CHECKING:
    from mcp_browser.agent.executor import ActionOutcome, Look

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

    # -- steps

    async def _step(self, step: StepRecord) -> None:
        started = datetime.now(UTC)
        notes: list[str] = []
        actions: list[ActionRecord] = []
        look: Look | None = None
        self._note_late_evidence()
        try:
            look = await self.executor.look(picture=False, shot=self._wants_shot)
            await self._report_step(step, look.url)
            for action in step.actions:
                record = await self._again(step, action, notes)
                actions += [record] if record is not None else []
                if self.history.status is not TaskStatus.WORKING:
                    break
        except ActionError as error:
            self.end(TaskStatus.FAILED, f"Step {step.number}: {self.secrets.hide(str(error))}")
        self._record(step.number, look, started, brain=step.brain, actions=tuple(actions), notes=tuple(notes))
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
                    located = await tab.ask(tab.dom.identities.locate(wanted))
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

    # -- around the steps

    def _depart(self, notes: list[str], what: str) -> None:
        notes.append(f"Departed: {self.secrets.hide(what)}.")
        self._departures.append(self.secrets.hide(what))

    async def _report_step(self, step: StepRecord, url: str) -> None:
        calls = [action.call for action in step.actions if action.call.name != DONE]
        again = [ActionCall(name=one.name, arguments=self.variables.put_in(one.arguments)) for one in calls]
        number, actions = len(self.history.steps) + 1, tuple(map(str, again))
        await self._report(number, goal=step.brain.next_goal, actions=actions, url=url)
