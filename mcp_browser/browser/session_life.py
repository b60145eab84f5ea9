"""The life of a session: opening its context, replacing what is lost, releasing it."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.collectors import ROOM
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.files.artifacts import Artifacts
from mcp_browser.browser.files.downloads import Downloads
from mcp_browser.browser.observation import DialogInfo, Observation, TabInfo
from mcp_browser.browser.process.pool import ContextPool, Ended
from mcp_browser.browser.session_plugins import RECORDING, START_STATE, SessionPlugins
from mcp_browser.browser.session_services import SessionLimits, SessionServices
from mcp_browser.browser.settling import ActionScope, Settler
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import CLOSING_SECONDS, LostTabs, Tabs
from mcp_browser.browser.takeover import Takeover
from mcp_browser.dom.models import DomChanges, DomSnapshot
from mcp_browser.dom.scripts import hook_script
from mcp_browser.errors import ActionError, BrowserUnavailable
from mcp_browser.privacy.addresses import SessionAddresses
from mcp_browser.privacy.hiding import Hidden
from mcp_browser.settings import Settings
from mcp_browser.text import cut_address

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession
    from mcp_browser.dom.models import Size


MOST_NOTICES = 50  # How many different notices a result has, besides those with limits of their own


class ObservationBuilder:
    """Makes a session's observations; remembers what was reported and what is still to be."""

    def __init__(self, tabs: Tabs, plugins: SessionPlugins, egress: "ProxySession | None" = None) -> None:
        self._egress = egress
        self._tabs = tabs
        self._plugins = plugins
        self._notices: dict[str, None] = {}
        self._left_out = 0
        self._reported_dialogs: dict[int, DialogInfo] = {}
        self._reported_tabs: tuple[int, ...] = ()
        self._reported_infos: list[tuple[int, str, bool]] = []

    def notice(self, text: str) -> None:
        """Add a sentence to the next result, unless there are too many."""
        if text in self._notices or len(self._notices) < MOST_NOTICES:
            self._notices[text] = None
        else:
            self._left_out += 1

    def withdraw(self, text: str) -> None:
        """Remove a sentence that was reported in another way."""
        self._notices.pop(text, None)

    def know_tabs(self) -> None:
        """Mark the current tabs as reported: those of a new browser are not news."""
        self._reported_tabs = tuple(self._tabs.all)

    def take_notices(self) -> tuple[str, ...]:
        """The sentences for the next result; each is returned once."""
        current, room = self._tabs.current, ROOM
        notices, self._notices = list(self._notices), {}
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
        notices += [notice for plugin in self._plugins for notice in plugin.notices()]
        if self._egress is not None:
            notices += self._egress.notices()
        return tuple(dict.fromkeys(notices))

    async def observation(self, tab: Tab, part: DomSnapshot | DomChanges | None) -> Observation:
        """The state of the session now, with what was read of its current tab."""
        tabs = tuple(self._tabs.all)
        several = len(tabs) > 1 or tabs != self._reported_tabs
        self._reported_tabs = tabs
        if isinstance(part, DomSnapshot):
            part = part.model_copy(update={"status": tab.status})
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
        if not isinstance(part, DomSnapshot) and shown == self._reported_infos:
            infos = []
        self._reported_infos = shown
        return Observation(
            url=tab.url,
            title=tab.title,
            snapshot=part if isinstance(part, DomSnapshot) else None,
            changes=part if isinstance(part, DomChanges) else None,
            tabs=tuple(infos),
            dialog=tab.dialog if tab.held else None,
            notices=self.take_notices(),
        )


class State(Enum):
    """The state of a session. One that loses its browser is NEW again; CLOSED is final."""

    NEW = "new"
    OPENING = "opening"
    OPEN = "open"
    CLOSED = "closed"


