"""What a page says in words, as a snapshot tells it."""

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
