"""A call waits for what its action started, for no more than that, and tells what was still going on."""

import anyio
import pytest

from mcp_browser.errors import ActionError
from tests.snapshot.conftest import SETTINGS
from tests.snapshot.hand import Hand, words_of
from tests.support.site import Reply, Request

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

CAP = SETTINGS.limits.settle_timeout
FRAMES = "<script>let frames = 0; (function count() { frames++; requestAnimationFrame(count) })()</script>"


def button(script: str) -> str:
    return f'<p id=out>nothing</p><button onclick="{script}">Go</button>'


async def go(hand: Hand, body: str) -> str:
    """Show a page, click its button, and tell what the result says."""
    view = await hand.show(body)
    with anyio.fail_after(SETTINGS.limits.call_timeout):
        return words_of(await hand.click(view.index("Go")))


async def test_a_click_that_starts_nothing_returns_within_a_few_frames(hand: Hand) -> None:
    view = await hand.show(FRAMES + button("window.first = frames; out.textContent = 'done'"))

    result = await hand.click(view.index("Go"))

    # Two frames for settling; the rest is for a busy machine. A fixed wait would show as dozens.
    assert await hand.script("frames - first") < 20
    assert "done" in words_of(result)


@pytest.mark.parametrize("seconds", [0.4, 2.5])
async def test_a_fetch_is_awaited(hand: Hand, seconds: float) -> None:
    script = f"fetch('/slow?s={seconds}&text=late').then(r => r.text()).then(t => out.textContent = t)"

    assert "late" in await go(hand, button(script))


async def test_an_old_style_request_is_awaited(hand: Hand) -> None:
    script = "const x = new XMLHttpRequest(); x.onload = () => out.textContent = x.responseText;"

    assert "late" in await go(hand, button(f"{script} x.open('GET', '/slow?s=0.4&text=late'); x.send()"))


async def test_a_navigation_begun_by_a_timer_is_awaited(hand: Hand) -> None:
    there = hand.site.page("<h1>Arrived</h1>")

    assert "Arrived" in await go(hand, button(f"setTimeout(() => location = '{there}', 300)"))


async def test_a_request_in_a_cross_site_frame_is_awaited(hand: Hand) -> None:
    script = "fetch('/slow?s=0.5&text=late').then(r => r.text()).then(t => out.textContent = t)"
    inner = hand.site.page(button(script)).replace(hand.site.url, hand.site.other)

    assert "late" in await go(hand, f"<iframe src='{inner}'></iframe>")


async def test_a_chain_of_short_timers_is_awaited(hand: Hand) -> None:
    assert "chained" in await go(
        hand, button("setTimeout(() => setTimeout(() => out.textContent = 'chained', 200), 200)")
    )


async def test_a_short_transition_after_the_click_shows_its_end(hand: Hand) -> None:
    told = await go(
        hand,
        "<style>#m { opacity: 0; transition: opacity .25s } #m.open { opacity: 1 }</style>"
        "<div id=m>Menu words</div>" + button("m.className = 'open'"),
    )

    assert "Menu words" in told


async def test_polling_that_went_on_before_does_not_hold_a_click(hand: Hand) -> None:
    body = FRAMES + button("window.first = frames; out.textContent = 'done'")
    body += "<script>let asked = 0; setInterval(() => { asked++; fetch('/slow?s=0.2') }, 100)</script>"
    view = await hand.show(body)
    await hand.tab.page.wait_for_function("asked > 3")

    result = await hand.click(view.index("Go"))

    assert await hand.script("frames - first") < CAP * 60
    assert "done" in words_of(result)


async def test_a_request_that_never_ends_is_given_up_and_told(hand: Hand) -> None:
    told = await go(hand, button("fetch('/hang?what=ever'); out.textContent = 'asked'"))

    assert "asked" in told
    assert "/hang" in told


async def test_endless_polling_begun_by_the_click_is_given_up(hand: Hand) -> None:
    script = "(function poll() { out.textContent = 'polling'; fetch('/slow?s=0.1').then(poll) })()"

    assert "polling" in await go(hand, button(script))


async def test_a_stream_begun_by_the_click_is_given_up(hand: Hand) -> None:
    told = await go(hand, button("new EventSource('/hang?stream'); out.textContent = 'listening'"))

    assert "listening" in told


async def test_a_web_socket_begun_by_the_click_does_not_hold(hand: Hand) -> None:
    script = "new WebSocket(location.origin.replace('http', 'ws') + '/hang'); out.textContent = 'connecting'"

    assert "connecting" in await go(hand, button(script))


@pytest.mark.parametrize(
    "motion",
    [
        "<style>@keyframes spin { to { transform: rotate(1turn) } } i { animation: spin 1s "
        "infinite }</style><i>x</i>",
        "<script>(function f() { document.body.style.opacity = 1 - Math.random() / 9; "
        "requestAnimationFrame(f) })()</script>",
        "<b id=n></b><script>setInterval(() => n.textContent = 'Tick ' + Date.now(), 5)</script>",
        "<b id=n></b><script>(function f() { n.textContent = Math.random(); queueMicrotask(() => "
        "setTimeout(f)) })()</script>",
    ],
)
async def test_motion_without_end_does_not_hold(hand: Hand, motion: str) -> None:
    assert "done" in await go(hand, motion + button("out.textContent = 'done'"))


async def test_a_page_whose_picture_never_comes_is_shown(hand: Hand) -> None:
    view = await hand.show("<h1>Words first</h1><img src='/hang' width=99 height=99 alt=Slow>")

    assert view.says("Words first")


async def test_a_page_whose_body_never_ends_is_shown_or_told(hand: Hand) -> None:
    url = hand.site.url + "/hang?page"

    with pytest.raises(ActionError, match="hang"):
        await hand.do("go_to_url", url=url)

    assert (await hand.show("<button>Alive</button>")).offers("Alive")


async def test_a_request_while_one_reads_is_told_with_the_next_call(hand: Hand) -> None:
    view = await hand.show(button("out.textContent = 'clicked'"))
    await hand.script(
        "new Promise(done => setTimeout(() => { document.body.append('Message from afar'); done() }, 100))"
    )

    assert "Message from afar" in words_of(await hand.click(view.index("Go")))


async def test_a_form_posted_to_a_slow_server_is_awaited(hand: Hand) -> None:
    def answer(request: Request) -> Reply:
        hand.site.wait_stopping(0.6)
        return Reply(b"<h1>Thanks, " + request.body + b"</h1>")

    hand.site.route("/slow-form", answer)
    told = await go(
        hand, "<form method=post action=/slow-form><input name=q value=Ann><button>Go</button></form>"
    )

    assert "Thanks, q=Ann" in told
