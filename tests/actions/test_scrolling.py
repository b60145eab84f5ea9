"""Scrolling."""

import pytest

from mcp_browser.errors import InvalidArguments, NotFound
from tests.actions.hand import Hand

LONG = "".join(f"<p style='height:180px;margin:0'>Paragraph {number}</p>" for number in range(40))
INNER = (
    "<div id=box tabindex=0 role=region aria-label=Messages style='height:200px;overflow:auto'>"
    + "".join(f"<button style='display:block;height:100px'>Row {number}</button>" for number in range(20))
    + "</div>"
)


async def test_the_page_scrolls_by_what_is_seen_and_tells_where_it_is(hand: Hand) -> None:
    await hand.open(LONG)
    text = await hand.do("scroll")
    assert text.startswith("Scrolled the page down by 720 px; 1.0 screens before, 8.0 after")
    assert await hand.js("scrollY") == 720
    await hand.do("scroll", direction="up", pages=0.5)
    assert 200 < await hand.js("scrollY") < 500


async def test_what_comes_into_view_for_the_first_time_is_told(hand: Hand) -> None:
    await hand.open("".join(f"<p>Row number {n} of a long list</p>" for n in range(2000)))
    assert "Row number 1990 " not in hand.told
    assert "Row number 1990 " in await hand.do("scroll", direction="bottom")
    text = await hand.do("scroll_to_text", text="Row number 1000 ")
    assert "Row number 999 " in text
    assert "Row number 1001 " in text
    assert "Row number 1005 " in text


async def test_the_ends_are_reached_and_told_and_sides_are_scrolled_to(hand: Hand) -> None:
    await hand.open(LONG)
    await hand.do("scroll", direction="bottom")
    assert await hand.js("Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight")
    assert "cannot be scrolled further down" in await hand.do("scroll")
    await hand.do("scroll", direction="top")
    assert await hand.js("scrollY") == 0
    await hand.open("<p>Short</p><div style='width:5000px;height:10px'>Wide</div>")
    assert "Nothing to scroll" in await hand.do("scroll")
    assert "right" in await hand.do("scroll", direction="right")
    assert await hand.js("scrollX") > 500


async def test_an_element_scrolls_inside_itself(hand: Hand) -> None:
    await hand.open(INNER + LONG)
    assert "Messages" in await hand.do("scroll", index=hand.index("Row 0"), pages=2)
    assert await hand.js("[box.scrollTop > 300, scrollY]") == [True, 0]


async def test_where_only_a_part_scrolls_that_part_is_scrolled(hand: Hand) -> None:
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
