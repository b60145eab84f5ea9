"""What browsers are started and reached with: Playwright's driver, a pool of contexts, the egress proxy."""

import logging
from typing import TYPE_CHECKING

from mcp_browser.browser.concurrency import finish
from mcp_browser.browser.process.launch import browser_settings, find_browser
from mcp_browser.browser.process.launcher import Launcher
from mcp_browser.browser.process.pool import ContextPool
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import EgressPass, EgressProxy

logger = logging.getLogger(__name__)


class Browsers:
    """The browsers of one server, or of one session that stands alone."""

    def __init__(self, settings: Settings, *, remote: bool = False) -> None:
        """Nothing is started yet; `remote` says that the clients are on other machines."""
        self._settings = settings
        self._remote = remote
        restricts = any(one.egress.restricts(remote=remote) for one in settings.variants)
        self.egress = _egress_proxy(settings) if restricts else None
        """The proxy that the browsers connect through, where they may not connect everywhere."""
        self._launcher = Launcher(browser_settings(settings), self.egress)
        self.pool = ContextPool(settings, self._launcher)

    def admit(self, settings: Settings) -> "EgressPass | None":
        """What lets a session with these settings through the proxy, where there is one."""
        return self.egress.admit(settings.egress, remote=self._remote) if self.egress else None

    async def start(self) -> None:
        """Start Playwright's driver and see to it that there is a browser.

        Raises:
            BrowserNotFound: there is none.
        """
        if self._settings.browser.starts_browser:
            find_browser(self._settings.browser)
        await self._launcher.driver()

    async def close(self) -> None:
        """Close the browsers and the driver; a browser that others started goes on."""
        self.pool.closed = True
        await finish(self._close())

    async def _close(self) -> None:
        try:
            await self.pool.close()
        finally:
            await self._launcher.close()
            if self.egress is not None:
                await self.egress.close()


def _egress_proxy(settings: Settings) -> "EgressProxy | None":
    if not settings.browser.starts_browser:
        # Asked for on purpose, it is refused at the start.
        logger.warning(
            "Where the browser connects to is not restricted: it is not started here. "
            "Its pages can reach the network that it runs in."
        )
        return None
    # Imported late: over stdio most servers restrict nothing.
    from mcp_browser.browser.egress.proxy import EgressProxy  # noqa: PLC0415

    return EgressProxy(settings.browser.proxy)
