"""What follows from a click, or from a page's own beginning, is told with it; nothing else is waited for."""

import anyio
import pytest

from tests.snapshot.conftest import SETTINGS
from tests.snapshot.hand import Hand, on_go, words_of

pytestmark = pytest.mark.slow

ARRIVE = "out.textContent = 'arrived'"

WAYS = {
    "frames": "requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() =>"
    f" {ARRIVE})))",
    "an idle moment": f"requestIdleCallback(() => {{ {ARRIVE} }})",
    "a timer in an idle moment": f"requestIdleCallback(() => setTimeout(() => {ARRIVE}, 80))",
    "promises and timers": "(async () => { for (let i = 0; i < 3; i++)"
    f" await new Promise(r => setTimeout(r, 60)); {ARRIVE} }})()",
    "a storm of microtasks": "(async () => { for (let i = 0; i < 20000; i++) { await 0; out.title = i }"
    f" {ARRIVE} }})()",
    "a fetch, a timer, a frame": "fetch('/slow?s=0.3').then(() => setTimeout(() =>"
    f" requestAnimationFrame(() => {ARRIVE}), 100))",
    "a timer, a fetch, a frame": "setTimeout(() => fetch('/slow?s=0.3').then(r => r.text()).then(() =>"
    f" requestAnimationFrame(() => {ARRIVE})), 100)",
    "an old style request": "const x = new XMLHttpRequest(); x.open('GET', '/slow?s=0.3'); x.send();"
    f" x.onload = () => setTimeout(() => {ARRIVE}, 50)",
    "a module": "import('/module.js')",
    "a database": "const asked = indexedDB.open('shelf', 1);"
    " asked.onupgradeneeded = () => asked.result.createObjectStore('books').put('arrived', 1);"
    " asked.onsuccess = () => asked.result.transaction('books').objectStore('books').get(1).onsuccess ="
    " event => out.textContent = event.target.result",
    "a worker that fetches": "const worker = new Worker('/worker.js'); worker.postMessage('go');"
    " worker.onmessage = event => out.textContent = event.data",
    "a broadcast": "const a = new BroadcastChannel('x'), b = new BroadcastChannel('x');"
    f" b.onmessage = () => {{ {ARRIVE} }}; a.postMessage(1)",
    "a message to itself": f"addEventListener('message', () => {{ {ARRIVE} }}); postMessage(1)",
    "a view transition": f"document.startViewTransition(() => {{ {ARRIVE} }})",
    "a scheduled task": f"scheduler.postTask(() => {{ {ARRIVE} }}, {{ delay: 50 }})",
    "a router": "history.pushState({}, '', '/books/7'); setTimeout(() => fetch('/slow?s=0.2').then(() =>"
    f" {ARRIVE}))",
    "an observer of a size, then of another": "const box = document.createElement('div');"
    f" const second = new ResizeObserver(() => {{ {ARRIVE} }});"
    " box.append('x'); out.after(box); new ResizeObserver(() => second.observe(box)).observe(out)",
    "an observer of the view": f"new IntersectionObserver(() => {{ {ARRIVE} }}).observe(out)",
    "a frame": "const f = document.createElement('iframe'); f.src = '/slow?s=0.6&text=arrived';"
    " document.body.append(f)",
    "a picture that has been decoded": "const image = new Image();"
    f" image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; "
    f" image.onerror = image.onload = () => {{ {ARRIVE} }}",
}


OUT = "<p id=out>nothing</p>"


@pytest.fixture(autouse=True)
def scripts(hand: Hand) -> None:
    """Publish the scripts that pages load."""
    hand.serve_script("/module.js", "document.getElementById('out').textContent = 'arrived'")
    slow = "await (await fetch('/slow?s=0.3&text=arrived')).text()"
    hand.serve_script("/worker.js", f"onmessage = async () => postMessage({slow})")


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_click_brings_about_is_told_with_it(hand: Hand, way: str) -> None:
    assert "arrived" in await hand.presses(OUT + on_go(WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
async def test_what_a_new_page_does_at_its_beginning_is_told_with_it(hand: Hand, way: str) -> None:
    assert "arrived" in await hand.opens(f"{OUT}<script>{WAYS[way]}</script>")


async def test_what_a_page_does_later_is_told_with_it(hand: Hand) -> None:
    loaded = f"{OUT}<img src='/slow?s=0.15'><script>onload = () => {ARRIVE}</script>"
    timer = f"{OUT}<script>setTimeout(() => fetch('/slow?s=0.2').then(() => {ARRIVE}), 40)</script>"
    for body in (loaded, f"<iframe src='{hand.elsewhere(timer)}'></iframe>"):
        assert "arrived" in await hand.opens(body), body


async def test_a_page_whose_picture_never_comes_is_told_without_it(hand: Hand) -> None:
    with anyio.fail_after(SETTINGS.limits.call_timeout):
        told = await hand.opens(f"{OUT}<img src=/hang><script>onload = () => {ARRIVE}</script>Here")
    assert "Here" in told
    assert "nothing" in told


async def test_a_fetch_that_a_service_worker_answers_is_awaited(hand: Hand) -> None:
    hand.serve_script(
        "/service-worker.js",
        "onactivate = event => event.waitUntil(clients.claim());"
        "onfetch = event => { if (event.request.url.endsWith('/made-up'))"
        " event.respondWith(fetch('/slow?s=0.4').then(() => new Response('arrived'))) }",
    )
    view = await hand.show(
        OUT + on_go("fetch('/made-up').then(r => r.text()).then(t => out.textContent = t)")
    )
    await hand.script(
        "navigator.serviceWorker.register('/service-worker.js').then(() => new Promise(done =>"
        " navigator.serviceWorker.controller ? done() : navigator.serviceWorker.oncontrollerchange = done))"
    )
    assert "arrived" in words_of(await hand.click(view.index("Go")))
    await hand.script(
        "navigator.serviceWorker.getRegistrations()"
        ".then(all => Promise.all(all.map(one => one.unregister())))"
    )


async def test_a_frame_that_has_not_come_says_so(hand: Hand) -> None:
    await hand.tab.goto(hand.site.page("<p>Top</p><iframe src='/hang'></iframe>"))
    view = await hand.look()
    frame = next(node for node in view.snapshot.nodes if node.role == "iframe")
    assert "loading" in frame.states


@pytest.mark.fresh
async def test_a_click_that_starts_nothing_returns_within_a_few_frames(hand: Hand) -> None:
    count = "<script>let frames = 0; (function count() { frames++; requestAnimationFrame(count) })()</script>"
    told = await hand.presses(OUT + count + on_go("window.first = frames; out.textContent = 'done'"))
    # Two frames for settling; the rest is for a busy machine. A fixed wait would show as dozens.
    assert await hand.script("frames - first") < 20
    assert "done" in told
