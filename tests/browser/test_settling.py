"""What an action starts is awaited; what goes on for ever is told, not awaited."""

import time

import pytest

from mcp_browser.browser.observation import Observation
from mcp_browser.controller import Controller
from tests.browser.conftest import Hand, button, shown, until
from tests.support.site import Site

pytestmark = pytest.mark.slow

SLOW = "{ src: '/slow?s=0.5&type=text/javascript&text=out.textContent%3D5%2B5' }"
AWAITED = {
    "a script": (
        button(f"document.body.append(Object.assign(document.createElement('script'), {SLOW}))"),
        "10",
    ),
    "a form": ("<form action=/slow><input name=s value=1.5><button>Go</button></form>", "late"),
    "a timer": (button("setTimeout(() => location.href = '/slow?s=0.5&text=There', 300)"), "There"),
    "a frame": ("<iframe name=a></iframe><a target=a href='OTHER/slow?s=0.6&text=Inner'>Go</a>", "Inner"),
    **{
        f"a late request by {way}": (f"{body}<iframe src='OTHER/busy'></iframe>", "Arrived")
        for way, body in {
            "a link": "<a href=/there>Go</a>",
            "a form": "<form action=/there><button>Go</button></form>",
            "a post": "<form method=post action=/there><button>Go</button></form>",
            "a script": "<button onclick=\"location.href = '/there'\">Go</button>",
        }.items()
    },
}
BUSY = "onbeforeunload = () => { const end = Date.now() + 1200; while (Date.now() < end); }"


@pytest.mark.parametrize("what", AWAITED)
async def test_what_a_click_starts_is_awaited(hand: Hand, site: Site, what: str) -> None:
    body, shows = AWAITED[what]
    site.page(f"<script>{BUSY}</script>Inner", path="/busy")
    site.page("<h1>Arrived</h1>", path="/there")
    await hand.open(site.page(body.replace("OTHER", site.other)))
    assert shows in shown(await hand.click("Go"))


