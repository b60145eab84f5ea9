"""One tab of a session: its page, elements, mouse and keyboard, navigation, and pictures."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.element import Element
from mcp_browser.browser.input import Input
from mcp_browser.browser.page import CONTROL_SECONDS, TabPage
from mcp_browser.browser.playwright_errors import as_action_error, navigation_error, network_code
from mcp_browser.browser.screencast import Screencast
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import capture, send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import (
    ActionError,
    BlockedUrl,
    DeadlineExceeded,
    DialogOpen,
    NavigationError,
    NotActionable,
)
from mcp_browser.privacy.hiding import spellings
from mcp_browser.privacy.pictures import Shot
from mcp_browser.text import cut_address, quoted

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

ERROR_PAGE = "chrome-error://"
SHOWING_SECONDS = 3.0  # How long to wait for the DOM of an opened page to be complete
FREE_SECONDS = 1.0  # How long the page to leave may take to answer before its script is stopped


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of a navigation; `downloaded`: the address was a file, and the page has stayed."""

    url: str
    status: int | None = None
    downloaded: bool = False


class Navigation:
    """Opens pages in one tab."""

    def __init__(self, tab: TabPage) -> None:
        self._egress = tab.services.egress
        self._tab = tab
        self._settings = tab.settings
        self._downloads = tab.services.downloads
        self._notice = tab.services.notice

    async def goto(self, url: str) -> Arrival:
        """Open an address; return once the DOM is there, without waiting for pictures and the like.

        Raises:
            BlockedUrl: addresses of that kind are not opened.
            NavigationError: it is not an address, or nothing could be loaded from it.
            DeadlineExceeded: there was no answer in time.
            DialogOpen: the page asks before it is left.
        """
        address = check_url(url, self._settings, base=self._tab.url)
        if self._egress is not None:
            self._egress.policy.check_url(address)
        return await self._navigate(address, partial(self._tab.page.goto, address))

    async def reload(self) -> Arrival:
        """Reload the page. Raises as `goto` does."""
        return await self._navigate(self._tab.url, self._tab.page.reload)

    async def arrive(self) -> None:
        """Wait for a navigation under way, or cancel it: until then Chromium forwards nothing."""
        limit = self._settings.limits.navigation_timeout
        while (taken := self._tab.activity.navigating_for()) is not None and not self._tab.held:
            if taken >= limit:
                await self._tab.control("Page.stopLoading")
                self._tab.activity.forget_navigation()
                self._notice(
                    f"The next page had not begun to show after {limit:g} s; it is no longer waited for."
                )
                return
            await self._tab.activity.change(limit=min(limit - taken, 0.25))

    def follow_dom(self) -> None:
        """Mark the page as loading until its DOM is complete: another page has opened it."""
        self._tab.activity.loading = True
        begin(self._await_dom())

    @property
    def _navigation_timeout(self) -> float:
        return self._settings.limits.navigation_timeout * 1000

    async def _navigate(self, url: str, start: Callable[..., Awaitable[Response | None]]) -> Arrival:
        await self._free()
        began = time.monotonic()
        downloads = len(self._downloads)
        for last_try in (False, False, True):
            try:
                await self._tab.guarded(start(wait_until="commit", timeout=self._navigation_timeout))
            except DialogOpen as error:
                if self._tab.dialog is not None and self._tab.dialog.kind == "beforeunload":
                    raise DialogOpen(
                        "The page asks before it is left (a beforeunload dialog is open).",
                        hint="handle_dialog with accept=true leaves it, with accept=false stays.",
                    ) from error
            except PlaywrightError as error:
                message = plain_message(error)
                if "interrupted by another navigation" in message:
                    if ERROR_PAGE in message and not last_try:
                        continue
                elif await self._is_download(error, downloads):
                    return Arrival(self._tab.url, self._tab.status, downloaded=True)
                else:
                    raise await self._failed(url, error, began) from error
            break
        await self._shown()
        return Arrival(self._tab.url, self._tab.status)

    async def step(self, step: int) -> Arrival:
        """Go back or forward in the history. Raises as `goto` does; NavigationError beyond its ends."""
        where = "back" if step < 0 else "forward"
        there = await self._history_entry(step)
        if there is None:
            end = "first" if step < 0 else "last"
            raise NavigationError(
                f"There is no page to go {where} to: {self._tab.url} is the {end} one of tab {self._tab.id}.",
                hint="Use go_to_url.",
            )
        return await self._navigate(there, self._tab.page.go_back if step < 0 else self._tab.page.go_forward)

    async def _history_entry(self, step: int) -> str | None:
        history = await self._tab.control("Page.getNavigationHistory")
        if history is None:
            return self._tab.url
        index = int(history["currentIndex"]) + step
        entries = history["entries"]
        return str(entries[index]["url"]) if 0 <= index < len(entries) else None

    async def _await_dom(self) -> None:
        try:
            await self._tab.guarded(
                self._tab.page.wait_for_load_state("domcontentloaded", timeout=self._navigation_timeout)
            )
        except (PlaywrightError, ActionError):
            pass
        finally:
            self._tab.activity.loading = False
            self._tab.activity.wake()

    async def _shown(self) -> None:
        """Wait until the DOM is complete or something holds the page, at most `SHOWING_SECONDS`."""
        deadline = time.monotonic() + SHOWING_SECONDS
        while self._tab.activity.loading and not self._tab.held and time.monotonic() < deadline:
            await self._tab.activity.change(limit=deadline - time.monotonic())

    async def _free(self) -> None:
        """Stop a script that blocks the page to leave: during a navigation Chromium forwards nothing."""
        if self._tab.held or self._tab.activity.navigating_for() is not None:
            return
        try:
            async with asyncio.timeout(FREE_SECONDS):
                await self._tab.guarded(send(self._tab.cdp, "Runtime.evaluate", expression="1"))
        except TimeoutError:
            await self._tab.control("Runtime.terminateExecution")
        except (PlaywrightError, ActionError):
            return

    async def _is_download(self, error: PlaywrightError, before: int) -> bool:
        if "Download is starting" in str(error):
            return True
        if network_code(error) != "ERR_ABORTED":
            return False
        deadline = time.monotonic() + 0.5
        while len(self._downloads) == before and time.monotonic() < deadline:
            await self._tab.activity.change(limit=deadline - time.monotonic())
        return len(self._downloads) > before

    async def _failed(self, url: str, error: PlaywrightError, began: float) -> ActionError:
        """The error for a failed navigation; prepares the tab for the next one."""
        code = network_code(error)
        if isinstance(error, PlaywrightTimeout):
            stopped = await self._tab.control("Page.stopLoading")
            self._tab.activity.forget_navigation()
            if stopped is None and not self._tab.held:
                # The answer has arrived, but the old page does not unload: only another tab helps.
                self._tab.crash()
            limit = self._settings.limits.navigation_timeout
            return DeadlineExceeded(
                f"{url} did not begin to show within {limit:g} s.",
                hint="The site may be slow or down: try again, or raise --navigation-timeout.",
            )
        if "invalid URL" in str(error):
            return NavigationError(
                f'"{cut_address(url)}" is not a valid address.', hint="Give one such as https://example.com/."
            )
        if code is None:
            return as_action_error(error, doing=f"opening {cut_address(url)}")
        status = self._tab.activity.answered_status
        if status is not None and code in ("ERR_ABORTED", "ERR_HTTP_RESPONSE_CODE_FAILURE"):
            return NavigationError(
                f"{url} answered HTTP {status} without a page.", hint="Try another address."
            )
        # The browser opens its error page a moment later, which would abort another navigation.
        deadline = time.monotonic() + 1
        while (
            not self._tab.url.startswith(ERROR_PAGE) and code != "ERR_ABORTED" and time.monotonic() < deadline
        ):
            await self._tab.activity.change(limit=0.05)
        why = self._egress.why_failed(url, since=began) if self._egress is not None else None
        return why if isinstance(why, BlockedUrl) else navigation_error(url, why or code)


