"""Waiting for something to be true."""

import time

import pytest

from mcp_browser.errors import DeadlineExceeded, DialogOpen, InvalidArguments, NotFound
from tests.actions.hand import Hand

pytestmark = pytest.mark.slow

LATER = "<p id=p>Loading…</p><script>window.later = work => setTimeout(work, 1500)</script>"


async def test_all_conditions_are_waited_for_and_what_came_is_told(hand: Hand) -> None:
    await hand.open("<p>All done</p>" + LATER + "<script>later(() => p.remove())</script>")
    text = await hand.do("wait_for", text="all DONE", text_gone="Loading", timeout=20)
    assert text.startswith('Waited for the text "all DONE", the text "Loading" to be gone.')
    assert "All done" in text
    assert await hand.js("document.getElementById('p')") is None


async def test_an_element_is_waited_for_by_selector_or_role_and_a_text_in_a_frame(hand: Hand) -> None:
    await hand.open(
        LATER + "<script>later(() => { p.outerHTML = '<button class=ok>Go</button>' })</script>"
        "<div class=hidden style='display:none'>x</div>"
    )
    await hand.do("wait_for", selector="css=.ok")
    await hand.do("wait_for", selector='role=button[name="Go"]')
    await hand.fails("wait_for", DeadlineExceeded, selector=".hidden", timeout=0.3)
    inner = hand.site.page("<p>Inside text</p>").replace(hand.site.url, hand.site.other)
    await hand.open(f"<iframe src='{inner}'></iframe>")
    await hand.do("wait_for", text="Inside text")


async def test_an_address_is_waited_for(hand: Hand) -> None:
    target = hand.site.page("<h1>Arrived</h1>", path="/waited/for/here")
    await hand.open(f"{LATER}<script>later(() => {{ location = '{target}' }})</script>")
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


async def test_a_dialog_ends_the_waiting(hand: Hand) -> None:
    await hand.open(LATER + "<script>later(() => alert('Wake up'))</script>")
    assert "Wake up" in await hand.fails("wait_for", DialogOpen, text="never")
    await hand.do("handle_dialog", accept=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give text, text_gone, selector, index, url or seconds"),
        ({"seconds": -1}, "seconds must be above 0"),
        ({"seconds": 10_000}, "at most 600"),
        ({"text": "x", "timeout": 0}, "timeout must be above 0"),
        ({"selector": "a[[["}, "not a selector"),
        ({"selector": "nonsense=x"}, "not a selector"),
    ],
)
async def test_senseless_waiting_is_refused(hand: Hand, arguments: dict[str, object], words: str) -> None:
    await hand.open("<p>Page</p>")
    assert words in await hand.fails("wait_for", InvalidArguments, **arguments)
