"""A browser context says to the egress proxy who it is.

Chromium keeps the credentials for all that the context asks of the proxy from then on, by workers, sockets
and windows, too. Playwright's own way would hold back every request of every page, and switch the cache off.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.egress.policy import NAME
from mcp_browser.dom.cdp import send
from mcp_browser.errors import BrowserUnavailable

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

    from mcp_browser.browser.egress.policy import ProxySession

LOGIN_SECONDS = 10.0


async def log_in(context: "BrowserContext", admitted: "ProxySession") -> None:
    """Make the context known to the proxy by an empty page, which stays; raises BrowserUnavailable."""
    page = context.pages[0] if context.pages else await context.new_page()
    cdp = await context.new_cdp_session(page)
    credentials = {
        "response": "ProvideCredentials",
        "username": admitted.user,
        "password": admitted.password,
    }

    def go_on(event: dict[str, Any]) -> None:
        begin(send(cdp, "Fetch.continueRequest", requestId=event["requestId"]))

    def answer(event: dict[str, Any]) -> None:
        begin(
            send(
                cdp, "Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=credentials
            )
        )

    cdp.on("Fetch.requestPaused", go_on)
    cdp.on("Fetch.authRequired", answer)
    admitted.greeted.clear()
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await send(cdp, "Fetch.enable", handleAuthRequests=True, patterns=[{"urlPattern": "*"}])
            # Answered without content, so that the page stays what it is.
            await send(cdp, "Page.navigate", url=f"http://{NAME}/")
            await admitted.greeted.wait()
            await send(cdp, "Fetch.disable")
    except TimeoutError:
        raise BrowserUnavailable(
            "The browser does not use the server's proxy.", hint="mcp-browser doctor tells more."
        ) from None
    finally:
        begin(cdp.detach())
