"""What a page says to the server's own scripts is a hint: never a fact, an error, or a sentence of ours."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.hostile.kit import Heard, Victim, few, hearing, kit
from tests.support.load import load
from tests.support.site import Site

GO = "<button id=go>Go on</button><button id=other>Other</button><p>Words of the page</p>"
DEEP = "[" * 20_000 + "]" * 20_000


DEFINE = (
    "<script>customElements.define('x-card', class extends HTMLElement {"
    " constructor() { super(); this.attachInternals().role = 'button'; } })</script>"
)
CUSTOM = f"<x-card id=card>Card</x-card>{DEFINE}"
STREAMS = """<script>
go.addEventListener('click', async () => {
  const answer = await fetch('/stream?every=0.05');
  const reader = answer.body.getReader();
  for (let n = 0; n < 4; n++) await reader.read();
})</script>"""
MORE = "<select aria-label=One><option>A</select><iframe id=frame srcdoc='<b>In</b>'></iframe>"


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
SAID = [
    *('{"role":1}', '{"role":null}', '{"role":["button"]}', '{"aria-label":{"a":1}}', "[]", "null", "1", ""),
    *("{", '"x"', '[["role",1]]', '{"__proto__":{"role":"x"}}', '{"aria-checked":1e400}', DEEP, "undefined"),
    *('{"role":"' + "x" * 100_000 + '"}', '{"aria-label":"' + "y" * 500_000 + '"}'),
]
READINGS = [
    *("", "x", "1", "null", "{}", "[1]", "[[1]]", '[["x"]]', '[["x","y","z"]]', '[["x",1]]', DEEP),
    *('[[{},"pieces"]]', '[["x","nonsense"]]', json.dumps([[str(n), "pieces"] for n in range(20_000)])),
]
NODES = ["body", "html", "head", "#go", "#frame", "#card", "option", "x-card"]
COMMANDS: list[Any] = [
    *("input", "settled", "hold", "release", "timers", "frames", "readings", "nodes", "", "x", None, 1, {}),
]
ANYTHING: list[Any] = [
    *("NaN", "", "x", 1, -1, 1e308, None, True, [], {}, [[]], {"role": 1}, DEEP, "0" * 300_000, "0 0 5"),
    *('{"role":1}', "[[1]]", {"a": {"b": {"c": [1, 2, {"d": None}]}}}, "\ud800", "\x00", "</page>"),
]
EVERYTHING = {"answers": {"*": ANYTHING}, "commands": ANYTHING, "nodes": NODES}
SAYS: dict[str, dict[str, Any]] = {
    **{f"said {one[:30]}": {"answers": {"said": [one]}} for one in SAID},
    **{f"timers {one[:30]}": {"answers": {"timers": [one]}} for one in TIMERS},
    **{f"readings {one[:30]}": {"answers": {"readings": [one]}} for one in READINGS},
    **{"nothing": {}, "hands over": {"nodes": NODES}, "commands": {"commands": COMMANDS}},
    **{"anything": EVERYTHING, "anything, kept from others": {**EVERYTHING, "mute": ["*"]}},
}
"""Options of hostile.js by what a page says."""
QUICK = (
    *('said {"role":1}', f"said {DEEP[:30]}", "timers NaN", "timers 1e400", "timers 0 0 5", "readings x"),
    *(f"readings {DEEP[:30]}", "nothing", "hands over", "commands", "anything"),
)


@pytest.mark.parametrize("says", few(SAYS, QUICK))
async def test_a_page_is_worked_whatever_it_says(victim: Victim, site: Site, heard: Heard, says: str) -> None:
    """The button tells the web server of each trusted click, and the page of it by a new text."""
    note = heard.script("`go ${event.isTrusted}`")
    clicked = f"<script>go.onclick = event => {{ {note}; go.textContent = 'Gone' }}</script>"
    # Timers are told apart from sockets only where nothing streams.
    streams = "" if says.startswith(("timers", "anything")) else STREAMS
    attack = kit(heard, **SAYS[says], about="#card")
    state = await victim.open(site.page(attack + GO + CUSTOM + MORE + streams + clicked))
    for line in ('button "Go on"', 'button "Other"', 'combobox "One"', "Words of the page"):
        assert line in state
    assert "answers" in SAYS[says] or 'button "Card"' in state
    found = await victim.call("find_elements", text="Go on")
    assert 'button "Go on"' in found
    assert len(state) + len(found) < 60_000
    text = await clicked_once(victim, heard)
    assert text.startswith(f'Clicked [{victim.index("Go on")}] button "Go on".')
    assert 'button "Gone"' in text
    assert streams or "web socket" not in text
    assert "Words of the page" in await victim.call("get_state")


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


CLICKED = """<script>
go.onclick = async event => {
  hostile.report(`go ${event.isTrusted}`);
  await (await fetch("/stream?every=0.05&n=" + Math.random())).body.getReader().read();
  go.textContent = "Gone";
};
</script>"""
PARTS = ("*", "timers", "said", "readings", "key", "holding")

numbers = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 2**53, 1e308, -1, 0.5]),
)
words = st.text(max_size=30) | st.sampled_from(["role", "aria-label", "pieces", "NaN", "__proto__"])
trees: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=10,
)
said = st.one_of(
    trees,
    trees.map(json.dumps),
    st.sampled_from([*TIMERS, *SAID, *READINGS]),
    st.lists(numbers | words, max_size=5).map(lambda parts: " ".join(map(str, parts))),
    st.lists(st.tuples(words, words | numbers), max_size=3).map(json.dumps),
)

OPTIONS = st.fixed_dictionaries(
    {"answers": st.dictionaries(st.sampled_from(PARTS), st.lists(said, min_size=1, max_size=3), max_size=3)},
    optional={
        "commands": st.lists(said | st.sampled_from(["input", "settled", "hold", "release"]), max_size=3),
        "nodes": st.lists(st.sampled_from(["#go", "#card", "body", "html", "option"]), max_size=2),
        "mute": st.lists(st.sampled_from(PARTS), max_size=2),
    },
)


@settings(
    max_examples=load(20, full=600),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(options=OPTIONS)
async def test_whatever_a_page_says_a_click_is_done_and_reported_once(
    victim: Victim, site: Site, options: dict[str, Any]
) -> None:
    heard = hearing(site)
    attack = kit(heard, **options, about="#card")
    victim.told = ""
    state = await victim.open(site.page(attack + GO + CUSTOM + CLICKED))
    for line in ('button "Go on"', 'button "Other"', "Words of the page"):
        assert line in state
    text = await clicked_once(victim, heard)
    assert "web socket" not in text
    found = await victim.call("find_elements", text="Other")
    assert 'button "Other"' in found
    assert len(state) + len(text) + len(found) < 100_000
