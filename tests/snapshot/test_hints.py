"""A control without a name is hinted at by its icon or its author's word for it, the same everywhere."""

import pytest

from tests.snapshot.hand import Hand

LAYOUT = "rounded-full shadow-xs items-center px-2 text-right ui-widget-content"


@pytest.mark.parametrize(
    "html",
    [
        f"<div contenteditable class='{LAYOUT}'></div>",
        f"<input class='{LAYOUT}'>",
        f"<div role=textbox tabindex=0 class='{LAYOUT}'>Words in it</div>",
        f"<div style='cursor: pointer; width: 50px; height: 50px' class='{LAYOUT}'></div>",
        f"<button class='{LAYOUT}'></button>",
    ],
)
async def test_an_element_has_the_same_name_in_every_message(hand: Hand, html: str) -> None:
    (line,) = (await hand.show(html)).elements
    assert line.index is not None
    assert str(await hand.tab.dom.describe(line.index)) == str(line)
    if html.startswith("<input"):
        typed = await hand.do("input_text", index=line.index, text="Hello")
        assert f'[{line.index}] textbox ""' in (typed.extracted_content or "")


@pytest.mark.parametrize(
    "html",
    [
        "<label for=w>Town</label><br>"
        "<div id=w><div role=combobox tabindex=0 aria-expanded=false>-</div></div>",
        "<div><label>Town</label><div><div><input></div></div></div>",
        "<p>Town:</p><div><input></div>",
        "<p>Town</p><input type=file>",
        "<h2>Town</h2><ul><li>Oslo <b>x</b></li><li><input></li></ul>",
        "<input type=checkbox aria-label=a><table><tr><td>Town<td><input></table>",
        "<p>Town</p><div role=group><button>-</button><input></div>",
        # A component that stands for a field which it does not show.
        "<label for=t>Town</label><textarea id=t hidden></textarea>"
        "<div><button>Bold</button><p style='margin: 50px'>Here</p><div><input></div></div>",
        "<label for=t>Town</label><br><select id=t hidden></select>"
        "<div><a onclick=0 style='display: block'>Choose …</a></div>",
        "<label for=t>Town</label><select id=t hidden></select><div tabindex=0 onclick=0>Choose …</div>",
        "<label for=t>Town</label><input id=t hidden><span><button>Choose …</button></span>",
    ],
)
async def test_what_people_read_as_a_label_is_the_hint_of_a_field_without_a_name(
    hand: Hand, html: str
) -> None:
    view = await hand.show(html)
    assert 'hint="Town"' in view.elements[-1].states


@pytest.mark.parametrize(
    "html",
    [
        "<button>Town</button><input>",
        "<p style='margin-bottom:90px'>Town</p><input>",
        f"<p>{'Town ' * 20}</p><input>",
        "<p>Town</p><label>Cover <input type=file></label>",
        "<label for=t>Town</label><select id=t hidden></select><div><p>Text</p><button>Save</button></div>",
        "<label for=t>Town</label><input id=t type=file hidden><button>Clear</button>",
        "<label for=t>Town</label><select id=t hidden></select><div style='height: 20px'>Choose …"
        "<ul style='position: absolute'><li onclick=0>Oslo</ul></div>",
    ],
)
async def test_what_stands_near_a_field_and_is_no_label_is_no_hint(hand: Hand, html: str) -> None:
    view = await hand.show(html)
    assert not [state for state in view.elements[-1].states if state.startswith("hint=")]
