"""Look at the page, and carry out actions within the task's limits."""

import contextlib
import io
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.navigation import go_to_url, switch_tab
from mcp_browser.actions.observing import get_state
from mcp_browser.actions.recording import EXPORT_SCRIPT, UNKNOWN, record_elements
from mcp_browser.actions.result import ActionResult
from mcp_browser.actions.several import DO_ACTIONS
from mcp_browser.agent import spans
from mcp_browser.agent.record.history import LONGEST_PASSAGE, ActionRecord, Evidence, Origin, Passage
from mcp_browser.agent.secrets.store import CheckedTyping, Secrets
from mcp_browser.agent.task import ActionCall
from mcp_browser.agent.watch import ActionWatch
from mcp_browser.batch import Batch, ListedAction, Premises
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.observation import Observation
from mcp_browser.browser.pictures import make_picture
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import Ask, nobody, with_consent
from mcp_browser.controller import Controller
from mcp_browser.dom.models import DomChanges
from mcp_browser.errors import ActionError, BlockedUrl, PremiseGone, TakenOver
from mcp_browser.hosts import is_on
from mcp_browser.llm.messages import ImageBlock
from mcp_browser.privacy.hiding import MARK, cut_address, redact_addresses
from mcp_browser.rendering import render_error, render_result
from mcp_browser.settings import Settings
from mcp_browser.text import cut, in_texts

if TYPE_CHECKING:
    from mcp_browser.dom.identities import ElementRecord

MOST_LEFT = 5  # How many pages in a row are left before it is given up


class Domains:
    """Hosts that a task keeps to: globs; none means any."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)

    def allow(self, url: str) -> bool:
        """Whether a page may be shown; empty pages and failed loads may."""
        url = url.replace(MARK, "")  # It is no part of a host.
        scheme = urlsplit(url).scheme
        return not self._patterns or scheme in ("", "about", "chrome-error") or is_on(url, self._patterns)

    def check(self, url: str, settings: Settings, *, base: str = "") -> None:
        """Refuse an address as written; `base` is the current page's. Raises BlockedUrl, NavigationError."""
        address = check_url(url, settings, base=base) if self._patterns else ""
        if not self.allow(address):
            raise self.outside(address)

    def outside(self, url: str) -> BlockedUrl:
        """The error for an address outside."""
        return BlockedUrl(
            f"{cut_address(url)} is outside the domains of this task.",
            hint=f"Stay on {', '.join(self._patterns)}.",
        )

    async def leave(self, session: BrowserSession, *, tabs: Collection[int]) -> str | None:
        """Leave the current page if it is outside and return its address, else None; raises BlockedUrl.

        A tab that is not one of `tabs` is closed; others go back, or to an empty page. This uses no action of
        the registry, since the task may lack it.
        """
        left: str | None = None
        for _ in range(MOST_LEFT):
            async with session.lock:
                tab = session.tab_in_use
                if tab is None or self.allow(tab.url):
                    return left
                left = left or tab.url
                ways = (tab.back, lambda tab=tab: tab.goto("about:blank"))
                for go in ways if tab.id in tabs else ():
                    with contextlib.suppress(ActionError, PlaywrightError):
                        await go()
                    if self.allow(tab.url):
                        break
                else:
                    await session.close_tab(tab.id)
        raise self.outside(left or "The page")


SHOT_SIDE = 800  # Longest side of a picture for people, pixels
SHOT_QUALITY = 60

BROKEN_OFF = "It was broken off, and may have been done in part or whole: look before you repeat it."
"""The result of an interrupted action."""


@dataclass(frozen=True, slots=True)
class Look:
    """The page as the agent sees it."""

    url: str
    title: str
    text: str
    images: tuple[ImageBlock, ...] = ()
    scrolled: str = ""  # How far the page is scrolled
    shot: ImageBlock | None = None  # A picture for people, who look at it later
    origin: Origin = "page"

    @property
    def passage(self) -> Passage:
        return Passage(text=cut(self.text, LONGEST_PASSAGE), origin=self.origin, where=self.url)


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """An action that was tried: its record, and the model's memory of it."""

    record: ActionRecord
    result: ActionResult | None
    memory: str


