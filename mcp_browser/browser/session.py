"""A browser session: one browser context, its tabs and its lock, and what is told of it."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import blocked_page, check_url, may_show
from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.browser.files.downloads import DownloadInfo, Downloads
from mcp_browser.browser.observation import Effect, Observation
from mcp_browser.browser.observing import ObservationBuilder
from mcp_browser.browser.process.pool import Browsers, ContextPool, Ended
from mcp_browser.browser.process.temporary import remove_leftovers_once
from mcp_browser.browser.session_plugins import RECORDING, START_STATE, C, SessionPlugins
from mcp_browser.browser.session_services import SessionLimits, SessionServices
from mcp_browser.browser.settling import ActionScope, Settler
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import CLOSING_SECONDS, LostTabs, Tabs
from mcp_browser.browser.takeover import Takeover
from mcp_browser.dom.models import DomChanges, DomSnapshot, Size
from mcp_browser.dom.scripts import hook_script
from mcp_browser.errors import (
    ActionError,
    BlockedUrl,
    BrowserUnavailable,
    DeadlineExceeded,
    LimitReached,
    NavigationError,
    NotActionable,
    NotFound,
)
from mcp_browser.privacy.addresses import MARK, SessionAddresses
from mcp_browser.privacy.hiding import Hidden
from mcp_browser.settings import Settings
from mcp_browser.text import cut_address

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession

CallWatcher = Callable[[str, Mapping[str, Any]], Callable[[Any], None]]
"""Takes the name of an action that begins and its arguments without what may be secret.

