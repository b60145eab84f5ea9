"""What is told of a page's complaints, and of positions in its sources."""

import json
from contextlib import suppress
from typing import Any

import anyio
import pytest
from playwright.async_api import ConsoleMessage

from mcp_browser.browser.collectors import LEFT_OUT, LEFT_OUT_BY_PAGE, STOPPED, Location
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.source_maps import decode_vlq, look_up, parse_map
from mcp_browser.browser.tab import Tab
from mcp_browser.errors import DeadlineExceeded
from tests.browser.conftest import Hand, another, shown, until
from tests.support.site import Site


async def _complaints(hand: Hand, site: Site, body: str, *, count: int = 0) -> str:
    """What is said of the console of a page that writes `count` messages, some of them perhaps late."""

    def written() -> int:
        return sum(entry.times for entry in hand.tab.console.entries())

    async def go(tab: Tab) -> None:
        most = written() + count
        await tab.goto(site.page(f"<h1>Page</h1>{body}"))
        await until(lambda: written() >= most)

    seen = await hand.do(go, effect="navigation")
    return " ".join(notice for notice in seen.notices if notice.startswith("Console"))


async def test_errors_are_counted_and_failed_loads_have_their_url(hand: Hand, site: Site) -> None:
    said = "for (const word of ['no stock', 'no stock']) console.error(word); console.log('well')"
    told = await _complaints(hand, site, f"<script>{said}</script><script src=/status/410></script>")
    assert told == f'Console: 3 errors: "no stock" (2 times); "410 (Gone) for {site.url}/status/410"'


async def test_a_missing_icon_and_the_status_of_the_page_are_no_complaints(hand: Hand, site: Site) -> None:
    icon = site.publish(b"", path="/favicon.ico", status=404)
    try:
        told = await _complaints(hand, site, f"<script src={icon}></script><script src=/status/404></script>")
    finally:
        del site.pages["/favicon.ico"]
    assert told == f'Console: 1 error: "404 (Not Found) for {site.url}/status/404"'
    seen = await hand.open(f"{site.url}/status/404")
    assert not [notice for notice in seen.notices if notice.startswith("Console")]


async def test_what_failed_elsewhere_is_counted_and_nothing_is_repeated(hand: Hand, site: Site) -> None:
    load = f"await fetch('{site.other}/status/404', {{mode: 'no-cors'}});"
    say = "for (let i = 0; i < 10; i++) console.error(i + ' says \"a\" lot'.repeat(9));"
    body = f"<script type=module>{load}{load}{say}</script>"
    told = await _complaints(hand, site, body, count=12)
    assert told.startswith('Console: 10 errors, 2 third-party loads failed: "0 says \\')
    assert told.endswith(", …")
    assert len(told) <= 200
    assert await _complaints(hand, site, body, count=12) == ""
    assert await _complaints(hand, site, f"{body}<script>a.b</script>", count=13) == (
        'Console: 1 error: "Uncaught ReferenceError: a is not defined"'
    )


@pytest.mark.slow
@pytest.mark.fresh
@pytest.mark.parametrize(
    ("count", "complain"),
    [
        (200_000, "console.error('wrong ' + number)"),
        (200_000, "queueMicrotask(() => { throw new Error('wrong ' + number) })"),
        (20, "setTimeout(() => { for (let i = 0; i < 10000; i++) Promise.reject(new Error('wrong ' + i)) })"),
        (20_000, "setTimeout(() => { throw new Error('wrong ' + number) })"),
        (20_000, "frame.contentWindow.setTimeout(() => { throw new Error('wrong ' + number) })"),
        (1, "new Worker('/throwing.js')"),
    ],
)
async def test_a_page_full_of_errors_stays_usable(hand: Hand, site: Site, count: int, complain: str) -> None:
    script = "for (let i = 0; i < 10000; i++) queueMicrotask(() => { throw new Error('wrong ' + i) })"
    site.publish(script.encode(), path="/throwing.js", content_type="text/javascript")
    hand.tab.console.clear()
    flood = f"for (let number = 0; number < {count}; number++) {complain}"
    await hand.open(
        site.page(
            f'<button onclick="{flood}; out.textContent = 0">Go</button><p id=out>Calm</p>'
            "<iframe id=frame></iframe>"
        )
    )
    told = await hand.click("Go")
    told = await hand.look() if told.snapshot is None and told.changes is None else told
    console = hand.tab.console
    # The worker may run before the limits are in it: then the server leaves messages out.
    told_of = {LEFT_OUT, STOPPED} if "Worker" in complain else set[str]()
    # A click does not wait for what a worker says.
    await until(
        lambda: any(LEFT_OUT_BY_PAGE.fullmatch(one.text) or one.text in told_of for one in console.entries())
    )
    assert len(console.entries()) <= 500
    assert console.dropped < 2_000
    await hand.do(lambda tab: tab.page.evaluate("out.textContent = 'Still here'"))
    assert "Still here" in shown(await hand.look())


