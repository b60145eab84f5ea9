"""One tab of a session: its page, elements, mouse and keyboard, navigation, and pictures."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FloatRect, Page, Request, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.element import Element
from mcp_browser.browser.input import Input
from mcp_browser.browser.page import CONTROL_SECONDS, TabPage
from mcp_browser.browser.screencast import Screencast
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import capture, send
from mcp_browser.dom.driver_errors import (
    FrameGone,
    as_action_error,
    navigation_error,
    network_code,
    plain_message,
)
from mcp_browser.errors import (
    ActionError,
    BlockedUrl,
    DeadlineExceeded,
    DialogOpen,
    NavigationError,
    NotActionable,
)
from mcp_browser.privacy.hiding import cut_address, spellings
from mcp_browser.privacy.pictures import Shot
from mcp_browser.text import quoted

ERROR_PAGE = "chrome-error://"
SHOWING_SECONDS = 3.0  # How long to wait for the DOM of an opened page to be complete
FREE_SECONDS = 1.0  # How long the page to leave may take to answer before its script is stopped


@dataclass(frozen=True, slots=True)
class Arrival:
    """The result of a navigation; `downloaded`: the address was a file, and the page has stayed."""

    url: str
    status: int | None = None
    downloaded: bool = False


class Tab(TabPage):
    """A tab of a session. `id` is never reused; `opener` is the id of the tab that opened it."""

    element: Callable[[int], Element]
    """Returns the element of an index; each use looks it up anew. Raises NotFound: there is no such index."""

    def __init__(self, id: int, page: Page, services: SessionServices, *, opener: int | None = None) -> None:
        """Take over a page as `TabPage` does; `opener` is a tab's id."""
        super().__init__(id, page, services)
        self.opener = opener
        self.screencast = Screencast(self)
        self.input = Input(self)
        self.element = partial(Element, self, self.input)
        self._incomplete = -1  # Number of the last document whose pictures did not load in time
        if services.egress is not None:
            page.on("requestfailed", self._on_request_failed)
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
        """Wait until pictures and the like have loaded, `limit` seconds at most; raises as `guarded` does."""
        document = self.activity.document_number
        if self._incomplete == document:
            return
        try:
            await self.guarded(self.page.wait_for_load_state("load", timeout=limit * 1000))
        except PlaywrightTimeout:
            self._incomplete = document
            self.services.notice(f"Pictures may be missing: the page is still loading after {limit:g} s.")

    async def screenshot(
        self,
        *,
        full_page: bool = False,
        clip: FloatRect | None = None,
        kind: Literal["jpeg", "png"] | None = None,
        limit: float | None = None,
    ) -> Shot:
        """A picture of the view, the full page or a rectangle in CSS pixels; JPEG or PNG, at device pixels.

        The defaults are the settings' format and the action's time limit. Texts with a hidden value are
        painted over when it is encoded. Raises DialogOpen; DeadlineExceeded: the page could not be painted in
        time; NotActionable: the page was left, so that it is unknown what to paint over.
        """
        limit = limit or self.settings.limits.action_timeout
        kind = kind or ("jpeg" if self.settings.screenshots.screenshot_format == "jpeg" else "png")
        if not self.services.hidden:
            return Shot(await self._capture(kind, full_page, clip, limit))
        # The page may move during the capture: cover the places before and after it.
        values = tuple(form for value in self.services.hidden.values() for form in spellings(value))
        try:
            before = await self.ask(self.dom.covers(values))
            raw = await self._capture(kind, full_page, clip, limit)
            after = await self.ask(self.dom.covers(values))
        except FrameGone as error:
            raise NotActionable(
                "The page went to another address while it was pictured.", hint="Try again."
            ) from error
        part = (clip["x"], clip["y"], clip["width"], clip["height"]) if clip is not None else None
        covers = tuple(cover for cover in (before, after) if cover.boxes)
        return Shot(raw, covers, full_page=full_page, clip=part)

    async def _capture(
        self, kind: Literal["jpeg", "png"], full_page: bool, clip: FloatRect | None, limit: float
    ) -> bytes:
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
            await self.guarded(self.page.bring_to_front(), CONTROL_SECONDS)

    async def close(self) -> None:
        """Close the tab, even if its page is held."""
        if self.closed:
            return
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(self.settings.limits.action_timeout):
                await self.page.close()

    def _on_request_failed(self, request: Request) -> None:
        if self.services.egress is not None and request.is_navigation_request():
            self.services.egress.page_failed(request.url)

    # -- navigation

    async def goto(self, url: str) -> Arrival:
        """Open an address; return once the DOM is there, without waiting for pictures and the like.

        Raises BlockedUrl: such addresses are not opened; NavigationError: it is no address, or nothing could
        be loaded; DeadlineExceeded: no answer came in time; DialogOpen: the page asks before it is left.
        """
        address = check_url(url, self.settings, base=self.url)
        if self.services.egress is not None:
            self.services.egress.policy.check_url(address)
        return await self._navigate(address, partial(self.page.goto, address))

    async def reload(self) -> Arrival:
        """Reload the page. Raises as `goto` does."""
        return await self._navigate(self.url, self.page.reload)

    async def arrive(self) -> None:
        """Wait for a navigation under way, or cancel it: until then Chromium forwards nothing."""
        limit = self.settings.limits.navigation_timeout
        while (taken := self.activity.navigating_for()) is not None and not self.held:
            if taken >= limit:
                await self.control("Page.stopLoading")
                self.activity.forget_navigation()
                self.services.notice(
                    f"The next page had not begun to show after {limit:g} s; it is no longer waited for."
                )
                return
            await self.activity.change(limit=min(limit - taken, 0.25))

    async def await_dom(self) -> None:
        """Wait until the DOM is complete: another page has opened this one, which is loading."""
        timeout = self.settings.limits.navigation_timeout * 1000
        try:
            with contextlib.suppress(PlaywrightError, ActionError):
                await self.guarded(self.page.wait_for_load_state("domcontentloaded", timeout=timeout))
        finally:
            self.activity.loading = False
            self.activity.wake()

    async def _navigate(self, url: str, start: Callable[..., Awaitable[Response | None]]) -> Arrival:
        await self._free()
        began, timeout = time.monotonic(), self.settings.limits.navigation_timeout * 1000
        downloads = len(self.services.downloads)
        for last_try in (False, False, True):
            try:
                await self.guarded(start(wait_until="commit", timeout=timeout))
            except DialogOpen as error:
                if self.dialog is not None and self.dialog.kind == "beforeunload":
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
                    return Arrival(self.url, self.activity.status, downloaded=True)
                else:
                    raise await self._failed(url, error, began) from error
            break
        deadline = time.monotonic() + SHOWING_SECONDS
        while self.activity.loading and not self.held and time.monotonic() < deadline:
            await self.activity.change(limit=deadline - time.monotonic())
        return Arrival(self.url, self.activity.status)

    async def back(self) -> Arrival:
        """Go back in the history. Raises as `goto` does; NavigationError before its first page."""
        return await self._step(-1)

    async def forward(self) -> Arrival:
        """Go forward in the history. Raises as `goto` does; NavigationError after its last page."""
        return await self._step(1)

    async def _step(self, step: int) -> Arrival:
        where, end = ("back", "first") if step < 0 else ("forward", "last")
        there = self.url
        if (history := await self.control("Page.getNavigationHistory")) is not None:
            index = int(history["currentIndex"]) + step
            if not 0 <= index < len(history["entries"]):
                raise NavigationError(
                    f"There is no page to go {where} to: {self.url} is the {end} one of tab {self.id}.",
                    hint="Use go_to_url.",
                )
            there = str(history["entries"][index]["url"])
        return await self._navigate(there, self.page.go_back if step < 0 else self.page.go_forward)

    async def _free(self) -> None:
        """Stop a script that blocks the page to leave: during a navigation Chromium forwards nothing."""
        if self.held or self.activity.navigating_for() is not None:
            return
        try:
            await self.guarded(send(self.cdp, "Runtime.evaluate", expression="1"), FREE_SECONDS)
        except TimeoutError:
            await self.control("Runtime.terminateExecution")
        except (PlaywrightError, ActionError):
            return

    async def _is_download(self, error: PlaywrightError, before: int) -> bool:
        if "Download is starting" in str(error):
            return True
        if network_code(error) != "ERR_ABORTED":
            return False
        deadline = time.monotonic() + 0.5
        while len(self.services.downloads) == before and time.monotonic() < deadline:
            await self.activity.change(limit=deadline - time.monotonic())
        return len(self.services.downloads) > before

    async def _failed(self, url: str, error: PlaywrightError, began: float) -> ActionError:
        """The error for a failed navigation; prepares the tab for the next one."""
        code = network_code(error)
        if isinstance(error, PlaywrightTimeout):
            stopped = await self.control("Page.stopLoading")
            self.activity.forget_navigation()
            if stopped is None and not self.held:
                # The answer has arrived, but the old page does not unload: only another tab helps.
                self.crash()
            limit = self.settings.limits.navigation_timeout
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
        status = self.activity.answered_status
        if status is not None and code in ("ERR_ABORTED", "ERR_HTTP_RESPONSE_CODE_FAILURE"):
            return NavigationError(
                f"{url} answered HTTP {status} without a page.", hint="Try another address."
            )
        # The browser opens its error page a moment later, which would abort another navigation.
        deadline = time.monotonic() + 1
        while code != "ERR_ABORTED" and not self.url.startswith(ERROR_PAGE) and time.monotonic() < deadline:
            await self.activity.change(limit=0.05)
        why = self.services.egress.why_failed(url, since=began) if self.services.egress is not None else None
        return why if isinstance(why, BlockedUrl) else navigation_error(url, why or code)
