"""Click, hover, drag; typing, choosing and setting as a person does, in widgets that are picky about it."""

import re

import pytest

from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
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


TYPING = """
<input id=filter aria-label=Filter><output id=rows></output>
<input id=seen aria-label=Seen><textarea id=note aria-label=Note></textarea>
<input id=phone aria-label=Phone>
<div role=application aria-label=Editor tabindex=0><button>Bold</button>
  <div id=rich contenteditable>Old</div></div>
<div id=brackets contenteditable spellcheck=false role=textbox aria-label=Code></div>
<div id=code></div><form onsubmit='chosen.value = list.hidden ? city.value : list.textContent; return false'>
<input id=city aria-label=City><p id=list hidden></p><output id=chosen></output></form>
<script>
  const events = [];
  filter.onkeyup = () => { rows.value = 'rows with ' + filter.value };
  for (const type of ['keydown', 'keypress', 'beforeinput', 'input', 'keyup'])
    seen.addEventListener(type, e => events.push(type));
  note.onkeydown = e => { if (e.key === 'Enter' || e.key === 'Tab') note.dataset.pressed = e.key };
  phone.onkeydown = e => { if (/\\D/.test(e.key) && e.key.length === 1) e.preventDefault() };
  phone.oninput = () => { phone.value = phone.value.replace(/^(\\d{3})(\\d)/, '$1-$2') };
  brackets.onkeydown = e => { if (e.key !== '(') return;
    e.preventDefault(); document.execCommand('insertText', false, '()');
    getSelection().modify('move', 'backward', 'character') };
  for (let i = 0; i < 4; i++) {
    const box = document.createElement('input');
    box.maxLength = 1; box.ariaLabel = `Digit ${i}`;
    box.onkeyup = () => box.nextSibling?.focus();
    code.append(box);
  }
  city.oninput = () => setTimeout(() => fetch('/echo').then(() => {
    list.textContent = city.value + ' am Main'; list.hidden = false }), 150);
</script>"""


async def test_a_field_is_typed_into_by_keys(hand: Hand) -> None:
    await hand.open(TYPING)
    assert "rows with moss" in await hand.do("input_text", index=hand.index("Filter"), text="moss")
    await hand.do("input_text", index=hand.index("Seen"), text="aß")
    assert await hand.js("events.join()") == "keydown,keypress,beforeinput,input,keyup,beforeinput,input"
    long = "x" * 999 + "!"
    await hand.js("events.length = 0")
    await hand.do("input_text", index=hand.index("Seen"), text=long)
    assert await hand.js("seen.value") == long
    assert await hand.js("events.join()") == "beforeinput,input,keydown,keypress,beforeinput,input,keyup"
    text = await hand.do("input_text", index=hand.index("Note"), text="one\n\ttwo\nthree")
    assert await hand.js("[note.value, note.dataset.pressed ?? '']") == ["one\n\ttwo\nthree", ""]
    assert "instead" not in text
    text = await hand.do("input_text", index=hand.index("Phone"), text="555 1234")
    assert 'The field now holds "555-1234" instead' in text
    await hand.do("input_text", index=hand.index("Editor"), text="New")
    assert await hand.js("rich.innerText.trim()") == "New"
    await hand.do("input_text", index=hand.index("Code"), text="f(g(1))")
    assert await hand.js("brackets.innerText") == "f(g(1))"
    await hand.do("input_text", index=hand.index("Digit 0"), text="4711")
    assert await hand.js("[...code.children].map(box => box.value).join()") == "4,7,1,1"
    await hand.do("input_text", index=hand.index("City"), text="Frankfurt", submit=True)
    assert await hand.js("chosen.value") == "Frankfurt am Main", "Enter waits for what the text suggests"


