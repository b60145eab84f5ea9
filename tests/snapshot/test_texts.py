"""What a page says in words, as a snapshot tells it."""

import re

from tests.snapshot.hand import Hand


async def test_white_space_in_an_element_of_its_own_parts_words(hand: Hand) -> None:
    view = await hand.show("<p><span>echo</span><span class=w> </span><span>one</span><b>two</b></p>")

    assert "echo onetwo" in view.text


async def test_a_dialog_that_a_style_shows_without_its_open_attribute_is_told(hand: Hand) -> None:
    view = await hand.show(
        "<dialog style='display: flex' aria-label=Rename><input aria-label=Name></dialog>"
        "<dialog><button>Shut away</button></dialog>"
    )

    assert view.one("Rename").role == "dialog"
    assert view.one("Name").role == "textbox"
    assert "Shut away" not in view.text


async def test_a_text_that_is_found_gets_an_index_to_act_on(hand: Hand) -> None:
    await hand.show(
        "<ul ondblclick=\"this.textContent='Editing ' + event.target.textContent\">"
        "<li><label>Bread</label></li></ul><h2>Shelf</h2><table><tr><td>Oats<td>2 kg</table>"
    )

    found = (await hand.do("find_elements", text="Bread")).data
    heading = (await hand.do("find_elements", text="Shelf")).page_content
    row = (await hand.do("find_elements", text="Oats")).page_content

    assert found is not None
    assert heading is not None
    assert row is not None
    assert heading.partition("] ")[2] == 'heading "Shelf" level=2'
    assert re.fullmatch(r"\[\d+\] row \| \[\d+\] Oats \| 2 kg \|", row)
    (bread,) = found["elements"]
    await hand.do("click_element", index=bread["index"], double=True)
    assert (await hand.look()).says("Editing Bread")
