"""The hostile script does what these tests need of it, in a world where somebody else speaks."""

import pytest
from playwright.async_api import Page

from tests.hostile.kit import Heard, kit
from tests.support.site import Site

OTHERS = """<iframe id=mine></iframe><iframe id=given></iframe><input id=other><input id=taken>
<script>
seen = [];
const name = "x0123456789abcdef:" + "{what}";
document.addEventListener(name, event => seen.push(event.detail || event.submitter?.id || "nothing"));
function speak() { document.dispatchEvent({event}) }
</script>"""


def others(what: str, event: str) -> str:
    return OTHERS.replace("{what}", what).replace("{event}", event)


CUSTOM = "new CustomEvent(name, {detail: 'true'})"
SUBMIT = "new SubmitEvent(name, {submitter: mine})"

CASES: list[tuple[dict[str, object], str, list[str]]] = [
    ({}, CUSTOM, ["true"]),
    ({"answers": {"timers": ["false"]}}, CUSTOM, ["false", "true", "false"]),
    ({"answers": {"said": ["false"]}}, CUSTOM, ["true"]),
    ({"mute": ["timers"]}, CUSTOM, []),
    ({"mute": ["key"]}, CUSTOM, ["true"]),
    ({"swap": {"of": "#mine", "give": "#given"}}, SUBMIT, ["given", "nothing"]),
    ({"swap": {"of": "#other", "give": "#given"}}, SUBMIT, ["mine"]),
]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_it_hears_keeps_back_and_answers_what_others_say(
    page: Page, site: Site, heard: Heard, case: tuple[dict[str, object], str, list[str]]
) -> None:
    options, event, seen = case
    await page.goto(site.page(kit(heard, **options) + others("timers", event)))
    await page.evaluate("speak()")
    assert await page.evaluate("seen") == seen


async def test_it_takes_the_focus_when_others_speak_and_at_keys(page: Page, site: Site, heard: Heard) -> None:
    attack = kit(heard, steal={"on": ["channel", "keydown"], "to": "#taken"})
    await page.goto(site.page(attack + others("timers", CUSTOM)))
    for moved in (page.evaluate("speak()"), page.keyboard.press("a")):
        await page.focus("#other")
        await moved
        assert await page.evaluate("document.activeElement.id") == "taken"


async def test_its_built_ins_fail_or_lie(page: Page, site: Site, heard: Heard) -> None:
    told = "<script>try { [1].map(String) } catch { hostile.report('failed') }</script>"
    await page.goto(site.page(kit(heard, spoil={"arrays": "throw"}) + told))
    await heard.until("failed")
    told = "<script>if (JSON.stringify([1]) !== '[1]') hostile.report('lied')</script>"
    await page.goto(site.page(kit(heard, spoil={"json": "lie"}) + told))
    await heard.until("lied")