@pytest.mark.parametrize(
    "later",
    [
        "queueMicrotask(show)",
        "requestAnimationFrame(show)",
        "requestAnimationFrame(() => requestAnimationFrame(show))",
        "setTimeout(show, 40)",
        "{ const c = new MessageChannel(); c.port1.onmessage = show; c.port2.postMessage(0) }",
        "fetch('/echo').then(show)",
    ],
)
async def test_what_a_text_brings_comes_with_the_result(hand: Hand, later: str) -> None:
    await hand.open(
        "<input id=a aria-label=Name><output id=o></output><script>a.oninput = () => {"
        f" const show = () => {{ o.value = 'Hello ' + a.value }}; {later} }}</script>"
    )
    assert "Hello moss" in await hand.do("input_text", index=hand.index("Name"), text="moss")


CHOOSING = """
<style>
  .field { position: relative; width: 180px; border: 1px solid; margin: 4px; min-height: 22px }
  .field > input { width: 100%; border: 0 } .over { position: absolute; inset: 0; background: #fff }
  .pop { position: absolute; background: #fff; width: 180px; left: 300px; top: 20px; max-height: 120px }
  .pop { overflow: auto }
  .pop div { height: 20px }
</style>
<button id=size aria-haspopup=listbox aria-label=Size>Choose</button>
<div id=colour class=field tabindex=0>red</div>
<div class=field><input id=fruit role=combobox aria-label=Fruit aria-controls=none>
  <div class=over>Pick</div></div>
<div class=field><input id=code readonly aria-label=Code></div>
<div class=field><input id=sex readonly aria-label=Sex></div>
<div class=field><input id=town role=combobox aria-label=Town aria-expanded=false aria-controls=towns></div>
<div id=towns role=listbox style='height:0;width:0;overflow:hidden'><span role=option>Option 7</span></div>
<button id=command role=combobox aria-label=Side aria-expanded=false>none</button>
<div class=field><input id=row readonly aria-label=Row></div>
<div class=field><input id=search aria-label=Search value=old></div>
<button id=act onclick='done.value = "acted"'>Order now</button><output id=done></output>
<script>
  let open = null;
  const close = () => { open?.remove(); open = null };
  function show(texts, choose, role) {
    close();
    open = document.createElement('div'); open.className = 'pop';
    for (const text of texts) {
      const entry = document.createElement('div');
      entry.innerHTML = text.replace(/ (\\+\\d+)/, ' <small>$1</small>');
      if (role) entry.role = role;
      entry.onmousedown = e => e.preventDefault();
      entry.onclick = () => { choose(entry.textContent); close() };
      open.append(entry);
    }
    document.body.append(open);
    return open;
  }
  function toggles(field, texts, choose) {
    field.onclick = () => open ? close() : setTimeout(() => show(texts, choose), 80);
  }
  toggles(size, ['Small', 'Large'], text => { size.textContent = text });
  toggles(colour, ['red', 'blue', 'green'], text => { colour.textContent = text });
  document.querySelector('.over').onclick = () =>
    show(['Apple', 'Pear'], text => { document.querySelector('.over').textContent = text });
  toggles(code, ['Sweden +46', 'Norway +47'], text => { code.value = text });
  toggles(sex, ['female', 'diverse'], text => { sex.value = text });
  town.onclick = () => show(['Option 6', 'Option 7'], text => { town.value = text });
  command.onclick = () => { command.ariaExpanded = 'true';
    const choose = text => { command.textContent = text; command.ariaExpanded = 'false' };
    const list = show(['top', 'bottom'], choose, 'option');
    list.role = 'listbox'; list.lastChild.ariaSelected = 'true' };
  row.onclick = () => {
    const list = show(['a'], text => { row.value = text });
    const draw = () => {
      const first = Math.floor(list.scrollTop / 20);
      list.innerHTML = '<section style="position:relative;height:4000px"></section>';
      for (let i = first; i < Math.min(first + 8, 200); i++) {
        const entry = document.createElement('div');
        entry.textContent = `Row ${i}`; entry.style = `position:absolute;top:${i * 20}px`;
        entry.onclick = () => { row.value = entry.textContent; close() };
        list.firstChild.append(entry);
      }
    };
    list.onscroll = draw; draw();
  };
  search.oninput = () => { close(); setTimeout(() => fetch('/echo').then(() => {
    if (search.value === 'ann') show(['ann lee', 'joann'], text => { search.value = text }) }), 50) };
</script>"""


