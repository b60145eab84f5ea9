"""Controls as components build them: nested, drawn anew, with states of their own; each used by its index."""

import pytest

from mcp_browser.dom.models import ElementQuery
from mcp_browser.errors import NotActionable
from tests.snapshot.hand import LOG, Hand, words_of

UNDER = "position: absolute; inset: 0; opacity: 0; pointer-events: none"
"""How a field lies under what a component draws in its stead, out of the mouse's reach."""


async def test_a_field_without_ink_that_only_keys_reach_is_told_and_used(hand: Hand) -> None:
    view = await hand.show(
        f"""<div style="position: relative; width: 200px; height: 30px">
          <input type=range aria-label=Opacity style="{UNDER}"><i>handle</i></div>
        <div style="position: relative; width: 200px; height: 30px" onclick="this.title = 'open'" id=box>
          <input role=combobox inputmode=none aria-label=Pages aria-expanded=false style="{UNDER}">25</div>
        <div style="position: relative"><input type=range tabindex=-1 aria-label=Copy style="{UNDER}"></div>
        """
    )
    await hand.do("input_text", index=view.index("Opacity", role="slider"), text="80")
    assert await hand.script("document.querySelector('input').value") == "80"
    await hand.click(view.index("Pages", role="combobox"))
    assert await hand.script("box.title") == "open"
    assert not view.all("Copy")


async def test_a_field_whose_list_is_not_there_is_a_textbox_and_a_list_in_a_control_is_found(
    hand: Hand,
) -> None:
    view = await hand.show(
        """<input aria-label=Name list=none><input aria-label=City list=some>
        <datalist id=some><option>Ulm</datalist>
        <div role=combobox tabindex=0 aria-label=Area><div role=listbox>
          <div role=option aria-selected=true>North</div></div></div>"""
    )
    assert view.one("Name", role="textbox")
    assert view.one("City", role="combobox")
    assert (await hand.tab.dom.find(ElementQuery(role="listbox"), limit=5)).total == 1


@pytest.mark.parametrize("field", ["type=password", "autocomplete=cc-number"])
async def test_a_list_around_a_field_does_not_show_its_secret(hand: Hand, field: str) -> None:
    view = await hand.show(
        f"<div role=combobox tabindex=0 aria-label=Card><input role=combobox readonly {field} value=41111111>"
        "</div><label>PIN <textarea name=otp style='display: none'>123456</textarea>"
        "<div><a href=#>Show</a></div></label>"
    )
    assert "4111" not in view.text
    assert "123456" not in view.text


@pytest.mark.parametrize(
    "nested",
    [
        "<div role=button tabindex=0><button onclick=\"log.push('hit')\">Save</button></div>",
        "<div role=button tabindex=0 onclick=\"log.push('hit')\"><b><div role=button>Save</div></b></div>",
        "<table><tr><td>Tea<td><div role=button tabindex=0><button onclick=\"log.push('hit')\">Save</button>"
        "</div></table>",
    ],
)
async def test_a_button_in_a_button_is_told_once(hand: Hand, nested: str) -> None:
    view = await hand.show(f"{LOG}{nested}")
    assert await hand.clicks(view.index("Save")) == ["hit"]


ICONS = {
    "a sign that listens": "<span id=x>×</span><script>x.addEventListener('click', note('closed'))</script>",
    "an icon that listens": "<i id=x class=icon style='display:inline-block;width:12px;height:12px'></i>"
    "<script>x.onclick = note('closed')</script>",
    "a drawing that listens": "<svg id=x width=12 height=12><path d='M0 0L9 9'/></svg>"
    "<script>x.addEventListener('click', note('closed'))</script>",
    "an icon known by its class": "<b id=x class=tab-close-icon style='display:inline-block;width:12px;"
    "height:12px'></b><script>document.onclick = event => event.target === x && log.push('closed')</script>",
}


@pytest.mark.parametrize("icon", ICONS.values(), ids=ICONS.keys())
async def test_the_icon_that_closes_a_tab_has_an_index(hand: Hand, icon: str) -> None:
    view = await hand.show(f"{LOG}<div role=tablist><div role=tab tabindex=0>Notes {icon}</div></div>")
    tab, close = view.elements[-2:]
    assert (tab.role, close.role) == ("tab", "clickable")
    assert close.name or close.states
    assert await hand.clicks(close.index) == ["closed"]