SCRIPTS = {
    "/noise.js": "for (;;) console.error('no')",
    "/long.js": "for (let i = 0; i < 1e5; i++) console.log(i)",
    "/outer.js": "new Worker('/noise.js')",
}
FLOODS = {
    "a kept function": "const write = console.error; for (let i = 0; i < 1e5; i++) write(i)",
    "a stolen function": """let stolen = console.log;
        Object.prototype.get = (target) => (stolen = target);
        console.log.name;
        delete Object.prototype.get;
        for (let i = 0; i < 1e5; i++) stolen(i)""",
    "a console of its own": "const own = console.context('own'); for (let i = 0; i < 1e5; i++) own.log(i)",
    "a worker": "new Worker('/noise.js')",
    "many values": "for (let i = 0; i < 100; i++) console.log(...Array(5000).fill(i))",
    "a worker's worker": "new Worker('/outer.js')",
    "a worker of another site's frame": "frame.src = origin.replace('127.0.0.1', 'localhost') + '/noisy'",
    "a worker of a window": "window.open('/noisy')",
    "frames": """for (let k = 0; k < 200; k++) {
        const inner = document.body.appendChild(document.createElement('iframe'));
        const log = inner.contentWindow.console;
        for (let i = 0; i < 500; i++) log.error(i);
        inner.remove();
    }""",
    "addresses": "for (let i = 0; i < 1e5; i++) location.hash = i",
    "steps of the history": "for (let i = 0; i < 1e5; i++) history.pushState(i, '', `?${i}`)",
    "a paint worklet": "CSS.paintWorklet.addModule('/long.js')",
    "titles": "for (let i = 0; i < 2e5; i++) document.title = i",
    "titles by a frame": """
        const inner = document.body.appendChild(document.createElement('iframe')).contentWindow;
        const { set } = Object.getOwnPropertyDescriptor(inner.Document.prototype, 'title');
        for (let i = 0; i < 2e5; i++) set.call(document, i)""",
    "large objects": """
        const rows = Array.from({ length: 5e3 }, (_, row) => ({ row, text: 'x'.repeat(90) }));
        for (let i = 0; i < 1e3; i++) console.log(...rows, rows, { ...rows })""",
    "tables": """
        const rows = Array(1e3).fill(Object.fromEntries(Array(500).entries()));
        for (let i = 0; i < 100; i++) console.table(rows)""",
    "long texts": "const text = 'x'.repeat(5e7); for (let i = 0; i < 500; i++) console.log(text)",
}


@pytest.mark.slow
@pytest.mark.fresh
@pytest.mark.parametrize("flood", FLOODS)
async def test_a_flood_spares_others(manager: BrowserManager, hand: Hand, site: Site, flood: str) -> None:
    for path, script in SCRIPTS.items():
        site.publish(script.encode(), path=path, content_type="text/javascript")
    site.publish(b"<script>new Worker('/noise.js')</script>", path="/noisy")
    async with another(manager) as other:
        await other.open(site.page("<p>Other</p>"))
        await hand.open(
            site.page(f"<iframe id=frame></iframe><script>function go() {{ {FLOODS[flood]} }}</script>")
        )
        since = len(site.requests)
        await hand.tab.page.evaluate("setTimeout(() => { go(); new Image().src = '/flooded' })")
        await until(lambda: any("/flooded" in asked for asked in site.requests[since:]), seconds=60)
        with anyio.fail_after(60):
            busy = 0
            while busy <= 1:  # Until it is stopped, where the machine has much else to do
                with suppress(DeadlineExceeded):
                    assert "Other" in shown(await other.look())
                    break
                busy += 1
        assert busy <= 1
        assert all(tab.console.dropped < 4_000 for tab in hand.session.tabs.values())


async def test_a_title_that_is_set_without_end_is_the_last_one_in_the_end(hand: Hand, site: Site) -> None:
    script = """
        const title = document.querySelector('title'), seen = [];
        new MutationObserver((changes) => seen.push(...changes)).observe(title, { childList: true });
        for (let i = 0; i < 5e3; i++) document.title = ` ${i} \\n times `;
        out.textContent = `reads ${document.title}`;"""
    told = await hand.open(site.page(f"<p id=out></p><script>{script}</script>"))
    assert "reads 4999 times" in shown(told)
    title = hand.tab.page.locator("title")
    await hand.tab.page.wait_for_function("title.textContent.includes('4999')")
    assert await hand.tab.page.evaluate("seen.length") < 500
    assert (await hand.look()).title == "4999 times"
    # What is set in another way meanwhile stays.
    both = "for (let i = 0; i < 500; i++) document.title = i; title.textContent = 'Other'; document.title"
    assert await hand.tab.page.evaluate(both) == "Other"
    assert await title.text_content() == "Other"