class Tab(TabPage):
    """A tab of a session. `id` is never reused; `opener` is the id of the tab that opened it."""

    def __init__(
        self,
        id: int,
        page: Page,
        services: SessionServices,
        *,
        on_held: Callable[["Tab"], None],
        opener: int | None = None,
    ) -> None:
        """Take over a page as `TabPage` does; `opener` is a tab's id."""
        super().__init__(id, page, services, on_held=lambda: on_held(self))
        self.opener = opener
        self.screencast = Screencast(self)
        self.input = Input(self)
        self._navigation = Navigation(self)
        self.arrive = self._navigation.arrive
        self.await_dom = self._navigation.follow_dom
        self.goto = self._navigation.goto
        self.reload = self._navigation.reload
        self.back, self.forward = partial(self._navigation.step, -1), partial(self._navigation.step, 1)
        self._incomplete = -1  # Number of the last document whose pictures did not load in time
        if services.egress is not None:
            page.on("requestfailed", self._on_failed)
        page.on("download", lambda download: services.downloads.start(download, self.activity))

    def __str__(self) -> str:
        title = f" {quoted(self.title)}" if self.title else ""
        return f"{self.id}{title} {cut_address(self.url)}"

    def gone(self) -> None:
        """The page is closed."""
        super().gone()
        self.screencast.end()

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the dialog as `TabPage` does, and release a mouse button that was down when it opened."""
        await super().answer_dialog(accept, text)
        await self.input.release_pending()

    async def await_pictures(self, limit: float) -> None:
        """Wait until pictures and the like have loaded, `limit` seconds at most; a notice reports a timeout.

        Raises:
            DialogOpen: a dialog is open, or has opened during the wait.
            BrowserUnavailable: the page has crashed or was closed.
        """
        document = self.activity.document_number
        if self._incomplete == document:
            return
        try:
            await self.guarded(self.page.wait_for_load_state("load", timeout=limit * 1000))
        except PlaywrightTimeout:
            self._incomplete = document
            self.services.notice(f"Pictures may be missing: the page is still loading after {limit:g} s.")

    async def element(self, index: int) -> Element:
        """The element of an index; each use looks it up anew. Raises NotFound: there is no such index."""
        return Element(self, self.input, self.dom.resolve(index))

    async def screenshot(
        self,
        *,
        full_page: bool = False,
        clip: "FloatRect | None" = None,
        kind: Literal["jpeg", "png"] | None = None,
        limit: float | None = None,
    ) -> Shot:
        """A picture of the view, the full page or a rectangle in CSS pixels; JPEG or PNG, at device pixels.

        The defaults are the settings' format and the action's time limit. Texts with a hidden value are
        painted over when it is encoded.

        Raises:
            DialogOpen: a dialog is open.
            DeadlineExceeded: the page could not be painted in time.
            NotActionable: the page was left, so that it is unknown what to paint over.
        """
        limit = limit or self.settings.limits.action_timeout
        if not self.services.hidden:
            return Shot(await self._capture(full_page=full_page, clip=clip, kind=kind, limit=limit))
        # The page may move during the capture: cover the places before and after it.
        values = tuple(form for value in self.services.hidden.values() for form in spellings(value))
        try:
            before = await self.ask(self.dom.covers(values))
            raw = await self._capture(full_page=full_page, clip=clip, kind=kind, limit=limit)
            after = await self.ask(self.dom.covers(values))
        except FrameGone as error:
            raise NotActionable(
                "The page went to another address while it was pictured.", hint="Try again."
            ) from error
        part = (clip["x"], clip["y"], clip["width"], clip["height"]) if clip is not None else None
        covers = tuple(cover for cover in (before, after) if cover.boxes)
        return Shot(raw, covers, full_page=full_page, clip=part)

    async def _capture(
        self, *, full_page: bool, clip: "FloatRect | None", kind: Literal["jpeg", "png"] | None, limit: float
    ) -> bytes:
        if kind is None:
            kind = "jpeg" if self.settings.screenshots.screenshot_format == "jpeg" else "png"
        quality = 95 if kind == "jpeg" else None
        if self.own_metrics:
            # Playwright's own screenshots reset metrics that it does not know.
            taking = capture(self.cdp, kind, quality=quality, full_page=full_page, clip=clip)
        else:
            taking = self.page.screenshot(
                type=kind, quality=quality, full_page=full_page, clip=clip, timeout=limit * 1000
            )
        try:
            return await self.ask(taking, limit=limit + 1)
        except PlaywrightError as error:
            raise as_action_error(error, doing="taking a screenshot") from error

    async def bring_to_front(self) -> None:
        """Show the tab; ignore one that does not answer."""
        with contextlib.suppress(PlaywrightError, ActionError, TimeoutError):
            async with asyncio.timeout(CONTROL_SECONDS):
                await self.guarded(self.page.bring_to_front())

    async def close(self) -> None:
        """Close the tab, even if its page is held."""
        if self.closed:
            return
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(self.settings.limits.action_timeout):
                await self.page.close()

    def _on_failed(self, request: Request) -> None:
        if self.services.egress is not None and request.is_navigation_request():
            self.services.egress.page_failed(request.url)
