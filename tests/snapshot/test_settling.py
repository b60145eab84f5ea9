"""A call waits for what its action started, for no more than that, and tells what was still going on."""

import anyio
import pytest

from tests.snapshot.conftest import SETTINGS
from tests.snapshot.hand import Hand, words_of

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