async def test_what_is_handed_to_the_console_is_bounded(hand: Hand, site: Site) -> None:
    await hand.open(site.page(""))
    messages: list[ConsoleMessage] = []

    def take(message: ConsoleMessage) -> None:
        messages.append(message)

    hand.tab.page.on("console", take)
    script = """() => {
        const long = 'x'.repeat(1e6), named = document.createElement('p');
        named.className = long;
        const error = new Error(long);
        const told = [
            console.log(...Array(500).keys()),
            console.warn(long, Symbol(long), 2n ** 99_999n, RegExp(long), new Function(`/*${long}*/`), named),
            console.table(Array(1e3).fill({ ...Array(1e3).keys() })),
        ];
        setTimeout(() => { throw error });
        setTimeout(() => { throw long });
        Promise.reject(error);
        Promise.reject(long);
        return told.concat(console.createTask('x').run(() => 5));
    }"""
    assert await hand.tab.page.evaluate(script) == [None, None, None, 5]
    await until(lambda: len(messages) == 7)
    assert all(len(message.args) <= 100 and len(message.text) < 60_000 for message in messages)
    assert messages[0].text.endswith("98 … and 401 values more")
    assert sum("Uncaught" in message.text for message in messages) == 4


async def test_there_is_an_end_to_what_one_result_tells_beside_the_page(hand: Hand) -> None:
    for number in range(70):
        hand.session.notice(f"It has happened {number} times.")
        hand.session.notice("It has happened 3 times.")
    told = hand.session.take_notices()
    assert told[:2] == ("It has happened 0 times.", "It has happened 3 times.")
    assert told[50:] == ("20 more notices are left out.",)
    assert hand.session.take_notices() == ()


# -- positions in sources

MAP: dict[str, Any] = {
    "version": 3,
    "sourceRoot": "src",
    "sources": ["a.ts", "b.ts"],
    "names": ["add"],
    # Line 0: column 0 → a.ts 1:1, column 4 → a.ts 1:9, column 9 → b.ts 3:3.
    # Line 1: nothing. Line 2: column 2 → b.ts 4:1.
    "mappings": "AAAA,IAAQA,KCEN;;EACF",
    "file": "out.js",
}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("A", [0]),
        ("C", [1]),
        ("D", [-1]),
        ("gB", [16]),
        ("hB", [-16]),
        ("AAgBC", [0, 0, 16, 1]),
        ("+/////D", [2147483647]),
    ],
)
def test_numbers_of_a_segment_are_read(text: str, numbers: list[int]) -> None:
    assert decode_vlq(text) == numbers


@pytest.mark.parametrize("text", ["g", "!", "Ag", ""])
def test_a_broken_segment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="source map"):
        decode_vlq(text)


def test_the_last_mapping_before_a_position_counts() -> None:
    found = dict(look_up(MAP, {(0, 0), (0, 3), (0, 4), (0, 8), (0, 30), (2, 5)}))
    assert found == {
        (0, 0): Location("src/a.ts", 1, 1),
        (0, 3): Location("src/a.ts", 1, 1),
        (0, 4): Location("src/a.ts", 1, 9),
        (0, 8): Location("src/a.ts", 1, 9),
        (0, 30): Location("src/b.ts", 3, 3),
        (2, 5): Location("src/b.ts", 4, 1),
    }


def test_positions_without_a_mapping_are_left_out() -> None:
    assert dict(look_up(MAP, {(1, 0), (2, 0), (7, 0)})) == {}


def test_a_map_of_sections_is_read_by_their_offsets() -> None:
    sections = {
        "version": 3,
        "sections": [
            {"offset": {"line": 0, "column": 0}, "map": {**MAP, "sources": ["one.ts", "b.ts"]}},
            {"offset": {"line": 5, "column": 10}, "map": {**MAP, "sources": ["two.ts", "b.ts"]}},
        ],
    }
    found = dict(look_up(sections, {(0, 4), (5, 14), (7, 5), (5, 3)}))
    assert found[0, 4] == Location("src/one.ts", 1, 9)
    assert found[5, 14] == Location("src/two.ts", 1, 9)
    assert found[7, 5] == Location("src/b.ts", 4, 1)
    assert (5, 3) not in found


def test_a_line_that_keeps_a_map_from_being_run_is_passed_over() -> None:
    assert parse_map(")]}'\n" + json.dumps(MAP)) == MAP
    assert parse_map("[]") is None
