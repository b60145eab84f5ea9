"""A large page on a slow machine: what reading it takes is not taken for a page that hangs."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError
from mcp_browser.settings import LimitSettings
from tests.snapshot.conftest import opened
from tests.snapshot.hand import Hand, number, words_of
from tests.support.site import Site

pytestmark = pytest.mark.slow

ROWS = 10_000
HEAD = "<button onclick=\"out.textContent = 'Done'\">First</button><input aria-label=Field><p id=out></p>"
PAGE = HEAD + "".join(
    f"<p>Row {n} <a href=/{n}>Link {n}</a> <button>Act {n}</button></p>" for n in range(ROWS)
)


@pytest_asyncio.fixture(loop_scope="session")
async def impatient(site: Site) -> AsyncIterator[Hand]:
    """A hand with limits far below what it takes to read a large page on a slow machine."""
    async with opened(site, LimitSettings(settle_timeout=2, call_timeout=60, action_timeout=0.2)) as hand:
        cdp = await hand.tab.page.context.new_cdp_session(hand.tab.page)
        await send(cdp, "Emulation.setCPUThrottlingRate", rate=2)
        yield hand


async def test_a_large_page_is_read_and_acted_on_whatever_the_limits_of_small_ones(impatient: Hand) -> None:
    hand = impatient
    opened = words_of(await hand.do("go_to_url", url=hand.site.page(PAGE)))
    assert 'button "First"' in opened
    assert "busy" not in opened
    found = await hand.do("find_elements", text=f"Act {ROWS - 1}")
    assert f"Act {ROWS - 1}" in str(found.page_content)
    field = await hand.do("find_elements", selector="input")
    typed = words_of(await hand.do("input_text", index=number(str(field.page_content)), text="words"))
    assert "words" in typed
    button = await hand.do("find_elements", role="button", text="First")
    assert "Done" in words_of(await hand.click(number(str(button.page_content))))
    assert 'button "First"' in words_of(await hand.do("get_state"))


async def test_a_small_page_whose_script_is_busy_is_told_within_the_limit(impatient: Hand) -> None:
    hand = impatient
    await hand.do("go_to_url", url=hand.site.page("<p>Here</p>"))
    await hand.script("setTimeout(() => { const end = Date.now() + 6000; while (Date.now() < end); })")
    with pytest.raises(ActionError, match=r"did not answer within 0\.2 s: its script is busy"):
        await hand.do("find_elements", text="Nowhere")


async def test_a_large_page_that_is_not_read_in_time_is_not_called_busy(
    impatient: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = impatient
    await hand.do("go_to_url", url=hand.site.page(PAGE))
    await hand.do("get_state")
    monkeypatch.setattr("mcp_browser.dom.cdp.ELEMENT_SECONDS", 0)
    with pytest.raises(
        ActionError, match=r"Reading the page of about \d\d,000 elements took longer than 0\.2 s"
    ):
        await hand.do("find_elements", text="Nowhere")
