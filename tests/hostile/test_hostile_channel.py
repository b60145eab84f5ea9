"""What a page says to the server's own scripts is a hint: never a fact, an error, or a sentence of ours."""

import json
from typing import Any

import pytest

from tests.hostile.kit import Heard, Victim, few, kit
from tests.support.site import Site

GO = "<button id=go>Go on</button><button id=other>Other</button><p>Words of the page</p>"
DEEP = "[" * 20_000 + "]" * 20_000


def page(site: Site, heard: Heard, body: str = GO, **options: Any) -> str:
    """A page whose button tells the web server of each trusted click, and the page of it by a new text."""
    note = heard.script("`go ${event.isTrusted}`")
    clicked = f"go.onclick = event => {{ {note}; go.textContent = 'Gone' }}"
    return site.page(f"{kit(heard, **options)}{body}<script>{clicked}</script>")


async def works(victim: Victim, heard: Heard) -> str:
    """Click, once: it is carried out, and nothing but that is reported. What the result says."""
    text = await clicked_once(victim, heard)
    assert text.startswith(f'Clicked [{victim.index("Go on")}] button "Go on".')
    assert 'button "Gone"' in text
    return text


async def clicked_once(victim: Victim, heard: Heard) -> str:
    """Click; the page has heard of that, once. What the result says."""
    text = await victim.call("click_element", index=victim.index("Go on"))
    assert not victim.failed, text
    await heard.until("go true")
    assert heard.of("go") == ["go true"]
    return text


TIMERS = [
    *("NaN", "0.5", "1e400", "", "0 0 5", "-1 -1 -1", "1 1e400 0", "Infinity Infinity Infinity", "x y z"),
    *("9999999999999999999999 1 1", "0 NaN 0", "1 -5 0", "0x10 1 1", "true", "1", "1 2", "0 0 1e9", " "),
    *("0\n0\n7", "0 0 0 0", "0 0 \u0663"),
]


@pytest.mark.parametrize("value", few(TIMERS, ("NaN", "1e400", "0 0 5")))
async def test_a_click_is_reported_once_whatever_the_page_says_of_its_timers(
    victim: Victim, site: Site, heard: Heard, value: str
) -> None:
    await victim.open(page(site, heard, answers={"timers": [value]}))
    assert "web socket" not in await works(victim, heard)


SAID = [
    *('{"role":1}', '{"role":null}', '{"role":["button"]}', '{"aria-label":{"a":1}}', "[]", "null", "1", ""),
    *("{", '"x"', '[["role",1]]', '{"__proto__":{"role":"x"}}', '{"aria-checked":1e400}', DEEP, "undefined"),
    *('{"role":"' + "x" * 100_000 + '"}', '{"aria-label":"' + "y" * 500_000 + '"}'),
]
DEFINE = (
    "<script>customElements.define('x-card', class extends HTMLElement {"
    " constructor() { super(); this.attachInternals().role = 'button'; } })</script>"
)
CUSTOM = f"<x-card id=card>Card</x-card>{DEFINE}"


@pytest.mark.parametrize("value", few(SAID, (SAID[0], DEEP)), ids=[said[:30] for said in SAID])
async def test_a_page_is_read_and_worked_whatever_it_says_of_its_elements(
    victim: Victim, site: Site, heard: Heard, value: str
) -> None:
    options = {"answers": {"said": [value]}, "about": "#card"}
    state = await victim.open(page(site, heard, GO + CUSTOM, **options))
    found = await victim.call("find_elements", text="Go on")
    for text in (state, found):
        assert 'button "Go on"' in text
        assert len(text) < 60_000
    assert 'button "Other"' in state
    assert "Words of the page" in state
    await works(victim, heard)
    assert "Words of the page" in await victim.call("get_state")


