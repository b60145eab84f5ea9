"""What components are made of: fields for keys, ripples, labels inside, lists, states by internals."""

import pytest

from mcp_browser.dom.models import ElementQuery
from tests.snapshot.hand import Hand

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


async def test_a_ripple_over_a_control_is_no_element_of_its_own(hand: Hand) -> None:
    view = await hand.show(
        "<style>.box { position: relative; display: inline-block; cursor: pointer }"
        ".box i { position: absolute; inset: 0 }</style><b class=box onclick=1>Play<i></i></b>"
        "<script>document.querySelector('.box i').addEventListener('pointerdown', () => 0)</script>"
    )
    assert [node.name for node in view.elements] == ["Play"]


async def test_the_label_inside_a_combobox_is_no_part_of_its_value(hand: Hand) -> None:
    view = await hand.show(
        "<div role=combobox aria-label=Fruit tabindex=0><span>Fruit</span> <span>Banana</span></div>"
        "<div role=combobox aria-label=Town tabindex=0><span>Town hall</span></div>"
    )
    assert 'value="Banana"' in view.one("Fruit").states
    assert 'value="Town hall"' in view.one("Town").states


async def test_data_in_the_cell_before_is_no_hint_of_a_field(hand: Hand) -> None:
    view = await hand.show(
        """<table><tr><td>2<td><input class=a><td>Rome<td>12<td><input class=b></table>
        <table><tr><td>Tea<td>green<td><input type=checkbox class=c></table>
        <table><tr><td>Home<td><label>Town</label><td><input class=f></table>
        <table><tr><td>Name:<td><input class=d><td>Mail:<td><input class=e></table>"""
    )
    assert [node.states for node in view.elements] == [
        (),
        (),
        (),
        ('hint="Town"',),
        ('hint="Name"',),
        ('hint="Mail"',),
    ]


async def test_a_label_beside_a_field_and_a_hidden_list_is_its_hint(hand: Hand) -> None:
    view = await hand.show(
        """<div><div><input readonly value=Choose><select tabindex=-1
        style="position: absolute; width: 0; height: 0; opacity: 0; pointer-events: none"><option>Tea</select>
        </div><label>Drink</label></div>"""
    )
    assert 'hint="Drink"' in view.of_role("textbox")[0].states


async def test_items_that_a_box_listens_for_are_elements_below_its_field(hand: Hand) -> None:
    view = await hand.show(
        """<p style="height: 300px">Towns</p><div id=list style="width: 200px">
        <input readonly value=Paris><div><div class=item>Rome</div>
        <div class=item>Paris</div><div class=item>Oslo</div></div></div>
        <script>list.addEventListener('mousedown', ({ target }) => {
        document.title = target.textContent })</script>"""
    )
    await hand.click(view.index("Oslo"))
    assert await hand.tab.page.title() == "Oslo"


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


async def test_a_slider_that_lets_the_mouse_through_is_moved_by_keys(hand: Hand) -> None:
    view = await hand.show(
        """<style>b { pointer-events: none; display: block; width: 9px; height: 9px }</style>
        <div style="width: 200px; height: 20px"><b role=slider tabindex=0 aria-label=Angle aria-valuenow=0
        aria-valuemin=0 aria-valuemax=360></b></div><script>
        document.querySelector('b').addEventListener('keydown', ({ key, target }) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[key] || 0;
          target.ariaValueNow = Number(target.ariaValueNow) + step;
        })</script>"""
    )
    await hand.do("input_text", index=view.index("Angle"), text="90")
    assert await hand.script("document.querySelector('b').ariaValueNow") == "90"


async def test_a_list_that_is_called_by_its_value_has_its_label_as_hint(hand: Hand) -> None:
    view = await hand.show(
        """<div><label>Author</label><div><span role=combobox tabindex=0 aria-labelledby=value>
        <span id=value>Ann</span></span></div></div>"""
    )
    assert 'hint="Author"' in view.one("Ann", role="combobox").states
    await hand.do("click_element", index='combobox "Author"')


async def test_what_a_part_of_a_tab_shows_of_the_page_is_no_icon(hand: Hand) -> None:
    view = await hand.show(
        """<div role=tablist><x-tab role=tab>Billing</x-tab></div><script>
        const root = document.querySelector('x-tab').attachShadow({ mode: 'open' });
        root.innerHTML = '<div role=presentation style="width: 90px; height: 30px"><slot></slot></div>';
        root.firstChild.addEventListener('click', () => 0)</script>"""
    )
    assert [node.name for node in view.elements if node.role != "tablist"] == ["Billing"]


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


async def test_a_box_to_tick_that_lets_the_mouse_through_to_its_cell_is_ticked(hand: Hand) -> None:
    view = await hand.show(
        """<table><tr><td onclick="box.checked = !box.checked">
        <input id=box type=checkbox tabindex=-1 aria-label=Choose style="pointer-events: none"></td><td>Ann
        </table>"""
    )
    await hand.do("set_checked", index=view.index("Choose"), checked=True)
    assert await hand.script("box.checked")


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


async def test_the_word_for_a_sign_of_an_icon_font_is_no_part_of_a_name(hand: Hand) -> None:
    view = await hand.show(
        """<style>b::before { content: "chevron_right"; font-family: "x-icons" }
        i::before { content: "new" }</style><a href=/a><b></b>Fruit</a> <a href=/b><i></i> Tea</a>"""
    )
    assert [node.name for node in view.elements] == ["Fruit", "new Tea"]


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


async def test_what_the_component_before_a_field_says_is_no_hint_of_it(hand: Hand) -> None:
    view = await hand.show(
        """<x-field></x-field><input class=own><script>
        document.querySelector('x-field').attachShadow({ mode: 'open' }).innerHTML =
          '<input aria-label=Town placeholder="No town"><b aria-label="None yet">!</b>'</script>"""
    )
    assert [node.states for node in view.of_role("textbox")] == [(), ()]
