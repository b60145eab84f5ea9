"""Addresses, history, search, tabs; scrolling is in tests/snapshot/cases/looking.html, too."""

import re

from mcp_browser.actions.navigation import search_url
from mcp_browser.errors import NotFound
from tests.actions.hand import Hand


async def test_a_search_opens_the_engine_s_page_with_the_words(hand: Hand) -> None:
    hand.site.page("<h1>Results</h1>", path="/search")
    with hand.under(tools={"search_engine": hand.site.url + "/search?q={query}&x=1"}):
        text = await hand.do("search_web", query="green tea & milk")
    assert "Results" in text
    assert await hand.js("location.search") == "?q=green+tea+%26+milk&x=1"
    for engine in ("duckduckgo", "google", "bing"):
        assert re.fullmatch(f"https://(www.)?{engine}.com/.*q=a\\+b", search_url(engine, "a b"))


async def test_tabs_are_opened_switched_and_closed(hand: Hand) -> None:
    await hand.open("<h1>First</h1>", title="One")
    first = hand.session.current_tab.id
    text = await hand.do("open_tab", url=hand.site.page("<h1>Second</h1>", title="Two"))
    second = hand.session.current_tab.id
    assert second != first
    assert f"Tab {second} (current)" in text
    assert f"Tab {first}" in text
    assert "First" in await hand.do("switch_tab", tab=first)
    assert f"Closed tab {second}" in await hand.do("close_tab", tab=second)
    error = await hand.fails("switch_tab", NotFound, tab=second)
    assert f"There is no tab {second}" in error
    assert "One" in error


async def test_the_current_tab_is_closed_where_none_is_named(hand: Hand) -> None:
    await hand.open("<h1>First</h1>")
    first = hand.session.current_tab.id
    for action, arguments in (("open_tab", {}), ("go_to_url", {"url": hand.site.url, "new_tab": True})):
        await hand.do(action, **arguments)
        assert hand.session.current_tab.id != first
        assert f"tab {first} is in front" in await hand.do("close_tab")
        assert hand.session.current_tab.id == first


async def test_an_address_that_is_a_file_is_downloaded_and_told(hand: Hand) -> None:
    await hand.open("<h1>Still here</h1>")
    text = await hand.do("go_to_url", url=hand.site.url + "/download/report.txt?text=hello")
    assert "is a file" in text
    assert "report.txt" in text
    assert "Still here" in await hand.do("get_state")


async def test_what_comes_into_view_for_the_first_time_is_told(hand: Hand) -> None:
    await hand.open("".join(f"<p>Row number {n} of a long list</p>" for n in range(2000)))
    assert "Row number 1990 " not in hand.told
    assert "Row number 1990 " in await hand.do("scroll", direction="bottom")
    text = await hand.do("scroll_to_text", text="Row number 1000 ")
    assert "Row number 999 " in text
    assert "Row number 1001 " in text
    assert "Row number 1005 " in text