STREAMS = """<script>
go.addEventListener('click', async () => {
  const answer = await fetch('/stream?every=0.05');
  const reader = answer.body.getReader();
  for (let n = 0; n < 4; n++) await reader.read();
})</script>"""
READINGS = [
    *("", "x", "1", "null", "{}", "[1]", "[[1]]", '[["x"]]', '[["x","y","z"]]', '[["x",1]]', DEEP),
    *('[[{},"pieces"]]', '[["x","nonsense"]]', json.dumps([[str(n), "pieces"] for n in range(20_000)])),
]


@pytest.mark.parametrize("value", few(READINGS, ("x", DEEP)), ids=[said[:30] for said in READINGS])
async def test_a_click_is_reported_once_whatever_the_page_says_of_what_it_reads(
    victim: Victim, site: Site, heard: Heard, value: str
) -> None:
    await victim.open(page(site, heard, GO + STREAMS, answers={"readings": [value]}))
    await works(victim, heard)


NODES = ["body", "html", "head", "#go", "#frame", "#card", "option", "x-card"]
COMMANDS: list[Any] = [
    *("input", "settled", "hold", "release", "timers", "frames", "readings", "nodes", "", "x", None, 1, {}),
]


@pytest.mark.parametrize(
    "options", [{}, {"nodes": NODES}, {"commands": COMMANDS}], ids=["says nothing", "hands over", "commands"]
)
async def test_a_page_that_hands_over_elements_or_gives_commands_is_worked_all_the_same(
    victim: Victim, site: Site, heard: Heard, options: dict[str, Any]
) -> None:
    more = "<select aria-label=One><option>A</select><iframe id=frame srcdoc='<b>In</b>'></iframe>"
    state = await victim.open(page(site, heard, GO + CUSTOM + STREAMS + more, **options))
    for line in ('button "Go on"', 'button "Other"', 'button "Card"', 'combobox "One"', "Words of the page"):
        assert line in state
    await works(victim, heard)


ANYTHING: list[Any] = [
    *("NaN", "", "x", 1, -1, 1e308, None, True, [], {}, [[]], {"role": 1}, DEEP, "0" * 300_000, "0 0 5"),
    *('{"role":1}', "[[1]]", {"a": {"b": {"c": [1, 2, {"d": None}]}}}, "\ud800", "\x00", "</page>"),
]


@pytest.mark.parametrize("mute", few([[], ["*"]], [[]]), ids=["answered", "answered, and kept from others"])
async def test_a_page_that_answers_with_anything_everywhere_is_worked_all_the_same(
    victim: Victim, site: Site, heard: Heard, mute: list[str]
) -> None:
    options = {"answers": {"*": ANYTHING}, "commands": ANYTHING, "nodes": NODES, "about": "#card"}
    state = await victim.open(page(site, heard, GO + CUSTOM, **options, mute=mute))
    assert 'button "Go on"' in state
    assert 'button "Other"' in state
    assert "web socket" not in await works(victim, heard)
    await victim.lives(site)


SPOILED = ("arrays", "json", "reflect", "maps", "observers", "elements", "events", "strings", "promises")


@pytest.mark.parametrize("spoiled", few([*SPOILED, "iterators"], ["arrays", "iterators"]))
@pytest.mark.parametrize("how", ["throw", "lie"])
async def test_a_page_that_has_spoilt_its_built_ins_is_read_and_worked(
    victim: Victim, site: Site, heard: Heard, spoiled: str, how: str
) -> None:
    note = "hostile.report('go ' + event.isTrusted); this.append('!')"
    card = "<x-card id=card onclick='1'>Card</x-card>"
    body = f'<button id=go onclick="{note}">Go on</button><button>Other</button>{card}<p>Words</p>'
    if spoiled == "iterators":
        attack = kit(heard, iterators=how, classes=True)
    else:
        attack = DEFINE + kit(heard, spoil={spoiled: how})
    state = await victim.open(site.page(f"{attack}{body}<div id=late></div>"))
    for line in ('button "Go on"', 'button "Other"', "Words"):
        assert line in state
    await clicked_once(victim, heard)