FILES = """<script>window.log = []; for (const zone of document.querySelectorAll('section')) {
  zone.ondragover = event => event.preventDefault();
  zone.ondrop = event => { event.preventDefault(); log.push(event.dataTransfer.files[0]?.name) };
  const field = zone.querySelector('input');
  if (field) field.onchange = () => log.push(field.files[0].name) }
</script>"""


async def test_a_zone_for_files_keeps_its_heading_and_gives_them_to_its_field(hand: Hand) -> None:
    view = await hand.show(
        "<section><h3>Drop files here</h3><p>PNG alone</p><input type=file hidden></section>"
        "<section><h3>Invoices</h3><p>or <a href=#>browse</a></p><input type=file style='opacity: 0'>"
        "</section><section><h3>Tasks</h3><div>Write</div><div>Read</div></section>"
        f"<section><h3>Done</h3><div>Plan</div></section>{FILES}"
    )
    names = [(node.role, node.name) for node in view.elements if node.role in ("clickable", "group")]
    assert names == [
        *(("clickable", "Drop files here PNG alone"), ("group", "")),
        *(("group", ""), ("clickable", "Write"), ("clickable", "Read")),
        *(("group", ""), ("clickable", "Plan")),
    ]
    assert view.says("### Invoices")
    assert view.says("### Tasks")
    for index in [view.elements[0].index, view.of_role("group")[0].index]:
        await hand.do("upload_file", index=index, paths=["data:;name=a.png,x"])
    await hand.do("upload_file", index=view.of_role("group")[1].index, paths=["data:;name=b.png,x"])
    assert await hand.log() == ["a.png", "a.png", "b.png"]


async def test_a_box_around_controls_that_calls_itself_a_field_is_a_group(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div role=textbox aria-label=Rank><div tabindex=0 onclick=\"log.push('hit')\">Price</div>"
        "<div tabindex=0>Speed</div></div>"
        "<div role=textbox aria-label=Note contenteditable><button>A</button><button>B</button></div>"
        "<div role=textbox aria-label=Code tabindex=0><a href=#a>a</a><a href=#b>b</a></div>"
    )
    assert [node.name for node in view.of_role("textbox")] == ["Note", "Code"]
    assert view.says('group "Rank"')
    assert await hand.clicks(view.index("Price")) == ["hit"]


HEARD = """
<script>addEventListener('click', ({ target }) => log.push(target.closest('[id]')?.id ?? 'item'))</script>
"""


@pytest.mark.parametrize("opened", ["draggable=true", "onclick='1'"])
async def test_a_click_on_an_item_goes_beside_the_button_that_removes_it(hand: Hand, opened: str) -> None:
    view = await hand.show(
        f"{LOG}{HEARD}<p><span style='display: inline-block' {opened}>ab"
        "<button id=x style='width: 60px'>×</button></span>"
    )
    item = next(node for node in view.elements if node.role != "button")
    assert await hand.clicks(item.index) == ["item"]


async def test_what_only_focuses_the_field_in_it_has_no_line(hand: Hand) -> None:
    field = (
        "<div role=combobox tabindex=0 aria-expanded=false aria-labelledby='l v'><span id=v>Pear</span></div>"
    )
    view = await hand.show(
        f"<div onclick=1><span id=l>Fruit</span>{field}</div>"
        "<div onclick=1>Milk <input aria-label=Amount></div>"
        "<div draggable=true><span>Email</span> <input aria-label=Email></div>"
    )
    assert [(node.role, node.name) for node in view.elements] == [
        ("combobox", "Fruit Pear"),
        ("clickable", "Milk"),
        ("textbox", "Amount"),
        ("clickable", "Email"),
        ("textbox", "Email"),
    ]


KEYS = "<textarea style='position: absolute; opacity: 0; width: 1px; height: 1px'></textarea>"
BAR = "<button>Add</button><b onclick=1 style='cursor: pointer'>Copy</b>"
TABLE = "<table><tr><td>1<td>Ann<td><input type=checkbox aria-label=Done></table>"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (BAR + TABLE + KEYS, ["Add", "Copy", "Done"]),
        (KEYS + BAR + TABLE, ["Add", "Copy", "Done"]),
        (BAR + "<p>Ann</p>" + KEYS, ["Add", "Copy"]),
    ],
    ids=["field behind", "field before", "without rows"],
)
async def test_a_grid_that_keeps_a_field_for_its_keys_is_listed_whole(
    hand: Hand, content: str, names: list[str]
) -> None:
    view = await hand.show(f"<div style='position: relative; width: 400px; height: 200px'>{content}</div>")
    assert [node.name for node in view.elements if node.role != "textbox"] == names
    assert view.says("Ann")


