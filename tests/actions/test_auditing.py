"""Accessibility by axe-core in a real page."""

from typing import Any

import pytest

from mcp_browser.errors import StaleElement
from tests.actions.hand import Hand
from tests.support.site import Site

pytestmark = pytest.mark.slow

BAD = """<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" id=pic>
<p style="color: #bbb; background: #fff">Pale words that few can read</p>
<button id=b></button><input id=i><div id=host></div><iframe title=Inner id=frame></iframe>
<script>
  host.attachShadow({ mode: 'open' }).innerHTML = '<button></button>';
  frame.srcdoc = '<html lang=en><title>x</title><select></select>';
  // Nothing of the page's own may change what is found.
  window.axe = { run() { return { violations: [], incomplete: [], passes: [] } } };
  document.querySelectorAll = () => [];
</script>"""


def rules(hand: Hand) -> dict[str, Any]:
    return {found["rule"]: found for found in hand.data["violations"]}


async def test_violations_are_told_with_the_elements(hand: Hand) -> None:
    await hand.open(BAD)
    told = await hand.do("audit_accessibility")
    found = rules(hand)
    assert {"image-alt", "button-name", "label", "color-contrast", "select-name"} <= found.keys()
    assert found["button-name"]["count"] == 2, "the one in the shadow tree, too"
    assert found["image-alt"]["criteria"] == ["1.1.1"]
    assert "critical: Images must have alternative text (WCAG 1.1.1)" in told
    assert told.index("critical:") < told.index("serious:")
    (index, _) = found["button-name"]["elements"]
    assert f"[{index}] button" in told
    assert await hand.do("click_element", index=index)


HIDDEN = "<button hidden title='Remove this filter'>x</button><img hidden alt=Gone src=x.gif>"
LONG = "<span>Many words that say something. </span>" * 10


async def test_what_a_person_does_not_see_names_no_element(hand: Hand) -> None:
    await hand.open(
        f"<h1>Shop</h1>{HIDDEN}<div aria-hidden=true tabindex=0>{HIDDEN}{LONG}</div>", title="Tea"
    )
    told = await hand.do("audit_accessibility")
    assert '] html "Tea"' in told
    assert "Many words" in told
    assert "Remove this filter" not in told
    assert "Gone" not in told


async def test_one_element_is_checked_alone(hand: Hand) -> None:
    await hand.open("<section aria-label=Form><input id=i></section><img id=pic src=x.gif>")
    await hand.do("find_elements", selector="section")
    (element,) = (hand.result.data or {})["elements"]
    await hand.do("audit_accessibility", index=element["index"])
    assert set(rules(hand)) == {"label"}
    await hand.js("document.querySelector('section').remove()")
    await hand.fails("audit_accessibility", StaleElement, index=element["index"])


async def test_the_standard_decides_what_is_checked_and_the_limit_what_is_named(hand: Hand) -> None:
    await hand.open("<h1>One</h1><h4>Skipped</h4>" + "<input>" * 40)
    await hand.do("audit_accessibility")
    assert "heading-order" not in rules(hand)
    told = await hand.do("audit_accessibility", standard="best-practice", limit=3)
    assert "heading-order" in rules(hand)
    assert len(rules(hand)["label"]["elements"]) == 3
    assert "… 37 more" in told


async def test_a_strict_policy_is_no_hindrance_and_a_page_without_faults_says_so(
    hand: Hand, site: Site
) -> None:
    site.publish(
        b"<!doctype html><html lang=en><title>x</title><button></button>",
        path="/strict",
        headers={"Content-Security-Policy": "default-src 'none'; script-src 'none'"},
    )
    await hand.do("go_to_url", url=f"{site.url}/strict")
    await hand.do("audit_accessibility")
    assert "button-name" in rules(hand)
    await hand.open("<main><h1>Fine</h1><p>All is well.</p></main>")
    assert "passed" in await hand.do("audit_accessibility")
    # The test site's pages name no language.
    assert set(rules(hand)) <= {"html-has-lang"}