class Executor:
    """Looks and acts in one session, for one task."""

    def __init__(
        self,
        controller: Controller,
        session: BrowserSession,
        *,
        secrets: Secrets,
        allowed_domains: Sequence[str] = (),
        confirm: Ask = nobody,
    ) -> None:
        """Act by `controller`; looking, opening the first page and switching tabs need no action of its
        registry.

        `confirm` asks a person for the consent that the policy requires.
        """
        self.controller = controller
        self.session = session
        self._secrets = secrets
        self._domains = Domains(allowed_domains)
        # What the session does is recorded as code where somebody can ask for it.
        left_out = () if EXPORT_SCRIPT in controller.registry else (EXPORT_SCRIPT,)
        self._own = Controller(default_registry().without(left_out), controller.settings)
        self._confirm = confirm
        self._has_begun = False
        self._given = ""  # The address that the task names
        self.watch: ActionWatch | None = None  # Of the last action

    async def open(self, url: str) -> None:
        """Open an address that the task names; raises ActionError."""
        self._domains.check(url, self.controller.settings)
        self._given = url
        await self.session.plugin(NetworkLog)
        await self._execute(self._own, go_to_url.__name__, {"url": url})
        self._has_begun = True
        await self._stay_within(set(self.session.tabs))

    async def switch_tab(self, tab_id: int) -> None:
        """Go on in another tab. Raises NotFound: there is no such tab."""
        await self._execute(self._own, switch_tab.__name__, {"tab": tab_id})

    async def look(self, *, picture: bool, shot: bool = False) -> Look:
        """The page's state, with a picture for the model if wanted and possible. Raises ActionError.

        `shot` asks for a small picture for people, if there is none for the model.
        """
        # Also after the task: nobody who looks at the page may read what was typed into it.
        self.session.hide(self._secrets.values)
        left: str | None = None
        for _ in range(2):
            left = await self._leave_outside()
            looked = await self._patiently(self._own, get_state.__name__, {"screenshot": picture})
            observation = looked.observation
            if observation is None or self._domains.allow(observation.url):
                break
            # It went there meanwhile.
        else:
            raise self._domains.outside(left or "The page")
        images = tuple(
            _image(one.data, one.mime_type)
            for one in looked.attachments
            if one.kind == "image" and one.data is not None
        )
        note = (self._secrets.hide(f"{self._domains.outside(left)} It was left."),) if left else ()
        return Look(
            url=self._secrets.hide(observation.url) if observation else "",
            title=self._secrets.hide(observation.title) if observation else "",
            text="\n".join((*note, self._text(looked))),
            images=images,
            scrolled=str(observation.snapshot.scroll) if observation and observation.snapshot else "",
            shot=images[0] if images else await self.small_picture() if shot else None,
            origin=self._origin(observation.url if observation else ""),
        )

    async def small_picture(self) -> ImageBlock | None:
        """Return a small JPEG of the view, for people; None where none can be taken now."""
        async with self.session.lock:
            try:
                shot = await self.session.current_tab.screenshot(kind="jpeg")
            except UNKNOWN:
                return None
        made = await anyio.to_thread.run_sync(
            lambda: make_picture(shot, format="jpeg", quality=SHOT_QUALITY, max_side=SHOT_SIDE)
        )
        return ImageBlock(data=made.data, mime_type=made.mime_type, width=made.width, height=made.height)

    async def act(self, calls: Sequence[ActionCall], outcomes: list[ActionOutcome]) -> None:
        """Carry out actions in order, until one fails, ends the task, asks a person or changes the page.

        Each is added to `outcomes` when done, and so is one that is broken off, however this ends.
        """
        last = next((at for at, call in enumerate(calls) if call.name in (DONE, CALL_USER)), len(calls))
        registry = self.controller.registry
        entries = [
            ListedAction(at, registry[call.name], call.arguments) for at, call in enumerate(calls[: last + 1])
        ]
        premises = Premises(self.session, [call.arguments for call in calls], still=True)
        batch = Batch(whole=self._own.registry[DO_ACTIONS], entries=entries, premises=premises)

        async def do(entry: ListedAction) -> ActionResult:
            outcome = await self._do(calls[entry.position], outcomes, premises)
            outcomes.append(outcome)
            if outcome.result is None:
                raise ActionError(outcome.memory)
            return outcome.result

        await batch.run(do, self.session)
        if isinstance(batch.ended_by, PremiseGone) and outcomes:
            rest = self._secrets.hide(", ".join(map(str, calls[len(outcomes) :])))
            left_out = f"{batch.ended_by.message} So these actions were not done: {rest}."
            outcomes[-1] = replace(outcomes[-1], memory=f"{outcomes[-1].memory}\n{left_out}")

    async def _do(self, call: ActionCall, outcomes: list[ActionOutcome], premises: Premises) -> ActionOutcome:
        session, registry = self.session, self.controller.registry
        tab, tabs, files = session.tab_in_use, set(session.tabs), len(session.downloads)
        elements: tuple[ElementRecord, ...] = ()
        shown = call
        started = time.monotonic()
        watch: ActionWatch | None = None

        def record(came: ActionResult | None = None, changes: str = "", **outcome: Any) -> ActionRecord:
            return ActionRecord(
                evidence=self._evidence(watch, came, changes) if watch is not None else None,
                call=ActionCall(name=shown.name, arguments=self._secrets.hide_in(shown.arguments)),
                url=self._url(),
                elements=elements,
                tab=tab.id if tab is not None else None,
                opened=tuple(sorted(set(session.tabs) - tabs)),
                downloads=tuple(self._secrets.hide(file.name) for file in session.downloads[files:]),
                seconds=round(time.monotonic() - started, 3),
                **outcome,
            )

        async def prepare(arguments: Mapping[str, Any]) -> dict[str, Any]:
            nonlocal tab, tabs, files, elements, shown, watch
            if call.name not in (DONE, CALL_USER):
                log = await session.plugin(NetworkLog)
                self.watch = watch = ActionWatch(session, log, self.watch)
            given, action = dict(arguments), registry[call.name]
            tab, tabs, files = session.current_tab, set(session.tabs), len(session.downloads)
            # Before the action: it may take its element off the page.
            elements = await record_elements(session, given, hide=self._secrets.hide_in)
            typing = CheckedTyping(session, self._secrets, action)
            named = in_texts(await typing.note_typed(given, elements), redact_addresses)
            shown = ActionCall(name=call.name, arguments=named)
            address = given.get("url")
            if isinstance(address, str) and action.effect == "navigation":
                self._domains.check(address, self.controller.settings, base=tab.url)
            # What is reported or asked keeps the names of secrets.
            keeps = call.name in (DONE, CALL_USER)
            filled = given if keeps else await typing.fill_in(given)
            typing.apply()
            return filled

        try:
            with spans.of_action(call.name):
                result = await self._execute(
                    self.controller, call.name, call.arguments, prepare=prepare, premises=premises
                )
            await self._stay_within(tabs)
        except ActionError as error:
            if isinstance(error, PremiseGone) and outcomes:
                raise
            text = render_error(error, secrets=self._secrets.values)
            try:
                await self._stay_within(tabs)
            except ActionError as outside:
                if outside is not error:
                    text = f"{text}\n{render_error(outside, secrets=self._secrets.values)}"
            return ActionOutcome(record(error=text), None, f"{shown} failed: {text}")
        except anyio.get_cancelled_exc_class():
            outcomes.append(ActionOutcome(record(error=BROKEN_OFF), None, f"{shown}: {BROKEN_OFF}"))
            raise
        place = (seen := result.observation) and Observation(url=seen.url, title="")
        text = self._text(result.model_copy(update={"observation": place, "attachments": ()}))
        notes = (f"\nNote: {' '.join(notice.split())}" for notice in (seen.notices if seen else ()))
        text += self._secrets.hide("".join(notes))
        changes = self._changes(result)
        changed = _has_changed(result.observation)
        if result.error is not None:
            failed = record(result, changes, changed=changed, error=text)
            return ActionOutcome(failed, None, f"{shown} failed: {text}")
        memory = f"{shown}: {text}" if result.include_in_memory else ""
        return ActionOutcome(record(result, changes, changed=changed, result=text), result, memory)

    def _evidence(self, watch: ActionWatch, result: ActionResult | None, changes: str) -> Evidence:
        url = self._url()
        origin = self._origin(url)
        seen = Passage(text=cut(changes, LONGEST_PASSAGE), origin=origin, where=url)
        return watch.evidence(
            self._secrets.hide_in,
            result_from="agent" if result is not None and result.by_caller else origin,
            passages=(seen,) if changes else (),
        )

    def now(self, record: ActionRecord) -> ActionRecord:
        """The record of the last action, with its effects so far."""
        passages = record.evidence.passages if record.evidence is not None else ()
        late = self.late_evidence()
        evidence = late and late.model_copy(update={"passages": passages})
        return record.model_copy(update={"url": self._url(), "evidence": evidence})

    def late_evidence(self) -> Evidence | None:
        """The effects of the last action so far; None if there was no action."""
        return self.watch.evidence(self._secrets.hide_in) if self.watch is not None else None

    def _origin(self, url: str) -> Origin:
        """Who wrote a page: the agent, if its address has no site, such as `data:`."""
        if url.startswith("file:"):
            return "file"
        is_own = url.startswith(("data:", "about:")) and url != self._given
        return "agent" if is_own else "page"

    async def _execute(
        self, controller: Controller, name: str, arguments: Mapping[str, Any], **how: Any
    ) -> ActionResult:
        return await with_consent(partial(self._patiently, controller, name, arguments, **how), self._confirm)

    async def _patiently(
        self, controller: Controller, name: str, arguments: Mapping[str, Any], **how: Any
    ) -> ActionResult:
        """Carry out an action; wait first while a person has the browser."""
        while True:
            try:
                return await controller.execute(name, arguments, self.session, **how)
            except TakenOver:
                await self.session.takeover.over()

    def _url(self) -> str:
        try:
            return self._secrets.hide(self.session.current_tab.url)
        except ActionError:
            return ""

    def _text(self, result: ActionResult) -> str:
        return render_result(result, settings=self.controller.settings, secrets=self._secrets.values)[0]

    def _changes(self, result: ActionResult) -> str:
        """What an action changed on the same page; a new page is shown anyway."""
        observation = result.observation
        if observation is None or observation.changes is None or not observation.changes.changes:
            return ""
        only = observation.model_copy(update={"notices": (), "tabs": (), "dialog": None})
        return self._text(ActionResult(extracted_content="Changed:", observation=only))

    async def _stay_within(self, tabs_before: set[int]) -> None:
        """Leave a page outside the task's domains; raises BlockedUrl if there was one."""
        left = await self._domains.leave(self.session, tabs=tabs_before)
        if left is not None:
            raise self._domains.outside(left)

    async def _leave_outside(self) -> str | None:
        tab = self.session.tab_in_use
        begins, self._has_begun = not self._has_begun, True
        if begins and tab is not None and not self._domains.allow(tab.url):
            # It was there before the task, which has no business with it.
            async with self.session.lock:
                await self.session.new_tab()
            return None
        return await self._domains.leave(self.session, tabs=set(self.session.tabs))


def _image(data: bytes, mime_type: str) -> ImageBlock:
    from PIL import Image  # noqa: PLC0415 - takes long, and many servers run no task

    with Image.open(io.BytesIO(data)) as picture:
        width, height = picture.size
    return ImageBlock(data=data, mime_type=mime_type, width=width, height=height)


def _has_changed(observation: Observation | None) -> bool | None:
    """Whether an action has visibly changed anything; None if unknown."""
    match observation:
        case None:
            return None
        case Observation(changes=None, snapshot=None, dialog=None, notices=()):
            return None
        case Observation(changes=DomChanges() as changes, notices=(), dialog=None):
            return bool(changes.changes or changes.omitted or changes.looks)
        case _:
            return True