async def test_a_text_is_named_as_a_search_shows_it(hand: Hand) -> None:
    await hand.show(
        "<p id=p>cup</p><p>More</p><script>document.addEventListener('dblclick', ({ target }) => {"
        " target.textContent = 'mug' })</script>"
    )
    found = await hand.tab.dom.find(ElementQuery(text="cup"), limit=5)
    assert [str(node).split(" ", 1)[1] for node in found.nodes] == ['text "cup"']
    await hand.do("click_element", index='text "cup"', double=True)
    assert await hand.script("p.textContent") == "mug"


async def test_a_radio_that_says_its_state_by_internals_is_checked(hand: Hand) -> None:
    view = await hand.show(
        """<x-radio tabindex=0>One</x-radio><script>
        customElements.define('x-radio', class extends HTMLElement {
        #internals = this.attachInternals();
        connectedCallback() {
          Object.assign(this.#internals, { role: 'radio', ariaLabel: 'One', ariaChecked: 'false' });
          this.onclick = () => setTimeout(() => { this.#internals.ariaChecked = 'true' }, 50);
        } })</script>"""
    )
    result = await hand.do("set_checked", index=view.index("One"), checked=True)
    assert "is now checked" in str(result.extracted_content)


async def test_a_list_that_is_called_by_its_value_has_its_label_as_hint(hand: Hand) -> None:
    view = await hand.show(
        """<div><label>Author</label><div><span role=combobox tabindex=0 aria-labelledby=value>
        <span id=value>Ann</span></span></div></div>"""
    )
    assert 'hint="Author"' in view.one("Ann", role="combobox").states
    await hand.do("click_element", index='combobox "Author"')


async def test_a_component_for_ticks_in_an_item_is_shown_with_its_state(hand: Hand) -> None:
    view = await hand.show(
        """<div role=tree><div role=treeitem>Pear <x-tick tabindex=-1></x-tick></div></div><script>
        const tick = document.querySelector('x-tick');
        tick.attachShadow({ mode: 'open' }).innerHTML =
          '<label><input type=checkbox aria-label=Take></label>';
        tick.addEventListener('click', () => 0)</script>"""
    )
    await hand.do("set_checked", index=view.index("Take", role="checkbox"), checked=True)
    assert "checked" in (await hand.look()).one("Take").states


async def test_a_component_says_by_attributes_as_of_native_controls_that_it_is_checked(hand: Hand) -> None:
    view = await hand.show(
        """<x-box style="cursor: pointer">News</x-box> <x-box style="cursor: pointer" checked>Offers</x-box>
        <x-part style="cursor: pointer" selected=true>Day</x-part>
        <x-part style="cursor: pointer" selected=false>Week</x-part><script>
        for (const box of document.querySelectorAll('x-box'))
          box.onclick = () => box.toggleAttribute('checked');
        </script>"""
    )
    assert [view.one(name).states for name in ("News", "Offers", "Day", "Week")] == [
        (),
        ("checked",),
        ("selected",),
        (),
    ]
    for name, checked, said in [
        ("News", True, "is now checked"),
        ("Offers", True, "was checked already"),
        ("Offers", False, "is now unchecked"),
    ]:
        result = await hand.do("set_checked", index=view.index(name), checked=checked)
        assert said in str(result.extracted_content)


async def test_an_item_of_a_tree_is_ticked_by_the_box_in_it_and_not_by_its_text(hand: Hand) -> None:
    view = await hand.show(
        """<ul role=tree><li role=treeitem aria-label=Fruit aria-checked=false><b class=x-checkbox></b>
        Fruit
        <ul role=group><li role=treeitem aria-label=Pear><b class=x-checkbox><i class=x-checkbox-box></i></b>
        Pear</ul></ul><style>b, i { display: inline-block; width: 16px; height: 16px }</style><script>
        for (const tick of document.querySelectorAll('b')) tick.onclick = ({ currentTarget }) => {
          currentTarget.parentNode.ariaChecked = 'true' }</script>"""
    )
    for name in ("Fruit", "Pear"):
        result = await hand.do("set_checked", index=view.index(name, role="treeitem"), checked=True)
        assert f'"{name}" is now checked' in str(result.extracted_content)


