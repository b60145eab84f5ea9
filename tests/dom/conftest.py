"""A DOM service over a bare page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from mcp_browser.dom.scripts import hook_script
from mcp_browser.dom.service import DomService
from mcp_browser.privacy.hiding import SessionAddresses
from tests.support.site import Site

CHANNEL = "test-channel"
Show = Callable[[str], Awaitable[DomService]]
"""Shows an HTML body and gives the service of its page."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A page with the hook in it, which the tests of a module follow one another in."""
    context = await chromium.new_context(viewport={"width": 1000, "height": 600})
    await context.add_init_script(hook_script(CHANNEL))
    yield await context.new_page()
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def dom(page: Page) -> DomService:
    """The service, which begins to listen to the page in the loop that runs."""
    options: dict[str, Any] = {"budget": 6000, "changes_budget": 1500, "learnt": {}}
    return DomService(page, channel=CHANNEL, sent=print, addresses=SessionAddresses(), **options)


@pytest.fixture
def show(page: Page, dom: DomService, site: Site) -> Show:
    """Publish a body and go there."""

    async def show(body: str) -> DomService:
        await page.goto(site.page(body))
        return dom

    return show
