"""One tab: where it goes, what holds it, and how things are asked of its page without being held too."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from playwright.async_api import CDPSession, Dialog, FileChooser, Page, Response
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.activity import Activity
from mcp_browser.browser.cdp import send
from mcp_browser.browser.collectors import ConsoleErrors
from mcp_browser.browser.downloads import Downloads
from mcp_browser.browser.egress import check_url
from mcp_browser.browser.element import Element
from mcp_browser.browser.observation import DialogInfo
from mcp_browser.browser.playwright_errors import (
    as_action_error,
    is_closed,
    navigation_error,
    network_code,
    plain_message,
)
from mcp_browser.dom.service import DomService
from mcp_browser.errors import (
    ActionError,
    BrowserUnavailable,
    DeadlineExceeded,
    DialogOpen,
    NavigationError,
    NotFound,
)
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import FloatRect

T = TypeVar("T")

ERROR_PAGE = "chrome-error://"
SHOWING_SECONDS = 3.0
"""How long an opened page may take to have its DOM complete before it is shown as it is."""

FREE_SECONDS = 1.0
"""How long the page that is left may not answer before its script is broken off."""

CONTROL_SECONDS = 2.0
"""Limit for what the browser itself answers, without the page."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a navigation has led; `downloaded` where the address was a file, so that the page has stayed."""

    url: str
    status: int | None = None
    downloaded: bool = False


