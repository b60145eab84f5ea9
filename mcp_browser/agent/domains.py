"""A task's domains: no page elsewhere is opened on purpose, shown to the model, or stayed on."""

import contextlib
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.errors import ActionError, BlockedUrl
from mcp_browser.hosts import is_on
from mcp_browser.privacy.addresses import MARK
from mcp_browser.settings import Settings
from mcp_browser.text import cut_address

MOST_LEFT = 5  # How many pages in a row are left before it is given up


class Domains:
    """Hosts that a task keeps to: globs; none means any."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)

    def allow(self, url: str) -> bool:
        """Whether a page may be shown. An empty one, and one that could not be loaded, are nobody's."""
        url = url.replace(MARK, "")  # It is no part of a host.
        scheme = urlsplit(url).scheme
        return not self._patterns or scheme in ("", "about", "chrome-error") or is_on(url, self._patterns)

    def check(self, url: str, settings: Settings, *, base: str = "") -> None:
        """Refuse an address as written; `base` is the current page's. Raises BlockedUrl, NavigationError."""
        address = check_url(url, settings, base=base) if self._patterns else ""
        if not self.allow(address):
            raise self.outside(address)

    def outside(self, url: str) -> BlockedUrl:
        """The error for an address outside."""
        return BlockedUrl(
            f"{cut_address(url)} is outside the domains of this task.",
            hint=f"Stay on {', '.join(self._patterns)}.",
        )

    async def leave(self, session: BrowserSession, *, tabs: Collection[int]) -> str | None:
        """Leave the current page if it is outside; its address, or None where it is not.

        A tab that is none of `tabs` is closed; another one goes back, or to an empty page. No action of the
        registry is used for that, since the task may not have it.

        Raises:
            BlockedUrl: it cannot be left.
        """
        left: str | None = None
        for _ in range(MOST_LEFT):
            async with session.lock:
                tab = session.tab_in_use
                if tab is None or self.allow(tab.url):
                    return left
                left = left or tab.url
                await self._leave(session, tab, close=tab.id not in tabs)
        raise self.outside(left or "The page")

    async def _leave(self, session: BrowserSession, tab: Tab, *, close: bool) -> None:
        if not close:
            for go in (tab.back, lambda: tab.goto("about:blank")):
                with contextlib.suppress(ActionError, PlaywrightError):
                    await go()
                if self.allow(tab.url):
                    return
        await session.close_tab(tab.id)
