"""One tab, and how things are asked of its page without being held with it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from playwright.async_api import CDPSession, FileChooser, Page, Request
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.collectors import Console
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.element import Element
from mcp_browser.browser.input import Input
from mcp_browser.browser.navigation import Arrival, Navigation
from mcp_browser.browser.observation import DialogInfo
from mcp_browser.browser.page_activity import Activity
from mcp_browser.browser.page_guard import PageGuard
from mcp_browser.browser.playwright_errors import as_action_error
from mcp_browser.browser.screencast import Screencast
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.workers import Workers
from mcp_browser.dom.cdp import capture, send
from mcp_browser.dom.deadlines import seconds
from mcp_browser.dom.driver_errors import is_closed
from mcp_browser.dom.service import DomService
from mcp_browser.dom.worlds import READING_HINT, FrameGone
from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DeadlineExceeded,
    DialogOpen,
    NotActionable,
)
from mcp_browser.privacy.hiding import spellings
from mcp_browser.privacy.pictures import Shot
from mcp_browser.text import cut_address, quoted

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

    from mcp_browser.browser.egress.proxy import EgressPass

T = TypeVar("T")

LOADING_SECONDS = 10.0  # How much longer a page may take to answer while its document is coming
SENT = "sent in an address"  # By what results name what a form has written of a secret field into one
CONTROL_SECONDS = 2.0  # Limit for what the browser itself answers, without the page


class Tab:
    """A tab of a session. `id` is never used again; `opener` is the id of the tab that opened it."""

    def __init__(
        self,
        id: int,
        page: Page,
        services: SessionServices,
        *,
        held: Callable[["Tab"], None],
        opener: int | None = None,
    ) -> None:
        """Take over a page; `attach` has to follow.

        `held` is called when a dialog, a crash or its end holds the tab; `opener` is a tab's id.
        """
        settings, egress, downloads = services.settings, services.egress, services.downloads
        self.id = id
        self.page = page
        self.opener = opener
        self.title = ""
        self.before_input: Callable[[Tab], Awaitable[None]] | None = None
        self.own_metrics = False  # Whether scale or layout was overridden without Playwright's knowledge
        self.cursor: tuple[float, float] | None = None  # Where the mouse was put last, CSS pixels
        self.activity = Activity(page)
        self.console = Console(
            page, tell=settings.console_told, redactor=services.redactor, flooded=self._on_flood
        )
        self.dom = DomService(
            page,
            channel=services.channel,
            budget=settings.observation.snapshot_budget,
            changes_budget=settings.observation.changes_budget,
            sent=lambda pair: services.hide({SENT: pair}),
            addresses=services.addresses,
        )
        self.block = PageGuard(page, id, began=self._held_up)
        self.guarded = self.block.guarded
        self.screencast = Screencast(self, settings=settings, hidden=services.hidden)
        self.input = Input(self, services)
        self._navigation = Navigation(self, services)
        self.arrive = self._navigation.arrive
        self.await_dom = self._navigation.follow_dom
        self._settings = settings
        self._notice = services.notice
        self._on_held = held
        self._hidden = services.hidden
        self._cdp: CDPSession | None = None
        self._workers: Workers | None = None
        self._main_frame: str | None = None
        self._choosing: asyncio.Future[FileChooser] | None = None
        self._drawn = 0  # Number of the document that has answered since its DOM was complete
        self._incomplete = -1  # Number of the last document whose pictures were awaited in vain
        # Listening from the start keeps the system's own dialog away, which nobody could answer.
        page.on("filechooser", self._on_file_chooser)
        if egress is not None:
            page.on("requestfailed", lambda request: _tell_if_page(request, egress))
        page.on("download", lambda download: downloads.start(download, self.activity))

    def __str__(self) -> str:
        return (
            f"{self.id} {quoted(self.title)} {cut_address(self.url)}"
            if self.title
            else f"{self.id} {cut_address(self.url)}"
        )

    @property
    def url(self) -> str:
        return self.page.url

    @property
    def is_remote(self) -> bool:
        """Whether the browser may run where it cannot read the files of this machine."""
        return not self._settings.browser.starts_browser

    @property
    def cdp(self) -> CDPSession:
        """The connection to the browser.

        Raises:
            BrowserUnavailable: there is none: the tab is gone, or has just been opened.
            DialogOpen: there is none, since a dialog has been open from its start.
        """
        if self._cdp is None:
            raise (
                self.why_held()
                if self.held
                else BrowserUnavailable(f"Tab {self.id} does not answer yet.", hint="Try again.")
            )
        return self._cdp

    @property
    def main_frame_id(self) -> str | None:
        """The id of its main frame in CDP; None where it is not connected to."""
        return self._main_frame

    @property
    def status(self) -> int | None:
        """HTTP status of the document, where it came over HTTP."""
        return self.activity.status

    @property
    def dialog(self) -> DialogInfo | None:
        return self.block.dialog

    @property
    def held(self) -> bool:
        """Whether nothing can be asked of the page: a dialog is open, it has crashed or is closed."""
        return self.block.held.done()

    @property
    def closed(self) -> bool:
        return self.block.closed

    @property
    def crashed(self) -> bool:
        return self.block.crashed

    def why_held(self) -> ActionError:
        """The error for what cannot be done while the tab is held."""
        return self.block.why()

    async def attach(self) -> None:
        """Connect to what the browser tells about the tab over CDP."""

        def follow(take: Callable[[dict[str, Any], str | None], None]) -> Callable[[dict[str, Any]], None]:
            return lambda event: take(event, self._main_frame)

        try:
            cdp = await self.page.context.new_cdp_session(self.page)
            cdp.on("Page.frameRequestedNavigation", follow(self.activity.navigation_requested))
            cdp.on("Page.frameStartedNavigating", follow(self.activity.navigation_started))
            cdp.on("Page.frameStoppedLoading", follow(self.activity.loading_stopped))
            cdp.on("Page.frameScheduledNavigation", follow(self.activity.navigation_scheduled))
            cdp.on("Page.frameClearedScheduledNavigation", follow(self.activity.navigation_unscheduled))
            cdp.on("Page.windowOpen", self._on_window_open)
            cdp.on("Page.javascriptDialogClosed", self.block.dialog_closed)
            self._cdp = cdp
            await self.refresh_title()
            self._workers = Workers(cdp)
            await asyncio.gather(send(cdp, "Page.enable"), self._workers.follow())
        except PlaywrightError:
            # Gone already.
            return

    async def refresh_title(self) -> bool:
        """Ask the browser for the title; it answers even while the page is held. False where it is gone."""
        if self._cdp is None:
            return not self.closed
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                info = (await send(self._cdp, "Target.getTargetInfo"))["targetInfo"]
        except TimeoutError:
            return True
        except PlaywrightError:
            return False
        self._main_frame = info["targetId"]
        title, url = str(info["title"]), str(info["url"])
        # Chromium puts the address where there is no title.
        has_none = title.rstrip("/") in (url.rstrip("/"), url.partition("://")[2].rstrip("/"))
        self.title = "" if has_none else title
        return True

    async def act(self, work: Awaitable[object]) -> None:
        """Carry out mouse or keyboard input; returns at once where it opens a dialog or closes the page.

        Raises:
            DeadlineExceeded: the page does not answer to it.
            BrowserUnavailable: the page has crashed.
        """
        if self.before_input is not None:
            await self.before_input(self)
        limit = self._settings.limits.action_timeout
        try:
            await self.block.guarded(work, limit, self._patience)
        except TimeoutError as error:
            taken = seconds(limit + self._patience())
            raise DeadlineExceeded(
                f"The page did not answer to the input within {taken}: its script is busy.",
                hint="Wait and look with get_state, or leave it with go_to_url or reload.",
            ) from error
        except DialogOpen:
            return
        except (BrowserUnavailable, PlaywrightError) as error:
            if not self.closed and not (isinstance(error, PlaywrightError) and is_closed(error)):
                raise

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T:
        """The outcome of something asked of the page within `limit` seconds (the action's limit by default).

        A large page has longer, and one that is still loading.

        Raises:
            DialogOpen: a dialog is open, or has opened before it was done.
            DeadlineExceeded: the page does not answer.
            BrowserUnavailable: the page has crashed or was closed.
        """
        limit = self._settings.limits.action_timeout if limit is None else limit
        try:
            answer = await self.block.guarded(work, limit, self._patience)
        except TimeoutError as error:
            taken = seconds(limit + self._patience())
            if self.activity.navigating_for() is not None:
                raise DeadlineExceeded(
                    f"The page cannot be read: it has been on its way to another one for {taken}.",
                    hint="Wait with wait_for, or open another address.",
                ) from error
            if reading := self.dom.reading:
                raise DeadlineExceeded(f"{reading} took longer than {taken}.", hint=READING_HINT) from error
            busy = "it is still loading" if self._is_coming else "its script is busy"
            raise DeadlineExceeded(
                f"The page {cut_address(self.url)} did not answer within {taken}: {busy}.",
                hint="Try again later, or leave it with go_to_url or reload.",
            ) from error
        if not self.activity.loading:
            self._drawn = self.activity.document_number
        return answer

    def _patience(self) -> float:
        """How much longer than others the page may take, seconds."""
        call = self._settings.limits.call_timeout
        # What is still to come of the call, its result above all, needs time, too.
        loading = min(LOADING_SECONDS, call / 6) if self._is_coming else 0.0
        return min(self.dom.deadline + loading + self.console.deadline, call / 2)

    @property
    def _is_coming(self) -> bool:
        """Whether the document is loading, or has not been drawn since."""
        return self.activity.loading or self._drawn != self.activity.document_number

    async def goto(self, url: str) -> Arrival:
        """Open an address; returns once its page can be looked at, without waiting for pictures and the like.

        Raises:
            BlockedUrl: addresses of that kind are not opened.
            NavigationError: it is no address, or nothing could be loaded from it.
            DeadlineExceeded: nothing came in time.
            DialogOpen: the page asks before it is left.
        """
        return await self._navigation.goto(url)

    async def reload(self) -> Arrival:
        """Load the page again. Raises as `goto` does."""
        return await self._navigation.reload()

    async def back(self) -> Arrival:
        """Go one step back in the history. Raises as `goto` does; NavigationError at its beginning."""
        return await self._navigation.step(-1)

    async def forward(self) -> Arrival:
        """Go one step forward in the history. Raises as `goto` does; NavigationError at its end."""
        return await self._navigation.step(1)

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the dialog that is open: `text` goes to a prompt, which else gets its default.

        Raises:
            NotFound: none is open.
        """
        await self.block.answer(accept, text, limit=self._settings.limits.action_timeout)
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
            self._notice(f"Pictures may be missing: the page is still loading after {limit:g} s.")

    async def element(self, index: int) -> Element:
        """The element that an index names; whether it is still there shows when it is used.

        Raises:
            NotFound: the index was never given.
        """
        return Element(self, self.dom.resolve(index))

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
        limit = limit or self._settings.limits.action_timeout
        if not self._hidden:
            return Shot(await self._capture(full_page=full_page, clip=clip, kind=kind, limit=limit))
        # The page may move while it is pictured: what is to be covered is so before and after.
        values = tuple(form for value in self._hidden.values() for form in spellings(value))
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
            kind = "jpeg" if self._settings.screenshots.screenshot_format == "jpeg" else "png"
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
            async with asyncio.timeout(self._settings.limits.action_timeout):
                await self.page.close()

    async def file_chooser(self, opening: Awaitable[object], *, limit: float) -> FileChooser | None:
        """The file chooser that input opens within `limit` seconds; None where none."""
        self._choosing = asyncio.get_running_loop().create_future()
        try:
            await opening
            async with asyncio.timeout(limit):
                return await self._choosing
        except TimeoutError:
            return None
        finally:
            self._choosing = None

    async def control(self, method: str) -> dict[str, Any] | None:
        """Ask the browser something about the tab; None where it gives no answer."""
        if self._cdp is None:
            return None
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                return await send(self._cdp, method)
        except (PlaywrightError, TimeoutError):
            return None

    def _held_up(self) -> None:
        if self.closed:
            self.screencast.end()
        self.activity.wake()
        self._on_held(self)

    def _on_flood(self) -> None:
        if self._workers is not None:
            begin(self._workers.break_off())

    def _on_window_open(self, _event: dict[str, Any]) -> None:
        self.activity.window_opening()

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        if self._choosing is None:
            self._notice("The page asks for a file: use upload_file, with the index of what was clicked.")
        elif not self._choosing.done():
            self._choosing.set_result(chooser)


def _tell_if_page(request: Request, egress: "EgressPass") -> None:
    if request.is_navigation_request():
        egress.page_failed(request.url)
