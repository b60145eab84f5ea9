"""What lies under something else is told as that, once; a refusal says what is in the way and how it goes."""

import re

import pytest

from mcp_browser.errors import NotActionable
from tests.snapshot.hand import Hand, changes_of, words_of

# Few enough for hit tests to be free of a time limit.
BUTTONS = "".join(f"<button>Act {number}</button>" for number in range(5))
VEIL = "<div style='position: fixed; inset: 0; background: #0008'>{0}</div>"
BOX = "style='position: fixed; left: 100px; top: 200px; width: 300px; height: 200px; background: white'"
DIALOG = f"<div role=dialog aria-label=Edit {BOX}><button aria-label=Close>×</button> Words</div>"


SAVE = "<button>Save</button>"
ABOVE = "<button style='position: fixed; z-index: 9; top: 0; right: 0'>Help</button>"
WORDLESS = "<div style='padding: 300px'><p></p><button style='width: 50px'></button></div>"


@pytest.mark.parametrize(
    ("page", "name", "said"),
    [
        (BUTTONS + VEIL.format("") + DIALOG, "Edit", "covers the rest of the view"),
        (BUTTONS + VEIL.format("") + DIALOG + ABOVE, "Edit", "covers the rest of the view but [Help]"),
        (SAVE + VEIL.format("Loading the page"), "Save", 'covered by div "Loading the page"'),
        (SAVE + VEIL.format(WORDLESS), "Save", "covered by div around []"),
    ],
    ids=["a dialog", "a dialog beside a button", "a cover without a line", "a cover without words"],
)
async def test_what_covers_is_said_once(hand: Hand, page: str, name: str, said: str) -> None:
    view = await hand.show(page)
    names = {str(node.index): node.name for node in view.elements}
    (state,) = (state for state in view.one(name).states if "cover" in state)
    assert re.sub(r"(?<=\[)\d+", lambda found: names[found[0]], state) == said
    assert view.text.count("cover") == 1


OPEN = {
    "a dialog with a backdrop": VEIL.format("") + DIALOG,
    "a backdrop apart": f"<div>{VEIL.format('')}</div><div><div>{DIALOG}</div></div>",
    "a page that lets the mouse through": f"<style>body {{ pointer-events: none }}</style>"
    f"<div style='pointer-events: auto'>{DIALOG}</div>",
    "a page that is inert": f"<script>m.inert = true</script>{DIALOG}",
    "a native dialog": "<dialog id=d aria-label=Edit><button>Close</button> Words</dialog>"
    "<script>d.showModal()</script>",
}


@pytest.mark.parametrize("layer", OPEN.values(), ids=OPEN.keys())
async def test_the_refusal_behind_a_dialog_names_it_and_how_to_close_it(hand: Hand, layer: str) -> None:
    view = await hand.show(f"<main id=m>{BUTTONS}</main>{layer}")
    close = view.index("Close", role="button")
    with pytest.raises(NotActionable) as caught:
        await hand.click(view.index("Act 3"))
    assert f'covered by [{view.index("Edit", role="dialog")}] dialog "Edit"' in str(caught.value)
    assert f'click [{close}] button "Close"' in str(caught.value)


async def test_the_refusal_behind_a_menu_names_it_and_the_key_that_closes_it(hand: Hand) -> None:
    menu = f"<div role=menu aria-label=File {BOX}><div role=menuitem tabindex=0>Open</div></div>"
    view = await hand.show(f"{BUTTONS}{VEIL.format('')}<div>{menu}</div>")
    with pytest.raises(NotActionable, match=r'covered by \[\d+\] menu "File"\. .*send_keys "Escape"'):
        await hand.click(view.index("Act 3"))


