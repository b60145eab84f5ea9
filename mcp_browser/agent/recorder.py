"""Record what a person does in a session."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable
from functools import partial
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from mcp_browser.actions.elements import (
    click_element,
    drag_element,
    hover_element,
    input_text,
    select_option,
    set_checked,
    upload_file,
)
from mcp_browser.actions.keyboard import parse_keys, send_keys
from mcp_browser.actions.mouse import mouse_click, mouse_drag
from mcp_browser.actions.navigation import (
    close_tab,
    go_back,
    go_forward,
    go_to_url,
    handle_dialog,
    open_tab,
    reload,
)
from mcp_browser.actions.recording import (
    POINT_ARGUMENTS,
    RECORDING_SECONDS,
    UNKNOWN,
    locator_of,
    secret_name_of,
)
from mcp_browser.actions.testing import expect_text, expect_value, expect_visible
from mcp_browser.agent.recorded import Moment, Named, PersonStep, Recording, recording_of
from mcp_browser.browser.concurrency import Condition, begin
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.dom.identities import ElementLocator, ElementRecord
from mcp_browser.dom.person import Report
from mcp_browser.errors import InvalidArguments, NotActionable, StaleElement
from mcp_browser.privacy.hiding import NAMED

logger = logging.getLogger(__name__)

Check = Literal["text", "value", "visible"]
"""The property of the next clicked element to assert."""

CHECK_SECONDS = 15  # How long assertions wait: a person waits, too
LONGEST_EXPECTED = 200  # Characters of a text that is asserted
FINDING_SECONDS = 5.0  # How long Playwright may take to look for an element
RESULT_SECONDS = 1.5  # So long after what a person does, what tabs do is its result
EXCHANGE_SECONDS = 0.3  # How long a page may take to come in the place of another
TYPED = frozenset({"typed", "address_bar", "auto_bookmark", "generated", "keyword", "auto_toplevel"})
"""How Chromium calls it that a person has opened an address."""
_ENDS = frozenset({"down", "clicked", "dropped", "cancelled", "checked", "pressed"})  # What a press was
_UNDONE = frozenset({"cancelled", "unpressed"})
_BEGINS = frozenset({"hovered", "down", "filling", "pressed", "selected", "files", "chosen", "noted"})
_UNTAKEN = (*UNKNOWN, TimeoutError)


class PersonRecorder(SessionPlugin):
    """Records what a person does in a session, from `start` to `stop`, but no calls of a model.

    `changed` wakes the views that show the steps.
    """

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._lock = asyncio.Lock()  # One element is looked for at a time
        self.steps: list[PersonStep] = []
        self.changed = Condition()
        self.active = False
        self.checking: Check | None = None

    async def start(self, name: str | None = None, url: str = "") -> None:
        """Record in all tabs; raises NotActionable while already recording.

        `name` is that of the test, `url` its first page.
        """
        if self.active:
            raise NotActionable(
                "A person's actions are being recorded already.", hint="stop_recording ends it."
            )
        self.active = True
        self.name, self.url = name or "recorded", url
        self.steps = []
        self.followed: set[int] = set()
        self.checking = None
        self._moment: Moment | None = None
        self._down: PersonStep | None = None
        self._hovered: list[tuple[Report, Moment]] = []
        self._is_down = False
        self._filling: dict[tuple[str, int], PersonStep] = {}
        self._secrets: dict[str, str] = {}
        self._visits: dict[int, tuple[int, list[int]]] = {}
        self._heard_at = time.monotonic()
        self._queue: asyncio.Queue[tuple[Tab, Report, Moment | None] | None] = asyncio.Queue()
        self._work = begin(self._take_all())
        self._log = await self._session.plugin(NetworkLog)
        for tab in list(self._session.tabs.values()):
            with contextlib.suppress(*_UNTAKEN):
                await self._follow(tab)
        self.changed.wake()

    async def stop(self) -> Recording:
        """Stop and return the recording; raises NotActionable if there is none."""
        if not self.active:
            raise NotActionable("No actions are being recorded.", hint='Begin with kind="actions".')
        await self.check(None)
        self.active = False
        for tab in list(self._session.tabs.values()):
            if self._session.takeover.in_window and tab.id in self.followed:
                tab.choose_files(by_person=False)
            await _try(tab, tab.dom.person.leave())
        self._queue.put_nowait(None)
        await self._work
        if self._moment is not None:
            self._moment.end()
        looking = [task for step in self.steps for task in step.finding.values()]
        if looking:
            await asyncio.wait(looking)
        self.changed.wake()
        self.recorded = recording_of(self._session, self.steps, self._secrets, name=self.name, start=self.url)
        return self.recorded

    async def keep(self, recording: Recording) -> list[Artifact]:
        """Write a recording to files of the session; raises OSError."""
        add = self._session.artifacts.add
        return [
            await add(content.encode(), name, kind=kind, default="recorded")
            for name, kind, content in recording.files()
        ]

    async def check(self, what: Check | None) -> None:
        """Assert this of the element of the next click, which then does nothing else; None cancels."""
        self.checking = what
        for tab in list(self._session.tabs.values()):
            await _try(tab, tab.dom.person.choose(wanted=what is not None))
        self.changed.wake()

    # -- what is followed

    async def tab_opened(self, tab: Tab) -> None:
        """Follow a new tab; a person has opened it if no page has."""
        if not self.active:
            return
        is_own = not self._session.acting and self._is_new and await tab.page.opener() is None
        if is_own:
            self._queue.put_nowait((tab, {"kind": "opened"}, self._turn(tab, is_new=True)))
        await self._follow(tab)

    def tab_closed(self, tab: Tab) -> None:
        """Record that a person has closed a tab, unless it closed as a result of an action in it."""
        if self.active and not self._session.acting and self._is_new:
            self._queue.put_nowait((tab, {"kind": "closed"}, self._turn(tab)))

    async def _follow(self, tab: Tab) -> None:
        tab.page.on("framenavigated", partial(self._on_navigated, tab))
        tab.cdp.on("Page.javascriptDialogClosed", partial(self._on_answered, tab))
        now, ids, _ = await _visits(tab)
        self._visits[tab.id] = now, ids
        await tab.ask(tab.dom.person.follow(partial(self._on_report, tab)), limit=FINDING_SECONDS)
        if self._session.takeover.in_window and self.active:
            tab.choose_files(by_person=True)
        self.followed.add(tab.id)

    @property
    def _is_new(self) -> bool:
        """Whether what happens now is not a result of the last thing done."""
        return time.monotonic() - self._heard_at > RESULT_SECONDS

    def _turn(self, tab: Tab, *, is_new: bool = False) -> Moment:
        """Begin a new moment; `is_new` if it has opened the tab."""
        if self._moment is not None:
            self._moment.end()
        self._moment = Moment(self._session, self._log, tab, self._moment, is_new=is_new)
        return self._moment

    def _on_report(self, tab: Tab, report: Report) -> None:
        kind = report["kind"]
        if not self.active or self._session.acting:
            return  # It is a model's call that does it.
        if kind == "began":
            if not report["top"]:
                begin(_try(tab, tab.dom.person.meet()))
            return
        self._heard_at = time.monotonic()
        begins = kind in _BEGINS or (kind == "checked" and not self._is_down)
        self._is_down = kind == "down" or (self._is_down and kind == "filled")
        self._queue.put_nowait((tab, report, self._turn(tab) if begins else None))

    def _on_navigated(self, tab: Tab, frame: Frame) -> None:
        if not self.active:
            return
        if frame != tab.page.main_frame:
            begin(_try(tab, tab.dom.person.meet()))
            return
        visited: list[str] = []
        if self._moment is not None and self._moment.tab is tab and not self._session.acting:
            visited = self._moment.visited
        visited.append(tab.url)
        how = {"visited": visited, "watched": self._session.acting, "new": self._is_new}
        self._queue.put_nowait((tab, {"kind": "navigated", **how}, None))

    def _on_answered(self, tab: Tab, _closed: object) -> None:
        if self.active and not self._session.acting and tab.dialogs:
            moment = self._turn(tab)
            moment.answered = tab.dialogs[-1]
            self._queue.put_nowait((tab, {"kind": "answered"}, moment))

    # -- what was done

    async def _take_all(self) -> None:
        while (entry := await self._queue.get()) is not None:
            tab, report, moment = entry
            kind, down = report["kind"], self._down
            if kind in _ENDS:
                self._down = None
            try:
                if kind in _UNDONE:
                    self._take_undone(kind, down)
                elif down is not None and kind in ("clicked", "dropped", "checked"):
                    await self._take_press(down, report)
                elif moment is not None and kind == "hovered":
                    self._hovered.append((report, moment))
                elif moment is not None:
                    if kind != "down":
                        await self._take_hovered()
                    await self._take(tab, report, moment)
                elif kind == "filled":
                    step, value = self._filling[report["doc"], report["id"]], report["value"]
                    if step.secret:
                        name = secret_name_of(step.elements[0])
                        self._secrets[name], value = value, NAMED.format(name)
                    step.arguments["text"] = value
                    if step not in self.steps:
                        self._add(step, click_element, input_text)
                elif kind == "navigated":
                    await self._take_navigated(tab, report)
            except _UNTAKEN as error:
                logger.debug("Not recorded: %s: %s", kind, error)
            self.changed.wake()

    @property
    def _last(self) -> PersonStep | None:
        return self.steps[-1] if self.steps else None

    async def _take(self, tab: Tab, report: Report, moment: Moment) -> None:
        match report["kind"]:
            case "down":
                options: dict[str, Any] = {"button": report["button"]} if report["button"] != "left" else {}
                if report["modifiers"]:
                    options["modifiers"] = report["modifiers"]
                action, place = (mouse_click, "at") if report["exact"] else (click_element, "index")
                self._down = await self._step(report, moment, action, place, **options)
                await self._take_hovered()  # What is pressed may be gone sooner
            case "filling":
                self._filling[_key(report)] = await self._step(report, moment, input_text, text="")
            case "pressed":
                await self._take_pressed(report, moment)
            case "checked":
                self.steps.append(await self._step(report, moment, set_checked, checked=report["checked"]))
            case "selected":
                chosen = await self._step(report, moment, select_option, options=report["options"])
                self._add(chosen, select_option)
            case "files":
                given = await self._step(report, moment, upload_file)
                paths = await tab.dom.person.files(given.elements[0].index, len(report["names"]))
                given.arguments["paths"] = paths or report["names"]
                self._add(given, click_element)
            case "chosen":
                await self._take_chosen(report, moment)
            case "answered" if (answer := moment.answered) is not None:
                text = {"text": answer.text} if answer.text else {}
                self._add_plain(moment, handle_dialog, accept=answer.accepted, **text)
            case "noted":
                self.steps.append(PersonStep(moments=[moment], note=report["note"]))
            case "opened":
                self._add_plain(moment, open_tab)
            case _:
                self._add_plain(moment, close_tab, tab=tab.id)

    def _add_plain(self, moment: Moment, action: Named, **given: Any) -> None:
        self.steps.append(PersonStep(moments=[moment], action=action.__name__, arguments=given))

    async def _step(
        self, report: Report, moment: Moment, action: Named, argument: str = "index", **given: Any
    ) -> PersonStep:
        """A step on a report's element; its locator is searched for before the page changes."""
        step = PersonStep(moments=[moment], action=action.__name__, arguments=given, key=_key(report))
        step.secret, step.begun = report["element"]["secret"], report
        await self._add_element(step, report, argument)
        return step

    async def _add_element(self, step: PersonStep, report: Report, argument: str) -> None:
        record = await step.tab.dom.person.record(report)
        value: int | str = record.index
        if argument in POINT_ARGUMENTS:
            x, y = report["point"]
            value = f"{record.x + x * record.width:.0f},{record.y + y * record.height:.0f}"
            record = record.model_copy(update={"point": (round(x, 4), round(y, 4))})
        step.elements.append(record.model_copy(update={"argument": argument}))
        step.arguments = {argument: value, **step.arguments}
        step.finding[argument] = begin(self._find(step.tab, record, closed=report["element"]["closed"]))

    async def _find(self, tab: Tab, record: ElementRecord, *, closed: bool) -> ElementLocator | None:
        """The locator of an element; None if Playwright has none, as in a `closed` shadow tree.

        Raises one of _UNTAKEN if it cannot be searched for any more.
        """
        if closed:
            return None
        async with self._lock, asyncio.timeout(FINDING_SECONDS):
            now = await tab.ask(tab.dom.record(record.index))
            if (now.role, now.name, now.attributes) != (record.role, record.name, record.attributes):
                raise StaleElement("What was done has changed it.")
            try:
                return await locator_of(tab, record.index, record)
            except NotActionable:
                # Unless it has left the page meanwhile.
                await tab.ask(tab.dom.record(record.index))
                return None

    def _add(self, step: PersonStep, *instead_of: Named) -> None:
        """Add a step; it replaces the last one if that was its beginning, on the same element."""
        last, names = self._last, {action.__name__ for action in instead_of}
        if last is not None and last.key == step.key and last.action in names:
            self.steps.pop()
            step.moments[:0] = last.moments
        self.steps.append(step)

    def _take_undone(self, kind: str, down: PersonStep | None) -> None:
        """Take back what was no action: a press without a click, or a key that was part of a text."""
        if kind == "unpressed":
            if self._last is None or self._last.arguments.pop("submit", False):
                return
            down = self.steps.pop()
        if down is None:
            return
        if down.tab.url != down.moments[0].url_before:
            self.steps.append(down)  # The press alone has led away.
        elif self._last is not None:
            self._last.moments += down.moments

    async def _take_hovered(self) -> None:
        """Take the hovering that the press needed."""
        hovered, self._hovered = self._hovered, []
        for report, moment in hovered:
            self.steps.append(await self._step(report, moment, hover_element))

    async def _take_press(self, down: PersonStep, report: Report) -> None:
        last, (moment,) = self._last, down.moments
        if report["kind"] == "checked":
            self.steps.append(await self._step(report, moment, set_checked, checked=report["checked"]))
        elif report["kind"] == "dropped":
            source, argument = ("start", "end") if report["same"] else ("index", "target")
            action = mouse_drag if report["same"] else drag_element
            begun = {**report, "element": down.begun["element"], "point": down.begun["point"]}
            step = await self._step(begun, moment, action, source)
            step.finding = {source: next(iter(down.finding.values()))}
            await self._add_element(step, report, argument)
            self.steps.append(step)
        elif report["count"] > 1 and last and (last.key, last.action) == (down.key, down.action):
            last.arguments |= {"double": True} if last.action == click_element.__name__ else {"clicks": 2}
            last.moments += down.moments
        else:
            self.steps.append(down)

    async def _take_pressed(self, report: Report, moment: Moment) -> None:
        last, key = self._last, _key(report) if report["element"] else None
        follows = last is not None and (last.key, last.tab) == (key, moment.tab)
        if last is not None and follows:
            if report["key"] == "Enter" and last.action == input_text.__name__:
                last.arguments["submit"] = True
                last.moments.append(moment)
                return
            text = f"{last.arguments.get('keys')}{report['key']}"
            if report["letter"] and last.action == send_keys.__name__ and _is_text(text):
                last.arguments["keys"] = text
                last.moments.append(moment)
                return
        if key is None or follows:
            # It goes where the keyboard is.
            step = PersonStep(moments=[moment], action=send_keys.__name__, key=key)
        else:
            step = await self._step(report, moment, send_keys)
        step.arguments["keys"] = report["key"]
        self.steps.append(step)

    async def _take_chosen(self, report: Report, moment: Moment) -> None:
        what, text, value = self.checking, report["text"][:LONGEST_EXPECTED], report["value"]
        begin(self.check(None))
        action: Named = expect_visible
        expected: dict[str, Any] = {}
        if what == "text" and text:
            action, expected = expect_text, {"text": text}
        elif what == "value" and value is not None:
            action, expected = expect_value, {"value": value}
        self.steps.append(await self._step(report, moment, action, **expected, timeout=CHECK_SECONDS))

    async def _take_navigated(self, tab: Tab, report: Report) -> None:
        """Take an address that a person opened, or a step in the history that they made."""
        before, known = self._visits.get(tab.id, (0, []))
        now, ids, entry = await _visits(tab)
        self._visits[tab.id] = now, ids
        typed, url, kind = entry.get("userTypedURL", ""), entry["url"], entry["transitionType"]
        action: Named = go_to_url
        if ids[now] in known:
            action = go_back if now < before else go_forward if now > before else reload
        meant = report["new"] and (kind == "reload" or now != before) if ids[now] in known else kind in TYPED
        if report["watched"] or not meant:
            return
        report["visited"].pop()
        arguments = {"url": typed if "://" in typed else url} if action is go_to_url else {}
        moment = self._turn(tab)
        moment.visited.append(url)
        if self._last is not None:
            self._last.led_to(url)
        self._add_plain(moment, action, **arguments)


async def _try(tab: Tab, question: Awaitable[object]) -> None:
    with contextlib.suppress(*_UNTAKEN):
        await tab.ask(question, limit=RECORDING_SECONDS)


async def _visits(tab: Tab) -> tuple[int, list[int], dict[str, Any]]:
    """A tab's position in its history, the ids of the entries, and the current entry."""
    try:
        history = await send(tab.cdp, "Page.getNavigationHistory")
    except PlaywrightError:
        # "Not attached to an active page", for a moment while a page takes the place of another.
        await asyncio.sleep(EXCHANGE_SECONDS)
        history = await send(tab.cdp, "Page.getNavigationHistory")
    now, entries = history["currentIndex"], history["entries"]
    return now, [entry["id"] for entry in entries], entries[now]


def _key(report: Report) -> tuple[str, int]:
    return report["doc"], report["element"]["id"]


def _is_text(keys: str) -> bool:
    try:
        return parse_keys(keys) is None
    except InvalidArguments:
        return False
