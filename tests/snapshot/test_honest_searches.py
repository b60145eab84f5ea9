"""That nothing matches is said only of what was searched; what could not be is named."""

import pytest

from mcp_browser.errors import ActionError
from tests.snapshot.hand import Hand

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SEARCHES = [{"text": "Nowhere"}, {"role": "slider"}, {"pattern": "No+where"}, {"selector": "b.nowhere"}]
FREEZE = "<script>addEventListener('message', () => { for (;;); })</script>"


async def with_frozen_frame(hand: Hand) -> None:
    """Show a page with a frame of another site whose script runs without end."""
    inner = hand.elsewhere(f"<button>Inner</button>{FREEZE}")
    await hand.show(f"<h1>Outer</h1><b>Bold</b><iframe title=Chat src='{inner}'></iframe>")
    await hand.script("frames[0].postMessage(1, '*')")


IN_VAIN = [
    *(("find_elements", search, r"could be searched[\s\S]*does not answer") for search in SEARCHES),
    ("wait_for", {"text_gone": "Nowhere", "timeout": 4}, "in vain"),
    ("scroll_to_text", {"text": "Nowhere"}, r'not searched: \[\d+\] iframe "Chat" does not answer'),
]


@pytest.mark.parametrize(("action", "arguments", "failure"), IN_VAIN)
async def test_what_is_sought_in_vain_names_the_frame_that_does_not_answer(
    hand: Hand, action: str, arguments: dict[str, str], failure: str
) -> None:
    await with_frozen_frame(hand)
    with pytest.raises(ActionError, match=failure):
        await hand.do(action, **arguments)


@pytest.mark.parametrize("search", [{"text": "Bold"}, {"selector": "b"}], ids=["text", "selector"])
async def test_what_was_found_is_told_with_the_frame_that_was_not_searched(
    hand: Hand, search: dict[str, str]
) -> None:
    await with_frozen_frame(hand)
    told = await hand.do("find_elements", **search)
    assert "Bold" in str(told.page_content)
    assert "does not answer" in str(told.extracted_content)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: next(iter(search)))
async def test_a_search_of_a_page_whose_script_is_busy_says_that(hand: Hand, search: dict[str, str]) -> None:
    await hand.show("<h1>Outer</h1>")
    await hand.do("get_state")
    await hand.script("setTimeout(() => { const end = Date.now() + 9000; while (Date.now() < end); })")
    with pytest.raises(ActionError, match="its script is busy"):
        await hand.do("find_elements", **search)


async def test_a_search_of_a_page_that_is_still_loading_says_that(hand: Hand) -> None:
    await hand.show("<p>Here</p>")
    await hand.script("void fetch('/hang')")
    while not hand.tab.activity.in_flight(0):
        await hand.tab.activity.change(limit=0.1)
    with pytest.raises(ActionError, match="still loading"):
        await hand.do("find_elements", text="Nowhere")
