"""Windows that a page opens for a moment: choosers, sign-ins."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site

CHOSEN = "opener.document.querySelector('p').textContent = 'chosen'; window.close()"
WAYS = {
    "at once": f'<button onclick="{CHOSEN}">Choose</button>',
    "by a timer": f'<button onclick="setTimeout(() => {{ {CHOSEN} }}, 150)">Choose</button>',
    "by the answer to its form": "<form action=/chosen><button>Choose</button></form>",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing() as running:
        yield running


@pytest.mark.parametrize("way", WAYS)
async def test_a_popup_that_closes_itself_gives_way_to_its_opener(
    way: str, browser: Browser, site: Site
) -> None:
    site.page(f"<script>{CHOSEN}</script>", path="/chosen")
    chooser = site.page(f"<h1>Chooser</h1>{WAYS[way]}", title="Chooser")
    opening = f"open('{chooser}', 'chooser', 'width=400,height=300')"
    await browser.open(site.page(f'<h1>Opener</h1><p>nothing</p><button onclick="{opening}">Open</button>'))
    assert "Chooser" in await browser.click("button", "Open")
    told = await browser.click("button", "Choose")
    assert "is the current one now" in told
    assert "chosen" in told


async def test_what_a_timer_of_a_popup_does_is_waited_for(browser: Browser, site: Site) -> None:
    later = "setTimeout(() => { document.querySelector('h1').textContent = 'Later' }, 200)"
    popup = site.page(f'<h1>Popup</h1><button onclick="{later}">Change</button>')
    await browser.open(
        site.page(f"<button onclick=\"open('{popup}', 'p', 'width=400,height=300')\">Open</button>")
    )
    await browser.click("button", "Open")
    assert "Later" in await browser.click("button", "Change")
    await browser.do("close_tab")