class Tab:
    """A tab of a session. `id` is never used again; `opener` is the id of the tab that opened it."""

    def __init__(  # noqa: PLR0913 (the parts of a session that a tab works with)
        self,
        id: int,
        page: Page,
        *,
        settings: Settings,
        channel: str,
        downloads: Downloads,
        notice: Callable[[str], None],
        held: Callable[["Tab"], None],
        opener: int | None = None,
    ) -> None:
        """Take over a page; `attach` has to follow.

        Args:
            id: number of the tab.
            page: Playwright's page.
            settings: the settings in force.
            channel: name of the event by which the page script and the hooks find each other.
            downloads: where its downloads go.
            notice: takes sentences for the next result.
            held: is called when a dialog, a crash or its end begins to hold the tab.
            opener: id of the tab that opened it.
        """
        self.id = id
        self.page = page
        self.opener = opener
        self.title = ""
        self.closed = page.is_closed()
        self.crashed = False
        self.unresponsive = False
        """Whether the page has lately not answered in time: its script is busy."""
        self.cdp: CDPSession | None = None
        self.activity = Activity(page)
        self.console = ConsoleErrors(page)
        self.dom = DomService(
            page,
            channel=channel,
            budget=settings.observation.snapshot_budget,
            changes_budget=settings.observation.changes_budget,
        )
        self._settings = settings
        self._downloads = downloads
        self._notice = notice
        self._on_held = held
        self._tasks: set[asyncio.Task[None]] = set()
        self._main_frame: str | None = None
        self._dialog: Dialog | None = None
        self._hold: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._choosing: asyncio.Future[FileChooser] | None = None
        # Listening from the start keeps the system's own dialog away, which nobody could answer.
        page.on("filechooser", self._on_file_chooser)
        page.on("close", self._on_close)
        page.on("crash", self._on_crash)
        page.on("download", lambda download: downloads.start(download, self.activity))

    def __str__(self) -> str:
        """The tab in a list."""
        return f'{self.id} "{self.title}" {self.url[:200]}' if self.title else f"{self.id} {self.url[:200]}"

    @property
    def url(self) -> str:
        """Address of the page."""
        return self.page.url

    @property
    def status(self) -> int | None:
        """HTTP status of the document, where it came over HTTP."""
        return self.activity.status

    @property
    def dialog(self) -> DialogInfo | None:
        """The JavaScript dialog that holds the page."""
        dialog = self._dialog
        if dialog is None:
            return None
        return DialogInfo(kind=dialog.type, message=dialog.message, default_value=dialog.default_value)

    @property
    def held(self) -> bool:
        """Whether nothing can be asked of the page: a dialog is open, it has crashed or is closed."""
        return self._hold.done()

    def why_held(self) -> ActionError:
        """The error for what cannot be done while the tab is held."""
        if self.crashed:
            return BrowserUnavailable(
                f"The page {self.url} crashed.",
                hint="It is opened again at the next call: look with get_state.",
            )
        if self._dialog is not None:
            return DialogOpen(
                f"{self.dialog}.",
                hint="Answer it with handle_dialog.",
            )
        return BrowserUnavailable(f"Tab {self.id} was closed.", hint="Look with get_state what is open now.")

    async def attach(self) -> None:
        """Connect to what the browser tells about the tab over CDP; other engines go without."""
        try:
            cdp = await self.page.context.new_cdp_session(self.page)
            cdp.on("Page.frameRequestedNavigation", self._on_navigation_requested)
            cdp.on("Page.windowOpen", self._on_window_open)
            cdp.on("Page.javascriptDialogClosed", self._on_dialog_closed)
            self.cdp = cdp
            await self.refresh_title()
            await send(cdp, "Page.enable")
        except PlaywrightError:
            # Not Chromium, or gone already.
            return

    async def refresh_title(self) -> bool:
        """Ask the browser for the title; it answers even while the page is held. False where it is gone."""
        if self.cdp is None:
            return not self.closed
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                info = (await send(self.cdp, "Target.getTargetInfo"))["targetInfo"]
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

    async def guarded(self, work: Awaitable[T]) -> T:
        """The outcome of something asked of the page, unless a dialog, a crash or its end comes in between.

        Raises:
            DialogOpen: a dialog is open, or has opened before it was done.
            BrowserUnavailable: the page has crashed or was closed.
        """
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._hold}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise self.why_held()
        finally:
            if not task.done():
                task.add_done_callback(_forget)
                task.cancel()

    async def act(self, work: Awaitable[object]) -> None:
        """Carry out mouse or keyboard input; returns at once where it opens a dialog or closes the page.

        Raises:
            DeadlineExceeded: the page does not answer to it.
            BrowserUnavailable: the page has crashed.
        """
        limit = self._settings.limits.action_timeout
        try:
            async with asyncio.timeout(limit):
                await self.guarded(work)
        except TimeoutError as error:
            self.unresponsive = True
            raise DeadlineExceeded(
                f"The page did not answer to the input within {limit:g} s: its script is busy.",
                hint="Wait and look with get_state, or leave it with go_to_url or reload.",
            ) from error
        except DialogOpen:
            return
        except (BrowserUnavailable, PlaywrightError) as error:
            if not self.closed and not (isinstance(error, PlaywrightError) and is_closed(error)):
                raise

    async def ask(self, work: Awaitable[T], *, limit: float | None = None) -> T:
        """The outcome of something asked of the page within `limit` seconds (the action's limit by default).

        Raises:
            DialogOpen: a dialog is open, or has opened before it was done.
            DeadlineExceeded: the page does not answer.
            BrowserUnavailable: the page has crashed or was closed.
        """
        limit = self._settings.limits.action_timeout if limit is None else limit
        try:
            async with asyncio.timeout(limit):
                outcome = await self.guarded(work)
        except TimeoutError as error:
            if self.activity.navigating_for() is not None:
                raise DeadlineExceeded(
                    f"The page cannot be read: it has been on its way to another one for {limit:g} s.",
                    hint="Wait with wait_for, or open another address.",
                ) from error
            self.unresponsive = True
            raise DeadlineExceeded(
                f"The page {self.url[:200]} did not answer within {limit:g} s: its script is busy.",
                hint="Try again later, or leave it with go_to_url or reload.",
            ) from error
        self.unresponsive = False
        return outcome

    async def goto(self, url: str) -> Arrival:
        """Open an address; returns once its page can be looked at, without waiting for pictures and the like.

        Raises:
            BlockedUrl: addresses of that kind are not opened.
            NavigationError: it is no address, or nothing could be loaded from it.
            DeadlineExceeded: nothing came in time.
            DialogOpen: the page asks before it is left.
        """
        address = check_url(url, self._settings, base=self.url)
        timeout = self._navigation_timeout
        return await self._navigate(
            address, lambda: self.page.goto(address, wait_until="commit", timeout=timeout)
        )

    async def reload(self) -> Arrival:
        """Load the page again. Raises as `goto` does."""
        timeout = self._navigation_timeout
        return await self._navigate(self.url, lambda: self.page.reload(wait_until="commit", timeout=timeout))

    async def back(self) -> Arrival:
        """Go one step back in the history. Raises as `goto` does; NavigationError at its beginning."""
        return await self._travel(-1)

    async def forward(self) -> Arrival:
        """Go one step forward in the history. Raises as `goto` does; NavigationError at its end."""
        return await self._travel(1)

    async def arrive(self) -> None:
        """Wait for the end of a navigation under way, or end it when it takes too long.

        Meanwhile Chromium passes nothing on to the page, neither questions nor input.
        """
        limit = self._settings.limits.navigation_timeout
        while (taken := self.activity.navigating_for()) is not None and not self.held:
            if taken >= limit:
                await self._control("Page.stopLoading")
                self.activity.forget_navigation()
                self._notice(
                    f"The next page had not begun to show after {limit:g} s; it is no longer waited for."
                )
                return
            await self.activity.change(limit=min(limit - taken, 0.25))

    async def answer_dialog(self, accept: bool, text: str | None = None) -> None:
        """Answer the dialog that is open: `text` goes to a prompt, which else gets its default.

        Raises:
            NotFound: none is open.
        """
        dialog = self._dialog
        if dialog is None:
            raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
        self._dialog_gone()
        if text is None and dialog.type == "prompt":
            text = dialog.default_value
        try:
            async with asyncio.timeout(self._settings.limits.action_timeout):
                await (dialog.accept(text or "") if accept else dialog.dismiss())
        except TimeoutError as error:
            raise DeadlineExceeded("The browser did not take the answer to the dialog in time.") from error
        except PlaywrightError as error:
            if self.closed or is_closed(error):
                return
            raise NotFound(
                f'The {dialog.type} dialog "{dialog.message}" had closed already.',
                hint="Look with get_state.",
            ) from error

    async def element(self, index: int) -> Element:
        """The element that an index names; whether it is still there shows when it is used.

        Raises:
            NotFound: the index was never given.
        """
        return Element(self, self.dom.resolve(index).node.model_copy(update={"index": index}))

    async def screenshot(self, *, full_page: bool = False, clip: "FloatRect | None" = None) -> bytes:
        """A picture of the view, the full page or a rectangle in CSS pixels; JPEG or PNG, at device pixels.

        Raises:
            DialogOpen: a dialog is open.
            DeadlineExceeded: the page could not be painted in time.
        """
        limit = self._settings.limits.action_timeout
        kind: Literal["jpeg", "png"] = (
            "jpeg" if self._settings.screenshots.screenshot_format == "jpeg" else "png"
        )
        taking = self.page.screenshot(
            type=kind,
            quality=95 if kind == "jpeg" else None,
            full_page=full_page,
            clip=clip,
            timeout=limit * 1000,
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

    def await_dom(self) -> None:
        """Take the page as loading until its DOM is complete: it was opened by another one, unseen."""
        self.activity.loading = True
        task = asyncio.create_task(self._await_dom())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def lose(self) -> None:
        """The browser has ended, and the tab with it."""
        self._on_close(self.page)

    async def file_chooser(self, opening: Awaitable[object], *, limit: float) -> FileChooser | None:
        """The file chooser that some input opens within `limit` seconds; None where it opens none.

        Args:
            opening: the input, as for `act`.
            limit: how long to wait for the chooser.
        """
        self._choosing = asyncio.get_running_loop().create_future()
        try:
            await self.act(opening)
            async with asyncio.timeout(limit):
                return await self._choosing
        except TimeoutError:
            return None
        finally:
            self._choosing = None

    def dialog_opened(self, dialog: Dialog) -> None:
        """A dialog has opened; it stays so until it is answered, or its page goes."""
        self._dialog = dialog
        self._hold_up()

    @property
    def _navigation_timeout(self) -> float:
        return self._settings.limits.navigation_timeout * 1000

    async def _navigate(self, url: str, start: Callable[[], Coroutine[Any, Any, Response | None]]) -> Arrival:
        await self._free()
        downloads = len(self._downloads)
        for last_try in (False, False, True):
            try:
                await self.guarded(start())
            except DialogOpen as error:
                if self._dialog is not None and self._dialog.type == "beforeunload":
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
                    return Arrival(self.url, self.status, downloaded=True)
                else:
                    raise await self._failed(url, error) from error
            break
        await self._shown()
        return Arrival(self.url, self.status)

    async def _travel(self, step: int) -> Arrival:
        where = "back" if step < 0 else "forward"
        there = await self._history_entry(step)
        if there is None:
            end = "first" if step < 0 else "last"
            raise NavigationError(
                f"There is no page to go {where} to: {self.url} is the {end} one of tab {self.id}.",
                hint="Use go_to_url.",
            )
        timeout = self._navigation_timeout
        go = self.page.go_back if step < 0 else self.page.go_forward
        return await self._navigate(there, lambda: go(wait_until="commit", timeout=timeout))

    async def _history_entry(self, step: int) -> str | None:
        """Address of the entry so many steps away in the history, or None where there is none."""
        history = await self._control("Page.getNavigationHistory")
        if history is None:
            return self.url
        index = int(history["currentIndex"]) + step
        entries = history["entries"]
        return str(entries[index]["url"]) if 0 <= index < len(entries) else None

    async def _await_dom(self) -> None:
        try:
            await self.guarded(
                self.page.wait_for_load_state("domcontentloaded", timeout=self._navigation_timeout)
            )
        except (PlaywrightError, ActionError):
            pass
        finally:
            self.activity.loading = False
            self.activity.wake()

    async def _shown(self) -> None:
        """Wait until the DOM is complete, or something holds the page, or it has taken long enough."""
        deadline = time.monotonic() + SHOWING_SECONDS
        while self.activity.loading and not self.held and time.monotonic() < deadline:
            await self.activity.change(limit=deadline - time.monotonic())

    async def _free(self) -> None:
        """Break off a script that keeps the page from being left; later on it would be too late.

        Chromium passes nothing on to a page while a navigation is under way.
        """
        if self.cdp is None or self.held or self.activity.navigating_for() is not None:
            return
        try:
            async with asyncio.timeout(FREE_SECONDS):
                await self.guarded(send(self.cdp, "Runtime.evaluate", expression="1"))
        except TimeoutError:
            await self._control("Runtime.terminateExecution")
        except (PlaywrightError, ActionError):
            return
        self.unresponsive = False

    async def _is_download(self, error: PlaywrightError, before: int) -> bool:
        if "Download is starting" in str(error):
            return True
        if network_code(error) != "ERR_ABORTED":
            return False
        deadline = time.monotonic() + 0.5
        while len(self._downloads) == before and time.monotonic() < deadline:
            await self.activity.change(limit=deadline - time.monotonic())
        return len(self._downloads) > before

    async def _failed(self, url: str, error: PlaywrightError) -> ActionError:
        """The error for a navigation that came to nothing; leaves the tab ready for the next one."""
        code = network_code(error)
        if isinstance(error, PlaywrightTimeout):
            stopped = await self._control("Page.stopLoading")
            self.activity.forget_navigation()
            if stopped is None and self.cdp is not None and not self.held:
                # The answer is there, but the page that is left does not let go: only another tab helps.
                self._on_crash(self.page)
            limit = self._settings.limits.navigation_timeout
            return DeadlineExceeded(
                f"{url} did not begin to show within {limit:g} s.",
                hint="The site may be slow or down: try again, or raise --navigation-timeout.",
            )
        if code is None:
            return as_action_error(error, doing=f"opening {url[:200]}")
        status = self.activity.answered_status
        if status is not None and code in ("ERR_ABORTED", "ERR_HTTP_RESPONSE_CODE_FAILURE"):
            return NavigationError(
                f"{url} answered HTTP {status} without a page.", hint="Try another address."
            )
        # The browser opens its error page a moment later; what is opened before that would be broken off.
        deadline = time.monotonic() + 1
        while not self.url.startswith(ERROR_PAGE) and code != "ERR_ABORTED" and time.monotonic() < deadline:
            await self.activity.change(limit=0.05)
        return navigation_error(url, code)

    async def _control(self, method: str) -> dict[str, Any] | None:
        """Ask the browser something about the tab; None where it gives no answer."""
        if self.cdp is None:
            return None
        try:
            async with asyncio.timeout(CONTROL_SECONDS):
                return await send(self.cdp, method)
        except (PlaywrightError, TimeoutError):
            return None

    def _hold_up(self) -> None:
        if not self._hold.done():
            self._hold.set_result(None)
        self.activity.wake()
        self._on_held(self)

    def _dialog_gone(self) -> None:
        self._dialog = None
        if self._hold.done() and not self.closed and not self.crashed:
            self._hold = asyncio.get_running_loop().create_future()

    def _on_navigation_requested(self, event: dict[str, Any]) -> None:
        self.activity.navigation_requested(event, self._main_frame)

    def _on_window_open(self, _event: dict[str, Any]) -> None:
        self.activity.window_opening()

    def _on_dialog_closed(self, _event: dict[str, Any]) -> None:
        self._dialog_gone()

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        if self._choosing is None:
            self._notice("The page asks for a file: use upload_file, with the index of what was clicked.")
        elif not self._choosing.done():
            self._choosing.set_result(chooser)

    def _on_close(self, _page: Page) -> None:
        self.closed = True
        self._hold_up()

    def _on_crash(self, _page: Page) -> None:
        self.crashed = True
        self._hold_up()


def _forget(task: "asyncio.Future[Any]") -> None:
    """Take note of how something ended that nobody waits for any more, so that asyncio does not complain."""
    if not task.cancelled():
        task.exception()
