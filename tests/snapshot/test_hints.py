"""A control without a name is hinted at by its icon or its author's word for it, the same everywhere."""

import pytest

from mcp_browser.errors import NotActionable
from tests.snapshot.hand import Hand

LAYOUT = "rounded-full shadow-xs items-center px-2 text-right ui-widget-content"
ICONS = {
    "<svg class='lucide lucide-trash-2'><path d='M0 0h9'/></svg>": "trash 2",
    "<i class='fa-solid fa-trash fa-fw'></i>": "trash",
    "<span class='mdi mdi-account-plus'></span>": "account plus",
    "<i class='bi bi-arrow-left'></i>": "arrow left",
    "<span class='glyphicon glyphicon-ok'></span>": "ok",
    "<svg><use href='/icons.svg#icon-download'/></svg>": "download",
    "<svg data-testid='DeleteIcon'><path d='M0 0h9'/></svg>": "Delete",
    "<span class='anticon'><svg data-icon='edit'></svg></span>": "edit",
    "<i class='material-icons' aria-hidden=true>shopping_cart</i>": "shopping cart",
    "<img alt='' src='/static/icons/zoom-in.svg'>": "zoom in",
    "<x-icon name='gear'></x-icon>": "gear",
    "<span style=\"background-image: url('/i/print.png')\"></span>": "print",
    "<svg><title>Lock</title></svg>": "Lock",
}


@pytest.mark.parametrize(("icon", "hint"), ICONS.items(), ids=ICONS.values())
async def test_a_hint_comes_from_the_icon(hand: Hand, icon: str, hint: str) -> None:
    view = await hand.show(
        f"<button class='{LAYOUT}'>{icon}</button><div style='cursor: pointer'>{icon}</div>"
    )
    for line in view.elements:
        told = line.name or next(state for state in line.states if state.startswith("hint="))
        assert told in (hint, f'hint="{hint}"')


WORDS = {
    "data-tooltip='Undo it'": "Undo it",
    "data-bs-original-title='Bold'": "Bold",
    "aria-describedby=d": "Opens a file",
    "data-testid=save-draft": "save-draft",
    "id=clear-all": "clear-all",
    "name=submitter": "submitter",
    f"class='{LAYOUT} btn-close'": "close",
    "class='Panel_closeButton__x3f1'": "close",
}


@pytest.mark.parametrize(("attributes", "hint"), WORDS.items(), ids=WORDS.values())
async def test_a_hint_comes_from_what_its_author_calls_it(hand: Hand, attributes: str, hint: str) -> None:
    view = await hand.show(f"<button {attributes}></button><p hidden id=d>Opens a file</p>")
    assert f'hint="{hint}"' in view.of_role("button")[0].states


HINTED: dict[str, list[tuple[str, ...]]] = {
    **{
        f"<button {named}><svg></svg></button>": [()]
        for named in (f"class='{LAYOUT}'", "id=radix-:r1:", "id=mui-12", "data-id=4f9c2a7b1d")
    },
    "<p><button class='tool ql-bold'></button><button class='tool ql-italic'></button></p>": [
        ('hint="ql-bold"',),
        ('hint="ql-italic"',),
    ],
    "<input name=email><input id=phone>": [('hint="email"',), ('hint="phone"',)],
    "<button title=Good>4</button><button title='Close the page'>Close</button>": [('hint="Good"',), ()],
}


@pytest.mark.parametrize(("html", "states"), HINTED.items())
async def test_a_hint_is_a_word_of_its_own_and_none_of_a_layout_or_a_program(
    hand: Hand, html: str, states: list[tuple[str, ...]]
) -> None:
    assert [line.states for line in (await hand.show(html)).elements] == states


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


async def test_a_refusal_names_the_element_as_the_snapshot_does(hand: Hand) -> None:
    (line,) = (await hand.show(f"<button disabled class='{LAYOUT}'></button>")).elements
    with pytest.raises(NotActionable, match=rf'^\[{line.index}\] button "" is disabled'):
        await hand.click(line.index)


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
