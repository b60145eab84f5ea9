"""Controls as component libraries build them: told by their role, once, and used by their index."""

import pytest

from mcp_browser.dom.models import ElementQuery
from tests.snapshot.hand import Hand

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


async def test_a_link_without_an_address_in_a_button_is_told_and_clicked(hand: Hand) -> None:
    view = await hand.show(
        """<button onclick="log.push('open')">Blue <a aria-label="Clear choice"><svg width=15 height=15>
        <path d="M0 0L15 15"/></svg></a></button><script>window.log = [];
        addEventListener('click', event => event.target.closest('a') && log.push('clear'), true)</script>"""
    )
    await hand.click(view.index("Clear choice", role="link"))
    assert (await hand.log())[0] == "clear"


async def test_a_box_of_a_drawing_without_height_is_not_told_and_a_line_is(hand: Hand) -> None:
    view = await hand.show(
        """<svg width=300 height=90><g onclick="1" style="pointer-events: all"><title>Menu</title>
        <rect width=16 height=0></rect></g><g onclick="1"><title>Wire</title>
        <path d="M10 40H90" stroke=red></path></g></svg>"""
    )
    assert view.one("Wire")
    assert not view.all("Menu")


async def test_a_region_that_a_component_has_put_into_itself_again_is_told_once(hand: Hand) -> None:
    view = await hand.show(
        """<x-tree role=tree aria-label=Folders></x-tree><script>
        const tree = document.querySelector('x-tree');
        tree.attachShadow({mode: 'open'}).innerHTML =
          '<label id=l>Folders</label><ul role=tree aria-labelledby=l><slot></slot></ul>';
        tree.innerHTML = '<li role=treeitem tabindex=0>Mail</li>';
        </script>"""
    )
    assert len(view.all("Folders", role="tree")) == 1
    assert view.one("Mail", role="treeitem").depth == view.one("Folders").depth + 1


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


async def test_a_list_around_a_field_does_not_take_the_fields_label_for_its_value(hand: Hand) -> None:
    view = await hand.show(
        "<div role=combobox tabindex=0 aria-expanded=false aria-labelledby=s><select id=s aria-hidden=true "
        "hidden><option selected>Never</select><input role=combobox tabindex=-1 readonly value=Never "
        "aria-labelledby=l><label id=l>Repeat</label></div>"
    )
    states = [state for node in view.elements for state in node.states]
    assert not [state for state in states if state.startswith('value="Repeat')]


@pytest.mark.parametrize("field", ["type=password", "autocomplete=cc-number"])
async def test_a_list_around_a_field_does_not_show_its_secret(hand: Hand, field: str) -> None:
    view = await hand.show(
        f"<div role=combobox tabindex=0 aria-label=Card><input role=combobox readonly {field} value=41111111>"
        "</div><label>PIN <textarea name=otp style='display: none'>123456</textarea>"
        "<div><a href=#>Show</a></div></label>"
    )
    assert "4111" not in view.text
    assert "123456" not in view.text
