"""Addresses, history, search, tabs; scrolling."""

import re

import pytest

from mcp_browser.actions.navigation import search_url
from mcp_browser.errors import ActionError, BlockedUrl, InvalidArguments, NavigationError, NotFound
from tests.actions.hand import Hand


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("javascript:alert(1)", BlockedUrl),
        ("file:///etc/passwd", BlockedUrl),
        ("http://127.0.0.1:1/", NavigationError),
        ("not an address", NavigationError),
        ("", ActionError),
    ],
)
async def test_an_address_that_cannot_be_opened_says_why(
    hand: Hand, url: str, error: type[ActionError]
) -> None:
    await hand.open("<h1>Before</h1>")
    assert len(await hand.fails("go_to_url", error, url=url)) > 20
    assert "After" in await hand.open("<h1>After</h1>")


async def test_history_is_walked_its_ends_are_told_and_a_page_is_loaded_again(hand: Hand) -> None:
    await hand.open("<h1>First</h1>")
    await hand.open("<h1>Second</h1>")
    assert "First" in await hand.do("go_back")
    assert "Second" in await hand.do("go_forward")
    assert "last one" in await hand.fails("go_forward", NavigationError)
    await hand.js("document.querySelector('h1').textContent = 'Changed'")
    assert "Second" in await hand.do("reload")


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


async def test_arguments_that_make_no_sense_are_refused(hand: Hand) -> None:
    assert "'query'" in await hand.fails("search_web", InvalidArguments, query="")
    assert "'url' is missing" in await hand.fails("go_to_url", InvalidArguments)
    assert "did you mean 'new_tab'" in await hand.fails("go_to_url", InvalidArguments, url="x", newtab=True)


LONG = "".join(f"<p style='height:180px;margin:0'>Paragraph {number}</p>" for number in range(40))
INNER = (
    "<div id=box tabindex=0 role=region aria-label=Messages style='height:200px;overflow:auto'>"
    + "".join(f"<button style='display:block;height:100px'>Row {number}</button>" for number in range(20))
    + "</div>"
)


async def test_what_comes_into_view_for_the_first_time_is_told(hand: Hand) -> None:
    await hand.open("".join(f"<p>Row number {n} of a long list</p>" for n in range(2000)))
    assert "Row number 1990 " not in hand.told
    assert "Row number 1990 " in await hand.do("scroll", direction="bottom")
    text = await hand.do("scroll_to_text", text="Row number 1000 ")
    assert "Row number 999 " in text
    assert "Row number 1001 " in text
    assert "Row number 1005 " in text


async def test_the_page_scrolls_by_what_is_seen_to_its_ends_and_sides(hand: Hand) -> None:
    await hand.open(LONG)
    text = await hand.do("scroll")
    assert text.startswith("Scrolled the page down by 720 px; 1.0 screens before, 8.0 after")
    assert await hand.js("scrollY") == 720
    await hand.do("scroll", direction="up", pages=0.5)
    assert 200 < await hand.js("scrollY") < 500
    await hand.do("scroll", direction="bottom")
    assert await hand.js("Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight")
    assert "cannot be scrolled further down" in await hand.do("scroll")
    await hand.do("scroll", direction="top")
    assert await hand.js("scrollY") == 0
    await hand.open("<p>Short</p><div style='width:5000px;height:10px'>Wide</div>")
    assert "Nothing to scroll" in await hand.do("scroll")
    assert "right" in await hand.do("scroll", direction="right")
    assert await hand.js("scrollX") > 500


async def test_an_element_scrolls_inside_itself_and_a_part_where_only_that_scrolls(hand: Hand) -> None:
    await hand.open(INNER + LONG)
    assert "Messages" in await hand.do("scroll", index=hand.index("Row 0"), pages=2)
    assert await hand.js("[box.scrollTop > 300, scrollY]") == [True, 0]
    await hand.open(
        f"<style>body{{margin:0;height:100vh;overflow:hidden}}#box{{height:100vh!important}}</style>{INNER}"
    )
    await hand.do("scroll")
    assert await hand.js("box.scrollTop") > 0


@pytest.mark.parametrize(("text", "nth", "place"), [("paragraph 33", 1, 33), ("Paragraph 3", 4, 32)])
async def test_a_text_is_scrolled_to_by_its_match(hand: Hand, text: str, nth: int, place: int) -> None:
    await hand.open(LONG)
    assert f"Paragraph {place}" in await hand.do("scroll_to_text", text=text, nth=nth)
    top = await hand.js(f"document.querySelectorAll('p')[{place}].getBoundingClientRect().top")
    assert 0 <= top < 720
    assert "unicorn" in await hand.fails("scroll_to_text", NotFound, text="unicorn")


@pytest.mark.parametrize("arguments", [{"direction": "sideways"}, {"pages": 0}, {"pages": "many"}])
async def test_senseless_scrolling_is_refused(hand: Hand, arguments: dict[str, object]) -> None:
    await hand.fails("scroll", InvalidArguments, **arguments)
