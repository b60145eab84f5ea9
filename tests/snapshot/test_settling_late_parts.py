"""What is drawn late is told with the page or the action: on slow machines and empty pages, too."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mcp_browser.dom.cdp import send
from tests.snapshot.hand import Hand, on_go, words_of
from tests.support.site import Reply, Request

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

# What a framework does while it draws: long tasks between an answer and what is seen of it.
WORK = "const work = ms => { const end = performance.now() + ms; while (performance.now() < end); };"
PARTS = {
    "a route": "fetch('/api/page').then(r => r.json()).then(page => { work(120); main.innerHTML ="
    " '<h1>' + page.title + '</h1>' })",
    "a table in two steps": "fetch('/api/ids').then(r => r.json()).then(ids => { work(80);"
    " return fetch('/api/rows?ids=' + ids) }).then(r => r.json()).then(rows => { work(80);"
    " main.innerHTML = '<table>' + rows.map(row => '<tr><td>' + row).join('') + '</table>' })",
    "a table in four steps": "(async () => { let id = 0; for (let n = 0; n < 4; n++) { work(40);"
    " id = (await (await fetch('/api/next?id=' + id)).json()).id }"
    " main.innerHTML = '<p>the 4th row</p>'.replace('4th', id + 'th') })()",
    "a table in two steps of the old style": "const get = (url, then) => { const x = new XMLHttpRequest();"
    " x.open('GET', url); x.responseType = 'json'; x.onload = () => { work(80); then(x.response) };"
    " x.send() }; get('/api/ids', ids => get('/api/rows?ids=' + ids, rows => main.textContent = rows))",
    "chunks that are loaded lazily": "import('/chunk-1.js')",
    "a script that loads a script": "const s = document.createElement('script'); s.src = '/chunk-a.js';"
    " document.head.append(s)",
    "what is drawn some frames later": "fetch('/api/ids').then(() => requestAnimationFrame(() => { work(60);"
    " setTimeout(() => { work(60); requestAnimationFrame(() => main.textContent = 'the 4th row') }) }))",
}
SHELL = f"<header>Shop</header><main id=main></main><script>{WORK}</script>"


def publish(hand: Hand) -> None:
    def answer(request: Request) -> Reply:
        hand.site.wait_stopping(0.15)
        if request.path == "/api/next":
            return Reply(json.dumps({"id": int(request.first("id")) + 1}).encode(), "application/json")
        told = {
            "/api/page": {"title": "the 4th row"},
            "/api/ids": [3, 4],
            "/api/rows": ["a row", "the 4th row"],
        }
        return Reply(json.dumps(told[request.path]).encode(), "application/json")

    hand.site.route("/api", answer)
    for path, body in {
        "/chunk-1.js": "work(80); import('/chunk-2.js').then(chunk => { work(80); chunk.draw() })",
        "/chunk-2.js": "import { words } from '/chunk-3.js'; work(80);"
        " export const draw = () => { main.textContent = words }",
        "/chunk-3.js": "export const words = 'the 4th row'; work(80)",
        "/chunk-a.js": "work(80); const s2 = document.createElement('script'); s2.src = '/chunk-b.js';"
        " document.head.append(s2)",
        "/chunk-b.js": "work(80); fetch('/api/ids').then(() => { main.textContent = 'the 4th row' })",
    }.items():
        hand.serve_script(path, body)


@pytest_asyncio.fixture(loop_scope="session", params=[1, 3], ids=["", "slow"])
async def slow(hand: Hand, request: pytest.FixtureRequest) -> AsyncIterator[Hand]:
    """The hand, on a machine that is as fast as it is, and on one of a third of that, beside other tests."""
    cdp = await hand.tab.page.context.new_cdp_session(hand.tab.page)
    await send(cdp, "Emulation.setCPUThrottlingRate", rate=request.param)
    publish(hand)
    yield hand
    await cdp.detach()


@pytest.mark.parametrize("part", PARTS)
async def test_the_main_part_of_a_page_is_told_with_it(slow: Hand, part: str) -> None:
    assert "the 4th row" in await slow.opens(f"{SHELL}<script>{PARTS[part]}</script>")


@pytest.mark.parametrize("part", PARTS)
async def test_the_main_part_of_a_route_is_told_with_the_click(slow: Hand, part: str) -> None:
    route = "history.pushState({}, '', '/route/2'); work(50);"
    assert "the 4th row" in await slow.presses(SHELL + on_go(route + PARTS[part]))


TOASTS = {
    "fetch": "fetch('/slow?s=0.3', { method: 'POST' }).then(toast)",
    "a fetch whose body is read": "fetch('/slow?s=0.3').then(r => r.text()).then(toast)",
    "two fetches": "fetch('/slow?s=0.2').then(() => fetch('/slow?s=0.2&b')).then(toast)",
    "an old style request": "const x = new XMLHttpRequest(); x.open('POST', '/slow?s=0.3');"
    " x.onload = toast; x.send('a')",
    "fetch, after a pause for typing": "setTimeout(() => fetch('/slow?s=0.3').then(toast), 250)",
    "fetch, drawn in a frame": "fetch('/slow?s=0.3').then(() => requestAnimationFrame(toast))",
    "a worker": "const w = new Worker('/asking.js'); w.onmessage = toast; w.postMessage(1)",
}


@pytest.mark.parametrize("way", TOASTS)
async def test_a_toast_a_moment_after_an_answer_is_told_with_the_click(slow: Hand, way: str) -> None:
    slow.serve_script("/asking.js", "onmessage = async () => { await fetch('/slow?s=0.3'); postMessage(1) }")
    show = "document.body.insertAdjacentHTML('beforeend', '<div role=status>Saved</div>')"
    toast = f"const toast = () => {{ work(30); setTimeout(() => {show}, 150) }};"
    assert "Saved" in await slow.presses(SHELL + on_go(toast + TOASTS[way]))


# As React draws a transition: slices of work, each begun by a message to itself.
SLICED = """const { port1, port2 } = new MessageChannel();
let left = 0, then = () => 0;
port1.onmessage = () => { if (!left) return; work(5); if (--left) port2.postMessage(0); else then() };
port2.postMessage(0);
const draw = (slices, end) => { left = slices; then = end; port2.postMessage(0) };"""
# As setImmediate is made of.
BY_WINDOW = SLICED.replace("port1.on", "on").replace("port2.postMessage(0)", "postMessage(0)")


@pytest.mark.parametrize("slices", [1, 30])
@pytest.mark.parametrize("by", [SLICED, BY_WINDOW], ids=["port", "window"])
async def test_what_is_drawn_in_slices_is_told_with_the_click(slow: Hand, slices: int, by: str) -> None:
    draw = on_go(f"draw({slices}, () => {{ main.textContent = 'the 4th row' }})")
    assert "the 4th row" in await slow.presses(f"{SHELL}<script>{by}</script>{draw}")


async def test_what_is_asked_after_drawing_in_slices_is_told_with_the_click(slow: Hand) -> None:
    draw = on_go(f"draw(12, () => {{ {PARTS['a table in two steps']} }})")
    assert "the 4th row" in await slow.presses(f"{SHELL}<script>{SLICED}</script>{draw}")


@pytest.mark.parametrize(
    "loop",
    [
        "port1.onmessage = () => port2.postMessage(0); port2.postMessage(0);",
        "port1.onmessage = () => 0; port2.postMessage(0);"
        " new Worker('data:text/javascript,onmessage=()=>0').postMessage(0, [port1]);"
        " go.onmousedown = () => port2.postMessage(0);",
    ],
    ids=["a loop without an end", "a port of another thread"],
)
async def test_messages_that_nothing_comes_of_are_not_waited_for(hand: Hand, loop: str) -> None:
    script = f"const {{ port1, port2 }} = new MessageChannel(); {loop}"
    view = await hand.show(f"<button id=go>Go</button><p id=main></p><script>{script}</script>")
    await hand.tab.page.get_by_role("button", name="Go").click()
    assert (await hand.tab.dom.settle(limit=5)).waited < 4
    assert view.index("Go")


DRAW = "root.innerHTML = '<h1>Drawn</h1>'"
COMING = {
    "a module that is late": "<script type=module src=/late-module.js></script>",
    "a module that asks": f"<script type=module>await fetch('/slow?s=0.6'); {DRAW}</script>",
    "a long timer of its own": f"<script>setTimeout(() => {{ {DRAW} }}, 600)</script>",
    "an empty frame that can be clicked": "<main onclick='0' style='display: block; height: 300px'></main>"
    f"<script>setTimeout(() => {{ {DRAW} }}, 600)</script>",
    "an empty main part below a bar": "<button>Menu</button><main style='height: 300px'></main>"
    f"<script>setTimeout(() => {{ {DRAW} }}, 600)</script>",
    "a picture that is awaited": f"<script>const i = new Image(); i.onload = i.onerror = () => {{ {DRAW} }};"
    " i.src = '/slow?s=0.7'</script>",
    "an event source": "<script>new EventSource('/stream?type=text/event-stream&every=0.5').onmessage ="
    f" () => {{ {DRAW} }}</script>",
    "a style sheet that hides all": f"<style>html {{ visibility: hidden }}</style><script>{DRAW};"
    " setTimeout(() => document.documentElement.style.visibility = 'visible', 700)</script>",
}


@pytest.fixture
def late_module(hand: Hand) -> None:
    """Publish a module that comes late."""

    def module(_: Request) -> Reply:
        hand.site.wait_stopping(1.2)
        return Reply(DRAW.encode(), "text/javascript")

    hand.site.route("/late-module.js", module)


@pytest.mark.usefixtures("late_module")
@pytest.mark.parametrize("what", COMING)
async def test_a_page_that_is_about_to_show_something_is_waited_for(hand: Hand, what: str) -> None:
    assert "Drawn" in await hand.opens(f"<div id=root></div>{COMING[what]}")


@pytest.mark.usefixtures("late_module")
@pytest.mark.parametrize("what", COMING)
async def test_a_look_at_a_page_that_is_about_to_show_something_waits_for_it(hand: Hand, what: str) -> None:
    await hand.tab.goto(hand.site.page(f"<div id=root></div>{COMING[what]}"))
    assert "Drawn" in words_of(await hand.do("get_state"))


async def test_what_comes_message_by_message_is_waited_for(hand: Hand) -> None:
    script = f"let n = 0; const root = document.body; source.onmessage = () => {{ if (++n == 7) {DRAW};"
    script += " if (n < 7) root.append(`Part ${n} `) }"
    source = "const source = new EventSource('/stream?type=text/event-stream&every=0.1')"
    assert "Drawn" in await hand.opens(f"<script>{source}; {script}</script>")


async def test_a_page_that_shows_nothing_within_the_limit_tells_what_still_goes_on(hand: Hand) -> None:
    told = await hand.opens(f"<div id=root></div><script>fetch('/hang').then(() => {{ {DRAW} }})</script>")
    assert "nothing shown yet" in told
    assert "GET /hang" in told


async def test_an_empty_page_without_scripts_is_told_at_once(hand: Hand) -> None:
    assert await hand.opens("<img src=/hang hidden>") == ""


async def test_a_click_that_empties_the_page_for_another_view_is_told_with_that(hand: Hand) -> None:
    later = f"setTimeout(() => fetch('/slow?s=0.3').then(() => {{ {DRAW} }}), 900)"
    empty = on_go(f"root.innerHTML = ''; {later}")
    assert "Drawn" in await hand.presses(f"<div id=root>{empty}</div>")
