"""Waits until all that an action has started has ended, and reads the page."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.observation import Effect
from mcp_browser.browser.playwright_errors import as_action_error
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.driver_errors import is_context_gone, is_crashed
from mcp_browser.dom.models import DomChanges, DomSnapshot, SettleState
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen

T = TypeVar("T")
PageReading = DomSnapshot | DomChanges

PAGE_SECONDS = 3.0  # Longest wait for a page's further requests after it was opened
SHOWN_SECONDS = 1.0  # The same without events, for answers that the page does not show to wait for
READING_SECONDS = 10.0  # Longest wait for the page to be read
READING_GRACE = 5.0  # How much longer reading may take than the wait for the page to settle, seconds
HOLD_GRACE = 1.0  # How long an action may continue after something has begun to hold its tab, seconds
GLANCE = 0.25  # How often to check whether a requested navigation was cancelled, seconds
READINGS_FOR_FRAMES = 5  # How often a page is read again because a frame has a new document
HELD_SECONDS = 0.1  # How late events of requests may be while requests are intercepted
UNSHOWN_SECONDS = 1.0  # How long after the last event a page with scripts may be empty
READING_TRIES = 3
QUOTED = 4  # How many requests are named in a sentence


@dataclass(slots=True, eq=False)
class ActionScope:
    """The state of the session when an action began; what is newer was started by the action."""

    effect: Effect
    tab: Tab
    url: str
    ended: Callable[[], ActionError | None] = lambda: None  # The error if the browser has ended
    marks: dict[int, int] = field(default_factory=dict[int, int])  # In the activity of each tab
    _breaking: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _running: bool = False

    async def run(self, work: Awaitable[T]) -> T:
        """The result of the action's work. Raises ActionError if the tab is held and it does not end."""
        self._running = True
        try:
            with self._breaking:
                return await work
        except (PlaywrightError, BrowserUnavailable) as error:
            if (ended := self.ended()) is not None:
                raise ended from error
            raise
        finally:
            self._running = False
        raise self.ended() or self.tab.why_held()

    def held(self, tab: Tab) -> None:
        """Something has begun to hold a tab: cancel an action in it that does not end by itself."""
        if self._running and tab is self.tab:
            asyncio.get_running_loop().call_later(HOLD_GRACE, self._break_off)

    def _break_off(self) -> None:
        if self._running and self.tab.held:
            self._breaking.cancel()


class _SettlingSession(Protocol):
    """The part of a session that settling needs."""

    holds_requests: bool


class _SettlingTabs(Protocol):
    """The part of the session's tabs that it needs."""

    all: Mapping[int, Tab]
    current: Tab | None

    async def attached(self) -> None: ...


class Settler:
    """Waits until all that an action has started has ended, and reads the page."""

    def __init__(self, session: _SettlingSession, tabs: _SettlingTabs, services: SessionServices) -> None:
        settings = services.settings
        self._session = session
        self._tabs = tabs
        self._downloads = services.downloads
        self._notice = services.notice
        self._limits = settings.limits
        self._how = settings.observation.observe
        self._reading_limit = min(READING_SECONDS, settings.limits.call_timeout * 0.6)

    async def settle_and_read(self, scope: ActionScope, *, reads: bool = True) -> PageReading | None:
        """Wait until all that the action has started has ended, then read the page as the settings want it.

        If nothing was started, this is one evaluation in the page. None if the tab is held, if the settings
        or the caller (`reads`) want nothing, or if the page does not answer.
        """
        limit = self._limits.settle_timeout
        if scope.effect == "navigation":
            limit = min(limit, PAGE_SECONDS)
        begun = time.monotonic()
        deadline = begun + limit
        read_from: Tab | None = None
        part: PageReading | None = None
        news_is_late, asked = self._session.holds_requests, False
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
        if self._downloads.saving:
            await self._downloads.wait(limit=deadline - time.monotonic())
        return part

    async def read_late_changes(self) -> PageReading | None:
        """What has changed since the page was last reported, if anything."""
        tab = self._tabs.current
        if tab is None or tab.held or self._how == "none":
            return None
        part = await self._or_nothing(tab, tab.dom.changes)
        if isinstance(part, DomChanges) and not part.changes and not part.omitted:
            return None
        return part

    async def read_page(self, *, region: int | None, part: int) -> DomSnapshot:
        """The page, or the content of one element, within the budget; raises DeadlineExceeded, DialogOpen."""
        tab = self._tabs.current
        assert tab is not None
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
        if not tab.dom.may_show:
            return False
        news = max(begun, tab.activity.changed_at)
        return tab.activity.begun_since(0) or time.monotonic() - news < UNSHOWN_SECONDS

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
            if read is None:
                return None
            self._report_unanswered(tab, read[0])
            return read[1]
        if limit > 0:
            state = await self._or_nothing(tab, lambda: tab.dom.settle(limit=limit), limit=longest)
            self._report_unanswered(tab, state)
        if how == "none" or tab.held:
            return None
        return await self._or_nothing(tab, tab.dom.snapshot)

    async def _or_nothing(
        self, tab: Tab, question: Callable[[], Awaitable[T]], *, limit: float | None = None
    ) -> T | None:
        """The answer, or None if the page cannot be read now: the action itself is done."""
        try:
            return await self.ask(tab, question, limit=limit)
        except DialogOpen:
            return None
        except DeadlineExceeded as error:
            self._notice(str(error))
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
        if tab.activity.doubtful(since):
            await self._learn_readings(tab, limit)
            if not tab.activity.begun_since(since):
                return
        await tab.activity.change(limit=limit)

    async def _give_up_where_shown(self, tab: Tab, since: int, begun: float) -> bool:
        """Stop waiting for answers after `SHOWN_SECONDS` without events, unless a new page shows it waits.

        They may be long polls, or matter little. False if it is too early to ask.
        """
        if time.monotonic() - max(begun, tab.activity.changed_at) < SHOWN_SECONDS:
            return False
        if not tab.activity.only_answers(since):
            return False
        with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
            if not await tab.ask(tab.dom.is_awaiting(), limit=self._reading_limit):
                self._report_unfinished(tab, since, SHOWN_SECONDS)
        return True

    async def _learn_readings(self, tab: Tab, limit: float) -> None:
        """Ask how the page reads its answers: streams are not waited for."""
        with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
            tab.activity.learn(await tab.ask(tab.dom.answers_read(), limit=limit))

    def _report_unanswered(self, tab: Tab, state: SettleState | None) -> None:
        # The page says that a socket was written to, the browser that one is open.
        if state is not None and state.unanswered and tab.activity.has_socket:
            self._notice(
                f"The page may wait for a web socket: no answer to see has come in {state.waited:.0f} s. "
                "A later one is reported with the next result, or by wait_for."
            )

    def _report_unfinished(self, tab: Tab, since: int, limit: float) -> None:
        requests = tab.activity.give_up(0 if tab.dom.may_show else since)
        if tab.activity.navigating(since):
            self._notice(
                f"The next page had not begun to show after {limit:g} s; wait_for or get_state shows it."
            )
        elif requests:
            named = ", ".join(str(request) for request in requests[:QUOTED])
            more = ", …" if len(requests) > QUOTED else ""
            nothing = ", and nothing shown yet" if tab.dom.may_show else ""
            count = f"{len(requests)} request{'s' if len(requests) > 1 else ''}"
            self._notice(f"Still loading after {limit:g} s{nothing}: {count} ({named}{more}).")
        elif tab.activity.loading:
            self._notice(f"The page is still loading after {limit:g} s.")
