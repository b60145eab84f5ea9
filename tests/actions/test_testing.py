"""Assertions and locators in a real page."""

import pytest
from playwright.async_api import Locator, expect

from mcp_browser.errors import InvalidArguments, NotFound, StaleElement
from tests.actions.hand import Hand

CART = """
<main id=cart><h1>Cart</h1><ul><li class=row>A</li><li class=row>B</li></ul>
<label>Mail <input id=mail value=a@b.c></label><label>Password <input type=password value=hunter2></label>
<label><input type=checkbox checked> Gift</label>
<select multiple aria-label=Colours><option selected>red<option>green<option selected>blue</select>
<button>Pay</button><p hidden id=late>Thank you</p></main>
"""

EXACT: dict[str, object] = {"index": "Pay", "exact": True}
COLOURS: dict[str, object] = {"index": "Colours"}


async def failed(hand: Hand, action: str, **arguments: object) -> str:
    """What an assertion that does not hold says."""
    told = await hand.do(action, timeout=0.3, **arguments)
    assert hand.result.error is not None, told
    assert told.startswith("Expected "), told
    return told


@pytest.mark.parametrize(
    ("action", "arguments", "wrong"),
    [
        ("expect_visible", {"index": "Pay"}, {"selector": "#late"}),
        ("expect_visible", {"text": "Cart"}, {"text": "Thank you"}),
        ("expect_visible", {"selector": "#late", "hidden": True}, {"index": "Pay", "hidden": True}),
        ("expect_visible", {"text": "Nowhere", "hidden": True}, {"text": "Cart", "hidden": True}),
        ("expect_text", {"text": "Pay"}, {"text": "Nowhere"}),
        ("expect_text", EXACT | {"text": "Pay"}, EXACT | {"text": "P"}),
        ("expect_text", {"selector": "h1", "text": "Ca"}, {"selector": "h1", "text": "Pay"}),
        ("expect_value", {"index": "Mail", "value": "a@b.c"}, {"index": "Mail", "value": "other"}),
        ("expect_value", {"index": "Gift", "value": True}, {"index": "Gift", "value": False}),
        ("expect_value", COLOURS | {"value": ["red", "blue"]}, COLOURS | {"value": ["red"]}),
        ("expect_url", {"url": "/page"}, {"url": "/elsewhere"}),
        ("expect_url", {"url": "http://127.0.0.1*"}, {"url": "http://127.0.0.1/"}),
        ("expect_count", {"selector": ".row", "count": 2}, {"selector": "role=button", "count": 0}),
    ],
)
async def test_what_holds_passes_and_what_does_not_says_what_was_there(
    hand: Hand, action: str, arguments: dict[str, object], wrong: dict[str, object]
) -> None:
    await hand.open(CART)

    def meant(given: dict[str, object]) -> dict[str, object]:
        return {k: hand.index(v) if k == "index" and isinstance(v, str) else v for k, v in given.items()}

    assert (await hand.do(action, **meant(arguments))).startswith("Passed: ")
    assert "it was not within 0.3 s" in await failed(hand, action, **meant(wrong))


async def test_a_failure_tells_what_there_was(hand: Hand) -> None:
    await hand.open(CART)
    told = await failed(hand, "expect_value", index=hand.index("Mail"), value="x@y.z")
    assert "Actual value: a@b.c" in told
    assert "to have the value 'x@y.z'" in told
    told = await failed(hand, "expect_visible", selector="li")
    assert "but that means several elements" in told
    assert "strict mode violation" in told
    assert 'get_by_text("A"' in told
    await hand.js("document.querySelector('button').remove()")
    assert "gone" in await hand.fails("generate_locator", StaleElement, index=hand.index("Pay"))


async def test_what_comes_later_is_waited_for(hand: Hand) -> None:
    await hand.open("<p id=out></p><script>setTimeout(() => (out.textContent = 'Done'), 500)</script>")
    assert "Passed" in await hand.do("expect_text", selector="#out", text="Done", exact=True)


