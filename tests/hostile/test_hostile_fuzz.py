"""Anything that a page says on the channels that it sees."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.hostile.kit import Victim, hearing, kit
from tests.hostile.test_hostile_channel import CUSTOM, GO, READINGS, SAID, TIMERS, clicked_once
from tests.support.load import load
from tests.support.site import Site

pytestmark = pytest.mark.slow

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
