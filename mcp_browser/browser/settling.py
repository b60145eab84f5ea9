"""Waits until all that an action has started has ended, reads the page, and describes the session."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import blocked_page, may_show
from mcp_browser.browser.collectors import ROOM
from mcp_browser.browser.observation import DialogInfo, Observation, TabInfo
from mcp_browser.browser.page import ActionScope
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import Tabs
from mcp_browser.dom.driver_errors import FrameGone, as_action_error, is_context_gone, is_crashed
from mcp_browser.dom.models import DomChanges, DomSnapshot
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen
from mcp_browser.text import counted

T = TypeVar("T")
PageReading = DomSnapshot | DomChanges

PAGE_SECONDS = 3.0  # Longest wait for a page's further requests after it was opened
SHOWN_SECONDS = 1.0  # The same without events, for answers that the page does not show to wait for
READING_SECONDS = 10.0  # Longest wait for the page to be read
READING_GRACE = 5.0  # How much longer reading may take than the wait for the page to settle, seconds
GLANCE = 0.25  # How often to check whether a requested navigation was cancelled, seconds
READINGS_FOR_FRAMES = 5  # How often a page is read again because a frame has a new document
HELD_SECONDS = 0.1  # How late events of requests may be while requests are intercepted
UNSHOWN_SECONDS = 1.0  # How long after the last event a page with scripts may be empty
READING_TRIES = 3
MOST_NOTICES = 50  # How many different notices a result has, besides those with limits of their own
QUOTED = 4  # How many requests are named in a sentence


class Observer:
    """Waits and reads as the module says; remembers what was reported and what is still to be."""

    def __init__(self, tabs: Tabs, services: SessionServices) -> None:
        settings = services.settings
        self._tabs = tabs
        self._services = services
        self._limits = settings.limits
        self._how = settings.observation.observe
        self._reading_limit = min(READING_SECONDS, settings.limits.call_timeout * 0.6)
        self.notices: dict[str, None] = {}  # For the next result
        self._left_out = 0
        self._reported_dialogs: dict[int, DialogInfo] = {}
        self.reported_tabs: tuple[int, ...] = ()
        self._reported_infos: list[tuple[int, str, bool]] = []
        self._shown_url = ""  # The last address that was found to be allowed

    @property
    def current_tab(self) -> Tab:
        """The tab that actions work in. Raises BrowserUnavailable: the session is not open."""
        if self._tabs.current is None:
            raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
        return self._tabs.current

    async def observe(self, scope: ActionScope) -> Observation:
        """Wait until what the action has started has ended, and describe the page.

        Raises BlockedUrl: the page went where it may not, and was left; BrowserUnavailable: it has ended.
        """
        try:
            part = await self.settle(scope, reads=True)
            return await self._observation(part)
        finally:
            self._tabs.moved = None

    async def settle(self, scope: ActionScope, *, reads: bool = False) -> PageReading | None:
        """Wait as `observe` does; read the page only if it `reads`: otherwise another action follows."""
        part, tab = None, self._tabs.current
        if scope.effect != "read":
            part = await self._settle_and_read(scope, reads=reads)
        elif reads and tab is not None and not tab.held and self._how != "none":
            # What has changed since the page was last reported
            part = await self._or_nothing(tab, tab.dom.changes)
            if isinstance(part, DomChanges) and not part.changes and not part.omitted:
                part = None
        if self._services.context is None:
            raise self._services.why_ended()
        tab = self.current_tab
        if tab.held and tab.crashed:
            raise tab.why_held()
        if tab.held and tab.closed:
            # The action has closed its tab: read the whole page of the one that is current now.
            self._tabs.closing.add(tab.id)
            await self._tabs.settle_on_one()
            self.notice(f"Tab {tab.id} was closed; tab {self.current_tab.id} is the current one now.")
            part = await self._settle_and_read(scope)
            if isinstance(part, DomChanges):
                part = await self._read_page(region=None, part=1)
        await self.refuse_blocked(leave=scope.url)
        return part

    async def full_observation(self, *, region: int | None = None, part: int = 1) -> Observation:
        """The whole page within the budget, or a region or part of it.

        Raises DeadlineExceeded: the page does not answer; BlockedUrl: its address is not allowed.
        """
        await self.current_tab.arrive()
        await self.refuse_blocked()
        tab = self.current_tab
        snapshot = await self._read_page(region=region, part=part) if tab.dialog is None else None
        self._tabs.moved = None
        return await self._observation(snapshot)

    async def refuse_blocked(self, *, leave: str | None = None) -> None:
        """Raise BlockedUrl if the page's address is not allowed.

        `leave` is the address at which an action began; a page that it led to is left.
        """
        tab = self.current_tab
        url = tab.url
        if url == self._shown_url or may_show(url, self._services.settings):
            self._shown_url = url
            return
        if leave is not None and leave != url:
            with contextlib.suppress(PlaywrightError, ActionError):
                await tab.goto("about:blank")
        raise blocked_page(url)

    def notice(self, text: str) -> None:
        """Add a sentence to the next result, unless there are too many."""
        if text in self.notices or len(self.notices) < MOST_NOTICES:
            self.notices[text] = None
        else:
            self._left_out += 1

    def take_notices(self) -> tuple[str, ...]:
        """The sentences for the next result; each is returned once."""
        current, room = self._tabs.current, ROOM
        notices, self.notices = list(self.notices), {}
        if self._left_out:
            notices.append(f"{self._left_out:,} more notices are left out.")
            self._left_out = 0
        for tab in self._tabs.all.values():
            dialog = tab.dialog if tab is not current and tab.held else None
            if dialog is not None and dialog != self._reported_dialogs.get(tab.id):
                self._reported_dialogs[tab.id] = dialog
                notices.append(
                    f"In tab {tab.id}: {dialog}. To answer it, switch_tab there and use handle_dialog."
                )
            has_news = tab.console.news or tab.console.failed
            if has_news and (complaint := tab.console.take(room)):
                notices.append(complaint if tab is current else f"Tab {tab.id}: {complaint}")
                room -= len(complaint)
        notices += [notice for plugin in self._services.plugins for notice in plugin.notices()]
        if (egress := self._services.egress) is not None:
            notices += egress.notices()
        return tuple(dict.fromkeys(notices))

    async def _observation(self, part: PageReading | None) -> Observation:
        """The state of the session now, with what was read of its current tab."""
        tab = self.current_tab
        tabs = tuple(self._tabs.all)
        several = len(tabs) > 1 or tabs != self.reported_tabs
        self.reported_tabs = tabs
        snapshot = (
            part.model_copy(update={"status": tab.activity.status}) if isinstance(part, DomSnapshot) else None
        )
        read, tab.dom.title = tab.dom.title, None
        tab.title = tab.title if read is None else read
        if asked := [
            other
            for other in self._tabs.all.values()
            if (several or other is tab) and (other is not tab or read is None)
        ]:
            await asyncio.gather(*(other.refresh_title() for other in asked))
        infos = [
            TabInfo(id=one.id, url=one.url, title=one.title, current=one is tab, lent=self._tabs.is_lent(one))
            for one in (self._tabs.all.values() if several else ())
        ]
        shown = [(info.id, info.url, info.current) for info in infos]
        if snapshot is None and shown == self._reported_infos:
            infos = []
        self._reported_infos = shown
        return Observation(
            url=tab.url,
            title=tab.title,
            snapshot=snapshot,
            changes=part if isinstance(part, DomChanges) else None,
            tabs=tuple(infos),
            dialog=tab.dialog if tab.held else None,
            notices=self.take_notices(),
        )

    async def _settle_and_read(self, scope: ActionScope, *, reads: bool = True) -> PageReading | None:
        """Wait until all that the action has started has ended, then read the page as the settings want it.

        One evaluation in the page if nothing was started. None if the tab is held, or not to be read.
        """
        limit = self._limits.settle_timeout
        if scope.effect == "navigation":
            limit = min(limit, PAGE_SECONDS)
        begun = time.monotonic()
        deadline = begun + limit
        read_from: Tab | None = None
        part: PageReading | None = None
        news_is_late, asked = self._services.holds_requests, False
        readings_left = READINGS_FOR_FRAMES
        while (tab := self._tabs.current) is not None and not tab.closed:
            if tab is not scope.tab:
                await self._tabs.attached()
            since = scope.marks.get(tab.id, 0)
            left = deadline - time.monotonic()
            if tab.held:
                part = None
                break
            if left <= 0:
                on_its_way = tab.activity.navigating(since)
                part = None if on_its_way else await self._read(tab, 0, reads, again=read_from is tab)
                self._report_unfinished(tab, since, limit)
                break
            opening = any(other.activity.windows_opening for other in self._tabs.all.values())
            if opening or tab.activity.begun_since(since):
                await self._wait_for_activity(tab, since, min(left, GLANCE))
                asked = asked or await self._give_up_where_shown(tab, since, begun)
                continue
            if news_is_late:
                news_is_late = False
                await tab.activity.change(limit=min(left, HELD_SECONDS))
                continue
            document, frames = tab.activity.document_number, tab.activity.frames_number
            part = await self._read(tab, left, reads, again=read_from is tab, came=tab.activity.came > since)
            read_from = tab if part is not None else None
            # A frame may delay the answer until its next document is complete.
            is_last = tab.activity.document_number == document and not tab.activity.begun_since(since)
            if is_last and readings_left and tab.activity.frames_number != frames:
                readings_left -= 1
                is_last = False
            if is_last and tab.dom.may_show and not tab.held and self._may_show(tab, begun):
                limit = self._limits.settle_timeout
                deadline = begun + limit
                await tab.activity.change(limit=min(max(0.0, deadline - time.monotonic()), GLANCE / 2))
                continue
            if tab is self._tabs.current and (is_last or tab.held):
                break
        if self._services.downloads.saving:
            await self._services.downloads.wait(limit=deadline - time.monotonic())
        return part

    async def _read_page(self, *, region: int | None, part: int) -> DomSnapshot:
        """The page, or the content of one element, within the budget; raises DeadlineExceeded, DialogOpen."""
        tab = self.current_tab
        begun = time.monotonic()
        while True:
            snapshot = await self.ask(tab, lambda: tab.dom.snapshot(region=region, part=part))
            if region is not None or not self._may_show(tab, begun):
                return snapshot
            if time.monotonic() - begun > self._limits.settle_timeout:
                self._report_unfinished(tab, 0, self._limits.settle_timeout)
                return snapshot
            await tab.activity.change(limit=GLANCE / 2)

    async def ask(self, tab: Tab, question: Callable[[], Awaitable[T]], *, limit: float | None = None) -> T:
        """The page script's answer to a question, which is repeated if a navigation interrupts it."""
        for tries in range(READING_TRIES):
            try:
                return await tab.ask(question(), limit=limit or self._reading_limit)
            except FrameGone as error:
                if tries == READING_TRIES - 1:
                    raise ActionError(
                        "The page kept going to other addresses while it was read.",
                        hint="Look with get_state.",
                    ) from error
            except PlaywrightError as error:
                if is_crashed(error) or not is_context_gone(error) or tries == READING_TRIES - 1:
                    raise as_action_error(error, doing="reading the page") from error
            await tab.activity.change(limit=GLANCE)
        raise AssertionError

    def _may_show(self, tab: Tab, begun: float) -> bool:
        """Whether an empty page is likely to show something soon."""
        news = time.monotonic() - max(begun, tab.activity.changed_at)
        return tab.dom.may_show and (tab.activity.begun_since(0) or news < UNSHOWN_SECONDS)

    async def _read(
        self, tab: Tab, limit: float, reads: bool, *, again: bool, came: bool = False
    ) -> PageReading | None:
        how = self._how if reads else "none"
        longest = min(limit + READING_GRACE, self._reading_limit)
        if how == "changes":
            asked = itertools.chain([again], itertools.repeat(True))
            read = await self._or_nothing(
                tab,
                lambda: tab.dom.settle_and_changes(limit=limit, again=next(asked), came=came),
                limit=longest,
            )
            state, part = read or (None, None)
        else:
            settling = partial(tab.dom.settle, limit=limit)
            state = await self._or_nothing(tab, settling, limit=longest) if limit > 0 else None
            reads = how != "none" and not tab.held
            part = await self._or_nothing(tab, tab.dom.snapshot) if reads else None
        # The page says that a socket was written to, the browser that one is open.
        if state is not None and state.unanswered and tab.activity.has_socket:
            self.notice(
                f"The page may wait for a web socket: no answer to see has come in {state.waited:.0f} s. "
                "A later one is reported with the next result, or by wait_for."
            )
        return part

    async def _or_nothing(
        self, tab: Tab, question: Callable[[], Awaitable[T]], *, limit: float | None = None
    ) -> T | None:
        """The answer, or None if the page cannot be read now: the action itself is done."""
        try:
            return await self.ask(tab, question, limit=limit)
        except DialogOpen:
            return None
        except DeadlineExceeded as error:
            self.notice(str(error))
            return None
        except BrowserUnavailable:
            # The session reports the end of a tab or the browser once there is an event for it.
            if not tab.held:
                await tab.activity.change(limit=GLANCE)
            if not tab.held:
                raise
            return None

    async def _wait_for_activity(self, tab: Tab, since: int, limit: float) -> None:
        """Wait until something begins or ends, unless nothing is left that has to be waited for."""
        if any(tab.activity.endless.is_doubtful(request) for request in tab.activity.in_flight(since)):
            # Streams are not waited for.
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                tab.activity.endless.learn(await tab.ask(tab.dom.answers_read(), limit=limit))
            if not tab.activity.begun_since(since):
                return
        await tab.activity.change(limit=limit)

    async def _give_up_where_shown(self, tab: Tab, since: int, begun: float) -> bool:
        """Stop waiting for answers, often long polls, unless a new page shows it waits; False: too early."""
        is_early = time.monotonic() - max(begun, tab.activity.changed_at) < SHOWN_SECONDS
        if is_early or not tab.activity.only_answers(since):
            return False
        with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
            if not await tab.ask(tab.dom.is_awaiting(), limit=self._reading_limit):
                self._report_unfinished(tab, since, SHOWN_SECONDS)
        return True

    def _report_unfinished(self, tab: Tab, since: int, limit: float) -> None:
        requests = tab.activity.in_flight(0 if tab.dom.may_show else since)
        tab.activity.endless.given_up(requests)
        if tab.activity.navigating(since):
            self.notice(
                f"The next page had not begun to show after {limit:g} s; wait_for or get_state shows it."
            )
        elif requests:
            named = ", ".join(str(request) for request in requests[:QUOTED])
            more = ", …" if len(requests) > QUOTED else ""
            nothing = ", and nothing shown yet" if tab.dom.may_show else ""
            count = counted(len(requests), "request")
            self.notice(f"Still loading after {limit:g} s{nothing}: {count} ({named}{more}).")
        elif tab.activity.loading:
            self.notice(f"The page is still loading after {limit:g} s.")
