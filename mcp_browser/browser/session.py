"""A browser session: one browser context, its tabs and its lock, and what is told of it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any, Self

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import blocked_page, check_url, may_show
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.files.downloads import DownloadInfo
from mcp_browser.browser.observation import Effect, Observation
from mcp_browser.browser.process.profile import remove_leftovers_once
from mcp_browser.browser.session_life import SessionLife, State
from mcp_browser.browser.session_plugins import C
from mcp_browser.browser.settling import ActionScope
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.models import DomChanges, DomSnapshot
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
from mcp_browser.privacy.addresses import MARK

CallWatcher = Callable[[str, Mapping[str, Any]], Callable[[Any], None]]
"""Takes the name of an action that begins and its arguments without what may be secret.

The function that it returns takes the outcome: an `ActionResult`, or the exception that ended the action.
"""


class BrowserSession(SessionLife):
    """One browser context with its tabs; opens at the first call, or `async with`, which closes it, too.

    A server's sessions are made by `BrowserManager.open_session`. One that is made without a pool stands
    alone: it starts a browser of its own, and ends it as it is closed.
    """

    watcher: CallWatcher | None = None
    """Who is told of each call."""

    doing = ""
    """Which action of a list is being carried out."""

    # -- what there is

    @property
    def in_own_chrome(self) -> bool:
        """Whether it works in a browser of the user's own."""
        return self._settings.browser.connect is not None

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

    def restored(self, url: str) -> str:
        """An address as given, or the original of one with a redacted part.

        Raises:
            BlockedUrl, NavigationError: it is no address that may be opened, or its original is not known.
        """
        if MARK not in (url := url.replace("%5Bredacted%5D", MARK)):
            return url
        base = self._tabs.current.url if self._tabs.current else ""
        return self.addresses.restore(check_url(url, self._settings, base=base))

    def take_notices(self) -> tuple[str, ...]:
        """The sentences that have not been told yet; they count as told now."""
        return self._observations.take_notices()

    # -- opening

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
        is_open = self._state is State.OPEN and self.services.context is not None
        # The current tab is none of the open ones once it is closed.
        lost = (
            current is None or current.closed or any(tab.crashed or tab.closed for tab in self.tabs.values())
        )
        if is_open and not lost and not self._tabs.attaching:
            # The browser is not asked: news of its end come by themselves.
            return
        if self.closed:
            raise self._why_ended()
        if self._opening is None or self._opening.done():
            self._opening = begin(self._bring_up())
        await asyncio.shield(self._opening)

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

    @property
    def acting(self) -> bool:
        """Whether an action is under way that does more than look."""
        watch = self._tabs.watch
        return watch is not None and watch.effect != "read"

    @contextlib.asynccontextmanager
    async def action(self, effect: Effect, *, within: bool = False) -> AsyncGenerator[ActionScope]:
        """Hold the session for one action, from the check of its arguments to the observation of its outcome.

        `within` another one, of which it is a part, the session is held already.

        Raises:
            BrowserUnavailable: the session cannot be opened.
            NotFound: the tab has changed since the last result, so that input would go to another page.
        """
        async with contextlib.nullcontext() if within else self.lock:
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
            around = (self._tabs.watch, self.services.gate, self.services.typing_rule)
            self._tabs.watch, self._tabs.refusals = scope, 0
            for one in self.tabs.values():
                scope.marks[one.id] = one.activity.watch()
            try:
                yield scope
            finally:
                self._tabs.watch, self.services.gate, self.services.typing_rule = around
                for one in self.tabs.values():
                    one.activity.watched = within
                # Not at the start, which has better things to do.
                remove_leftovers_once()

    def _refuse_another_tab(self, text: str) -> None:
        self._lost_tabs.moved = None
        self._observations.withdraw(text)
        raise NotFound(
            text, hint=f"Nothing was done. The current tab is {self.current_tab}: look with get_state first."
        )

    async def observe(self, scope: ActionScope) -> Observation:
        """Wait for what the action has started, and tell what became of the page.

        Raises:
            BlockedUrl: the page went to an address that is not allowed; it was left.
            BrowserUnavailable: the page has crashed, or the browser has ended.
        """
        try:
            part = await self._settled(scope, reads=True)
            return await self._observations.observation(self.current_tab, part)
        finally:
            self._lost_tabs.moved = None

    async def settle(self, scope: ActionScope) -> None:
        """Wait for what the action has started, where another one follows. Raises as `observe` does."""
        await self._settled(scope, reads=False)

    async def _settled(self, scope: ActionScope, *, reads: bool) -> DomSnapshot | DomChanges | None:
        if scope.effect != "read":
            part = await self._settler.settle_and_read(scope, reads=reads)
        else:
            part = await self._settler.read_late_changes() if reads else None
        if self.services.context is None:
            raise self._why_ended()
        tab = self.current_tab
        if tab.held and tab.crashed:
            raise tab.why_held()
        if tab.held and tab.closed:
            part = await self._return_from(tab, scope)
        await self.refuse_blocked(leave=scope.url)
        return part

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
