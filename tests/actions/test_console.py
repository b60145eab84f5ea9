"""Console messages and uncaught errors, listed."""

import base64
import json
from typing import Literal

import pytest
from playwright.async_api import Page

from mcp_browser.browser.collectors import KEPT, Console
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.settings import ObservationSettings
from tests.actions.hand import Hand, hand_in
from tests.browser.conftest import managing
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SPOKEN = """<script>
console.log('one', {a: 1}); console.info('two'); console.debug('three');
console.warn('four');
for (let i = 0; i < 2; i++) console.error('five');
</script>"""

MAPPED = "function add(){throw new Error('no stock')}\nadd()"
MAP = {
    "version": 3,
    "sources": ["src/basket.ts"],
    "names": [],
    # Line 0, column 15 (throw) → basket.ts 12:5; line 1, column 0 (the call) → basket.ts 20:1.
    "mappings": "eAWI;AAQJ",
}


async def test_messages_are_listed_newest_first_chosen_and_forgotten_on_demand(hand: Hand) -> None:
    await hand.open(SPOKEN)
    told = await hand.do("get_console_messages")
    lines = [line.partition(" ")[2] for line in told.splitlines() if line[:1].isdigit() and ":" in line[:3]]
    url = hand.session.current_tab.url
    assert lines == [
        f"error: five (2 times) ({url}:4:37)",
        f"warning: four ({url}:3:9)",
        f"debug: three ({url}:2:58)",
        f"info: two ({url}:2:37)",
        f"info: one {{a: 1}} ({url}:2:9)",
    ]
    assert hand.result.data == {"count": 5, "part": 1, "parts": 1}
    assert "2 console messages" in await hand.do("get_console_messages", level="warning")
    assert "1 console message:" in await hand.do("get_console_messages", text="TWO")
    assert "0 console messages" in await hand.do("get_console_messages", text="no such thing")
    assert "'level'" in await hand.fails("get_console_messages", InvalidArguments, level="loud")
    assert "5 console messages" in await hand.do("get_console_messages", clear=True)
    assert await hand.do("get_console_messages") == "0 console messages."


async def test_an_uncaught_error_has_its_stack(hand: Hand) -> None:
    await hand.open("<script>function inner() { null.x }\nfunction outer() { inner() }\nouter()</script>")
    told = await hand.do("get_console_messages")
    url = hand.session.current_tab.url
    assert "error: Uncaught TypeError: Cannot read properties of null" in told
    assert f"  at inner ({url}:1:" in told
    assert f"  at outer ({url}:2:20)\n  at {url}:3:1" in told


@pytest.mark.parametrize("where", ["file", "inline", "header", "no map"])
async def test_positions_are_those_of_the_sources_where_there_is_a_map(
    hand: Hand, site: Site, where: str
) -> None:
    content = json.dumps(MAP).encode()
    wrong = b'{"version": 3, "sources": 5, "mappings": "!!"}'
    served = site.publish(wrong if where == "no map" else content, content_type="application/json")
    inline = f"data:application/json;base64,{base64.b64encode(content).decode()}"
    comment = "" if where == "header" else f"\n//# sourceMappingURL={inline if where == 'inline' else served}"
    headers = {"SourceMap": served} if where == "header" else {}
    script = site.publish((MAPPED + comment).encode(), content_type="text/javascript", headers=headers)
    await hand.open(f"<script src={script}></script>")
    told = await hand.do("get_console_messages")
    if where == "no map":
        assert f"at add ({script}:1:" in told
    else:
        stack = "at add (src/basket.ts:12:5)\n  at src/basket.ts:20:1"
        assert f"error: Uncaught Error: no stock\n  {stack}" in told


async def test_only_the_newest_messages_are_kept_and_they_come_in_parts(hand: Hand) -> None:
    await hand.open(f"<script>for (let i = 0; i < {KEPT}; i++) console.log('line', i)</script>")
    await hand.js("(() => { for (let i = 0; i < 40; i++) console.log('later', i) })()")
    told = ""
    while "info: later 39\n" not in told:  # Messages come from another process.
        told = await hand.do("get_console_messages")
    assert told.startswith(f"{KEPT} console messages (40 older ones are not kept), part 1 of ")
    assert "next: part=2" in told
    assert "info: line 40 " in await hand.do("get_console_messages", part=hand.data["parts"])
    assert "There is no part 99" in await hand.fails("get_console_messages", NotFound, part=99)


async def test_tokens_in_messages_are_left_out(hand: Hand) -> None:
    seen = await hand.open("<script>console.error('login failed, password=hunter2')</script>")
    told = await hand.do("get_console_messages")
    assert "hunter2" not in seen + told
    assert "password=[redacted]" in seen
    assert "password=[redacted]" in told


@pytest.mark.parametrize(
    ("tell", "told"),
    [
        ("all", 'Console: 6 messages: error "five" (2 times); info "one {a: 1}"; info "two", …'),
        ("errors", 'Console: 2 errors: "five" (2 times)'),
        ("none", None),
    ],
)
async def test_a_setting_says_what_is_told_of_the_console(
    page: Page, tell: Literal["all", "errors", "none"], told: str | None
) -> None:
    heard = Console(page, report=tell)
    await page.set_content(SPOKEN)
    await page.evaluate("0")
    assert heard.take() == told
    assert heard.take() is None
    assert len(heard.entries()) == 5


async def test_results_tell_all_messages_where_the_settings_say_so(site: Site) -> None:
    wanted = ObservationSettings(console="all")
    async with managing(observation=wanted) as manager, hand_in(manager, site) as hand:
        seen = await hand.open(f"<h1>Shop</h1>{SPOKEN}")
    assert "Note: Console: 6 messages: " in seen