async def test_what_a_password_field_holds_is_in_no_message(hand: Hand) -> None:
    await hand.open(CART)
    index = hand.index("Password")
    told = await failed(hand, "expect_value", index=index, value="other")
    told += await hand.do("expect_snapshot", name="secret cart", selector="main")
    await hand.js("document.querySelector('[type=password]').value = 'changed-too'")
    assert "Passed" in await hand.do("expect_snapshot", name="secret cart", selector="main")
    await hand.js("document.querySelector('h1').textContent = 'Basket'")
    told += await failed(hand, "expect_snapshot", name="secret cart", selector="main")
    assert "hunter2" not in told
    assert "changed-too" not in told
    assert "Passed" in await hand.do("expect_value", index=index, value="changed-too")


async def test_a_region_is_kept_and_compared(hand: Hand) -> None:
    await hand.open(CART)
    assert "Kept 'main' as 'cart'" in await hand.do("expect_snapshot", name="cart", selector="main")
    assert "Passed" in await hand.do("expect_snapshot", name="cart", selector="main")
    await hand.js(
        "document.querySelector('ul').append(Object.assign(document.createElement('li'), "
        "{ textContent: 'C' }))"
    )
    assert "+    - listitem: C" in await failed(hand, "expect_snapshot", name="cart", selector="main")
    assert "Kept" in await hand.do("expect_snapshot", name="cart", selector="main", replace=True)
    assert "Passed" in await hand.do("expect_snapshot", name="cart", selector="main")


@pytest.mark.parametrize(
    ("action", "arguments", "error", "said"),
    [
        ("expect_visible", {}, InvalidArguments, "give one of index, selector and text"),
        ("expect_text", {"text": "x", "exact": True}, InvalidArguments, "exact needs an index or a selector"),
        ("expect_value", {"value": "x"}, InvalidArguments, "give index or selector"),
        ("expect_value", {"value": "x", "index": 1, "selector": "p"}, InvalidArguments, "not both"),
        ("expect_count", {"selector": "a[", "count": 1}, InvalidArguments, "does not know this selector"),
        ("expect_visible", {"selector": "nope=1"}, InvalidArguments, "does not know this selector"),
        ("expect_snapshot", {"name": "x", "selector": "nav", "timeout": 0.2}, NotFound, "There is no 'nav'"),
        ("expect_snapshot", {"name": "x", "selector": "li"}, InvalidArguments, "Several elements match"),
        ("expect_url", {"url": "re:("}, InvalidArguments, "not a regular expression"),
        ("generate_locator", {"index": 99999}, NotFound, "99999"),
    ],
)
async def test_what_cannot_be_asserted_says_why(
    hand: Hand, action: str, arguments: dict[str, object], error: type[Exception], said: str
) -> None:
    await hand.open(CART)
    assert said in await hand.fails(action, error, **arguments)  # type: ignore[arg-type]


ALIKE = """
<button data-testid=pay>Pay</button><button>Save</button><button>Save</button><a href=#top>Up</a>
<label>Town <input></label><div id=host></div><iframe id=inner srcdoc="<button>Inside</button>"></iframe>
<script>
  host.attachShadow({ mode: 'open' }).innerHTML = '<button>In the shadow</button>';
</script>
"""


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("Pay", """page.locator('[data-testid="pay"]')"""),
        ("Up", 'page.get_by_role("link", name="Up", exact=True)'),
        ("Town", 'page.get_by_role("textbox", name="Town", exact=True)'),
        ("In the shadow", 'page.get_by_role("button", name="In the shadow", exact=True)'),
        (
            "Inside",
            'page.frame_locator("html > body > iframe").get_by_role("button", name="Inside", exact=True)',
        ),
    ],
)
async def test_a_locator_finds_the_element_and_no_other(hand: Hand, name: str, python: str) -> None:
    await hand.open(ALIKE)
    assert f"Python: {python}" in await hand.do("generate_locator", index=hand.index(name))
    page = hand.session.current_tab.page
    found: Locator = eval(hand.data["python"], {"page": page})
    await expect(found).to_have_count(1)


async def test_the_second_of_two_alike_is_found_by_its_own_locator(hand: Hand) -> None:
    told = await hand.open(ALIKE)
    told = await hand.do("find_elements", text="Save")
    indexes = [element["index"] for element in (hand.result.data or {})["elements"]]
    page = hand.session.current_tab.page
    handles = await page.get_by_role("button", name="Save").element_handles()
    for index, handle in zip(indexes, handles, strict=True):
        told = await hand.do("generate_locator", index=index)
        found = eval((hand.result.data or {})["python"], {"page": page})
        assert await found.evaluate("(one, other) => one === other", handle), told