async def test_a_navigation_that_hangs_is_told_and_the_page_stays_usable(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<a href=/hang>Hang</a> Here"))
    told = await hand.click("Hang")
    assert any("had not begun to show" in notice for notice in told.notices)
    assert "Here" in shown(await hand.look())
    assert "After" in shown(await hand.open(site.page("After")))


async def test_a_request_that_hangs_is_told_with_its_address(hand: Hand, site: Site) -> None:
    await hand.open(site.page(button("out.textContent = 'asked'; fetch('/hang?secret=1')")))
    told = await hand.click("Go")
    assert "asked" in shown(told)
    assert "Still loading after 4 s: 1 request (GET /hang)." in told.notices


async def test_requests_from_before_the_action_are_not_awaited(hand: Hand, site: Site) -> None:
    page = "<script>setTimeout(() => fetch('/hang'), 1200)</script>" + button("out.textContent = 'done'")
    await hand.open(site.page(page))
    await until(lambda: bool(hand.tab.activity.in_flight(0)))
    told = await hand.click("Go")
    assert "done" in shown(told)
    assert not told.notices


@pytest.mark.parametrize(
    "endless",
    [
        "new WebSocket('ws://127.0.0.1:9/')",
        "new EventSource('/hang')",
        "navigator.sendBeacon('/hang')",
        "new Image().src = '/hang'",
        "setInterval(() => out.dataset.now = Date.now(), 20)",
        "(function f() { requestAnimationFrame(f); out.style.left = Math.random() + 'px' })()",
    ],
)
async def test_what_has_no_end_is_not_told_as_loading(hand: Hand, site: Site, endless: str) -> None:
    await hand.open(site.page(button(f"out.textContent = 'begun'; {endless}")))
    told = await hand.click("Go")
    assert "begun" in shown(told)
    assert not any("loading" in notice.lower() for notice in told.notices)


@pytest.mark.parametrize(("link", "end"), [("#part", "#part"), ("mailto:a@example.com", "")])
async def test_a_link_within_or_out_is_not_awaited(hand: Hand, site: Site, link: str, end: str) -> None:
    url = site.page(f"<a href='{link}'>Go</a><p id=part>Part</p>")
    await hand.open(url)
    told = await hand.click("Go")
    assert (told.url, told.notices) == (url + end, ())
    assert "Go" in shown(await hand.look())


async def test_late_changes_are_told_by_what_only_looks(hand: Hand, site: Site) -> None:
    await hand.open(
        site.page("<p id=out>Early</p><script>setTimeout(() => out.textContent = 'Late', 1500)</script>")
    )
    told = await hand.do(lambda tab: tab.page.wait_for_function("out.textContent == 'Late'"), effect="read")
    assert "Late" in shown(told)
    told = await hand.do(lambda tab: tab.page.title(), effect="read")
    assert told.changes is None
    assert told.snapshot is None


@pytest.mark.parametrize("delay", [0, 1])
async def test_a_page_that_goes_on_by_itself_is_followed(hand: Hand, site: Site, delay: int) -> None:
    there = site.page("<h1>Arrived</h1>")
    onward = f"<meta http-equiv=refresh content='{delay};url={there}'>Wait"
    assert "Arrived" in shown(await hand.open(site.page(onward)))


async def test_a_page_that_loads_itself_again_and_again_is_shown(hand: Hand, site: Site) -> None:
    told = await hand.open(site.page("<meta http-equiv=refresh content=1>Scores", path="/scores"))
    assert "Scores" in shown(told)
    assert not told.notices


async def test_a_navigation_that_the_page_takes_back_is_not_awaited(hand: Hand, site: Site) -> None:
    inner = site.page(f"<script>{BUSY}</script>Inner").replace(site.url, site.other)
    script = "location.href = '/status/200'; setTimeout(() => (stop(), out.textContent = 'Stayed'), 50)"
    await hand.open(
        site.page(f'<button onclick="{script}">Go</button><p id=out><iframe src="{inner}"></iframe>')
    )
    told = await hand.click("Go")
    assert "Stayed" in shown(told)
    assert not told.notices


@pytest.mark.parametrize("sandbox", ["", "sandbox"])
async def test_a_page_is_told_with_the_frames_it_comes_with(hand: Hand, site: Site, sandbox: str) -> None:
    frames = "".join(f"<iframe {sandbox} srcdoc='<h1>Inner {number}</h1>'></iframe>" for number in range(4))
    told = shown(await hand.open(site.page(frames)))
    assert all(f"Inner {number}" in told for number in range(4))


async def test_a_timer_that_did_nothing_is_not_awaited_again(hand: Hand, site: Site) -> None:
    script = (
        "<script>let ran = 0, later; document.addEventListener('click', () => { clearTimeout(later); "
        "later = setTimeout(() => { ran++; later = undefined }, 1000) })</script>"
    )
    await hand.open(site.page(button("out.textContent += '!'") + script))
    page = hand.session.current_tab.page
    await hand.click("Go")
    assert await page.evaluate("ran") == 1
    assert "!!" in shown(await hand.click("Go"))
    assert await page.evaluate("ran") == 1


async def test_a_timer_without_effect_on_one_element_is_awaited_on_another(hand: Hand, site: Site) -> None:
    await hand.open(
        site.page(
            "<button>Other</button><button id=save>Save</button><p id=out></p>"
            "<script>document.onclick = event => setTimeout(() => { "
            "if (event.target.id) out.textContent = 'Saved' }, 700)</script>"
        )
    )
    await hand.click("Other")
    assert "Saved" in shown(await hand.click("Save"))


async def click_element(hand: Hand, name: str) -> Observation:
    """Click by the action, which learns what elements do."""
    snapshot = (await hand.look()).snapshot
    assert snapshot is not None
    (index,) = [node.index for node in snapshot.nodes if node.name == name]
    result = await Controller().execute("click_element", {"index": index}, hand.session)
    assert result.observation is not None
    return result.observation


async def test_what_timers_did_not_do_is_known_to_the_next_page_of_the_origin(hand: Hand, site: Site) -> None:
    script = "let ran = 0; document.addEventListener('click', () => setTimeout(() => ran++, 800))"
    source = site.publish(script.encode(), path="/tracker.js", content_type="text/javascript")
    html = f"<button>One</button><button>Two</button><p>Here</p><script src='{source}'></script>"
    await hand.open(site.page(html))
    for name in ("One", "Two", "One"):
        await click_element(hand, name)
    await hand.open(site.page(html))
    await hand.click("One")
    assert await hand.tab.page.evaluate("ran") == 0


@pytest.mark.parametrize("how", ["keepalive: true", "mode: 'no-cors'"])
async def test_a_request_whose_answer_is_not_read_is_not_awaited(hand: Hand, site: Site, how: str) -> None:
    ask = f"fetch('/slow?s=3', {{ {how} }}).then(() => out.textContent = 1)"
    await hand.open(site.page(button(f"out.textContent = 'sent'; {ask}")))
    assert "sent" in shown(await hand.click("Go"))


@pytest.mark.parametrize(
    "way",
    [
        "fetch('/slow?s=0.8').then(answer => answer.text())",
        "{ const r = new XMLHttpRequest(); r.open('GET', '/slow?s=0.8'); r.send() }",
    ],
)
async def test_a_request_that_changed_nothing_is_not_awaited_again(hand: Hand, site: Site, way: str) -> None:
    await hand.open(site.page(button(f"out.textContent += '!'; {way}")))
    await hand.click("Go")
    begun = time.monotonic()
    assert "!!" in shown(await hand.click("Go"))
    assert not hand.tab.activity.in_flight(0)
    assert time.monotonic() - begun < 0.8, "it waited for the answer"


SAYING = "let n = 0; const say = text => out.textContent = text;"
POSTED = "const c = new MessageChannel(); c.port1.onmessage = () => say(text); c.port2.postMessage(0)"
EACH_TIME = {
    "a timer": "say('Saving'); const text = `Saved ${++n}`; setTimeout(() => say(text), 800)",
    "a message of a timer": f"const text = `Saved ${{++n}}`; setTimeout(() => {{ {POSTED} }}, 800)",
    "a request": "fetch(`/slow?s=0.5&n=${n}`, { method: 'POST' }).then(answer => answer.text())"
    ".then(() => say(`Saved ${++n}`))",
    "an animation": "n++; let step = 0; const next = () => { say(++step < 12 ? step : `Saved ${n}`);"
    " if (step < 12) requestAnimationFrame(next) }; next()",
}


@pytest.mark.parametrize("way", EACH_TIME)
async def test_what_showed_something_is_awaited_each_time(hand: Hand, site: Site, way: str) -> None:
    script = f"{SAYING} function go() {{ {EACH_TIME[way]} }}"
    await hand.open(site.page(f"{button('go()')}<script>{script}</script>"))
    for number in range(1, 5):
        assert f"Saved {number}" in shown(await click_element(hand, "Go"))