async def test_an_option_is_chosen_wherever_the_list_comes_from(hand: Hand) -> None:
    await hand.open(CHOOSING)

    async def choose(name: str, option: str) -> str:
        text = await hand.do("select_option", index=hand.index(name), options=[option])
        assert text.startswith('Selected "'), text
        return text

    await choose("Size", "Large")
    await choose("red", "blue")
    await choose("Fruit", "Pear")
    assert 'Selected "Sweden +46"' in await choose("Code", "Sweden")
    await choose("Town", "Option 7")
    await choose("Side", "bottom")
    await choose("Row", "Row 77")
    assert 'Selected "ann lee"' in await choose("Search", "ann")
    shown = "[size, colour, document.querySelector('.over'), command].map(e => e.textContent).join()"
    assert await hand.js(shown) == "Large,blue,Pear,bottom"
    values = "[code, town, row, search].map(e => e.value).join()"
    assert await hand.js(values) == "Sweden +46,Option 7,Row 77,ann lee"


ROWS_IN_SHADOW = """
<p>Species</p><div id=kind tabindex=0 role=combobox aria-haspopup=listbox aria-expanded=false
  aria-controls=list aria-label=Species style="width: 120px; height: 20px"></div>
<div id=list role=listbox aria-label=Kinds style="width: 1px; height: 1px; overflow: hidden">
  <div role=option>Oak</div><div role=option>Yew</div></div>
<div id=rows></div>
<script>kind.onclick = () => {
  kind.ariaExpanded = 'true';
  for (const text of ['Oak', 'Yew']) {
    const row = document.createElement('x-row'), root = row.attachShadow({ mode: 'open' });
    root.innerHTML = `<div style="cursor: pointer">${text}</div>`;
    row.onclick = () => { kind.textContent = text; rows.textContent = ''; kind.ariaExpanded = 'false' };
    rows.append(row);
  }
}</script>"""
"""A list that is there for screen readers; the rows that a person sees come in shadow trees when it opens."""

BESIDE_A_TREE = """
<x-field id=town role=combobox aria-label=Town aria-expanded=false></x-field>
<div id=place></div><div role=tree><div role=treeitem>Fruit</div></div>
<script>
  const root = town.attachShadow({ mode: 'open' });
  root.innerHTML = '<input readonly aria-label=Shown>';
  const choose = ({ target }) => { root.firstChild.value = target.textContent; place.innerHTML = '';
    town.ariaExpanded = 'false' };
  town.onclick = () => { town.ariaExpanded = 'true'; setTimeout(() => {
    place.innerHTML = '<div role=listbox><div role=option>Bonn</div><div role=option>Kiel</div></div>';
    for (const option of place.firstChild.children) option.onclick = choose }, 300) };
</script>"""
"""A list that comes late, before another one, and what was chosen stands in a field within the component."""


@pytest.mark.parametrize(
    ("body", "name", "option", "shown"),
    [
        (ROWS_IN_SHADOW, "Species", "Yew", "kind.textContent"),
        (BESIDE_A_TREE, "Town", "Kiel", "root.firstChild.value"),
    ],
    ids=["rows in shadow trees", "beside a tree"],
)
async def test_what_comes_when_a_list_opens_is_chosen_from(
    hand: Hand, body: str, name: str, option: str, shown: str
) -> None:
    await hand.open(body)
    text = await hand.do("select_option", index=hand.index(name), options=[option])
    assert text.startswith(f'Selected "{option}"'), text
    assert await hand.js(shown) == option


async def test_what_cannot_be_chosen_is_said_and_nothing_is_left_behind(hand: Hand) -> None:
    await hand.open(CHOOSING)
    error = await hand.fails("select_option", NotFound, index=hand.index("Sex"), options=["male"])
    assert 'Options: "female", "diverse"' in error
    assert await hand.js("[open, sex.value]") == [None, ""]
    await hand.fails("select_option", NotFound, index=hand.index("Search"), options=["nobody"])
    assert await hand.js("search.value") == "old"
    await hand.fails("select_option", NotFound, index=hand.index("Order now"), options=["two"])
    assert await hand.js("done.value") == ""