The function that it returns takes the outcome: an `ActionResult`, or the exception that ended the action.
"""


class State(Enum):
    """Where a session is in its life. One that loses its browser is NEW again; nothing follows CLOSED."""

    NEW = "new"
    OPENING = "opening"
    OPEN = "open"
    CLOSED = "closed"


class BrowserSession:
    """One browser context with its tabs; opens at the first call, or `async with`, which closes it, too.

    A server's sessions are made by `BrowserManager.open_session`. One that is made without a pool stands
    alone: it starts a browser of its own, and ends it as it is closed.
    """

    watcher: CallWatcher | None = None
    """Who is told of each call."""

    def __init__(  # noqa: PLR0913 (what a session is made of)
        self,
        settings: Settings | None = None,
        pool: ContextPool | None = None,
        *,
        isolated: bool | None = None,
        remote: bool = False,
        context_options: Mapping[str, Any] | None = None,
        limits: SessionLimits | None = None,
        egress: "ProxySession | None" = None,
        on_close: "Callable[[BrowserSession], None]" = lambda _: None,
    ) -> None:
        """A session that is not open yet.

        Args:
            settings: the settings in force; by default those that nothing was said about.
            pool: lends it its context, and another one when that is lost; by default one of its own.
            isolated: it has a clean context of its own, deleted at its end; else the profile's. By default
                it has, unless the settings name a profile or a browser that runs already.
            remote: its client is on another machine.
            context_options: keyword arguments for Playwright's `new_context` that go before the settings'.
            limits: what it has to share with others; by default nothing.
            egress: what lets its browser through the egress proxy, where there is one.
            on_close: called once it has given back all that it had.
        """
        self._settings = settings = settings or Settings()
        self._own_browsers: Browsers | None = None
        if pool is None:
            self._own_browsers = Browsers(settings)
            pool, egress = self._own_browsers.pool, self._own_browsers.admit(settings)
        if isolated is None:
            isolated = settings.browser.profile is None and not settings.browser.runs_already
        self.id = secrets.token_hex(8)
        limits = limits or SessionLimits()
        self.lock = limits.lock
        self.isolated = isolated
        self.egress = egress
        self.context_options = dict(context_options or {})
        self.hidden = Hidden()  # Values that nothing may show, by the names that stand for them
        self.shown_picture: Size | None = None  # Of the picture of the view that was shown last, pixels
        self._pool = pool
        self._on_close = on_close
        self.acted_at = 0.0
        """When the latest action began that does more than to read, seconds since 1970."""
        self._state = State.NEW
        self._context: BrowserContext | None = None
        self._lease = contextlib.AsyncExitStack()
        self._releasing: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.artifacts = Artifacts(
            self._settings.files,
            self.notice,
            remote=remote,
            replica=self._settings.server.replica,
            output_dir=limits.output_dir,
            disk=limits.disk,
            hidden=self.hidden,
        )
        self.incoming = Downloads(self.artifacts, self.notice, self._settings.files)  # Files that pages give
        self.holds_requests = False
        """Whether requests are held back to be answered from here, so that news of them comes later."""
        self._plugins = SessionPlugins(self, (*self._settings.tools.tools, *_standing(self._settings)))
        self._lost_tabs = LostTabs()
        # Redacts the addresses in results, and restores those that are given back.
        self.addresses = SessionAddresses(show=self._settings.observation.show_secrets)
        self.services = SessionServices(
            settings=self._settings,
            channel=f"x{secrets.token_hex(12)}",
            downloads=self.incoming,
            plugins=self._plugins,
            hidden=self.hidden,
            addresses=self.addresses,
            limits=limits,
            notice=self.notice,
            egress=egress,
        )
        self.hide = self.services.hide
        self.redactor = self.services.redactor
        self._tabs = Tabs(self, self.services, self._plugins, self._lost_tabs)
        self.tabs = self._tabs.all
        self._settler = Settler(self, self._tabs, self.services)
        self.tab_switched = self._tabs.switched  # Wakes when another tab has become the current one
        self.takeover = Takeover(self, longest_wait=self._settings.limits.takeover_wait)
        self._observations = ObservationBuilder(self._tabs, self._plugins, egress)
        self._reopened: set[int] = set()
        self._shown_url = ""  # The last address that was found to be allowed
        self._was_open = False

    # -- what there is

    @property
    def in_own_chrome(self) -> bool:
        """Whether it works in a browser of the user's own."""
        return self._settings.browser.connect is not None

    @property
    def closed(self) -> bool:
        """Whether it has been closed for good."""
        return self._state is State.CLOSED

    @property
    def limits(self) -> SessionLimits:
        """What it has to share with others."""
        return self.services.limits

    @limits.setter
    def limits(self, limits: SessionLimits) -> None:
        self.services.limits = limits

    @property
    def current_tab(self) -> Tab:
        """The tab that actions work in.

        Raises:
            BrowserUnavailable: the session is not open; `ensure_open` opens it.
        """
        if self._tabs.current is None:
            raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
        return self._tabs.current

    @property
    def downloads(self) -> list[DownloadInfo]:
        return self.incoming.infos()

    @property
    def output_dir(self) -> Path:
        """The folder for downloads and other files; a temporary one is made where the settings name none."""
        return self.artifacts.folder

    @property
    def upload_dirs(self) -> tuple[Path, ...]:
        """The folders that files may be uploaded from; for a remote client the settings have to name them.

        The working folder is one of them, unless all of the user's files are in it: many clients start their
        servers in the home folder, or in `/`.
        """
        if self._settings.files.upload_dirs or self.artifacts.remote:
            return self._settings.files.upload_dirs
        working = Path.cwd()
        if Path.home().resolve().is_relative_to(working):
            return (self.output_dir,)
        return (working, self.output_dir)

    @property
    def context(self) -> BrowserContext:
        """Playwright's context.

        Raises:
            BrowserUnavailable: the session is not open.
        """
        if self._context is None:
            raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
        return self._context

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def open_context(self) -> BrowserContext | None:
        """Playwright's context, or None while the session is not open."""
        return self._context

    @property
    def tab_in_use(self) -> Tab | None:
        """The current tab, or None once the browser has ended."""
        return self._tabs.current if self._context is not None else None

    async def plugin(self, kind: type[C]) -> C:
        """What lives beside the pages of this session: always the same one of a class.

        Made at the first call, and attached to the context and the tabs that are open.
        """
        return await self._plugins.get(kind)

    @property
    def context_settings(self) -> Mapping[str, Any]:
        """The keyword arguments of Playwright's `new_context` that the session's contexts are made with."""
        return self._pool.context_options | dict(self.context_options)

    async def devices(self) -> dict[str, dict[str, Any]]:
        """Playwright's list of devices: keyword arguments of `new_context` by the devices' names."""
        return await self._pool.devices()

    @property
    def openings(self) -> asyncio.Semaphore:
        """A turn at opening a session or a tab, among all sessions."""
        return self._pool.openings

    def restored(self, url: str) -> str:
        """An address as given, or the original of one with a redacted part.

        Raises:
            BlockedUrl, NavigationError: it is no address that may be opened, or its original is not known.
        """
        if MARK not in (url := url.replace("%5Bredacted%5D", MARK)):
            return url
        base = self._tabs.current.url if self._tabs.current else ""
        return self.addresses.restore(check_url(url, self._settings, base=base))

    def notice(self, text: str) -> None:
        """Tell a sentence with the next result."""
        self._observations.notice(text)

    def handed_back(self, told: str, *, moved: bool) -> None:
        """A person has handed the browser back; `moved`: another page is there than the last result told."""
        if told:
            self.notice(told)
        if moved:
            self._lost_tabs.moved = told
        self.acted_at = time.time()

    def take_notices(self) -> tuple[str, ...]:
        """The sentences that have not been told yet; they count as told now."""
        return self._observations.take_notices()

    # -- opening and closing

    async def __aenter__(self) -> Self:
        """Open the session; raises as `ensure_open` does."""
        try:
            await self.ensure_open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def ensure_open(self) -> None:
        """Open the session, or bring back what it has lost: a dead browser, a crashed or closed tab.

        That goes on where the caller is cancelled; the next one joins it.

        Raises:
            BrowserUnavailable: no browser could be found, started or reached; or the session is closed.
        """
        current = self._tabs.current
        is_open = self._state is State.OPEN and self._context is not None
        # The current tab is none of the open ones once it is closed.
        lost = (
            current is None or current.closed or any(tab.crashed or tab.closed for tab in self.tabs.values())
        )
        if is_open and not lost and not self._tabs.attaching:
            # The browser is not asked: news of its end come by themselves.
            return
        if self.closed:
            raise _closed()
        if self._opening is None or self._opening.done():
            self._opening = begin(self._bring_up())
        await asyncio.shield(self._opening)

    async def rest(self, why: str) -> None:
        """Give the browser back with its pages; the next call opens another one, and is told `why`."""
        async with self.lock:
            context, self._context = self._context, None
            if context is None or self._state is not State.OPEN:
                self._context = context
                return
            await self._plugins.leaving()
            self._state = State.NEW
            self._tabs.lose()
            self._was_open = False
            await self._give_back()
            self.notice(why)

    async def close(self) -> None:
        """Close the session and what belongs to it; a browser that was running before it goes on.

        An opening under way is broken off. Returns once everything has been given back.
        """
        if self._closing is None:
            self._state = State.CLOSED
            self._closing = begin(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        # Each step is taken whatever becomes of the others; the last one is first.
        async with contextlib.AsyncExitStack() as steps:
            if self._own_browsers is not None:
                steps.push_async_callback(self._own_browsers.close)
            steps.callback(self._on_close, self)
            if self.egress is not None:
                steps.callback(self.egress.end)
            # Until the context is closed a download may begin, and make a folder for itself.
            steps.push_async_callback(self.artifacts.close)
            steps.push_async_callback(self._give_back)
            steps.push_async_callback(self._plugins.closed)
            steps.callback(self._tabs.stop)
            steps.callback(self.takeover.close)
            steps.push_async_callback(self.incoming.close)

    async def _bring_up(self) -> None:
        try:
            if self._context is not None and self._tabs.current is not None and self._tabs.current.closed:
                # Whether it closed alone or with its browser is known by then.
                await asyncio.sleep(CLOSING_SECONDS)
            await self._open_and_mend()
            await self._tabs.attached()
        except asyncio.CancelledError:
            if self.closed:
                raise _closed() from None
            raise

    async def _open(self) -> None:
        await self._give_back()
        self._state = State.OPENING
        try:
            async with contextlib.AsyncExitStack() as stack:
                lent = self._pool.lease(
                    isolated=self.isolated,
                    options=self.context_options,
                    on_end=self._on_context_end,
                    egress=self.egress,
                    tenant=self.limits.tenant,
                )
                lease = await stack.enter_async_context(lent)
                context = self._context = lease.context
                if lease.joined and self.limits.clipboard is None:
                    # The browser's own one is that of whoever was there first.
                    self.limits = replace(self.limits, clipboard=Clipboard())
                with contextlib.suppress(PlaywrightError):
                    await context.add_init_script(hook_script(self.services.channel))
                    if self.limits.clipboard is not None:
                        await self.limits.clipboard.follow(context)
                await self._plugins.opened(context)
                self._tabs.lent = lease.lent
                await self._tabs.follow(context)
                if self._state is not State.OPENING or self._context is not context:
                    raise self._why_ended()
                self._state = State.OPEN
                self._lease = stack.pop_all()
        finally:
            if self._state is not State.OPEN:
                self._context = None
                self._tabs.lose()
            if self._state is State.OPENING:
                self._state = State.NEW
        self._observations.know_tabs()
        if lease.notice:
            self.notice(lease.notice)
        if self._was_open:
            browser = self._settings.browser
            by_connection = not browser.starts_browser
            self.notice(self._lost_tabs.take(connection=by_connection, isolated=self.isolated))
        self._was_open = True

    async def _give_back(self) -> None:
        """Give the context back, or wait until one that has ended is."""
        self._context = None
        lease, self._lease = self._lease, contextlib.AsyncExitStack()
        await lease.aclose()
        if self._releasing is not None:
            await asyncio.wait({self._releasing})

    async def _open_and_mend(self) -> None:
        """Have a browser and a current tab; a browser whose end comes through only now is replaced once."""
        for is_last in (False, True):
            if self._context is None:
                # Whole sessions take turns: with one step of all of them after another, each would wait for
                # the last.
                async with self.openings:
                    await self._open()
            try:
                await self._mend()
            except BrowserUnavailable:
                context = self._context
                browser = context.browser if context is not None else None
                lives = context is not None and (browser is None or browser.is_connected())
                if is_last or lives:
                    raise
                self._drop_context()
            else:
                return

    async def _mend(self) -> None:
        """Open crashed tabs again, and see to it that there is a current tab."""
        while crashed := [tab for tab in self.tabs.values() if tab.crashed]:
            for tab in crashed:
                await self._open_again(tab)
        await self._tabs.settle_on_one()

    async def _open_again(self, tab: Tab) -> None:
        """Put a fresh tab in place of one that has crashed; an empty one where that was such a tab itself."""
        url = tab.url
        fresh = await self._tabs.open(opener=tab.opener)
        was_current = tab is self._tabs.current
        if was_current:
            self._tabs.switch_to(fresh)
        await self._tabs.close(tab)
        text = f"Tab {tab.id} ({cut_address(url)}) had crashed and was opened again as tab {fresh.id}."
        again = tab.id in self._reopened
        if again:
            text = f"Tab {tab.id} ({cut_address(url)}) has crashed again; tab {fresh.id} is empty."
        if was_current:
            self._lost_tabs.moved = text
        self.notice(text)
        if not again:
            self._reopened.add(fresh.id)
            with contextlib.suppress(ActionError):
                await fresh.goto(url)

    def _drop_context(self, what: Ended = "browser") -> None:
        """Forget a browser that has ended, and give it back; remember what was lost with it."""
        if self._context is None:
            return
        self._context = None
        self._lost_tabs.browser_ended(self.tabs.values(), self._tabs.current, what)
        self._tabs.lose()
        if self._state is State.OPEN:
            self._state = State.NEW
            lease, self._lease = self._lease, contextlib.AsyncExitStack()
            self._releasing = begin(lease.aclose())

    def _on_context_end(self, context: BrowserContext, what: Ended) -> None:
        if context is self._context and not self.closed:
            self._drop_context(what)

    def _ended(self) -> BrowserUnavailable | None:
        return self._why_ended() if self._context is None else None

    def _why_ended(self) -> BrowserUnavailable:
        """The error of an action whose browser has ended."""
        if self.closed:
            return _closed()
        again = "starts it" if self._settings.browser.starts_browser else "connects"
        hint = f"The next call {again} again: open the page with go_to_url."
        return BrowserUnavailable(self._lost_tabs.describe(), hint=hint)

    # -- tabs

    async def new_tab(self, url: str | None = None) -> Tab:
        """Open a tab and switch to it. A tab whose address cannot be opened is closed again.

        Raises:
            BlockedUrl, NavigationError, DeadlineExceeded: as `Tab.goto` does.
        """
        if reason := self.limits.why_no_tab(len(self.tabs)):
            raise LimitReached(reason, hint="Close a tab with close_tab, or go on in this one.")
        before = self._tabs.current
        address = check_url(url, self._settings, base=before.url if before else "") if url else None
        tab = await self._tabs.open(opener=before.id if before else None)
        self._tabs.switch_to(tab)
        if address is not None:
            try:
                arrival = await tab.goto(address)
            except (BlockedUrl, NavigationError, DeadlineExceeded):
                self._tabs.switch_to(before)
                await self._tabs.close(tab)
                raise
            if arrival.downloaded and before is not None and not before.closed:
                self._tabs.switch_to(before)
                await self._tabs.close(tab)
                return before
        return tab

    async def switch_tab(self, tab_id: int) -> Tab:
        """Make a tab the current one.

        Raises:
            NotFound: there is no such tab; the message lists those that there are.
        """
        tab = self._tabs.by_id(tab_id)
        self._tabs.switch_to(tab)
        await tab.bring_to_front()
        return tab

    async def close_tab(self, tab_id: int) -> None:
        """Close a tab. The current one gives way to its opener or the newest one, the last one to a blank.

        Raises:
            NotFound: there is no such tab; the message lists those that there are.
            NotActionable: it is one of the user's.
        """
        tab = self._tabs.by_id(tab_id)
        if self._tabs.is_lent(tab):
            raise NotActionable(f"Tab {tab} is the user's: it is left open.", hint="switch_tab leaves it.")
        await self._tabs.close(tab)

    # -- acting and observing

    @contextlib.asynccontextmanager
    async def action(self, effect: Effect) -> AsyncGenerator[ActionScope]:
        """Hold the session for one action, from the check of its arguments to the observation of its outcome.

        Raises:
            BrowserUnavailable: the session cannot be opened.
            NotFound: the tab has changed since the last result, so that input would go to another page.
        """
        async with self.lock:
            await self.ensure_open()
            tab = self.current_tab
            if effect == "input" and self._lost_tabs.moved is not None:
                self._refuse_another_tab(self._lost_tabs.moved)
            if effect != "navigation" and tab.activity.navigating_for() is not None:
                await tab.arrive()
                tab = self.current_tab
            if effect != "read":
                self.acted_at = time.time()
            scope = ActionScope(effect, tab, tab.url, self._ended)
            tab.answered = False
            self._tabs.watch, self._tabs.refusals = scope, 0
            for one in self.tabs.values():
                scope.marks[one.id] = one.activity.watch()
            try:
                yield scope
            finally:
                self.services.gate = self.services.typing_rule = None
                self._tabs.watch = None
                for one in self.tabs.values():
                    one.activity.watched = False
                # Not at the start, which has better things to do.
                remove_leftovers_once()

    async def ended_before(self, scope: ActionScope) -> bool:
        """Whether the browser had ended before it answered anything to this action."""
        if scope.tab.answered or scope.tab.crashed:
            return False
        if self._context is not None:
            # The news may be on its way.
            await asyncio.sleep(CLOSING_SECONDS)
        return self._context is None and not self.closed

    def _refuse_another_tab(self, text: str) -> None:
        self._lost_tabs.moved = None
        self._observations.withdraw(text)
        raise NotFound(
            text,
            hint=f"Nothing was done. The current tab is {self.current_tab}: look with get_state first.",
        )

    async def observe(self, scope: ActionScope) -> Observation:
        """Wait for what the action has started, and tell what became of the page.

        Raises:
            BlockedUrl: the page went to an address that is not allowed; it was left.
            BrowserUnavailable: the page has crashed, or the browser has ended.
        """
        try:
            if scope.effect == "read":
                part = await self._settler.read_late_changes()
            else:
                part = await self._settler.settle_and_read(scope)
            if self._context is None:
                raise self._why_ended()
            tab = self.current_tab
            if tab.held and tab.crashed:
                raise tab.why_held()
            if tab.held and tab.closed:
                part = await self._return_from(tab, scope)
                tab = self.current_tab
            await self.refuse_blocked(leave=scope.url)
            return await self._observations.observation(tab, part)
        finally:
            self._lost_tabs.moved = None

    async def _return_from(self, closed: Tab, scope: ActionScope) -> DomSnapshot | DomChanges | None:
        """Go on in another tab where the action has closed its own, and tell that page as a whole."""
        self._tabs.expect_closing(closed)
        await self._tabs.settle_on_one()
        self.notice(f"Tab {closed.id} was closed; tab {self.current_tab.id} is the current one now.")
        part = await self._settler.settle_and_read(scope)
        if isinstance(part, DomChanges):
            part = await self._settler.read_page(region=None, part=1)
        return part

    async def full_observation(self, *, region: int | None = None, part: int = 1) -> Observation:
        """The whole page within the budget, or the part of it that is asked for.

        Raises:
            DeadlineExceeded: the page does not answer.
            BlockedUrl: the page's address is not allowed.
        """
        await self.current_tab.arrive()
        await self.refuse_blocked()
        snapshot = None
        if self.current_tab.dialog is None:
            snapshot = await self._settler.read_page(region=region, part=part)
        self._lost_tabs.moved = None
        return await self._observations.observation(self.current_tab, snapshot)

    async def wait_for_download(self, *, limit: float) -> list[DownloadInfo]:
        """The downloads that end within `limit` seconds: those under way, else the next one to begin.

        Raises:
            DeadlineExceeded: none began, or one goes on.
        """
        return await self.incoming.wait_for_end(limit=limit)

    async def finish_downloads(self, *, limit: float) -> None:
        """Wait for the downloads under way, `limit` seconds at most; what goes on is told."""
        await self.incoming.wait(limit=limit)

    async def refuse_blocked(self, *, leave: str | None = None) -> None:
        """Show nothing of a page whose address is not allowed; where an action has led there, leave it.

        Raises:
            BlockedUrl: it is not allowed.
        """
        tab = self.current_tab
        url = tab.url
        if url == self._shown_url or may_show(url, self._settings):
            self._shown_url = url
            return
        if leave is not None and leave != url:
            with contextlib.suppress(PlaywrightError, ActionError):
                await tab.goto("about:blank")
        raise blocked_page(url)


def _standing(settings: Settings) -> Iterator[str]:
    """What the settings want of a session from its start, beside its tools."""
    if settings.browser.prepares_pages:
        yield START_STATE
    if settings.recording.record != "none":
        yield RECORDING


def _closed() -> BrowserUnavailable:
    return BrowserUnavailable("The session is closed.", hint="Start a new one.")
