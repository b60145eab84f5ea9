"""Rows that a list draws only when it is scrolled to them are found; a snapshot says that there are more."""

import pytest

from mcp_browser.errors import NotFound
from tests.snapshot.hand import Hand

LIST = (
    "<div id=list style='height:200px;overflow:auto'><div style='height:{height}px;position:relative'></div>"
    "</div><p>End</p><script>const names = {names};"
    " const draw = () => {{ const first = Math.floor(list.scrollTop / 25);"
    " list.firstChild.innerHTML = names.slice(first, first + 9).map((name, i) =>  `"
    "<label style='position:absolute;top:${{(first + i) * 25}}px'><input type=checkbox>${{name}}</label>"
    "`).join('') }}; list.onscroll = draw; draw()</script>"
)
ORDERED = LIST.format(height=25000, names="Array.from({length: 1000}, (_, i) => `Letter ${i + 1}`)")
MIXED = LIST.format(height=2500, names="Array.from({length: 100}, (_, i) => `Letter ${(i * 37) % 100}`)")
MORE = "(more rows are drawn when this is scrolled)"


@pytest.mark.parametrize("html", [ORDERED, MIXED], ids=["in order", "in no order"])
async def test_a_row_that_is_not_drawn_is_found(hand: Hand, html: str) -> None:
    view = await hand.show(html)
    assert view.says(MORE)
    assert not view.says("Letter 92")
    found = await hand.do("find_elements", text="Letter 92")
    assert "Found 1 after scrolling to it" in (found.extracted_content or "")
    assert 'checkbox "Letter 92"' in (found.page_content or "")


async def test_a_row_is_ticked_by_its_name_and_scrolled_to_by_its_text(hand: Hand) -> None:
    await hand.show(ORDERED)
    await hand.do("set_checked", index='checkbox "Letter 700"', checked=True)
    assert await hand.script(
        "[...document.querySelectorAll(':checked')].map(box => box.parentElement.innerText)"
    ) == ["Letter 700"]
    await hand.do("scroll_to_text", text="Letter 400")
    assert await hand.script("Math.abs(list.scrollTop - 399 * 25) < 300")


async def test_lists_are_left_as_they_were_where_nothing_is_found(hand: Hand) -> None:
    await hand.show(ORDERED)
    await hand.script("list.scrollTop = 500")
    with pytest.raises(NotFound):
        await hand.do("find_elements", text="Parcel")
    assert await hand.script("list.scrollTop") == 500


async def test_a_list_that_is_drawn_whole_says_nothing_of_more(hand: Hand) -> None:
    rows = "".join(f"<p>Row {i}</p>" for i in range(60))
    view = await hand.show(f"<div style='height:200px;overflow:auto'>{rows}</div>")
    assert not view.says(MORE)