LISTED = "<div role=option aria-selected=true>Top<button>Remove item</button></div>"
FIELD = "root.innerHTML = '<label for=f>Size</label><input id=f readonly>'"


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (f"<div role=combobox aria-label=Field tabindex=0><div role=listbox>{LISTED}</div></div>", "Top"),
        (
            "<x-field role=combobox aria-label=Field></x-field><script>const root = document.querySelector"
            f"('x-field').attachShadow({{ mode: 'open' }}); {FIELD}; root.lastChild.value = 'Large'</script>",
            "Large",
        ),
        (
            "<x-field role=combobox aria-label=Field></x-field><script>const root = document.querySelector"
            f"('x-field').attachShadow({{ mode: 'open' }}); {FIELD}</script>",
            None,
        ),
        (
            "<div role=combobox aria-label=Field aria-owns=list><input aria-label=Text value=Kiel></div>"
            "<div id=list role=listbox><div role=option aria-selected=true>Kiel</div></div>",
            "Kiel",
        ),
    ],
    ids=["without buttons", "of the field in it", "no label", "no list of its own"],
)
async def test_the_value_of_a_combobox_is_what_stands_in_its_field(
    hand: Hand, content: str, value: str | None
) -> None:
    view = await hand.show(content)
    said = [state for state in view.one("Field").states if state.startswith("value=")]
    assert said == ([] if value is None else [f'value="{value}"'])


async def test_a_search_finds_the_element_of_a_text_that_several_share(hand: Hand) -> None:
    await hand.show("<div><span id=a>Text field</span> <span id=b>Number</span> <span>Password</span></div>")
    found = await hand.tab.dom.find(ElementQuery(text="number"), limit=5)
    assert [str(node).split(" ", 1)[1] for node in found.nodes] == ['text "Number"']


async def test_a_search_finds_an_empty_field_by_its_example(hand: Hand) -> None:
    await hand.show(
        '<input aria-label=Mail placeholder="you@example.com">'
        "<input aria-label=To placeholder=City value=Kiel>"
    )
    found = await hand.tab.dom.find(ElementQuery(text="you@"), limit=5)
    assert [node.name for node in found.nodes] == ["Mail"]
    assert not (await hand.tab.dom.find(ElementQuery(text="City"), limit=5)).nodes


ELEMENTS = """<script>
function define(name, role, more = () => {}, formAssociated = false) {
  customElements.define(name, class extends HTMLElement {
    static formAssociated = formAssociated;
    constructor() {
      super();
      this.internals = this.attachInternals();
      this.internals.role = role;
      this.attachShadow({mode: 'open'}).innerHTML = '<slot></slot>';
      more(this.internals, this);
    }
  });
}
define('x-tab', 'tab', (own, tab) => {
  own.ariaSelected = 'false';
  tab.addEventListener('click', () => { own.ariaSelected = 'true'; });
});
define('x-check', 'checkbox', (own, box) => {
  own.ariaChecked = 'false';
  box.addEventListener('click', () => { own.ariaChecked = String(own.ariaChecked === 'false'); });
}, true);
define('x-slider', 'slider', own => {
  Object.assign(own, {ariaLabel: 'Volume', ariaValueNow: '40', ariaDisabled: 'true'});
});
define('x-items', 'tree');
define('x-item', 'treeitem', own => { own.ariaExpanded = 'true'; });
</script><style>x-check, x-slider { display: inline-block; width: 40px; height: 20px }</style>"""


async def test_roles_names_and_states_that_only_scripts_know_are_told(hand: Hand) -> None:
    view = await hand.show(
        f"""{ELEMENTS}<x-tab tabindex=0>Mail</x-tab><x-tab tabindex=0>Files</x-tab>
        <label for=c>Remember me</label><x-check id=c tabindex=0></x-check>
        <label>Send copies <x-check tabindex=0></x-check></label>
        <x-slider tabindex=0></x-slider>
        <x-items aria-label=Folders><x-item tabindex=0>Inbox</x-item></x-items>"""
    )
    assert [node.name for node in view.of_role("tab")] == ["Mail", "Files"]
    assert {node.name for node in view.of_role("checkbox")} == {"Remember me", "Send copies"}
    (slider,) = view.of_role("slider")
    assert (slider.name, {'value="40"', "disabled"} <= set(slider.states)) == ("Volume", True)
    assert view.one("Folders", role="tree")
    assert "expanded=true" in view.one("Inbox", role="treeitem").states
    assert "clickable" not in view.text


