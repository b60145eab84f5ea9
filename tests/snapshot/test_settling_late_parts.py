"""What a page's own requests bring is told with the page or the action, on a slow machine too."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mcp_browser.dom.cdp import send
from tests.snapshot.hand import Hand, words_of
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
SHELL = f"<header>Shop</header><main id=main></main><script>{WORK}"


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
    page = slow.site.page(f"{SHELL}{PARTS[part]}</script>")
    assert "the 4th row" in words_of(await slow.do("go_to_url", url=page))


@pytest.mark.parametrize("part", PARTS)
async def test_the_main_part_of_a_route_is_told_with_the_click(slow: Hand, part: str) -> None:
    script = f"go.onclick = () => {{ history.pushState({{}}, '', '/route/2'); work(50); {PARTS[part]} }}"
    view = await slow.show(f"<button id=go>Go</button>{SHELL}{script}</script>")
    assert "the 4th row" in words_of(await slow.click(view.index("Go")))


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
    script = f"const toast = () => {{ work(30); setTimeout(() => {show}, 150) }};"
    script += f" go.onclick = () => {{ {TOASTS[way]} }}"
    view = await slow.show(f"<button id=go>Go</button>{SHELL}{script}</script>")
    assert "Saved" in words_of(await slow.click(view.index("Go")))


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
    script = f"{by} go.onclick = () => draw({slices}, () => {{ main.textContent = 'the 4th row' }})"
    view = await slow.show(f"<button id=go>Go</button>{SHELL}{script}</script>")
    assert "the 4th row" in words_of(await slow.click(view.index("Go")))


async def test_what_is_asked_after_drawing_in_slices_is_told_with_the_click(slow: Hand) -> None:
    script = f"{SLICED} go.onclick = () => draw(12, () => {{ {PARTS['a table in two steps']} }})"
    view = await slow.show(f"<button id=go>Go</button>{SHELL}{script}</script>")
    assert "the 4th row" in words_of(await slow.click(view.index("Go")))


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


async def test_what_comes_of_a_transaction_once_it_is_complete_is_in_the_result(hand: Hand) -> None:
    view = await hand.show(
        "<button>Keep</button><p id=out>Nothing</p><script>let db; const asked = indexedDB.open('notes', 1);"
        "asked.onupgradeneeded = () => asked.result.createObjectStore('notes');"
        "asked.onsuccess = () => { db = asked.result };"
        "const read = () => new Promise(done => { const one = db.transaction('notes');"
        " one.objectStore('notes').get(1); one.oncomplete = done });"
        "document.querySelector('button').onclick = async () => {"
        " for (let i = 0; i < 150; i++) await read(); out.textContent = 'Kept' }</script>"
    )
    assert "Kept" in words_of(await hand.click(view.index("Keep")))
