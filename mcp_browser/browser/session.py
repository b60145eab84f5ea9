"""A browser session: one browser context with its tabs, its lock and its observations."""

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
"""Takes the name and redacted arguments of an action that begins.

The function that it returns takes the outcome: an `ActionResult`, or the exception that ended the action.
"""


class BrowserSession(SessionLife):
    """One browser context with its tabs; opens at the first call, or by `async with`, which also closes it.

    A server's sessions are made by `BrowserManager.open_session`. A session without a pool starts its own
    browser, and ends it when it is closed.
    """

    watcher: CallWatcher | None = None
    """Called for each action."""

    doing = ""
    """The action of a list that is being carried out."""

    # -- what there is

    @property
    def in_own_chrome(self) -> bool:
        """Whether it works in the user's own browser."""
        return self.settings.browser.connect is not None

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
        return list(self.incoming.infos)

    @property
    def output_dir(self) -> Path:
        """The folder for downloads and other files; a temporary one if the settings have none."""
        return self.artifacts.folder

    @property
    def upload_dirs(self) -> tuple[Path, ...]:
        """The folders from which files may be uploaded; for a remote client, only those of the settings.

        By default the working folder is one, unless it contains the home folder: many clients start their
        servers there, or in `/`.
        """
        if self.settings.files.upload_dirs or self.artifacts.remote:
            return self.settings.files.upload_dirs
        working = Path.cwd()
        if Path.home().resolve().is_relative_to(working):
            return (self.output_dir,)
        return (working, self.output_dir)

    async def plugin(self, kind: type[C]) -> C:
        """The session's plugin of a class; the first call makes it, and attaches it to the open tabs."""
        return await self._plugins.get(kind)

    @property
    def context_settings(self) -> Mapping[str, Any]:
        """The keyword arguments of Playwright's `new_context` for this session."""
        return self._pool.context_options | dict(self.context_options)

    def restored(self, url: str) -> str:
        """An address as given, or the original of a redacted one.

        Raises:
            BlockedUrl, NavigationError: it may not be opened, or its original is not known.
        """
        if MARK not in (url := url.replace("%5Bredacted%5D", MARK)):
            return url
        base = self._tabs.current.url if self._tabs.current else ""
        return self.addresses.restore(check_url(url, self.settings, base=base))

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
        """Open the session, or replace a dead browser, and crashed or closed tabs.

        This continues if the caller is cancelled; the next caller waits for it.

        Raises:
            BrowserUnavailable: no browser could be found, started or reached; or the session is closed.
        """
        current = self._tabs.current
        is_open = self._state is State.OPEN and self.services.context is not None
        # A closed current tab is not among the open ones.
        lost = (
            current is None or current.closed or any(tab.crashed or tab.closed for tab in self.tabs.values())
        )
        if is_open and not lost and not self._tabs.attaching:
            return  # The browser is not asked: there is an event for its end.
        if self.closed:
            raise self._why_ended()
        if self._opening is None or self._opening.done():
            self._opening = begin(self._bring_up())
        await asyncio.shield(self._opening)

    # -- tabs

    async def new_tab(self, url: str | None = None) -> Tab:
        """Open a tab and switch to it; it is closed again if its address cannot be opened.

        Raises:
            BlockedUrl, NavigationError, DeadlineExceeded: as `Tab.goto` does.
        """
        if reason := self.limits.why_no_tab(len(self.tabs)):
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

        Raises:
            NotFound: there is no such tab; the message lists the tabs.
            NotActionable: it is a tab of the user.
        """
        tab = self._tabs.by_id(tab_id)
        if self._tabs.is_lent(tab):
            raise NotActionable(f"Tab {tab} is the user's: it is left open.", hint="switch_tab leaves it.")
        await self._tabs.close(tab)

    # -- acting and observing

    @property
    def acting(self) -> bool:
        """Whether an action is under way that does more than read."""
        watch = self._tabs.watch
        return watch is not None and watch.effect != "read"

    @contextlib.asynccontextmanager
    async def action(self, effect: Effect, *, within: bool = False) -> AsyncGenerator[ActionScope]:
        """Hold the session for one action, from the check of its arguments to the observation of its outcome.

        With `within`, the action is part of another one that holds the session already.

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
                # Here, so that it does not delay the start.
                remove_leftovers_once()

    def _refuse_another_tab(self, text: str) -> None:
        self._lost_tabs.moved = None
        self._observations.withdraw(text)
        raise NotFound(
            text, hint=f"Nothing was done. The current tab is {self.current_tab}: look with get_state first."
        )

    async def observe(self, scope: ActionScope) -> Observation:
        """Wait until what the action has started has ended, and describe the page.

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
        """Wait as `observe` does, but return nothing: another action follows."""
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
        """The action has closed its tab: switch to another one, and read its whole page."""
        self._tabs.expect_closing(closed)
        await self._tabs.settle_on_one()
        self.notice(f"Tab {closed.id} was closed; tab {self.current_tab.id} is the current one now.")
        part = await self._settler.settle_and_read(scope)
        if isinstance(part, DomChanges):
            part = await self._settler.read_page(region=None, part=1)
        return part

    async def full_observation(self, *, region: int | None = None, part: int = 1) -> Observation:
        """The whole page within the budget, or a region or part of it.

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

    async def refuse_blocked(self, *, leave: str | None = None) -> None:
        """Raise BlockedUrl if the page's address is not allowed.

        `leave` is the address at which an action began; a page that it led to is left.
        """
        tab = self.current_tab
        url = tab.url
        if url == self._shown_url or may_show(url, self.settings):
            self._shown_url = url
            return
        if leave is not None and leave != url:
            with contextlib.suppress(PlaywrightError, ActionError):
                await tab.goto("about:blank")
        raise blocked_page(url)
