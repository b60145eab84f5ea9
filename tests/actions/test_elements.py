"""Click, hover, drag."""

import pytest

from mcp_browser.errors import InvalidArguments, NotActionable
from tests.actions.hand import Hand

LOG = """
<script>
  window.seen = [];
  for (const kind of ['click', 'dblclick', 'auxclick', 'contextmenu', 'mouseover'])
    document.addEventListener(kind, e => {
      const keys = ['ctrlKey', 'shiftKey', 'altKey', 'metaKey'].filter(key => e[key]);
      if (e.target.id) seen.push([kind, e.target.id, e.button, ...keys].join(' '));
      if (kind === 'contextmenu') e.preventDefault();
    }, true);
</script>
"""


async def test_a_click_tells_what_was_clicked_and_what_changed_or_that_nothing_has(hand: Hand) -> None:
    await hand.open("<button onclick=\"document.body.append('Thank you')\">Buy now</button>")
    text = await hand.do("click_element", index=hand.index("Buy now"))
    assert text.startswith(f'Clicked [{hand.index("Buy now")}] button "Buy now".')
    assert "Thank you" in text
    await hand.open("<button>Idle</button>")
    text = await hand.do("click_element", index=hand.index("Idle"))
    assert text.splitlines()[1:] == ["No text or control changed."]


@pytest.mark.parametrize(
    ("arguments", "seen", "words"),
    [
        ({}, ["click b 0"], "Clicked"),
        ({"double": True}, ["click b 0", "click b 0", "dblclick b 0"], "Double-clicked"),
        ({"button": "right"}, ["contextmenu b 2", "auxclick b 2"], "with the right button"),
        ({"button": "middle"}, ["auxclick b 1"], "with the middle button"),
        ({"modifiers": ["Shift"]}, ["click b 0 shiftKey"], "holding Shift"),
        ({"modifiers": ["Control", "Alt"]}, ["click b 0 ctrlKey altKey"], "holding Control+Alt"),
    ],
)
async def test_buttons_double_clicks_and_modifiers_reach_the_page(
    hand: Hand, arguments: dict[str, object], seen: list[str], words: str
) -> None:
    await hand.open(f"<button id=b>Target</button>{LOG}")
    assert words in await hand.do("click_element", index=hand.index("Target"), **arguments)
    happened = await hand.js("seen.filter(entry => !entry.startsWith('mouseover'))")
    assert sorted(happened) == sorted(seen)


TRANSFER = """<select id=free aria-label=Free multiple size=3><option>Ada<option>Ben<option>Cem<option>Dia
<option>Eve<option>Fay<option>Gus
<option disabled>Hal</select><select id=taken aria-label=Taken multiple></select>
<select aria-label=Town><option>Rome</select><script>
free.ondblclick = e => { if (e.target.matches('option')) taken.append(e.target) }</script>"""


async def test_a_double_click_on_an_option_of_a_list_that_is_always_open_moves_it(hand: Hand) -> None:
    await hand.open(TRANSFER)
    for name in ("Ada", "Gus"):
        await hand.do("click_element", index=f'option "{name}"', double=True)
    assert await hand.js("[...taken.options].map(o => o.text).join()") == "Ada,Gus"
    await hand.do("click_element", index='option "Cem"')
    await hand.do("click_element", index='option "Dia"', modifiers=["Shift"])
    assert await hand.js("[...free.selectedOptions].map(o => o.text).join()") == "Cem,Dia"
    await hand.do("find_elements", role="option", text="Dia")
    assert hand.data["elements"][0]["states"] == ["selected"]
    for text in ("gus", 'option "Gus'):
        await hand.do("find_elements", text=text)
        assert "Gus" in [found["name"] for found in hand.data["elements"]]
    assert "disabled" in await hand.fails("click_element", NotActionable, index='option "Hal"')
    await hand.do("find_elements", selector="text=Rome")
    rome = hand.data["elements"][0]["index"]
    assert "native select" in await hand.fails("click_element", NotActionable, index=rome)


