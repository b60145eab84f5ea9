"""Fixtures for every test: a local site and a real Chromium."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import settings as hypothesis_settings
from playwright.async_api import Browser, Page, async_playwright

from mcp_browser.browser.process.launch import find_browser, launch_options
from mcp_browser.settings import Settings
from tests.support.site import Site

# On a busy machine an example may take any time.
hypothesis_settings.register_profile("no deadline", deadline=None)
hypothesis_settings.load_profile("no deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow the end-to-end tests that neither are the smoke run's nor drive applications.

    Those in nightly.txt are marked as nightly, too.
    """
    nightly = set(Path(__file__).with_name("nightly.txt").read_text("utf-8").splitlines())
    for item in items:
        if item.path.parent.name == "e2e" and not any(map(item.get_closest_marker, ("smoke", "apps"))):
            item.add_marker(pytest.mark.slow)
        if {item.nodeid, item.nodeid.partition("[")[0]} & nightly:
            item.add_marker(pytest.mark.nightly)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """A local web site; see tests/support/site.py."""
    with Site() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One headless Chromium for the whole run."""
    async with async_playwright() as playwright:
        settings = Settings()
        browser = await playwright.chromium.launch(
            **launch_options(find_browser(settings.browser), headless=True)
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A page in a context of its own."""
    context = await chromium.new_context()
    yield await context.new_page()
    await context.close()
