"""A browser session: one browser context with its tabs, its lock and its observations."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import SessionLock, SingleFlight, begin
from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.browser.files.downloads import DownloadInfo, Downloads
from mcp_browser.browser.observation import Effect
from mcp_browser.browser.page import ActionScope
from mcp_browser.browser.process.launch import runs_headless
from mcp_browser.browser.process.pool import ContextPool, Ended
from mcp_browser.browser.process.profile import remove_leftovers_once
from mcp_browser.browser.session_plugins import RECORDING, START_STATE, SessionPlugins
from mcp_browser.browser.session_services import SessionLimits, SessionServices
from mcp_browser.browser.settling import Observer
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import CLOSING_SECONDS, Tabs
from mcp_browser.browser.takeover import Takeover
from mcp_browser.dom.scripts import hook_script
from mcp_browser.errors import (
    BlockedUrl,
    BrowserUnavailable,
    DeadlineExceeded,
    LimitReached,
    NavigationError,
    NotActionable,
    NotFound,
)
from mcp_browser.privacy.hiding import MARK, Hidden, SessionAddresses
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession
    from mcp_browser.dom.models import Size

CallWatcher = Callable[[str, Mapping[str, Any]], Callable[[Any], None]]
"""Takes the name and redacted arguments of an action that begins.

