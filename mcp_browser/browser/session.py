"""A browser session: one browser context, its tabs and its lock, and what is told of it."""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio
from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.artifacts import Artifacts
from mcp_browser.browser.companions import C, Companions
from mcp_browser.browser.downloads import DownloadInfo, Downloads
from mcp_browser.browser.egress import blocked_page, check_url, may_show
from mcp_browser.browser.observation import DialogInfo, Observation, TabInfo
from mcp_browser.browser.playwright_errors import as_action_error, is_crashed
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.watching import Effect, Observer, Watch
from mcp_browser.dom.models import DomChanges, DomSnapshot
from mcp_browser.dom.scripts import hook_script
from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DeadlineExceeded,
    NavigationError,
    NotFound,
)

if TYPE_CHECKING:
    from mcp_browser.browser.manager import BrowserManager

CLOSING_SECONDS = 0.05
"""How long after its tabs a browser that ends is heard to have ended."""

ATTACHING_SECONDS = 2.0
"""How long a new tab may take to be connected to before it is worked in all the same."""

EVENT_SECONDS = 0.5
"""How long the news of an end may take."""

OPENING_SECONDS = 5.0
"""How long a new page may take to be there."""

OPENING_TRIES = 3

QUOTED = 4
"""How many lost tabs are named in a sentence."""


