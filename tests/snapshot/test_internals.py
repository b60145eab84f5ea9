"""Custom elements that say by ElementInternals what they are."""

import pytest

from tests.snapshot.hand import Hand, words_of

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
