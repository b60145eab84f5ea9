"""The tabs of a session: opened, taken over, followed, closed."""

import asyncio
import contextlib
import itertools
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING
from weakref import WeakSet

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import Condition, begin
from mcp_browser.browser.session_plugins import SessionPlugins
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.driver_errors import as_action_error, is_crashed
from mcp_browser.errors import ActionError, BrowserUnavailable, NotFound
from mcp_browser.privacy.hiding import cut_address

if TYPE_CHECKING:
    from mcp_browser.browser.page import ActionScope

QUOTED = 4  # How many lost tabs are named in a sentence


class LostTabs:
    """Tabs that were lost unexpectedly."""

    def __init__(self) -> None:
        self._tabs: list[str] = []
        self._url = ""
        self.with_driver = False  # Whether Playwright's driver has ended, and the browser with it

    def add(self, tabs: Iterable[Tab], current: Tab | None) -> None:
        """These have closed; a moment later it is known whether the browser has ended."""
        self._tabs += [f"tab {tab.id} ({cut_address(tab.url)})" for tab in tabs]
        if current is not None:
            self._url = current.url

    def forget(self) -> None:
        """The browser still runs, or the loss was reported."""
        self._tabs.clear()
        self._url = ""

    def describe(self) -> str:
        """Sentences about what has ended during an action, and what was lost with it."""
        if self.with_driver:
            return f"Playwright's driver ended during the action, and the browser with it.{self._lost()}"
        return f"The browser ended during the action (it was closed, or it crashed).{self._lost()}"

    def _lost(self) -> str:
        more = " and others" if len(self._tabs) > QUOTED else ""
        return f" Lost: {', '.join(self._tabs[:QUOTED])}{more}." if self._tabs else ""

    def take(self, *, connection: bool, isolated: bool) -> str:
        """Sentences about the end of a browser or a connection that was replaced; forgets what was lost."""
        text = "The browser had ended (it was closed, or it crashed) and was started again."
        if connection:
            text = "The connection to the browser was lost and has been made again."
        if self.with_driver:
            text = "Playwright's driver had ended, and the browser with it; both were started again."
        if self.with_driver and not isolated:
            # The browser of a profile runs as long as other clients use it.
            text = "Playwright's driver had ended, and the tabs with it; it was started again."
        text += self._lost()
        if self._url and self._url != "about:blank":
            text += f" The current page was {cut_address(self._url)}: go_to_url opens it again."
        if isolated:
            text += " Logins and whatever sites had stored are lost, too."
        elif not connection:
            unless = ", unless other clients kept the browser open" if self.with_driver else ""
            text += (
                " Session cookies are lost, too, and perhaps what sites stored in the last half minute"
                f"{unless}: logins that need them have to be made again."
            )
        self.forget()
        return text


ATTACHING_SECONDS = 2.0  # How long to wait for the connection to a new tab
CLOSING_SECONDS = 0.05  # How long after the events of its tabs that of a browser's end arrives
OPENING_SECONDS = 5.0  # How long a new page may take to open
OPENING_TRIES = 3

FLOOD = 50  # How many tabs beyond the limit a page may open before it is closed


