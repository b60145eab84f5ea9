"""What a client is told of a page that it has just come to."""

import pytest

from tests.support.client import Browser, browsing
from tests.support.site import Site

GOES_ON_LOADING = """
<h1>Arrived</h1><p id=late></p>
<script>
setTimeout(async () => { late.textContent = await (await fetch('/slow?s=0.4&text=the+rest')).text() }, %d)
</script>
"""


async def arrive(site: Site, browser: Browser, *, delay: int) -> str:
    there = site.page(GOES_ON_LOADING % delay, title="There")
    await browser.open(site.page(f"<h1>Here</h1><a href='{there}'>Go there</a>"))
    told = await browser.click("link", "Go there")
    assert 'title="There"' in told
    assert "# Arrived" in told
    return told


async def test_a_page_that_loads_on_as_it_shows_is_told_whole(site: Site) -> None:
    async with browsing() as browser:
        assert "the rest" in await arrive(site, browser, delay=0)


@pytest.mark.parametrize("delay", [10, 40, 80])
async def test_what_a_page_begins_to_load_later_is_told_then_or_with_the_next_result(
    delay: int, site: Site
) -> None:
    async with browsing() as browser:
        told = await arrive(site, browser, delay=delay)
        later = await browser.call("wait_for", text="the rest")
        assert not later.is_error
        assert "the rest" in told + later.text.partition("<page")[2]