async def test_what_lies_behind_what_fills_the_view_is_counted_in_one_line(hand: Hand) -> None:
    layer = VEIL.format("<h2>Sign up</h2><button onclick=v.hidden=1>Hide</button>")
    show = "<button onclick='v.hidden=0'>Show</button><p style='height: 2000px'></p><button>Deep</button>"
    result = await hand.opens(f"<main>{BUTTONS}<iframe></iframe>{show}</main><div id=v>{layer}</div>")
    hide = re.fullmatch(
        r'## Sign up\n\[(\d+)\] button "Hide"\nbehind it: 8 elements \(get_state index=\d+\)', result
    )
    assert hide, result
    found = await hand.do("find_elements", text="Show")
    assert 'button "Show"' in str(found.page_content)
    assert words_of(found) == ""
    assert words_of(await hand.click(int(hide[1]))).count("Act") == 5
    assert changes_of(await hand.click((await hand.look()).index("Show"))).behind == 8


async def test_a_veil_that_is_placed_on_a_page_without_scrolling_fills_the_view(hand: Hand) -> None:
    veil = (VEIL.format("") + DIALOG).replace("fixed", "absolute")
    assert "behind it: 5 elements" in await hand.opens(f"<main>{BUTTONS}</main>{veil}")
    tall = f"<main>{BUTTONS}<p style='height: 2000px'></p></main>{veil}"
    assert "behind it" not in await hand.opens(tall)


async def test_a_layer_for_panels_that_lets_the_mouse_through_hides_nothing(hand: Hand) -> None:
    panel = "<div style='width: 70px; height: 60px; background: white; pointer-events: auto'></div>"
    layer = f"<div style='position: absolute; inset: 0; pointer-events: none'>{panel}</div>"
    app = f"{BUTTONS}<p style='height: 2000px'></p><button>Deep</button>"
    result = await hand.opens(f"<main style='height: 90vh; overflow: auto'>{app}</main>{layer}")
    assert "covered by" in result
    assert 'button "Deep"' in result


DRAWER = (
    "<div id=d{0} hidden ondrop=0><div style='position: fixed; inset: 0; background: #0003'></div>"
    "<section role=dialog aria-label='Drawer {0}' style='position: fixed; inset: 0 0 0 {0}00px; "
    "background: white'><button onclick='d{1}.hidden = 0'>Deeper {0}</button><input aria-label='Note {0}'>"
    "<button onclick='d{0}.hidden = 1'>Back {0}</button></section></div>"
)


async def test_a_drawer_over_another_leaves_that_to_be_found_and_gives_the_view_back(hand: Hand) -> None:
    drawers = DRAWER.format(1, 2) + DRAWER.format(2, 2)
    await hand.opens(f"{BUTTONS}<button onclick='d1.hidden=0'>Go</button>{drawers}")
    first = words_of(await hand.do("click_element", index='button "Go"'))
    assert re.match(r'\+ \[\d+\] dialog "Drawer 1" covers the rest of the view\n', first)
    second = words_of(await hand.do("click_element", index='button "Deeper 1"'))
    assert re.match(r'\+ \[\d+\] dialog "Drawer 2" covers the rest of the view\n', second)
    assert "Note 1" not in second
    state = words_of(await hand.do("get_state"))
    assert state.startswith(second.partition(" dialog")[0].lstrip("+ "))
    assert "behind it: 10 elements" in state
    (note,) = re.findall(r"\[(\d+)\] textbox .Note 1", first)
    assert f"[{note}]" in await hand.find(text="Note 1")
    back = words_of(await hand.do("click_element", index='button "Back 2"'))
    assert re.fullmatch(r'- \[\d+\] dialog "Drawer 2" with 3 elements', back), back
    assert "+" not in back
    await hand.do("input_text", index=int(note), text="Seen")


async def test_a_dialog_below_its_backdrop_is_not_covered_by_itself(hand: Hand) -> None:
    view = await hand.show(VEIL.format("").replace("inset", "z-index: 1; inset") + DIALOG)
    with pytest.raises(NotActionable, match=r"covered by \[\d+\] div"):
        await hand.click(view.index("Edit", role="dialog"))