class Tabs:
    """The open tabs of one session; `current` may be closed or crashed until `settle_on_one`, or None.

    `moved` says why input is refused: the current page is not that of the last result.
    """

    lent: Collection[str] = ()  # Ids of the targets that are the user's tabs

    def __init__(self, services: SessionServices, plugins: SessionPlugins) -> None:
        """Call `follow` with a context to get tabs."""
        self.moved: str | None = None
        self.lost = LostTabs()
        self._reopened: set[int] = set()
        self.switched = Condition()
        self.current: Tab | None = None
        self._services = services
        self._plugins = plugins
        self.watch: ActionScope | None = None  # The action under way, to which events are attributed
        self._ids = itertools.count(1)
        self.all: dict[int, Tab] = {}
        self.attaching: dict[asyncio.Task[None], Tab] = {}
        self._own_pages = 0
        self._refused: WeakSet[Page] = WeakSet()
        self.refusals = 0  # How many tabs were refused during the action
        self.closing: set[int] = set()  # Ids of tabs whose end is not reported: it was asked for

    def switch_to(self, tab: Tab | None) -> None:
        """Make a tab the current one."""
        self.current = tab
        self.switched.wake()

    async def follow(self, context: BrowserContext) -> None:
        """Take over the tabs of a new context; open one if there is none."""
        context.on("page", self._on_page)
        context.on("dialog", self._on_dialog)
        self.switch_to(None)
        for page in context.pages:
            self._adopt(page)
        own = await self._open_in_turn() if self.lent or not self.all else None
        await self.attached()
        self.switch_to(own or await self._in_front())

    def lose(self) -> None:
        """Drop all tabs: the browser has ended."""
        for tab in list(self.all.values()):
            tab.gone()
            self._forget(tab)

    def stop(self) -> None:
        """Stop connecting to tabs and listening to them: the session ends."""
        for tab in self.all.values():
            tab.console.stop()
            tab.screencast.end()
        for task in self.attaching:
            task.cancel()

    def by_id(self, tab_id: int) -> Tab:
        """The tab with an id; raises NotFound."""
        try:
            return self.all[tab_id]
        except KeyError:
            there_are = "; ".join(str(tab) for tab in self.all.values())
            raise NotFound(f"There is no tab {tab_id}.", hint=f"Open tabs: {there_are}.") from None

    def is_lent(self, tab: Tab) -> bool:
        """Whether it is a tab of the user."""
        return tab.main_frame_id in self.lent

    async def open(self, *, opener: int | None = None) -> Tab:
        """Open an empty tab. Raises BrowserUnavailable: the browser opens none."""
        async with self._services.openings:
            return await self._open_in_turn(opener=opener)

    async def _open_in_turn(self, *, opener: int | None = None) -> Tab:
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

    async def close(self, tab: Tab) -> None:
        """Close a tab, and choose another current one; the last tab is replaced by a blank one."""
        if len(self.all) == 1:
            await self.open()  # A browser with windows ends with its last one.
        self.closing.add(tab.id)
        await tab.close()
        self._forget(tab)
        await self.settle_on_one()

    async def settle_on_one(self) -> None:
        """Choose another current tab if that is closed."""
        if self.current is not None and not self.current.closed:
            return
        gone = self.current
        opener = self.all.get(gone.opener) if gone is not None and gone.opener is not None else None
        tab = opener or next(reversed(self.all.values()), None) or await self.open()
        self.switch_to(tab)
        await tab.bring_to_front()

    async def mend(self) -> None:
        """Replace crashed tabs, and make sure that there is a current tab."""
        while crashed := [tab for tab in self.all.values() if tab.crashed]:
            for tab in crashed:
                await self._open_again(tab)
        await self.settle_on_one()

    async def _open_again(self, tab: Tab) -> None:
        """Replace a crashed tab by a new one with its page, or an empty one if it was one itself."""
        url = tab.url
        fresh = await self.open(opener=tab.opener)
        was_current = tab is self.current
        if was_current:
            self.switch_to(fresh)
        await self.close(tab)
        text = f"Tab {tab.id} ({cut_address(url)}) had crashed and was opened again as tab {fresh.id}."
        again = tab.id in self._reopened
        if again:
            text = f"Tab {tab.id} ({cut_address(url)}) has crashed again; tab {fresh.id} is empty."
        if was_current:
            self.moved = text
        self._services.notice(text)
        if not again:
            self._reopened.add(fresh.id)
            with contextlib.suppress(ActionError):
                await fresh.goto(url)

    async def attached(self) -> None:
        """Wait until new tabs are connected, except one that a dialog has held from the start."""
        free = [task for task, tab in self.attaching.items() if not tab.held]
        if free:
            await asyncio.wait(free, timeout=ATTACHING_SECONDS)

    async def _new_page(self) -> Page:
        """A new page; opened again if it does not appear, since its process may have crashed at its start."""
        for before in range(OPENING_TRIES):
            context = self._services.context
            if context is None:
                raise BrowserUnavailable("The browser is not running.", hint="The next call starts it.")
            opening = asyncio.create_task(context.new_page())
            await asyncio.wait({opening}, timeout=OPENING_SECONDS * 2**before)
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
        for tab in self.all.values():
            if tab.page is page:
                if opener is not None:
                    tab.opener = opener
                return tab
        tab = Tab(next(self._ids), page, self._services, opener=opener)
        tab.on_held = lambda: self.watch and self.watch.held(tab)
        self.all[tab.id] = tab
        page.on("close", lambda _page: self._on_tab_close(tab))
        page.on("download", lambda _download: self._window_opened())
        tab.activity.watched = self.watch is not None

        async def attach() -> None:
            await tab.attach()
            await self._plugins.tab_opened(tab)

        task = asyncio.create_task(attach())
        self.attaching[task] = tab
        task.add_done_callback(self.attaching.pop)
        return tab

    async def _in_front(self) -> Tab:
        """The tab that a person sees."""
        tabs = list(self.all.values())
        if len(tabs) == 1:
            return tabs[0]

        async def is_seen(tab: Tab) -> bool:
            try:
                return (await tab.guarded(tab.dom.window(), 1)).visible
            except (PlaywrightError, ActionError, TimeoutError):
                return False

        seen = await asyncio.gather(*map(is_seen, tabs))
        return next((tab for tab, visible in zip(tabs, seen, strict=True) if visible), tabs[-1])

    def _forget(self, tab: Tab) -> None:
        if self.all.pop(tab.id, None) is not None:
            self._plugins.tab_closed(tab)

    def _on_page(self, page: Page) -> None:
        watch = self.watch
        if self._own_pages:
            self._adopt(page)
            return
        if reason := self._services.limits.why_no_tab(len(self.all)):
            self._refused.add(page)
            begin(self._refuse(page, reason))
            return
        opener = watch.tab if watch is not None else self.current
        tab = self._adopt(page, opener=opener.id if opener else None)
        tab.activity.loading = True
        begin(tab.await_dom())
        self._window_opened()
        if watch is not None and watch.effect != "read":
            self.switch_to(tab)
            self._services.notice(f"A new tab {tab.id} was opened; it is the current one now.")
        else:
            # No page has opened a lent tab.
            what = "There is" if self.lent else "The page opened"
            self._services.notice(
                f"{what} a new tab {tab.id} ({cut_address(page.url)}); switch_tab shows it."
            )
        if watch is not None:
            watch.tab.activity.wake()

    async def _refuse(self, page: Page, reason: str) -> None:
        """Close a tab beyond the limit; if the page that opens them does not stop, close that, too."""
        self.refusals += 1
        begin(page.close())
        self._services.notice(f"The page opened more tabs, which were closed: {reason}")
        if self.refusals != FLOOD:
            return
        likely = self.watch.tab if self.watch is not None else self.current
        opener = await page.opener()
        flooding = next((tab for tab in self.all.values() if tab.page is opener), likely)
        if flooding is not None:
            self._services.notice(f"Tab {flooding.id} did not stop opening tabs and was closed.")
            begin(flooding.page.close())

    def _window_opened(self) -> None:
        for tab in self.all.values():
            if tab.activity.windows_opening:
                tab.activity.window_opened()
                return

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.page is not None and dialog.page not in self._refused:
            self._adopt(dialog.page).dialog_opened(dialog)

    def _on_tab_close(self, tab: Tab) -> None:
        if tab.id not in self.all or self._services.context is None:
            return
        self._forget(tab)
        by_caller = tab.id in self.closing
        self.closing.discard(tab.id)
        if by_caller or self._services.closed:
            return
        # A browser that ends closes every tab first; that is reported as one event.
        asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._report_closed, tab)
        self.lost.add([tab], tab if tab is self.current else None)

    def _report_closed(self, tab: Tab) -> None:
        if self._services.context is None or self._services.closed:
            return
        self.lost.forget()
        if tab.id in self.closing:
            self.closing.discard(tab.id)
            return
        text = f"Tab {tab.id} ({cut_address(tab.url)}) was closed."
        self._services.notice(text)
        if tab is self.current and self.watch is None:
            self.moved = text


def _close_late_page(opening: asyncio.Task[Page]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        begin(opening.result().close())