class BrowserSession:
    """One browser context with its tabs. Made by `BrowserManager.open_session`; opens at the first call."""

    def __init__(
        self, manager: "BrowserManager", *, isolated: bool, context_options: Mapping[str, Any] | None = None
    ) -> None:
        """A session that is not open yet.

        Args:
            manager: gives it its context, and another one when that is lost.
            isolated: it has a clean context of its own, deleted at its end; else the profile's.
            context_options: keyword arguments for Playwright's `new_context` that go before the settings'.
        """
        self.id = secrets.token_hex(8)
        self.lock = anyio.Lock()
        self.isolated = isolated
        self.context_options = dict(context_options or {})
        self._manager = manager
        self._settings = manager.settings
        self._channel = f"x{secrets.token_hex(12)}"
        self._context: BrowserContext | None = None
        self._opening = asyncio.Lock()
        self._ids = itertools.count(1)
        self._tabs: dict[int, Tab] = {}
        self._current: Tab | None = None
        self._attaching: dict[asyncio.Task[None], Tab] = {}
        self._notices: list[str] = []
        self._observer = Observer(self, self._settings)
        self.artifacts = Artifacts(self._settings.files, self.notice, remote=manager.remote)
        self._downloads = Downloads(self.artifacts, self.notice)
        self._companions = Companions(self, self._settings.tools.tools)
        self._watch: Watch | None = None
        self._moved: str | None = None
        self._reopened: set[int] = set()
        self._told_dialogs: dict[int, DialogInfo] = {}
        self._told_tabs: tuple[int, ...] = ()
        self._own_pages = 0
        self._closing_tabs: set[int] = set()
        self._lost: list[str] = []
        self._lost_url = ""
        self._was_open = False
        self._closed = False

    # -- what there is

    @property
    def tabs(self) -> Mapping[int, Tab]:
        """The open tabs by their ids, oldest first."""
        return MappingProxyType(self._tabs)

    @property
    def current_tab(self) -> Tab:
        """The tab that actions work in.

        Raises:
            BrowserUnavailable: the session is not open; `ensure_open` opens it.
        """
        if self._current is None:
            raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
        return self._current

    @property
    def downloads(self) -> list[DownloadInfo]:
        """The downloads of the session, oldest first."""
        return self._downloads.infos()

    @property
    def output_dir(self) -> Path:
        """The folder for downloads and other files; a temporary one is made where the settings name none."""
        return self.artifacts.folder

    @property
    def upload_dirs(self) -> tuple[Path, ...]:
        """The folders that files may be uploaded from; for a remote client the settings have to name them."""
        if self._settings.files.upload_dirs or self.artifacts.remote:
            return self._settings.files.upload_dirs
        return (Path.cwd(), self.output_dir)

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
    def open_context(self) -> BrowserContext | None:
        """Playwright's context, or None while the session is not open."""
        return self._context

    @property
    def tab_in_use(self) -> Tab | None:
        """The current tab, or None once the browser has ended."""
        return self._current if self._context is not None else None

    @property
    def opening_windows(self) -> bool:
        """Whether a page has asked for a window that is not there yet."""
        return any(tab.activity.windows_opening for tab in self._tabs.values())

    async def companion(self, kind: type[C]) -> C:
        """What lives beside the pages of this session: always the same one of a class.

        Made at the first call, and attached to the context and the tabs that are open.
        """
        return await self._companions.get(kind)

    def notice(self, text: str) -> None:
        """Tell a sentence with the next result."""
        self._notices.append(text)

    def take_notices(self) -> tuple[str, ...]:
        """The sentences that have not been told yet; they count as told now."""
        for tab in self._tabs.values():
            dialog = tab.dialog if tab is not self._current else None
            if dialog is not None and dialog != self._told_dialogs.get(tab.id):
                self._told_dialogs[tab.id] = dialog
                self._notices.append(
                    f"In tab {tab.id}: {dialog}. To answer it, switch_tab there and use handle_dialog."
                )
            if complaint := tab.console.take():
                self._notices.append(complaint if tab is self._current else f"Tab {tab.id}: {complaint}")
        self._notices += self._companions.notices()
        notices, self._notices = tuple(dict.fromkeys(self._notices)), []
        return notices

    # -- opening and closing

    async def ensure_open(self) -> None:
        """Open the session, or bring back what it has lost: a dead browser, a crashed or closed tab.

        Raises:
            BrowserUnavailable: no browser could be found, started or reached.
        """
        if self._closed:
            raise BrowserUnavailable("The session is closed.", hint="Start a new one.")
        async with self._opening:
            if self._context is not None and not await self._answers():
                self._drop_context()
            if self._context is None:
                await self._manager.in_own_task(self._open)
            await self._mend()
            await self.attached()

    async def close(self) -> None:
        """Close the session and what belongs to it; a browser that was running before it goes on."""
        if self._closed:
            return
        self._closed = True
        await self._downloads.close()
        for task in self._attaching:
            task.cancel()
        await self._companions.closed()
        context, self._context = self._context, None
        await self.artifacts.close()
        if context is not None:
            await self._manager.in_own_task(lambda: self._manager.give_back(self, context))

    async def _open(self) -> None:
        context, notices = await self._manager.lend_context(self)
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)
        context.on("close", self._on_context_close)
        with contextlib.suppress(PlaywrightError):
            await context.add_init_script(hook_script(self._channel))
        self._current = None
        self._context = context
        await self._companions.opened(context)
        for page in context.pages:
            self._adopt(page)
        if not self._tabs:
            await self._open_page()
        await self.attached()
        self._current = await self._tab_in_front()
        self._told_tabs = tuple(self._tabs)
        for text in notices:
            self.notice(text)
        if self._was_open:
            self._tell_loss()
        self._was_open = True

    def _tell_loss(self) -> None:
        lost = ", ".join(self._lost[:QUOTED]) + (" and others" if len(self._lost) > QUOTED else "")
        text = "The browser had ended (it was closed, or it crashed) and was started again."
        if self._manager.settings.browser.cdp_endpoint:
            text = "The connection to the browser was lost and has been made again."
        if lost:
            text += f" Lost: {lost}."
        if self._lost_url and self._lost_url != "about:blank":
            text += f" The current page was {self._lost_url}: go_to_url opens it again."
        if self.isolated:
            text += " Logins and whatever sites had stored are lost, too."
        self.notice(text)
        self._moved = text
        self._lost.clear()

    async def _answers(self) -> bool:
        """Whether the browser is still there: its end may not have come through yet."""
        tab = self._current
        if tab is None or tab.closed or tab.crashed:
            return self._context is not None
        if await tab.refresh_title():
            return True
        # Either the browser is gone, or only this tab, and the events that say so are on their way; from a
        # driver that was killed there are none.
        if not tab.closed:
            await tab.activity.change(limit=EVENT_SECONDS)
        await asyncio.sleep(CLOSING_SECONDS)
        context = self._context
        browser = context.browser if context is not None else None
        return context is not None and tab.closed and (browser is None or browser.is_connected())

    async def _mend(self) -> None:
        """Open crashed tabs again, and see to it that there is a current tab."""
        while crashed := [tab for tab in self._tabs.values() if tab.crashed]:
            for tab in crashed:
                await self._open_again(tab)
        await self._settle_on_a_tab()

    async def _open_again(self, tab: Tab) -> None:
        """Put a fresh tab in place of one that has crashed; an empty one where that was such a tab itself."""
        url = tab.url
        fresh = await self._open_page(opener=tab.opener)
        was_current = tab is self._current
        if was_current:
            self._current = fresh
        await self.close_tab(tab.id)
        text = f"Tab {tab.id} ({url[:200]}) had crashed and was opened again as tab {fresh.id}."
        again = tab.id in self._reopened
        if again:
            text = f"Tab {tab.id} ({url[:200]}) has crashed again; tab {fresh.id} is empty."
        if was_current:
            self._moved = text
        self.notice(text)
        if not again:
            self._reopened.add(fresh.id)
            with contextlib.suppress(ActionError):
                await fresh.goto(url)

    async def _settle_on_a_tab(self) -> None:
        """Choose another current tab where the one that was is closed."""
        if self._current is not None and not self._current.closed:
            return
        gone = self._current
        opener = self._tabs.get(gone.opener) if gone is not None and gone.opener is not None else None
        self._current = opener or next(reversed(self._tabs.values()), None) or await self._open_page()
        await self._current.bring_to_front()

    def _drop_context(self) -> None:
        """Forget a browser that has ended; remember what was lost with it."""
        if self._context is None:
            return
        self._context = None
        self._lost = [f"tab {tab.id} ({tab.url[:200]})" for tab in self._tabs.values()]
        self._lost_url = self._current.url if self._current is not None else ""
        for tab in list(self._tabs.values()):
            tab.lose()
            self._forget(tab)

    # -- tabs

    async def new_tab(self, url: str | None = None) -> Tab:
        """Open a tab and switch to it. A tab whose address cannot be opened is closed again.

        Raises:
            BlockedUrl, NavigationError, DeadlineExceeded: as `Tab.goto` does.
        """
        before = self._current
        address = check_url(url, self._settings, base=before.url if before else "") if url else None
        tab = await self._open_page(opener=before.id if before else None)
        self._current = tab
        if address is not None:
            try:
                arrival = await tab.goto(address)
            except (NavigationError, DeadlineExceeded):
                self._current = before
                await self.close_tab(tab.id)
                raise
            if arrival.downloaded and before is not None and not before.closed:
                self._current = before
                await self.close_tab(tab.id)
                return before
        return tab

    async def switch_tab(self, tab_id: int) -> Tab:
        """Make a tab the current one.

        Raises:
            NotFound: there is no such tab; the message lists those that there are.
        """
        self._current = self._tab(tab_id)
        await self._current.bring_to_front()
        return self._current

    async def close_tab(self, tab_id: int) -> None:
        """Close a tab. The current one gives way to its opener or the newest one, the last one to a blank.

        Raises:
            NotFound: there is no such tab; the message lists those that there are.
        """
        tab = self._tab(tab_id)
        if len(self._tabs) == 1:
            # A browser with windows ends with its last one.
            await self._open_page()
        self._closing_tabs.add(tab_id)
        await tab.close()
        self._forget(tab)
        await self._settle_on_a_tab()

    def _tab(self, tab_id: int) -> Tab:
        try:
            return self._tabs[tab_id]
        except KeyError:
            there_are = "; ".join(str(tab) for tab in self._tabs.values())
            raise NotFound(f"There is no tab {tab_id}.", hint=f"Open tabs: {there_are}.") from None

    async def _open_page(self, *, opener: int | None = None) -> Tab:
        self._own_pages += 1
        try:
            page = await self._new_page()
        except PlaywrightError as error:
            raise as_action_error(error, doing="opening a tab") from error
        finally:
            self._own_pages -= 1
        tab = self._adopt(page, opener=opener)
        await self.attached()
        return tab

    async def _new_page(self) -> Page:
        """A new page; another one where the first does not come, for its process has died as it began."""
        for _ in range(OPENING_TRIES):
            opening = asyncio.create_task(self.context.new_page())
            await asyncio.wait({opening}, timeout=OPENING_SECONDS)
            if not opening.done():
                opening.add_done_callback(_close_late_page)
                continue
            try:
                return opening.result()
            except PlaywrightError as error:
                if not is_crashed(error):
                    raise
        raise BrowserUnavailable("The browser opens no new tab.", hint="Try again.")

    def _adopt(self, page: Page, *, opener: int | None = None) -> Tab:
        for tab in self._tabs.values():
            if tab.page is page:
                if opener is not None:
                    tab.opener = opener
                return tab
        tab = Tab(
            next(self._ids),
            page,
            settings=self._settings,
            channel=self._channel,
            downloads=self._downloads,
            notice=self.notice,
            held=self._on_held,
            opener=opener,
        )
        self._tabs[tab.id] = tab
        page.on("close", lambda _page: self._on_tab_close(tab))
        page.on("download", lambda _download: self._window_opened())
        tab.activity.watched = self._watch is not None
        task = asyncio.create_task(self._attach(tab))
        self._attaching[task] = tab
        task.add_done_callback(self._attaching.pop)
        return tab

    async def _attach(self, tab: Tab) -> None:
        await tab.attach()
        await self._companions.tab_opened(tab)

    async def attached(self) -> None:
        """Wait until new tabs are connected to; not for one that a dialog holds from its start."""
        free = [task for task, tab in self._attaching.items() if not tab.held]
        if free:
            await asyncio.wait(free, timeout=ATTACHING_SECONDS)

    async def _tab_in_front(self) -> Tab:
        """The tab that a person sees, among those that were open already."""
        tabs = list(self._tabs.values())
        if len(tabs) == 1:
            return tabs[0]

        async def is_seen(tab: Tab) -> bool:
            try:
                async with asyncio.timeout(1):
                    return await tab.guarded(tab.page.evaluate("document.visibilityState")) == "visible"
            except (PlaywrightError, ActionError, TimeoutError):
                return False

        seen = await asyncio.gather(*map(is_seen, tabs))
        return next((tab for tab, visible in zip(tabs, seen, strict=True) if visible), tabs[-1])

    def _forget(self, tab: Tab) -> None:
        if self._tabs.pop(tab.id, None) is not None:
            self._companions.tab_closed(tab)

    # -- events

    def _on_page(self, page: Page) -> None:
        watch = self._watch
        if self._own_pages:
            self._adopt(page)
            return
        opener = watch.tab if watch is not None else self._current
        tab = self._adopt(page, opener=opener.id if opener else None)
        tab.await_dom()
        self._window_opened()
        if watch is not None and watch.effect != "read":
            self._current = tab
            self.notice(f"A new tab {tab.id} was opened; it is the current one now.")
        else:
            self.notice(f"The page opened a new tab {tab.id} ({page.url[:200]}); switch_tab shows it.")
        if watch is not None:
            watch.tab.activity.wake()

    def _window_opened(self) -> None:
        for tab in self._tabs.values():
            if tab.activity.windows_opening:
                tab.activity.window_opened()
                return

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.page is not None:
            tab = self._adopt(dialog.page)
            tab.dialog_opened(dialog)

    def _on_tab_close(self, tab: Tab) -> None:
        if tab.id not in self._tabs or self._context is None:
            return
        self._forget(tab)
        by_caller = tab.id in self._closing_tabs
        self._closing_tabs.discard(tab.id)
        if by_caller or self._closed:
            return
        # The end of the browser closes every tab first; that is told as one thing.
        asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._tell_closed, tab)
        self._lost.append(f"tab {tab.id} ({tab.url[:200]})")
        if tab is self._current:
            self._lost_url = tab.url

    def _tell_closed(self, tab: Tab) -> None:
        if self._context is None or self._closed:
            return
        self._lost.clear()
        if tab.id in self._closing_tabs:
            self._closing_tabs.discard(tab.id)
            return
        text = f"Tab {tab.id} ({tab.url[:200]}) was closed."
        self.notice(text)
        if tab is self._current and self._watch is None:
            self._moved = text

    def _on_context_close(self, context: BrowserContext) -> None:
        if context is self._context and not self._closed:
            lost, url = self._lost[:], self._lost_url
            self._drop_context()
            self._lost = lost + self._lost
            self._lost_url = self._lost_url or url

    def _on_held(self, tab: Tab) -> None:
        if self._watch is not None:
            self._watch.held(tab)

    # -- watching and observing

    @contextlib.asynccontextmanager
    async def watching(self, effect: Effect) -> AsyncGenerator[Watch]:
        """Watch what an action starts, in order that `observe` can wait for it and tell it.

        An action that something begins to hold (a dialog, a crash) is broken off a moment later.

        Raises:
            NotFound: the tab has changed since the last result, so that input would go to another page.
        """
        if effect == "input" and self._moved is not None:
            text, self._moved = self._moved, None
            self._notices = [notice for notice in self._notices if notice != text]
            raise NotFound(
                text,
                hint=f"Nothing was done. The current tab is {self.current_tab}: look with get_state first.",
            )
        if effect != "navigation":
            await self.current_tab.arrive()
        marks = {tab.id: tab.activity.mark() for tab in self._tabs.values()}
        watch = Watch(effect, self.current_tab, self.current_tab.url, marks)
        for tab in self._tabs.values():
            tab.activity.watched = True
        self._watch = watch
        try:
            with watch.scope:
                yield watch
        except BaseException:
            self.unwatch(watch)
            raise
        finally:
            watch.running = False
        if watch.scope.cancelled_caught:
            self.unwatch(watch)
            raise watch.tab.why_held()

    def unwatch(self, watch: Watch) -> None:
        """End a watch that `observe` does not follow."""
        if self._watch is watch:
            self._watch = None
            for tab in self._tabs.values():
                tab.activity.watched = False

    async def observe(self, effect: Effect, watch: Watch) -> Observation:
        """Wait for what the action has started, and tell what became of the page.

        Raises:
            BlockedUrl: the page went to an address that is not allowed; it was left.
            BrowserUnavailable: the page has crashed, or the browser has ended.
        """
        try:
            if effect == "read":
                part = await self._observer.read_late_changes()
            else:
                part = await self._observer.settle_and_read(watch)
            if self._context is None:
                raise BrowserUnavailable(
                    "The browser ended during the action.", hint="The next call starts it again."
                )
            if self.current_tab.crashed:
                raise self.current_tab.why_held()
            if self.current_tab.closed:
                part = await self._return_from(self.current_tab, watch)
            await self._refuse_blocked(leave=watch.url)
            return await self._observation(part)
        finally:
            self.unwatch(watch)
            self._moved = None

    async def _return_from(self, closed: Tab, watch: Watch) -> DomSnapshot | DomChanges | None:
        """Go on in another tab where the action has closed its own, and tell that page as a whole."""
        self._closing_tabs.add(closed.id)
        await self._settle_on_a_tab()
        self.notice(f"Tab {closed.id} was closed; tab {self.current_tab.id} is the current one now.")
        part = await self._observer.settle_and_read(watch)
        if isinstance(part, DomChanges):
            part = await self._observer.read_page(region=None, part=1)
        return part

    async def full_observation(self, *, region: int | None = None, part: int = 1) -> Observation:
        """The whole page within the budget, or the part of it that is asked for.

        Raises:
            DeadlineExceeded: the page does not answer.
            BlockedUrl: the page's address is not allowed.
        """
        await self.current_tab.arrive()
        await self._refuse_blocked(leave=None)
        snapshot = None
        if self.current_tab.dialog is None:
            snapshot = await self._observer.read_page(region=region, part=part)
        self._moved = None
        return await self._observation(snapshot)

    async def finish_downloads(self, *, limit: float) -> None:
        """Wait for the downloads under way, `limit` seconds at most; what goes on is told."""
        await self._downloads.wait(limit=limit)

    async def _observation(self, part: DomSnapshot | DomChanges | None) -> Observation:
        tab = self.current_tab
        told = tuple(self._tabs)
        several = len(told) > 1 or told != self._told_tabs
        self._told_tabs = told
        if isinstance(part, DomSnapshot):
            part = part.model_copy(update={"status": tab.status})
            tab.title = part.title
        asked = [
            other
            for other in self._tabs.values()
            if (several or other is tab) and not (other is tab and isinstance(part, DomSnapshot))
        ]
        await asyncio.gather(*(other.refresh_title() for other in asked))
        infos = [
            TabInfo(id=other.id, url=other.url, title=other.title, current=other is tab)
            for other in self._tabs.values()
        ]
        return Observation(
            url=tab.url,
            title=tab.title,
            snapshot=part if isinstance(part, DomSnapshot) else None,
            changes=part if isinstance(part, DomChanges) else None,
            tabs=tuple(infos) if several else (),
            dialog=tab.dialog,
            notices=self.take_notices(),
        )

    async def _refuse_blocked(self, *, leave: str | None) -> None:
        """Show nothing of a page whose address is not allowed; where an action has led there, leave it."""
        tab = self.current_tab
        url = tab.url
        if may_show(url, self._settings):
            return
        if leave is not None and leave != url:
            with contextlib.suppress(PlaywrightError, ActionError):
                await tab.goto("about:blank")
        raise blocked_page(url)


def _close_late_page(opening: asyncio.Task[Page]) -> None:
    """Close a page that nobody waits for any more."""
    if not opening.cancelled() and opening.exception() is None:
        closing = asyncio.ensure_future(opening.result().close())
        closing.add_done_callback(lambda closed: closed.cancelled() or closed.exception())