async def test_a_state_that_only_scripts_know_is_told_when_it_changes(hand: Hand) -> None:
    view = await hand.show(f"{ELEMENTS}<x-tab>Mail</x-tab><label for=c>Tea</label><x-check id=c></x-check>")
    assert "selected" in words_of(await hand.click(view.index("Mail", role="tab")))
    changes = words_of(await hand.click(view.index("Tea", role="checkbox")))
    assert changes.startswith("~ ")
    assert "checked" in changes
    assert "checked" not in words_of(await hand.click(view.index("Tea", role="checkbox")))


async def test_an_attribute_counts_for_more_than_what_a_script_says(hand: Hand) -> None:
    view = await hand.show(f"{ELEMENTS}<x-tab role=button aria-label=Print tabindex=0>Mail</x-tab>")
    assert view.one("Print", role="button")


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_what_a_custom_element_in_a_shadow_tree_says_of_itself_is_told(hand: Hand, mode: str) -> None:
    view = await hand.show(
        f"""{ELEMENTS}<div id=host></div><script>
        host.attachShadow({{mode: '{mode}'}}).innerHTML = '<x-tab tabindex=0>Mail</x-tab>';
        </script>"""
    )
    assert view.one("Mail", role="tab")


PAGE = """<style>li { cursor: pointer } .off { opacity: .5; cursor: not-allowed }
.through { pointer-events: none }</style>
<ul id=u><li>Copy</li><li class=off>Delete</li><li>Print</li><li class=through>Mail</li></ul>
<div class=off id=d>Archive</div><button class=off>Ship</button> <a href=#x class=off>Next</a>
<p class=disabled><a href=#p style='cursor: default'>Back</a></p>
<p class=disabled onclick=0><a href=#p class=through>First</a></p>
<div role=menuitem tabindex=0 style='cursor: not-allowed'>Cut</div><input class=off aria-label=Note>
<div id=h></div><script>window.log = [];
h.attachShadow({ mode: 'open' }).innerHTML = "<style>b { cursor: not-allowed }</style><b onclick=0>Pack</b>";
d.onclick = () => log.push('Archive');
u.onclick = e => {
  const item = e.target.closest('li'); if (item && !item.className) log.push(item.innerText) }
</script>"""


async def test_what_the_cursor_refuses_or_lets_through_is_shown_and_a_click_says_so(hand: Hand) -> None:
    view = await hand.show(PAGE)
    off = ["Delete", "Archive", "Ship", "Next", "Back", "First", "Cut", "Pack"]
    assert [one.name for one in view.elements if "disabled" in one.states] == off
    for name in ("Delete", "Next", "First", "Pack"):
        with pytest.raises(NotActionable, match=r"is shown as disabled, .* force"):
            await hand.click(view.index(name))
    assert "unclickable" in view.one("Mail").states
    with pytest.raises(NotActionable, match="pointer-events: none"):
        await hand.click(view.index("Mail"))
    await hand.click(view.index("Copy"))
    await hand.do("input_text", index=view.index("Note"), text="x")
    await hand.do("click_element", index=view.index("Archive"), force=True)
    assert await hand.log() == ["Copy", "Archive"]


async def test_a_canvas_whose_cursor_follows_the_mouse_takes_clicks_and_a_drawing_that_refuses_says_so(
    hand: Hand,
) -> None:
    view = await hand.show(
        "<canvas tabindex=0 aria-label=Board onclick=log.push(1) onmousemove='this.style.cursor = "
        '"not-allowed"\'></canvas><script>window.log = []</script>'
        "<svg role=button tabindex=0 aria-label=Cut cursor=not-allowed width=30 height=30><path /></svg>"
    )
    assert "disabled" in view.one("Cut").states
    with pytest.raises(NotActionable, match=r"is shown as disabled"):
        await hand.click(view.index("Cut"))
    for _ in range(2):
        await hand.click(view.index("Board"))
    assert await hand.log() == [1, 1]
