"""What can be seen comes first: on the page, and in whatever scrolls within it."""

import re

import pytest

from mcp_browser.dom.models import ElementQuery
from mcp_browser.rendering import render_snapshot
from tests.snapshot.hand import Hand, View, changes_of, number, words_of

BUDGET = 400
"""Tokens: room for about eighty short lines."""

BOX = "overflow: auto; height: 200px; width: 400px"


def lines_of(word: str, count: int = 250) -> str:
    """So many lines of 20 pixels each, numbered from 0."""
    return "".join(f"<p style='margin: 0; height: 20px'>{word} {line} of all</p>" for line in range(count))


async def told(hand: Hand) -> list[str]:
    """A snapshot with little room, line by line."""
    return render_snapshot(await hand.tab.dom.snapshot(budget=BUDGET)).splitlines()


def left_out(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("…")]


def places(lines: list[str], *texts: str) -> list[int]:
    """Where these texts stand."""
    return [next(at for at, line in enumerate(lines) if text in line) for text in texts]


WAYS = {
    "a style": f"<div id=box style='{BOX}'>{{}}</div>",
    "a style sheet": f"<style>.box {{ {BOX} }}</style><div id=box class=box>{{}}</div>",
    "the body": f"<style>html {{ overflow: hidden }} body {{ {BOX} }}</style><div>{{}}</div>",
    "a modal dialog": f"<dialog id=asked><div id=box style='{BOX}'>{{}}</div></dialog>",
    "a dialog that scrolls itself": f"<dialog id=asked><style>#asked {{ {BOX} }}</style>{{}}</dialog>",
    "a box in a box": f"<div style='{BOX}; height: 400px'><div id=box style='{BOX}'>{{}}</div><hr></div>",
    **{
        f"a box in a shadow tree that is {mode}": "<x-list>{}</x-list><script>const root = "
        f"document.querySelector('x-list').attachShadow({{mode: '{mode}'}}); root.innerHTML = "
        f"'<style>div {{ {BOX} }}</style><div><slot></slot></div>'; "
        "root.querySelector('div').scrollTop = 2400</script>"
        for mode in ("open", "closed")
    },
}


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_seen_of_a_scrolled_box_comes_first_and_what_is_above_is_counted(
    hand: Hand, way: str
) -> None:
    await hand.show(
        f"<button>Before</button>{WAYS[way].replace('{}', lines_of('Line'))}<button>After</button>"
    )
    await hand.script("document.querySelector('dialog')?.showModal()")
    await hand.script("document.querySelectorAll('#box, #asked, body').forEach(it => it.scrollTop = 2400)")
    lines = await told(hand)
    above, below = left_out(lines)
    first, last = places(lines, "Line 120 of", "Line 129 of")
    assert lines.index(above) < first < last < lines.index(below)
    assert number(above) > 60
    assert re.search(r"more lines above \(\d+\.\d screens\)", above)
    assert "more lines below" in below
    assert not any("Line 0 of" in line for line in lines)


async def test_what_is_seen_of_a_box_is_told_before_what_is_near_it(hand: Hand) -> None:
    """A log with little room: its visible end, and the field below it, although much else stands before."""
    messages = lines_of("Message", 500)
    await hand.show(
        f"<ul role=log aria-label=Chat id=box style='{BOX}'>{messages}</ul><input aria-label=Say>"
    )
    await hand.script("box.scrollTop = box.scrollHeight")
    lines = await told(hand)
    assert any("Message 499 of" in line for line in lines)
    assert any("Message 490 of" in line for line in lines)
    (above,) = left_out(lines)
    assert 'log "Chat"' in lines[0]
    assert lines.index(above) == 1
    assert "textbox" in lines[-1]
    index = re.search(r"scroll index=(\d+)", above)
    assert index is not None
    await hand.do("scroll", index=int(index[1]), direction="up", pages=10)
    assert await hand.script("box.scrollTop") == 500 * 20 - 200 - 2000


async def test_what_is_scrolled_to_in_a_box_is_told(hand: Hand) -> None:
    panel = f"<div id=box tabindex=0 role=group aria-label=Panel style='{BOX}'>{lines_of('Entry', 500)}</div>"
    await hand.tab.goto(hand.site.page(panel))
    view = View(await hand.tab.dom.snapshot(budget=BUDGET))
    result = await hand.do("scroll", index=view.index("Panel"), direction="down", pages=30)
    came = [change.node.name for change in changes_of(result).changes]
    assert came == [f"Entry {line} of all" for line in range(300, 310)]


async def test_what_lies_to_the_side_is_counted_as_such(hand: Hand) -> None:
    cards = "".join(
        f"<li style='flex: 0 0 90px'><a href=/c{n}>Card {n}</a> of a shelf</li>" for n in range(300)
    )
    shelf = f"<ul id=box style='{BOX}; display: flex'>{cards}</ul>"
    await hand.show(f"<button>Before</button>{shelf}<button>After</button>")
    await hand.script("box.scrollLeft = 9000")
    snapshot = await hand.tab.dom.snapshot(budget=BUDGET, folded=False)
    before, after = (gap for gap in snapshot.gaps if gap.where)
    assert (before.where, after.where) == ("left", "right")
    assert {"Card 100", "Card 102", "Before", "After"} <= {node.name for node in snapshot.nodes}
    assert "more lines to the left (" in render_snapshot(snapshot)


