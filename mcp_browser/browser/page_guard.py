"""What holds a tab, so that its page answers nothing: a dialog, a crash, its end."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.observation import DialogInfo
from mcp_browser.dom.driver_errors import is_closed
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, DialogOpen, NotFound
from mcp_browser.text import quoted

T = TypeVar("T")


class PageGuard:
    """Knows whether something holds the page of one tab, and lets nobody wait for it."""

    def __init__(self, page: Page, tab_id: int, *, began: Callable[[], None]) -> None:
        self.closed = page.is_closed()
        self.crashed = False
        self.answered = False  # Whether the page has answered anything since this was reset
        self._page = page
        self._tab_id = tab_id
        self._began = began
        # A tool of the page's that waits for the dialog, and its answer.
        self.waiting: tuple[str, asyncio.Future[Any]] | None = None
        self._dialog: Dialog | None = None
        self.held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        page.on("close", lambda _page: self.close())
        page.on("crash", lambda _page: self.crash())

    @property
    def dialog(self) -> DialogInfo | None:
        dialog = self._dialog
        if dialog is None:
            return None
        return DialogInfo(kind=dialog.type, message=dialog.message, default_value=dialog.default_value)

    def why(self) -> ActionError:
        """The error for what cannot be done meanwhile."""
        if self.crashed:
            return BrowserUnavailable(
                f"The page {self._page.url} crashed.",
                hint="It is opened again at the next call: look with get_state.",
            )
        if self._dialog is not None:
            return DialogOpen(f"{self.dialog}.", hint="Answer it with handle_dialog.")
        return BrowserUnavailable(
            f"Tab {self._tab_id} was closed.", hint="Look with get_state what is open now."
        )

    async def guarded(
        self, work: Awaitable[T], limit: float | None = None, patience: Callable[[], float] = float
    ) -> T:
        """The outcome of something asked of the page, unless a dialog, a crash or its end comes in between.

        Args:
            work: what is asked.
            limit: how many seconds it may take; None for no end.
            patience: how many more it may take, asked once `limit` is over.

        Raises:
            TimeoutError: it takes longer.
            DialogOpen: a dialog is open, or has opened before it was done.
            BrowserUnavailable: the page has crashed or was closed.
        """
        task = asyncio.ensure_future(work)
        try:
            begun, left = time.monotonic(), limit
            while left is None or left > 0:
                await asyncio.wait({task, self.held}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if task.done():
                    result = task.result()
                    self.answered = True
                    return result
                if self.held.done():
                    raise self.why()
                left = begun + (limit or 0.0) + patience() - time.monotonic()
            raise TimeoutError
        finally:
            if not task.done():
                task.add_done_callback(_forget)
                task.cancel()

    async def answer(self, accept: bool, text: str | None, *, limit: float) -> None:
        """Answer the dialog that is open: `text` goes to a prompt, which else gets its default.

        Raises:
            NotFound: none is open.
            DeadlineExceeded: the browser has not taken the answer within `limit` seconds.
        """
        dialog = self._dialog
        if dialog is None:
            raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
        self.dialog_closed()
        if text is None and dialog.type == "prompt":
            text = dialog.default_value
        try:
            async with asyncio.timeout(limit):
                await (dialog.accept(text or "") if accept else dialog.dismiss())
        except TimeoutError as error:
            raise DeadlineExceeded("The browser did not take the answer to the dialog in time.") from error
        except PlaywrightError as error:
            if self.closed or is_closed(error):
                return
            raise NotFound(
                f"The {dialog.type} dialog {quoted(dialog.message)} had closed already.",
                hint="Look with get_state.",
            ) from error

    def dialog_opened(self, dialog: Dialog) -> None:
        """A dialog has opened; it stays so until it is answered, or its page goes."""
        self._dialog = dialog
        self._begin()

    def dialog_closed(self, _event: dict[str, Any] | None = None) -> None:
        """No dialog is open any more."""
        self._dialog = None
        if self.held.done() and not self.closed and not self.crashed:
            self.held = asyncio.get_running_loop().create_future()

    def crash(self) -> None:
        """The page has crashed, or is as lost as if it had."""
        self.crashed = True
        self._begin()

    def close(self) -> None:
        """The page is gone."""
        self.closed = True
        self._begin()

    def _begin(self) -> None:
        if not self.held.done():
            self.held.set_result(None)
        self._began()


def _forget(task: "asyncio.Future[Any]") -> None:
    """Take note of how something ended that nobody waits for any more, so that asyncio does not complain."""
    if not task.cancelled():
        task.exception()
