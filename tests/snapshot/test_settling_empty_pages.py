"""A page that shows nothing yet is waited for while anything of it is on its way."""

import pytest

from tests.snapshot.hand import Hand, snapshot_of, words_of
from tests.support.site import Reply, Request

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

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


def publish(hand: Hand, what: str) -> str:
    """Publish a page that is empty at first, and tell its address."""

    def module(_: Request) -> Reply:
        hand.site.wait_stopping(1.2)
        return Reply(DRAW.encode(), "text/javascript")

    hand.site.route("/late-module.js", module)
    return hand.site.page(f"<div id=root></div>{COMING[what]}")


@pytest.mark.parametrize("what", COMING)
async def test_a_page_that_is_about_to_show_something_is_waited_for(hand: Hand, what: str) -> None:
    told = words_of(await hand.do("go_to_url", url=publish(hand, what)))
    assert "Drawn" in told


@pytest.mark.parametrize("what", COMING)
async def test_a_look_at_a_page_that_is_about_to_show_something_waits_for_it(hand: Hand, what: str) -> None:
    await hand.tab.goto(publish(hand, what))
    assert "Drawn" in words_of(await hand.do("get_state"))


async def test_what_comes_message_by_message_is_waited_for(hand: Hand) -> None:
    script = f"let n = 0; const root = document.body; source.onmessage = () => {{ if (++n == 7) {DRAW};"
    script += " if (n < 7) root.append(`Part ${n} `) }"
    source = "const source = new EventSource('/stream?type=text/event-stream&every=0.1')"
    told = words_of(await hand.do("go_to_url", url=hand.site.page(f"<script>{source}; {script}</script>")))
    assert "Drawn" in told


async def test_a_page_that_shows_nothing_within_the_limit_tells_what_still_goes_on(hand: Hand) -> None:
    page = hand.site.page(f"<div id=root></div><script>fetch('/hang').then(() => {{ {DRAW} }})</script>")
    told = words_of(await hand.do("go_to_url", url=page))
    assert "nothing shown yet" in told
    assert "GET /hang" in told


async def test_an_empty_page_without_scripts_is_told_at_once(hand: Hand) -> None:
    asked: list[str] = []

    def late(request: Request) -> Reply:
        asked.append(request.path)
        hand.site.wait_stopping(30)
        return Reply(b"")

    hand.site.route("/late", late)
    told = await hand.do("go_to_url", url=hand.site.page("<img src=/late hidden>"))
    assert not snapshot_of(told).nodes
    assert told.observation is not None
    assert not told.observation.notices


async def test_a_click_that_empties_the_page_for_another_view_is_told_with_that(hand: Hand) -> None:
    later = f"setTimeout(() => fetch('/slow?s=0.3').then(() => {{ {DRAW} }}), 900)"
    script = f"go.onclick = () => {{ root.innerHTML = ''; {later} }}"
    view = await hand.show(f"<div id=root><button id=go>Go</button></div><script>{script}</script>")
    assert "Drawn" in words_of(await hand.click(view.index("Go")))