@pytest.mark.slow
async def test_boxes_side_by_side_each_say_what_is_above_and_below(hand: Hand) -> None:
    boxes = "".join(f"<div class=box style='{BOX}'>{lines_of(word, 600)}</div>" for word in ("Left", "Right"))
    await hand.show(f"<div style='display: flex'>{boxes}</div>")
    await hand.script("document.querySelectorAll('.box').forEach(box => box.scrollTop = 6000)")
    snapshot = await hand.tab.dom.snapshot(budget=BUDGET)
    assert [gap.where for gap in snapshot.gaps] == ["above", "below", "above", "below"]
    assert len({gap.index for gap in snapshot.gaps}) == 2
    assert snapshot.omitted + len(snapshot.nodes) == 1200
    names = {node.name for node in snapshot.nodes}
    assert {"Left 300 of all", "Left 309 of all", "Right 300 of all", "Right 309 of all"} <= names


@pytest.mark.slow
@pytest.mark.parametrize("other", [False, True])
async def test_what_is_seen_of_a_frame_and_of_a_box_in_it_comes_first(hand: Hand, other: bool) -> None:
    scroll = "<script>box.scrollTop = 2400; scrollTo(0, 100)</script>"
    url = hand.site.page(f"<div id=box style='{BOX}'>{lines_of('Inner')}</div>{lines_of('Outer')}{scroll}")
    if other:
        url = url.replace(hand.site.url, hand.site.other)
    await hand.show(
        f"<button>Before</button><iframe src='{url}' width=600 height=300></iframe><button>After</button>"
    )
    lines = await told(hand)
    above, between, below = left_out(lines)
    first, last, then, after = places(lines, "Inner 125 of", "Inner 129 of", "Outer 0 of", '"After"')
    assert lines.index(above) < first < last < lines.index(between) < then < lines.index(below) < after
    assert ("above" in above, "below" in between, "below" in below) == (True, True, True)


async def test_what_is_not_clipped_by_a_box_is_in_view(hand: Hand) -> None:
    menu = "".join(f"<a href=/{n} style='display: block'>Choice {n}</a>" for n in range(5))
    floats = (
        f"<div style='position: fixed; left: 500px; top: 400px'>{menu}</div>"
        "<div style='position: absolute; left: 500px; top: 300px'>Placed by the page</div>"
    )
    await hand.show(f"<div id=box style='{BOX}'>{floats}{lines_of('Line', 500)}</div>")
    await hand.script("box.scrollTop = 6000")
    lines = await told(hand)
    for shown in ("Choice 0", "Choice 4", "Placed by", "Line 300 of"):
        assert any(shown in line for line in lines), shown


@pytest.mark.slow
async def test_all_parts_and_a_search_reach_what_a_box_hides(hand: Hand) -> None:
    await hand.show(f"<div id=box style='{BOX}'>{lines_of('Line')}<button>Deep</button></div>")
    await hand.script("box.scrollTop = 2400")
    first = await hand.tab.dom.snapshot(budget=BUDGET)
    seen: list[str] = []
    for part in range(1, first.parts + 1):
        seen += [node.name for node in (await hand.tab.dom.snapshot(budget=BUDGET, part=part)).nodes]
    assert len(seen) == len(set(seen)) == 251
    assert (await hand.tab.dom.find(ElementQuery(text="Line 0 of"), limit=5)).total == 1
    (button,) = (await hand.tab.dom.find(ElementQuery(role="button"), limit=5)).nodes
    await hand.click(button.index)


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("boxed", [False, True])
async def test_what_is_seen_of_a_frame_larger_than_what_shows_it_comes_first(
    hand: Hand, other: bool, boxed: bool
) -> None:
    inner = hand.site.page(lines_of("Line"))
    if other:
        inner = inner.replace(hand.site.url, hand.site.other)
    frame = f"<iframe src='{inner}' style='border: 0; width: 350px; height: 5000px'></iframe>"
    around = f"<div id=box role=region aria-label=Box style='{BOX}'>{frame}</div>" if boxed else frame
    await hand.tab.goto(hand.site.page(f"<h1>Top</h1>{around}<p>After</p>"))
    await hand.tab.page.frame_locator("iframe").get_by_text("Line 249").wait_for()
    await hand.script("(window.box ?? document.scrollingElement).scrollTop = 2400")
    lines = await told(hand)
    stands, first, last = places(lines, "iframe", "Line 120 of", "Line 127 of")
    above, below = (line for line in left_out(lines) if number(line) > 1)
    assert stands < lines.index(above) < first < last < lines.index(below)
    assert re.search(rf"more lines above \({'12.0' if boxed else '3.3'} screens\)", above)
    assert ("scroll index=" in above) == boxed
    assert not any("Line 0 of" in line for line in lines)
    where = {"index": int(above.rsplit("=", 1)[1])} if boxed else {}
    assert "Line 50 of" in words_of(await hand.do("scroll", direction="up", pages=7 if boxed else 2, **where))
