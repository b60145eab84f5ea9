"""Waiting for something to be true."""

import time

import pytest

from mcp_browser.errors import DeadlineExceeded, NotFound
from tests.actions.hand import Hand

pytestmark = pytest.mark.slow


async def test_an_address_is_waited_for(hand: Hand) -> None:
    target = hand.site.page("<h1>Arrived</h1>", path="/waited/for/here")
    await hand.open(f"<p>Loading…</p><script>setTimeout(() => {{ location = '{target}' }}, 1500)</script>")
    text = await hand.do("wait_for", url="*/waited/*/here")
    assert "Arrived" in text + await hand.do("get_state")


async def test_waiting_goes_on_while_the_page_goes_from_one_address_to_the_next(hand: Hand) -> None:
    last = hand.site.page("<p>The end</p>")
    for _ in range(4):
        last = hand.site.page(
            f"<p>On the way</p><script>setTimeout(() => {{ location = '{last}' }}, 150)</script>"
        )
    await hand.do("open_tab")
    await hand.session.current_tab.page.goto(last, wait_until="commit")
    assert "The end" in await hand.do("wait_for", text="The end", text_gone="On the way")


async def test_seconds_beside_a_condition_are_the_most_that_is_waited(hand: Hand) -> None:
    await hand.open("<p>Here already</p>")
    started = time.monotonic()
    await hand.do("wait_for", text="Here already", seconds=60)
    await hand.do("wait_for", text="Here already", seconds=0)
    assert time.monotonic() - started < 30
    for limit in ({"seconds": 0.4}, {"timeout": 0.4}):
        error = await hand.fails("wait_for", DeadlineExceeded, text="Never", **limit)
        assert 'Waited 0.4 s in vain for the text "Never"' in error
        assert hand.site.url in error
        error = await hand.fails("wait_for", NotFound, index='button "Never"', **limit)
        assert 'There is no button "Never"; it was waited for 0.4 s.' in error


async def test_a_caller_s_wait_may_be_longer_than_the_limit_of_a_call(hand: Hand) -> None:
    await hand.open("<p>Nothing</p>")
    with hand.under(limits={"call_timeout": 0.5}):
        started = time.monotonic()
        await hand.do("wait_for", seconds=1)
        assert time.monotonic() - started >= 1


async def test_an_action_that_the_time_of_its_list_ends_says_so(hand: Hand) -> None:
    await hand.open("<button>There</button>")
    with hand.under(limits={"call_timeout": 2}):
        clicks = [{"click_element": {"index": name}} for name in ('button "There"', 'button "Nowhere"')]
        text = await hand.do("do_actions", actions=clicks)
    assert "1. Clicked" in text
    assert "did not finish in the time of the whole list." in text
