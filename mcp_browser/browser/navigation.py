"""How a tab goes to other pages."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.page import TabPage
from mcp_browser.browser.playwright_errors import as_action_error, navigation_error, network_code
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import ActionError, BlockedUrl, DeadlineExceeded, DialogOpen, NavigationError
from mcp_browser.text import cut_address

ERROR_PAGE = "chrome-error://"
SHOWING_SECONDS = 3.0  # How long an opened page may take to have its DOM complete before it is shown as it is
FREE_SECONDS = 1.0  # How long the page that is left may not answer before its script is broken off


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a navigation has led; `downloaded` where the address was a file, so that the page has stayed."""

    url: str
    status: int | None = None
    downloaded: bool = False


class Navigation:
    """Takes one tab to other pages."""

    def __init__(self, tab: TabPage) -> None:
        self._egress = tab.services.egress
        self._tab = tab
        self._settings = tab.settings
        self._downloads = tab.services.downloads
        self._notice = tab.services.notice
        self._tasks: set[asyncio.Task[None]] = set()

    async def goto(self, url: str) -> Arrival:
        """Open an address; returns once its page can be looked at, without waiting for pictures and the like.

        Raises:
            BlockedUrl: addresses of that kind are not opened.
            NavigationError: it is no address, or nothing could be loaded from it.
            DeadlineExceeded: nothing came in time.
            DialogOpen: the page asks before it is left.
        """
        address = check_url(url, self._settings, base=self._tab.url)
        if self._egress is not None:
            self._egress.policy.check_url(address)
        timeout = self._navigation_timeout
        return await self._navigate(
            address, lambda: self._tab.page.goto(address, wait_until="commit", timeout=timeout)
        )

    async def reload(self) -> Arrival:
        """Load the page again. Raises as `goto` does."""
        timeout = self._navigation_timeout
        return await self._navigate(
            self._tab.url, lambda: self._tab.page.reload(wait_until="commit", timeout=timeout)
        )

    async def arrive(self) -> None:
        """Wait for a navigation under way, or end it: meanwhile Chromium passes nothing on."""
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
        """Take the page as loading until its DOM is complete: it was opened by another one, unseen."""
        self._tab.activity.loading = True
        task = asyncio.create_task(self._await_dom())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def _navigation_timeout(self) -> float:
        return self._settings.limits.navigation_timeout * 1000

    async def _navigate(self, url: str, start: Callable[[], Coroutine[Any, Any, Response | None]]) -> Arrival:
        await self._free()
        began = time.monotonic()
        downloads = len(self._downloads)
        for last_try in (False, False, True):
            try:
                await self._tab.guarded(start())
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
        """Go so many steps through the history. Raises as `goto` does; NavigationError beyond its ends."""
        where = "back" if step < 0 else "forward"
        there = await self._history_entry(step)
        if there is None:
            end = "first" if step < 0 else "last"
            raise NavigationError(
                f"There is no page to go {where} to: {self._tab.url} is the {end} one of tab {self._tab.id}.",
                hint="Use go_to_url.",
            )
        timeout = self._navigation_timeout
        go = self._tab.page.go_back if step < 0 else self._tab.page.go_forward
        return await self._navigate(there, lambda: go(wait_until="commit", timeout=timeout))

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
        """Wait until the DOM is complete, or something holds the page, or it has taken long enough."""
        deadline = time.monotonic() + SHOWING_SECONDS
        while self._tab.activity.loading and not self._tab.held and time.monotonic() < deadline:
            await self._tab.activity.change(limit=deadline - time.monotonic())

    async def _free(self) -> None:
        """Break off a script that keeps the page from being left: later, Chromium passes nothing on."""
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
        """The error for a navigation that came to nothing; leaves the tab ready for the next one."""
        code = network_code(error)
        if isinstance(error, PlaywrightTimeout):
            stopped = await self._tab.control("Page.stopLoading")
            self._tab.activity.forget_navigation()
            if stopped is None and not self._tab.held:
                # The answer is there, but the page that is left does not let go: only another tab helps.
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
        # The browser opens its error page a moment later; what is opened before that would be broken off.
        deadline = time.monotonic() + 1
        while (
            not self._tab.url.startswith(ERROR_PAGE) and code != "ERR_ABORTED" and time.monotonic() < deadline
        ):
            await self._tab.activity.change(limit=0.05)
        why = self._egress.why_failed(url, since=began) if self._egress is not None else None
        return why if isinstance(why, BlockedUrl) else navigation_error(url, why or code)
