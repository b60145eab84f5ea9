"""A frame that has another page is a change of that frame, and of nothing else."""

import pytest

from mcp_browser.dom.models import DomChanges, DomNode, DomSnapshot
from tests.browser.conftest import until
from tests.snapshot.hand import FILLER, Hand, words_of
from tests.snapshot.replay import applied, bare
from tests.snapshot.test_changes import changes

FRAME = "<iframe name=inner title=Inner src='{}'></iframe>"


async def with_frame(hand: Hand, inner: str, *, far: bool = False) -> list[DomNode]:
    """A page with a frame between two buttons; its lines."""
    url = hand.site.page(inner)
    url = url.replace(hand.site.url, hand.site.other) if far else url
    body = f"<button>Above</button>{FRAME.format(url)}<button>Below</button>{FILLER}"
    await hand.tab.goto(hand.site.page(body))
    await hand.tab.page.wait_for_load_state()
    return bare((await hand.look()).snapshot.nodes)


async def fits(hand: Hand, lines: list[DomNode], told: DomChanges) -> bool:
    """Whether the lines and what is told of them since give a fresh snapshot."""
    return applied(lines, told) == bare((await hand.look()).snapshot.nodes)


async def until_frame(hand: Hand, url: str) -> None:
    """Wait until a frame is at an address that ends so, and has loaded."""
    page = hand.tab.page
    if not any(frame.url.endswith(url) for frame in page.frames):
        await page.wait_for_event("framenavigated", lambda frame: frame.url.endswith(url))
    (frame,) = [frame for frame in page.frames if frame.url.endswith(url)]
    await frame.wait_for_load_state()


@pytest.mark.parametrize("far", [False, True], ids=["same site", "other site"])
async def test_a_frame_that_goes_to_another_page_is_a_change_of_that_frame(hand: Hand, far: bool) -> None:
    lines = await with_frame(hand, "<p>Before</p><button>Old</button>", far=far)
    there = hand.site.page("<h1>After</h1><button>New</button><p>More</p>")
    await hand.script("url => { frames[0].location = url }", there.replace(hand.site.url, hand.site.other))
    await until_frame(hand, there.rpartition("/")[2])
    now = DomChanges(changes=tuple(await changes(hand, "0")))
    frame = next(node.index for node in lines if node.role == "iframe")
    gone = [str(change.node) for change in now.changes if change.op == "removed"]
    assert gone == [f"(2 lines that stood in [{frame}])"]
    assert [change.node.name for change in now.changes if change.op == "added"] == ["After", "New", "More"]
    assert len(now.changes) == 4
    assert await fits(hand, lines, now)


SAME = "<p>Same</p><button>Again</button>"
IN_SAME = f"<p>One</p>{FRAME.format('/status/404')}<p>Two</p>"
RELOAD = "new Promise(r => { document.querySelector('iframe').onload = r; inner.location.reload() })"
ANEW = (
    "new Promise(r => { const f = document.querySelector('iframe'), g = f.cloneNode(); g.onload = r;"
    " f.replaceWith(g); g.insertAdjacentHTML('beforebegin', '<p>Before it</p>');"
    " g.insertAdjacentHTML('afterend', '<p>After it</p>') })"
)


@pytest.mark.parametrize(
    ("inner", "script", "ops"),
    [
        (SAME, RELOAD, {"removed", "added"}),
        (IN_SAME, "document.querySelector('iframe').remove()", {"removed"}),
        (SAME, ANEW, None),
    ],
    ids=["reloads", "is taken out", "is made anew, with changes around it"],
)
async def test_changes_of_a_frame_are_told_in_their_places_and_leave_indexes_elsewhere(
    hand: Hand, inner: str, script: str, ops: set[str] | None
) -> None:
    lines = await with_frame(hand, inner)
    await hand.script(script)
    now = DomChanges(changes=tuple(await changes(hand, "0")))
    assert ops in (None, {change.op for change in now.changes})
    assert await fits(hand, lines, now)


async def test_a_frame_within_a_frame_that_reloads_is_told_alone(hand: Hand) -> None:
    innermost = hand.site.page("<p>Deep</p><button>Deeper</button>")
    lines = await with_frame(hand, f"<p>One</p>{FRAME.format(innermost)}<p>Two</p>", far=True)
    await until(lambda: any(frame.url == innermost for frame in hand.tab.page.frames))
    (deep,) = [frame for frame in hand.tab.page.frames if frame.url == innermost]
    await deep.goto(hand.site.page("<p>Other words</p>"))
    now = DomChanges(changes=tuple(await changes(hand, "0")))
    assert [change.node.name for change in now.changes if change.op == "added"] == ["Other words"]
    assert await fits(hand, lines, now)


async def test_a_frame_whose_new_page_is_long_is_told_with_the_whole_page(hand: Hand) -> None:
    await with_frame(hand, "<p>Short</p>")
    long = hand.site.page(
        "".join(f"<p>Line {number} of a long page in a frame.</p>" for number in range(500))
    )
    await hand.script("url => { frames[0].location = url }", long)
    await until_frame(hand, long)
    assert isinstance(await hand.tab.dom.changes(), DomSnapshot)


async def test_a_frame_of_another_site_that_a_click_shows_is_reported_with_its_content(hand: Hand) -> None:
    inner = hand.elsewhere("<button>Pay now</button>")
    frame = f"<iframe title=Sheet src='{inner}' style='visibility: hidden'></iframe>"
    opening = "document.querySelector('iframe').style.visibility = ''"
    # While the page is waited for, the frame is read.
    later = "<script>setTimeout(() => document.body.append('Ready'), 150)</script>"
    opened = await hand.opens(f'<button onclick="{opening}">Buy</button>{frame}{later}')
    assert "Buy" in opened
    assert "Pay now" not in opened
    assert "Pay now" in words_of(await hand.do("click_element", index='button "Buy"'))