class SessionLife:
    """A session from its creation to its end: its parts, its browser context, its tabs."""

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
        self.id = secrets.token_hex(8)
        limits = limits or SessionLimits()
        self.lock = limits.lock
        self.isolated = isolated
        self.egress = egress
        self.context_options = dict(context_options or {})
        self.hidden = Hidden()  # Values that nothing may show, by the names that replace them
        self.shown_picture: Size | None = None  # Size of the last picture of the view that was shown, pixels
        self._pool = pool
        self.devices = pool.devices
        self._on_close = on_close
        self.acted_at = 0.0  # When the last action began that does more than read, seconds since 1970
        self.uploads: list[str] = []  # Names of the files that were given to pages
        self._state = State.NEW
        self.closed = False
        self._lease = contextlib.AsyncExitStack()
        self._releasing: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.artifacts = Artifacts(
            self.settings.files,
            self.notice,
            remote=remote,
            replica=self.settings.server.replica,
            output_dir=limits.output_dir,
            disk=limits.disk,
            hidden=self.hidden,
        )
        self.incoming = Downloads(self.artifacts, self.notice, self.settings.files)  # Files that pages give
        self.holds_requests = False  # Whether requests are intercepted, so that their events come later
        self._plugins = SessionPlugins(self, (*self.settings.tools.tools, *_standing(self.settings)))
        self._lost_tabs = LostTabs()
        # Redacts the addresses in results, and restores those that are given back.
        self.addresses = SessionAddresses(show=self.settings.observation.show_secrets)
        self.services = SessionServices(
            settings=self.settings,
            channel=f"x{secrets.token_hex(12)}",
            downloads=self.incoming,
            plugins=self._plugins,
            hidden=self.hidden,
            addresses=self.addresses,
            limits=limits,
            notice=self.notice,
            openings=pool.openings,
            egress=egress,
        )
        self.hide = self.services.hide
        self.redactor = self.services.redactor
        self._tabs = Tabs(self.services, self._plugins, self._lost_tabs)
        self.tabs = self._tabs.all
        self._settler = Settler(self, self._tabs, self.services)
        self.tab_switched = self._tabs.switched  # Wakes when another tab is the current one
        self.takeover = Takeover(self._tabs, self.services, handed_back=self.handed_back)
        self._observations = ObservationBuilder(self._tabs, self._plugins, egress)
        self.take_notices = self._observations.take_notices
        self._reopened: set[int] = set()
        self._shown_url = ""  # The last address that was found to be allowed
        self._was_open = False

    # -- what there is

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
    def tab_in_use(self) -> Tab | None:
        """The current tab, or None once the browser has ended."""
        return self._tabs.current if self.services.context is not None else None

    @property
    def limits(self) -> SessionLimits:
        """What it has to share with others."""
        return self.services.limits

    @limits.setter
    def limits(self, limits: SessionLimits) -> None:
        self.services.limits = limits

    # -- opening and closing

    def notice(self, text: str) -> None:
        """Add a sentence to the next result."""
        self._observations.notice(text)

    def handed_back(self, message: str, moved: bool) -> None:
        """A takeover has ended with this message; `moved`: the page is not that of the last result."""
        if message:
            self.notice(message)
        if moved:
            self._lost_tabs.moved = message
        self.acted_at = time.time()

    async def rest(self, why: str) -> None:
        """Release the browser with its pages; the next call opens another one, and reports `why`."""
        async with self.lock:
            context, self.services.context = self.services.context, None
            if context is None or self._state is not State.OPEN:
                self.services.context = context
                return
            await self._plugins.leaving()
            self._state = State.NEW
            self._tabs.lose()
            self._was_open = False
            await self._give_back()
            self.notice(why)

    async def close(self) -> None:
        """Close the session and what belongs to it, but no browser that ran before.

        Cancels an opening under way. Returns once everything is released.
        """
        if self._closing is None:
            self._state = State.CLOSED
            self.closed = self.services.closed = True
            self._closing = begin(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        # In reverse order; each step is taken even if others fail.
        async with contextlib.AsyncExitStack() as steps:
            if self._own_pool is not None:
                steps.push_async_callback(self._own_pool.close)
            steps.callback(self._on_close, self)
            if self.egress is not None:
                steps.callback(self.egress.end)
            # Until the context is closed, a download may begin and make a folder.
            steps.push_async_callback(self.artifacts.close)
            steps.push_async_callback(self._give_back)
            steps.push_async_callback(self._plugins.closed)
            steps.callback(self._tabs.stop)
            steps.callback(self.takeover.close)
            steps.push_async_callback(self.incoming.close)

    async def _bring_up(self) -> None:
        try:
            current = self._tabs.current
            if self.services.context is not None and current is not None and current.closed:
                # After this it is known whether it closed alone or with its browser.
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
                context = self.services.context = lease.context
                if lease.joined and self.limits.clipboard is None:
                    # The browser's own clipboard belongs to the first user.
                    self.limits = replace(self.limits, clipboard=Clipboard())
                with contextlib.suppress(PlaywrightError):
                    await context.add_init_script(hook_script(self.services.channel))
                    if self.limits.clipboard is not None:
                        await self.limits.clipboard.follow(context)
                await self._plugins.opened(context)
                self._tabs.lent = lease.lent
                await self._tabs.follow(context)
                if self._state is not State.OPENING or self.services.context is not context:
                    raise self._why_ended()
                self._state = State.OPEN
                self._lease = stack.pop_all()
        finally:
            if self._state is not State.OPEN:
                self.services.context = None
                self._tabs.lose()
            if self._state is State.OPENING:
                self._state = State.NEW
        self._observations.know_tabs()
        if lease.notice:
            self.notice(lease.notice)
        if self._was_open:
            browser = self.settings.browser
            by_connection = not browser.starts_browser
            self.notice(self._lost_tabs.take(connection=by_connection, isolated=self.isolated))
        self._was_open = True

    async def _give_back(self) -> None:
        """Release the context, or wait until one that has ended is released."""
        self.services.context = None
        lease, self._lease = self._lease, contextlib.AsyncExitStack()
        await lease.aclose()
        if self._releasing is not None:
            await asyncio.wait({self._releasing})

    async def _open_and_mend(self) -> None:
        """Make sure of a browser and a current tab; a browser found to have ended is replaced once."""
        for is_last in (False, True):
            if self.services.context is None:
                # Whole sessions take turns: if their steps were interleaved, each would wait for the last.
                async with self._pool.openings:
                    await self._open()
            try:
                await self._mend()
            except BrowserUnavailable:
                context = self.services.context
                browser = context.browser if context is not None else None
                lives = context is not None and (browser is None or browser.is_connected())
                if is_last or lives:
                    raise
                self._drop_context()
            else:
                return

    async def _mend(self) -> None:
        """Replace crashed tabs, and make sure that there is a current tab."""
        while crashed := [tab for tab in self.tabs.values() if tab.crashed]:
            for tab in crashed:
                await self._open_again(tab)
        await self._tabs.settle_on_one()

    async def _open_again(self, tab: Tab) -> None:
        """Replace a crashed tab by a new one with its page, or an empty one if it was one itself."""
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
        """Release a browser that has ended; remember what was lost with it."""
        if self.services.context is None:
            return
        self.services.context = None
        self._lost_tabs.browser_ended(self.tabs.values(), self._tabs.current, what)
        self._tabs.lose()
        if self._state is State.OPEN:
            self._state = State.NEW
            lease, self._lease = self._lease, contextlib.AsyncExitStack()
            self._releasing = begin(lease.aclose())

    def _on_context_end(self, context: BrowserContext, what: Ended) -> None:
        if context is self.services.context and not self.closed:
            self._drop_context(what)

    def _ended(self) -> BrowserUnavailable | None:
        return self._why_ended() if self.services.context is None else None

    def _why_ended(self) -> BrowserUnavailable:
        """The error of an action whose browser has ended."""
        if self.closed:
            return _closed()
        again = "starts it" if self.settings.browser.starts_browser else "connects"
        hint = f"The next call {again} again: open the page with go_to_url."
        return BrowserUnavailable(self._lost_tabs.describe(), hint=hint)

    async def ended_before(self, scope: ActionScope) -> bool:
        """Whether the browser had ended before it answered anything to this action."""
        if scope.tab.answered or scope.tab.crashed:
            return False
        if self.services.context is not None:
            await asyncio.sleep(CLOSING_SECONDS)  # The event may follow.
        return self.services.context is None and not self.closed


def _standing(settings: Settings) -> Iterator[str]:
    """The groups of plugins that the settings need from the start, besides the tools'."""
    if settings.browser.prepares_pages:
        yield START_STATE
    if settings.recording.record != "none":
        yield RECORDING


def _closed() -> BrowserUnavailable:
    return BrowserUnavailable("The session is closed.", hint="Start a new one.")
