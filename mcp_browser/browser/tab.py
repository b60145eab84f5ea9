"""One tab of a session: its page, its elements, mouse and keyboard, where it goes, and its pictures."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Request
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.element import Element
from mcp_browser.browser.input import Input
from mcp_browser.browser.navigation import Arrival, Navigation
from mcp_browser.browser.page import CONTROL_SECONDS, TabPage
from mcp_browser.browser.playwright_errors import as_action_error
from mcp_browser.browser.screencast import Screencast
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.dom.cdp import capture
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, NotActionable
from mcp_browser.privacy.hiding import spellings
from mcp_browser.privacy.pictures import Shot
from mcp_browser.text import cut_address, quoted

if TYPE_CHECKING:
    from playwright.async_api import FloatRect


class Tab(TabPage):
    """A tab of a session. `id` is never used again; `opener` is the id of the tab that opened it."""

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
        self._incomplete = -1  # Number of the last document whose pictures were awaited in vain
        if services.egress is not None:
            page.on("requestfailed", self._on_failed)
        page.on("download", lambda download: services.downloads.start(download, self.activity))

    def __str__(self) -> str:
        title = f" {quoted(self.title)}" if self.title else ""
        return f"{self.id}{title} {cut_address(self.url)}"

    def gone(self) -> None:
        super().gone()
        self.screencast.end()

    async def back(self) -> Arrival:
        """Go one step back in the history. Raises as `goto` does; NavigationError at its beginning."""
        return await self._navigation.step(-1)

    async def forward(self) -> Arrival:
        """Go one step forward in the history. Raises as `goto` does; NavigationError at its end."""
        return await self._navigation.step(1)

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the dialog as `TabPage` does; a mouse button that was down when it opened comes up."""
        await super().answer_dialog(accept, text)
        await self.input.release_pending()

    async def await_pictures(self, limit: float) -> None:
        """Wait until the page's pictures and the like have loaded: at most `limit` seconds, once a document.

        The session is told where they have not.

        Raises:
            DialogOpen: a dialog is open, or has opened meanwhile.
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
        """The element that an index names; whether it is still there shows when it is used.

        Raises:
            NotFound: the index was never given.
        """
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

        By default it is of the kind that the settings want, within the action's time limit. Texts that hold a
        hidden value are painted over when it is encoded.

        Raises:
            DialogOpen: a dialog is open.
            DeadlineExceeded: the page could not be painted in time.
            NotActionable: the page went away, so that it is not known what to paint over.
        """
        limit = limit or self.settings.limits.action_timeout
        if not self.services.hidden:
            return Shot(await self._capture(full_page=full_page, clip=clip, kind=kind, limit=limit))
        # The page may move while it is pictured: what is to be covered is so before and after.
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
        self,
        *,
        full_page: bool,
        clip: "FloatRect | None",
        kind: Literal["jpeg", "png"] | None,
        limit: float,
    ) -> bytes:
        if kind is None:
            kind = "jpeg" if self.settings.screenshots.screenshot_format == "jpeg" else "png"
        quality = 95 if kind == "jpeg" else None
        if self.own_metrics:
            # Playwright's own pictures undo metrics that it does not know of.
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
        """Show the tab; one that does not answer is left where it is."""
        with contextlib.suppress(PlaywrightError, ActionError, TimeoutError):
            async with asyncio.timeout(CONTROL_SECONDS):
                await self.guarded(self.page.bring_to_front())

    async def close(self) -> None:
        """Close the tab, whatever holds its page."""
        if self.closed:
            return
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(self.settings.limits.action_timeout):
                await self.page.close()

    def _on_failed(self, request: Request) -> None:
        if self.services.egress is not None and request.is_navigation_request():
            self.services.egress.page_failed(request.url)