async def test_a_covered_element_names_what_covers_it_and_is_clicked_by_force(hand: Hand) -> None:
    await hand.open(
        f"<button id=b>Target</button>{LOG}"
        "<div id=c style='position:fixed;inset:0;background:#eee' role=dialog aria-label=Cookies>Cover</div>"
    )
    await hand.do("find_elements", text="Target")
    error = await hand.fails(
        "click_element", NotActionable, index=hand.index("Target"), modifiers=["Control"]
    )
    assert "covered" in error
    assert "Cookies" in error
    assert await hand.js("seen.filter(entry => entry.startsWith('click'))") == []
    await hand.do("click_element", index=hand.index("Target"), force=True)
    clicks = await hand.js("seen.filter(entry => entry.startsWith('click'))")
    assert clicks == ["click c 0"], "the modifier is let go of after the failure"


@pytest.mark.parametrize(
    ("make_bad", "word"),
    [
        ("b.disabled = true", "disabled"),
        ("b.style.cssText = 'all:unset;display:block;width:0;height:0;font-size:0'", "size"),
        ("b.style.display = 'none'", "hidden"),
        ("b.style.visibility = 'hidden'", "hidden"),
    ],
)
async def test_why_an_element_cannot_be_clicked_is_told(hand: Hand, make_bad: str, word: str) -> None:
    await hand.open("<button id=b>Target</button>")
    await hand.js(make_bad)
    error = await hand.fails("click_element", NotActionable, index=hand.index("Target"))
    assert "Target" in error
    assert word in error


@pytest.mark.parametrize(
    ("body", "instead"),
    [
        ("<input type=file aria-label=Field>", "upload_file"),
        ("<select aria-label=Field><option>S<option>M</select>", "select_option"),
    ],
)
async def test_a_field_of_files_or_options_is_not_clicked(hand: Hand, body: str, instead: str) -> None:
    await hand.open(body)
    assert instead in await hand.fails("click_element", NotActionable, index=hand.index("Field"))


POINTER_DRAG = """
<style>.box{width:120px;height:80px;margin:20px;border:1px solid}</style>
<div id=card class=box role=button aria-label=Card tabindex=0>Card</div>
<div style='height:1500px'></div>
<div id=bin class=box role=button aria-label=Bin tabindex=0>Bin</div>
<script>
  let held = false, moves = 0;
  card.addEventListener('pointerdown', () => { held = true });
  document.addEventListener('pointermove', () => { moves += held ? 1 : 0 });
  document.addEventListener('pointerup', e => {
    const under = document.elementFromPoint(e.clientX, e.clientY);
    if (held && moves > 2 && bin.contains(under)) bin.append(' got it');
    held = false;
  });
</script>
"""


@pytest.mark.parametrize("between", ["50px", "1500px"])
async def test_a_drag_made_of_pointer_events_arrives_also_beyond_the_view(hand: Hand, between: str) -> None:
    await hand.open(POINTER_DRAG.replace("1500px", between))
    await hand.do("drag_element", index=hand.index("Card"), target=hand.index("Bin"))
    assert await hand.js("bin.textContent") == "Bin got it"


GRID = """
<style>.box { padding: 9px; background: #eee } #grid { width: 400px; height: 200px; background: #ddd }</style>
<div id=card class=box role=button aria-label=Card tabindex=0 draggable=true>Card</div>
<div id=grid role=button aria-label=Grid tabindex=0></div>
<script>
  card.ondragstart = e => e.dataTransfer.setData('text/plain', 'the card');
  grid.ondragover = e => e.preventDefault();
  grid.ondrop = e => {
    e.preventDefault(); window.at = [e.offsetX, e.offsetY, e.dataTransfer.getData('text/plain')];
  };
</script>"""


async def test_html5_drag_and_drop_arrives_at_a_place_in_its_target(hand: Hand) -> None:
    await hand.open(GRID)
    indexes = {"index": hand.index("Card"), "target": hand.index("Grid")}
    assert "at 40 px, 150 px." in await hand.do("drag_element", **indexes, offset_x=40, offset_y=150)
    assert await hand.js("at") == [40, 150, "the card"]
    await hand.do("drag_element", **indexes, offset_y=20)
    assert await hand.js("at") == [200, 20, "the card"]
    await hand.do("drag_element", **indexes)
    assert await hand.js("at") == [200, 100, "the card"]
    error = await hand.fails("drag_element", InvalidArguments, **indexes, offset_x=500)
    assert "400 px wide and 200 px high" in error
