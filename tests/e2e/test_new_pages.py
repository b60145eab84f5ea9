"""What a client is told of a page that it has just come to."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site

GOES_ON_LOADING = """
<h1>Arrived</h1><p id=late></p>
<script>
setTimeout(async () => { late.textContent = await (await fetch('/slow?s=0.4&text=the+rest')).text() }, %d)
</script>
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as connected:
        yield connected


async def arrive(site: Site, browser: Browser, *, delay: int) -> str:
    there = site.page(GOES_ON_LOADING % delay, title="There")
    await browser.open(site.page(f"<h1>Here</h1><a href='{there}'>Go there</a>"))
    told = await browser.click("link", "Go there")
    assert 'title="There"' in told
    assert "# Arrived" in told
    return told


@pytest.mark.parametrize("delay", [0, 10, 40, 80])
async def test_a_page_that_loads_on_after_it_shows_is_told_whole(
    browser: Browser, site: Site, delay: int
) -> None:
    assert "the rest" in await arrive(site, browser, delay=delay)
