"""A list of actions: its premises, its outcomes, and how it resumes after a pause."""

import contextlib
import copy
import json
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from mcp_browser.actions.recording import element_arguments, place_of
from mcp_browser.actions.registry import ActionModel, RegisteredAction, Registry
from mcp_browser.actions.result import ActionResult, Outcome
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.element import Element, FieldValue
from mcp_browser.browser.observation import Observation
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import ConsentNeeded, PolicyGate, refused
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.models import DomChanges, DomNode
from mcp_browser.dom.named import ElementName
from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DialogOpen,
    InvalidArguments,
    NotFound,
    PremiseGone,
    Refused,
    StaleElement,
)
from mcp_browser.policy import Policy, Target
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import clean_text, plain_lines, quoted


class Premises:
    """The documents and elements that a list was written for, as they were last shown.

    With `still`, the list also ends when the page changes in a way that its writer has to see.
    """

    def __init__(
        self, session: BrowserSession, arguments: Iterable[Mapping[str, Any]], *, still: bool = False
    ) -> None:
        self._session = session
        self._still = still
        self._changed: str | None = None
        self._handed_back: float | None = None
        self._home = session.tab_in_use
        self._documents = {tab.id: tab.activity.document_number for tab in session.tabs.values()}
        self._indexes = {
            value for given in arguments for _, value in element_arguments(given) if isinstance(value, int)
        }
        self._shown: dict[tuple[int, int], DomNode] = {}
        for tab in session.tabs.values():
            for index in self._indexes:
                with contextlib.suppress(NotFound, StaleElement):
                    self._shown[tab.id, index] = tab.dom.resolve(index).node

    async def _learn(self, last: Collection[object]) -> dict[tuple[int, int], DomNode]:
        """Describe the elements before the first action, `last` its own: alone, some read otherwise."""
        tab, found = self._session.current_tab, dict[tuple[int, int], DomNode]()
        for index in sorted(self._indexes, key=last.__contains__) if not tab.held else ():
            if (shown := self._shown.get((tab.id, index))) is None:
                continue
            with contextlib.suppress(NotFound, StaleElement, FrameGone):
                found[tab.id, index] = node = await tab.ask(tab.dom.describe(index))
                before, now = (one.name.casefold().removesuffix("…") for one in (shown, node))
                if before in now or now in before:  # Both may describe the same element.
                    self._shown[tab.id, index] = node
        return found

    async def check(self, action: RegisteredAction, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raise PremiseGone unless the page is as it was shown; call it while the session is held.

        Return the arguments; an index that is gone is replaced by that of the element redrawn in its place.
        """
        session, learned = self._session, dict[tuple[int, int], DomNode]()
        if self._handed_back is None:
            self._handed_back = session.takeover.ended
            learned = await self._learn([value for _, value in element_arguments(arguments)])
        if session.takeover.busy or session.takeover.ended != self._handed_back:
            raise PremiseGone("A person has taken over the browser.")
        tab = session.current_tab
        if tab.held and tab.dialog is not None and not action.during_dialog:
            raise PremiseGone(f"{tab.dialog}.", hint="Answer it with handle_dialog.")
        if self._changed is not None:
            raise PremiseGone(self._changed)
        for place, value in list(element_arguments(arguments)):
            if isinstance(value, ElementName):
                continue  # It is looked for in its turn.
            if tab.id not in self._documents and self._home is not None and not self._home.closed:
                # A new tab has opened; this one was shown before.
                tab = await session.switch_tab(self._home.id)
                session.notice(f"Tab {tab.id} is the current one again: the list of actions went on there.")
            if self._documents.get(tab.id) != tab.activity.document_number:
                other = f"The page is another one now ({cut_address(tab.url)})."
                raise PremiseGone(other, hint="Take indexes from what it shows.")
            shown = self._shown.get((tab.id, value)) if isinstance(value, int) else None
            if shown is None:
                continue
            try:
                node = learned.get((tab.id, value)) or await tab.ask(tab.dom.describe(value))
            except StaleElement as error:
                if error.redrawn is None:
                    raise PremiseGone(error.message, hint=error.hint) from error
                arguments = copy.deepcopy(dict(arguments))
                holder, last = place_of(arguments, place)
                holder[last] = error.redrawn
                session.notice(f"[{value}] was drawn anew, same otherwise, as [{error.redrawn}].")
                continue
            if (node.role, node.name) != (shown.role, shown.name):
                was, now = (f"{one.role} {quoted(one.name)}" for one in (shown, node))
                raise PremiseGone(f"[{value}] was shown as {was}, and is {now} now.")
        return arguments

    def note(self, observation: Observation | None) -> None:
        """Take note of why the remaining actions may no longer fit, by what one has changed."""
        if not self._still or observation is None:
            return
        changes = observation.changes or DomChanges()
        added = (change.node for change in changes.changes if change.op == "added")
        # Rows of a table are mostly read: they are no reason to end, in short or one by one.
        new = next((n for n in added if n.kind in ("interactive", "fold") and n.role != "rows"), None)
        if observation.snapshot is not None:
            self._changed = "The page is another one now."
        elif changes.omitted:
            self._changed = "The page has changed."
        else:
            self._changed = f"New elements have come up ({new})." if new is not None else None


@dataclass(frozen=True, slots=True)
class ListedAction:
    """One action of a list; the parts of a nested list share its position.

    When a `lenient` one fails, the others of its position still run.
    """

    position: int
    action: RegisteredAction
    arguments: Mapping[str, Any]
    lenient: bool = False


LEFT_SECONDS = 0.5  # How long a page that may be leaving has to say what a field holds

Do = Callable[[ListedAction], Awaitable[ActionResult]]


@dataclass(slots=True, eq=False, kw_only=True)
class Batch:
    """A list that runs; its caller holds the session. It can pause for consent and resume.

    `ended_by` is why it ended early; `has_missed`, whether a wait for a named element has timed out.
    """

    whole: RegisteredAction
    entries: Sequence[ListedAction]
    premises: Premises | None = None
    refused: bool = False
    deadline: float = math.inf  # By the monotonic clock
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    results: dict[int, ActionResult] = field(default_factory=dict[int, ActionResult])  # By their outcomes
    typed: list[tuple[Element, FieldValue]] = field(default_factory=list[tuple[Element, FieldValue]])
    ended_by: ActionError | None = None
    has_missed: bool = False
    _left: tuple[int, Element, FieldValue] | None = None  # A text field that may still have the focus
    _paused_at: tuple[int, int] | None = None

    @property
    def strict(self) -> bool:
        """Whether a caller wrote the list, so that all mistakes are reported before it starts."""
        return self.whole.expansion is not None and not self.whole.expansion.lenient

    def prepare(self, params: BaseModel) -> None:
        """Make the list anew from other parameters of the whole."""
        self.entries = _of_same(self.whole, params)

    async def begin(self, session: BrowserSession) -> None:
        """Record how the page is shown, and check a strict list; call it while the session is held.

        Raises ActionError: an action cannot be done; the message names its position. Nothing was done.
        """
        self.premises = Premises(session, [entry.arguments for entry in self.entries])
        for entry in self.entries if self.strict else ():
            action, address = entry.action, entry.arguments.get("url")
            try:
                tab = session.current_tab
                if action.effect == "navigation":
                    if isinstance(address, str):
                        check_url(session.restored(address), session.settings, base=tab.url)
                    break  # The page will be another one
                if not action.offered_on(tab.page):
                    raise action.not_offered(tab.page)
                for index in _indexes(entry):
                    await tab.ask(tab.dom.describe(index))
            except ActionError as error:
                raise _wrong(entry.position, action.name, error) from error

    async def run(self, do: Do, session: BrowserSession) -> None:
        """Run what is left, until an action fails or the page is not as it was shown.

        Raises:
            ConsentNeeded: a person has to be asked; if something was done already, the list is paused.
            BrowserUnavailable, DialogOpen, Refused: the first action failed (the latter two: not `strict`).
        """
        if self._paused_at is not None:
            entry = self.entries[len(self.outcomes)]
            if self.refused:
                self._failed(entry, refused())
            elif self._paused_at != _place(session):
                gone = "The page is another one now than when the person was asked."
                self._failed(entry, PremiseGone(gone, hint="Do the rest in a call of its own."))
            self._paused_at, self.refused = None, False
        while self.ended_by is None and len(self.outcomes) < len(self.entries):
            entry = self.entries[len(self.outcomes)]
            session.doing = f"action {entry.position} of {self.entries[-1].position}, {entry.action.name}"
            try:
                result = await do(entry)
            except ConsentNeeded as need:
                if self.outcomes:
                    need.paused, self._paused_at = self, _place(session)
                raise
            except ActionError as error:
                ends = BrowserUnavailable if self.strict else (BrowserUnavailable, DialogOpen, Refused)
                if isinstance(error, ends) and not self.outcomes:
                    raise
                self._failed(entry, error)
            else:
                self.results[len(self.outcomes)] = result
                text = result.error or result.extracted_content
                if not text:
                    text = json.dumps(result.data, ensure_ascii=False) if result.data else "Done."
                self._add(entry, result.error, text)
                if self.premises is not None:
                    self.premises.note(result.observation)
            finally:
                session.doing = ""
            await self._check_left(entry)

    async def _check_left(self, entry: ListedAction) -> None:
        """Report a text field that has changed or dropped its text as it lost the focus.

        What the field holds later counts only if the next action types, too: a click may send and clear it.
        """
        usual = ActionError, FrameGone, PlaywrightError
        with contextlib.suppress(*usual), anyio.move_on_after(LEFT_SECONDS):
            moved = entry.action.reach == "elements" and self.outcomes[-1].outcome == "done"
            if moved and self._left is not None and not self._left[1].tab.held:
                (at, element, was), self._left = self._left, None
                if all(one.index != element.index for one, _ in self.typed):
                    values = await element.left(late=bool(self.typed))
                    if (now := next((one for one in values if not one.holds(was.value)), None)) is not None:
                        holds = f"holds {now}" if now.value else "is empty"
                        text = f"{self.outcomes[at].text} Once it had lost the focus, it {holds}."
                        self.outcomes[at] = self.outcomes[at].model_copy(update={"text": text})
            if self.typed and self.ended_by is None and len(self.outcomes) < len(self.entries):
                self._left = (len(self.outcomes) - 1, *self.typed[-1])
                await self._left[1].call("watchLeaving")
        self.typed.clear()

    def result(self) -> ActionResult:
        """The outcomes of all actions as one result."""
        assert self.whole.expansion is not None
        rest = self.entries[len(self.outcomes) :]
        left = (Outcome(position=one.position, action=one.action.name, outcome="not started") for one in rest)
        outcomes = (*self.outcomes, *left)
        text = self.whole.expansion.summary(outcomes)
        failed = any(one.outcome != "done" for one in outcomes)
        results = [*self.results.values()]
        read: list[str] = []
        for at, one in self.results.items():
            if (content := one.page_content) is not None:
                content = content if one.page_lines else plain_lines(clean_text(content))
                read.append(f"{self.outcomes[at].position}. {self.outcomes[at].action}:\n{content}")
        return ActionResult(
            error=text if failed else None,
            extracted_content=None if failed else text,
            page_content="\n".join(read) or None,
            page_lines=True,
            stands_for_page=not failed and bool(results) and results[-1].stands_for_page,
            attachments=tuple(file for one in results for file in one.attachments),
            code=tuple(line for one in results for line in one.code),
            outcomes=outcomes if self.strict else (),
            observation=results[-1].observation if results and not failed else None,
        )

    def _failed(self, entry: ListedAction, error: ActionError) -> None:
        self._add(entry, error, " ".join(" ".join((str(error), *error.notices)).split()))

    def _add(self, entry: ListedAction, error: ActionError | str | None, text: str) -> None:
        how = "failed" if error else "done"
        self.outcomes.append(
            Outcome(position=entry.position, action=entry.action.name, outcome=how, text=text)
        )
        here = len(self.outcomes)
        more = entry.lenient and here < len(self.entries) and self.entries[here].position == entry.position
        # Lenient actions of one position are all tried.
        if not more and any(one.outcome == "failed" for one in self.outcomes):
            self.ended_by = error if isinstance(error, ActionError) else ActionError(text)


def entries_of(
    action: RegisteredAction, params: Any, registry: Registry, *, alone: bool, position: int = 1
) -> list[ListedAction]:
    """The actions of a list; `alone`: allow those that otherwise run by themselves. Raises ActionError."""
    assert action.expansion is not None
    if action.expansion.lenient:
        return _of_same(action, params, position)
    entries: list[ListedAction] = []
    for number, one in enumerate(action.expansion.into(params), 1):
        name = ""
        try:
            name, arguments = only(one)
            inner = registry[name]
            if inner.expansion is not None and not inner.expansion.lenient:
                raise InvalidArguments("A list has no list in it.")
            if inner.alone and not alone:
                why = "It may not be one of a list: it runs code, gives away files or is destructive."
                raise Refused(why, hint="Call it by itself.")
            read = inner.validate(arguments)
            # An optional index that is 0 or empty is none.
            arguments = {
                at: one for at, one in arguments.items() if getattr(read, at, one) is not None or one is None
            }
            if inner.expansion is None:
                entries.append(ListedAction(number, inner, arguments))
            else:
                entries += entries_of(inner, read, registry, alone=alone, position=number)
        except ActionError as error:
            raise _wrong(number, name, error) from error
    return entries


def _of_same(action: RegisteredAction, params: BaseModel, position: int = 1) -> list[ListedAction]:
    """The parts of an action that runs several times, once for each part."""
    assert action.expansion is not None
    parts = action.expansion.into(params)
    return [ListedAction(position, action, part[action.name], lenient=True) for part in parts]


def only(action: ActionModel | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name and arguments in an action model, or a mapping with one action; raises InvalidArguments."""
    if isinstance(action, ActionModel):
        return action.chosen()
    match [*action.items()]:
        case [(str(name), {**arguments})]:
            return name, cast("Mapping[str, Any]", arguments)
        case _:
            example = 'Such as {"click_element": {"index": 3}}.'
            raise InvalidArguments("An action is one name with its arguments.", hint=example)


async def foresee(
    policy: Policy, entries: Sequence[ListedAction], session: BrowserSession, granted: Collection[str] | None
) -> None:
    """Check the known targets of a list against the policy, before anything is done.

    Raises ConsentNeeded, once for all, or Refused, whose message names the action's position.
    """
    questions: dict[str, None] = {}
    keys: set[str] = set()
    tab = session.current_tab
    for entry in entries:
        gate, targets = PolicyGate(policy, entry.action, session, granted), list[Target]()
        for index in _indexes(entry) if entry.action.reach == "elements" else ():
            with contextlib.suppress(NotFound, StaleElement, FrameGone):
                ref, enter = tab.dom.resolve(index), entry.arguments.get("submit") is True
                targets += await tab.ask(tab.dom.targets.of(ref, enter=enter))
        try:
            gate.begin(entry.arguments)
            gate.check(targets)
        except ConsentNeeded as need:
            questions[need.question] = None
            keys |= need.keys
        except Refused as error:
            raise _wrong(entry.position, entry.action.name, error) from error
        if entry.action.effect == "navigation":
            break  # The page will be another one
    if questions:
        raise ConsentNeeded("\n".join(questions), frozenset(keys))


def _indexes(entry: ListedAction) -> list[int]:
    return [value for _, value in element_arguments(entry.arguments) if isinstance(value, int)]


def _wrong(position: int, name: str, error: ActionError) -> ActionError:
    return type(error)(
        f"Action {position}{f' ({name})' if name else ''}: {error.message.removeprefix(f'{name}: ')}",
        hint=f"{error.hint} Nothing was done.".lstrip(),
    )


def _place(session: BrowserSession) -> tuple[int, int] | None:
    tab = session.tab_in_use
    return (tab.id, tab.activity.document_number) if tab is not None else None