SETTING = """
<style>
  .track { width: 200px; height: 10px; background: #ddd; margin: 20px; position: relative }
  .handle { position: absolute; width: 16px; height: 16px; background: #888; margin-left: -8px }
</style>
<div class=track><div class=handle id=volume role=slider tabindex=0 aria-label=Volume aria-valuenow=30
  aria-valuemin=0 aria-valuemax=100></div></div>
<div class=track><div class=handle id=price role=slider aria-label=Price aria-valuenow=10 aria-valuemin=0
  aria-valuemax=1000></div></div>
<div id=stars role=slider tabindex=0 aria-label=Level aria-valuenow=1 aria-valuetext=Low>level</div>
<span id=tick role=checkbox tabindex=0 aria-label=Agree>☐</span>
<script>
  const set = (handle, value) => { handle.ariaValueNow = value;
    handle.style.left = 100 * value / handle.ariaValueMax + '%' };
  set(volume, 30); set(price, 10);
  volume.onkeydown = e => set(volume, Math.max(0, Math.min(100,
    +volume.ariaValueNow + ({ ArrowRight: 5, ArrowLeft: -5 }[e.key] || 0))));
  price.onpointerdown = e => { price.setPointerCapture(e.pointerId);
    const left = price.parentNode.getBoundingClientRect().left;
    price.onpointermove = e => set(price, Math.round((e.clientX - left) * 5));
    price.onpointerup = () => { price.onpointermove = null } };
  const texts = ['Low', 'Medium', 'High'];
  stars.onkeydown = e => { if (e.key === 'Home') stars.ariaValueText = 'Low';
    if (e.key === 'ArrowRight')
      stars.ariaValueText = texts[texts.indexOf(stars.ariaValueText) + 1] || 'High' };
  tick.onclick = () => { tick.textContent = tick.textContent === '☐' ? '☑' : '☐' };
</script>"""


async def test_a_scale_is_moved_to_a_value_and_a_box_without_state_clicked_once(hand: Hand) -> None:
    assert 'slider "Volume" value="30" min=0 max=100' in await hand.open(SETTING)
    text = await hand.do("input_text", index=hand.index("Volume"), text="75")
    assert text.startswith(f'Moved [{hand.index("Volume")}] slider "Volume" to "75".')
    text = await hand.do("input_text", index=hand.index("Volume"), text="42")
    assert 'The nearest that it takes is "40", at least 0, at most 100.' in text
    fields = [{"index": hand.index("Price"), "value": "500"}, {"index": hand.index("Level"), "value": "High"}]
    await hand.do("fill_form", fields=fields)
    values = "[volume.ariaValueNow, price.ariaValueNow, stars.ariaValueText].join()"
    assert await hand.js(values) == "40,500,High"
    # A box that says nothing of its state is clicked once.
    assert "whether it is checked now is unknown" in await hand.do("set_checked", index=hand.index("Agree"))
    assert await hand.js("tick.textContent") == "☑"


async def test_what_has_the_name_and_another_role_is_the_nearest(hand: Hand) -> None:
    await hand.open("<ul role=menu><li role=menuitem>List</ul><button>Lists</button><button>Last</button>")
    error = await hand.fails("click_element", NotFound, index='button "List"')
    assert re.search(r'The nearest: \[\d+\] menuitem "List",', error)


@pytest.mark.parametrize("role", ["cell", "gridcell"])
async def test_a_cell_is_named_without_knowing_whether_its_table_is_a_grid(hand: Hand, role: str) -> None:
    days = "<tr><td onclick='document.title = this.textContent'>{}<td onclick=0>5"
    grid = f"<table role=grid>{days.format(24)}</table>"
    await hand.open(f"{grid}<table>{days.format(31)}</table>")
    for day in ("24", "31"):
        await hand.do("click_element", index=f'{role} "{day}"')
        assert await hand.js("document.title") == day