The function that it returns takes the outcome: an `ActionResult`, or the exception that ended the action.
"""


class BrowserSession:
    """One browser context with its tabs; opens at the first call, or by `async with`, which also closes it.

    `BrowserManager.open_session` makes a server's. One without a pool starts and ends a browser of its own.
    """

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
        on_close: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """A session that is not open yet.

        Args:
            settings: the settings in force; by default the default settings.
            pool: lends it its context, and another one when that is lost; by default one of its own.
            isolated: use a clean context, deleted at the end, instead of the profile's. The default is True,
                unless the settings name a profile or a running browser.
            remote: its client is on another machine.
            context_options: keyword arguments for Playwright's `new_context`; they override the settings.
            limits: what it shares with other sessions; by default nothing.
            egress: its access to the egress proxy, if there is one.
            on_close: called once everything is released.
        """
        self.settings = settings = settings or Settings()
        self._own_pool: ContextPool | None = None
        if pool is None:
            pool = self._own_pool = ContextPool(settings)
            egress = pool.admit(settings)
        if isolated is None:
            isolated = settings.browser.profile is None and not settings.browser.runs_already
        limits = limits or SessionLimits()
        self.id = secrets.token_hex(8)
        self.watcher: CallWatcher | None = None  # Called for each action
        self.doing = ""  # The action of a list that is being carried out
        self.lock = (
            limits.lock if limits.turns is None else SessionLock(limits.lock, limits.turns, limits.tenant)
        )
        self.isolated = isolated
        self.in_own_chrome = settings.browser.connect is not None  # The user's own browser
        self.context_options = dict(context_options or {})
        self.hidden = Hidden()  # Values that nothing may show, by the names that replace them
        self.shown_picture: Size | None = None  # Size of the last picture of the view that was shown, pixels
        self._pool = pool
        self.devices = pool.devices
        self._on_close = on_close
        self.uploads: list[str] = []  # Names of the files that were given to pages
        self._lease = contextlib.AsyncExitStack()  # Releases the context, once it is open
        self._releasing: asyncio.Task[None] | None = None
        self._opening = SingleFlight(self._bring_up)
        self._closing: asyncio.Task[None] | None = None
        self.artifacts = Artifacts(
            settings.files,
            self.notice,
            remote=remote,
            replica=settings.server.replica,
            output_dir=limits.output_dir,
            disk=limits.disk,
            hidden=self.hidden,
        )
        self.incoming = Downloads(self.artifacts, self.notice, settings.files)  # Files that pages give
        groups = set(settings.tools.tools)
        if settings.browser.prepares_pages:
            groups.add(START_STATE)
        if settings.recording.record != "none":
            groups.add(RECORDING)
        self._plugins = SessionPlugins(self, groups)
        self.plugin = self._plugins.get
        # Redacts the addresses in results, and restores those that are given back.
        self.addresses = SessionAddresses(show=settings.observation.show_secrets)
        self.services = SessionServices(
            settings=settings,
            channel=f"x{secrets.token_hex(12)}",
            downloads=self.incoming,
            plugins=self._plugins.running.values(),
            hidden=self.hidden,
            addresses=self.addresses,
            limits=limits,
            notice=self.notice,
            openings=pool.openings,
            why_ended=self._why_ended,
            egress=egress,
        )
        self.hide = self.services.hide
        self.redactor = self.services.redactor
        self._tabs = Tabs(self.services, self._plugins)
        self.tabs = self._tabs.all
        self.tab_switched = self._tabs.switched  # Wakes when another tab is the current one
        self.takeover = Takeover(
            self._tabs, self.services, in_window=not (remote or runs_headless(settings.browser))
        )
        self._observer = Observer(self._tabs, self.services)
        self.observe = self._observer.observe
        self.settle = self._observer.settle
        self.full_observation = self._observer.full_observation
        self.refuse_blocked = self._observer.refuse_blocked
        self.take_notices = self._observer.take_notices
        self._is_open = self._was_open = False

    @property
    def closed(self) -> bool:
        """Whether it has ended, for good."""
        return self.services.closed

    @property
    def context(self) -> BrowserContext:
        """Playwright's context. Raises BrowserUnavailable: the session is not open."""
        if self.services.context is None:
            raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
        return self.services.context

    @property
    def open_context(self) -> BrowserContext | None:
        """Playwright's context, or None while the session is not open."""
        return self.services.context

    @property
    def context_settings(self) -> Mapping[str, Any]:
        """The keyword arguments of Playwright's `new_context` for this session."""
        return self._pool.context_options | self.context_options

    @property
    def current_tab(self) -> Tab:
        """The tab that actions work in. Raises BrowserUnavailable: the session is not open."""
        return self._observer.current_tab

    @property
    def tab_in_use(self) -> Tab | None:
        """The current tab, or None once the browser has ended."""
        return self._tabs.current if self.services.context is not None else None

    @property
    def downloads(self) -> list[DownloadInfo]:
        return list(self.incoming.infos)

    @property
    def output_dir(self) -> Path:
        """The folder for downloads and other files; a temporary one if the settings have none."""
        return self.artifacts.folder

    @property
    def upload_dirs(self) -> tuple[Path, ...]:
        """The folders from which files may be uploaded; for a remote client, only those of the settings.

        By default the working folder is one, unless it contains the home folder: many servers start there.
        """
        if self.settings.files.upload_dirs or self.artifacts.remote:
            return self.settings.files.upload_dirs
        working = Path.cwd()
        if Path.home().resolve().is_relative_to(working):
            return (self.output_dir,)
        return (working, self.output_dir)

    def restored(self, url: str) -> str:
        """An address as given, or the original of a redacted one.

        Raises BlockedUrl, NavigationError: it may not be opened, or its original is not known.
        """
        if MARK not in (url := url.replace("%5Bredacted%5D", MARK)):
            return url
        base = self._tabs.current.url if self._tabs.current else ""
        return self.addresses.restore(check_url(url, self.settings, base=base))

    def notice(self, text: str) -> None:
        """Add a sentence to the next result."""
        self._observer.notice(text)

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
        """Open the session, or replace a dead browser, and crashed or closed tabs.

        It continues for the next caller if this one is cancelled. Raises BrowserUnavailable, also if closed.
        """
        current = self._tabs.current
        # A closed current tab is not among the open ones.
        lost = (
            current is None or current.closed or any(tab.crashed or tab.closed for tab in self.tabs.values())
        )
        if self._is_open and not lost and not self._tabs.attaching:
            return  # The browser is not asked: there is an event for its end.
        if self.closed:
            raise self._why_ended()
        await self._opening()

    async def rest(self, why: str) -> None:
        """Release the browser with its pages; the next call opens another one, and reports `why`."""
        async with self.lock:
            if not self._is_open:
                return
            self._is_open, self.services.context = False, None
            await self._plugins.leaving()
            self._tabs.lose()
            self._was_open = False
            await self._give_back()
            self.notice(why)

    async def close(self) -> None:
        """Close the session and all of its own, but no browser that ran before; return once it is done."""
        if self._closing is None:
            self._is_open, self.services.closed = False, True
            self._closing = begin(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._opening.cancel()
        # In reverse order; each step is taken even if others fail.
        async with contextlib.AsyncExitStack() as steps:
            if self._own_pool is not None:
                steps.push_async_callback(self._own_pool.close)
            steps.callback(self._on_close, self)
            if self.services.egress is not None:
                steps.callback(self.services.egress.end)
            # Until the context is closed, a download may begin and make a folder.
            steps.push_async_callback(self.artifacts.close)
            steps.push_async_callback(self._give_back)
            steps.push_async_callback(self._plugins.closed)
            steps.callback(self._tabs.stop)
            steps.callback(self.takeover.close)
            steps.push_async_callback(self.incoming.close)

    async def _bring_up(self) -> None:
        """Make sure of a browser and a current tab; a browser found to have ended is replaced once."""
        try:
            current = self._tabs.current
            if self.services.context is not None and current is not None and current.closed:
                # After this it is known whether it closed alone or with its browser.
                await asyncio.sleep(CLOSING_SECONDS)
            for is_last in (False, True):
                if self.services.context is None:
                    # Whole sessions take turns: if their steps alternated, each would wait for the last.
                    async with self._pool.openings:
                        await self._open()
                try:
                    await self._tabs.mend()
                    break
                except BrowserUnavailable:
                    context = self.services.context
                    if is_last or (context and (context.browser is None or context.browser.is_connected())):
                        raise
                    if context is not None:
                        self._on_context_end(context, "browser")
            await self._tabs.attached()
        except asyncio.CancelledError:
            if self.closed:
                raise self._why_ended() from None
            raise

    async def _open(self) -> None:
        await self._give_back()
        services = self.services
        try:
            async with contextlib.AsyncExitStack() as stack:
                lent = self._pool.lease(
                    isolated=self.isolated,
                    options=self.context_options,
                    on_end=self._on_context_end,
                    egress=services.egress,
                    tenant=services.limits.tenant,
                )
                lease = await stack.enter_async_context(lent)
                context = services.context = lease.context
                if lease.joined and services.limits.clipboard is None:
                    # The browser's own clipboard belongs to the first user.
                    services.limits = replace(services.limits, clipboard=Clipboard())
                with contextlib.suppress(PlaywrightError):
                    await context.add_init_script(hook_script(services.channel))
                    if services.limits.clipboard is not None:
                        await services.limits.clipboard.follow(context)
                await self._plugins.opened(context)
                self._tabs.lent = lease.lent
                await self._tabs.follow(context)
                if self.closed or services.context is not context:
                    raise self._why_ended()
                self._is_open = True
                self._lease = stack.pop_all()
        finally:
            if not self._is_open:
                services.context = None
                self._tabs.lose()
        self._observer.reported_tabs = tuple(self.tabs)  # Those of a new browser are not news.
        if lease.notice:
            self.notice(lease.notice)
        if self._was_open:
            by_connection = not self.settings.browser.starts_browser
            self._tabs.moved = self._tabs.lost.take(connection=by_connection, isolated=self.isolated)
            self.notice(self._tabs.moved)
        self._was_open = True

    async def _give_back(self) -> None:
        """Release the context, or wait until one that has ended is released."""
        self.services.context = None
        lease, self._lease = self._lease, contextlib.AsyncExitStack()
        await lease.aclose()
        if self._releasing is not None:
            await asyncio.wait({self._releasing})

    def _on_context_end(self, context: BrowserContext, what: Ended) -> None:
        """Release a browser that has ended; remember what was lost with it."""
        if context is not self.services.context or self.closed:
            return
        self.services.context = None
        self._tabs.lost.with_driver = what == "driver"
        self._tabs.lost.add(self.tabs.values(), self._tabs.current)
        self._tabs.lose()
        if self._is_open:
            self._is_open = False
            lease, self._lease = self._lease, contextlib.AsyncExitStack()
            self._releasing = begin(lease.aclose())

    def _why_ended(self) -> BrowserUnavailable:
        """The error of an action whose browser has ended."""
        if self.closed:
            return BrowserUnavailable("The session is closed.", hint="Start a new one.")
        again = "starts it" if self.settings.browser.starts_browser else "connects"
        hint = f"The next call {again} again: open the page with go_to_url."
        return BrowserUnavailable(self._tabs.lost.describe(), hint=hint)

    async def ended_before(self, scope: ActionScope) -> bool:
        """Whether the browser had ended before it answered anything to this action."""
        if scope.tab.answered or scope.tab.crashed:
            return False
        if self.services.context is not None:
            await asyncio.sleep(CLOSING_SECONDS)  # The event may follow.
        return self.services.context is None and not self.closed

    # -- tabs

    async def new_tab(self, url: str | None = None) -> Tab:
        """Open a tab and switch to it; close it again if `Tab.goto` raises an error. Raises LimitReached."""
        if reason := self.services.limits.why_no_tab(len(self.tabs)):
            raise LimitReached(reason, hint="Close a tab with close_tab, or go on in this one.")
        before = self._tabs.current
        address = check_url(url, self.settings, base=before.url if before else "") if url else None
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
        """Make a tab the current one. Raises NotFound: there is no such tab; the message lists the tabs."""
        tab = self._tabs.by_id(tab_id)
        self._tabs.switch_to(tab)
        await tab.bring_to_front()
        return tab

    async def close_tab(self, tab_id: int) -> None:
        """Close a tab. Its opener or the newest tab is current then, or a blank one after the last.

        Raises NotFound: there is no such tab, with a list of them; NotActionable: it is a tab of the user.
        """
        tab = self._tabs.by_id(tab_id)
        if self._tabs.is_lent(tab):
            raise NotActionable(f"Tab {tab} is the user's: it is left open.", hint="switch_tab leaves it.")
        await self._tabs.close(tab)

    # -- acting

    @property
    def acting(self) -> bool:
        """Whether an action is under way that does more than read."""
        watch = self._tabs.watch
        return watch is not None and watch.effect != "read"

    @contextlib.asynccontextmanager
    async def action(self, effect: Effect, *, within: bool = False) -> AsyncGenerator[ActionScope]:
        """Hold the session for one action, from the check of its arguments to the observation of its outcome.

        With `within`, it is part of another one that holds the session. Raises BrowserUnavailable: it cannot
        be opened; NotFound: the tab has changed since the last result, so that input would go elsewhere.
        """
        async with contextlib.nullcontext() if within else self.lock:
            await self.ensure_open()
            tab, services = self.current_tab, self.services
            if effect == "input" and (text := self._tabs.moved) is not None:
                self._tabs.moved = None
                self._observer.notices.pop(text, None)
                hint = f"Nothing was done. The current tab is {tab}: look with get_state first."
                raise NotFound(text, hint=hint)
            if effect != "navigation" and tab.activity.navigating_for() is not None:
                await tab.arrive()
                tab = self.current_tab
            if effect != "read":
                services.acted_at = time.time()
            scope = ActionScope(effect, tab, tab.url)
            tab.answered = False
            around = (self._tabs.watch, services.gate, services.typing_rule)
            self._tabs.watch, self._tabs.refusals = scope, 0
            for one in self.tabs.values():
                scope.marks[one.id] = one.activity.watch()
            try:
                yield scope
            finally:
                self._tabs.watch, services.gate, services.typing_rule = around
                for one in self.tabs.values():
                    one.activity.watched = within
                # Here, so that it does not delay the start.
                remove_leftovers_once()
