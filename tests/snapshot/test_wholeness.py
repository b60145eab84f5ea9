"""What a person could operate on pages of packages is told, and nothing else is; and the measure of it."""

import pytest

from benchmarks.wholeness.first import FIRST
from benchmarks.wholeness.judge import Line, Verdict, judge
from benchmarks.wholeness.ours import Ours
from benchmarks.wholeness.run import Bench
from benchmarks.wholeness.stage import Stage
from benchmarks.wholeness.tree import Key, Tree
from tests.snapshot.hand import Hand

PAGES = (
    "Bootstrap, dialog",
    "DataTables, row hovered",
    "flatpickr, open",
    "Grid.js, row hovered",
    "jQuery UI, date picker",
    "Quill",
    "Tabulator",
)

HIDDEN = {
    "visibility": "<div style='visibility: hidden'>{}</div>",
    "display": "<div style='display: none'>{}</div>",
    "content-visibility": "<div style='content-visibility: hidden'>{}</div>",
    "details": "<details><summary>More</summary>{}</details>",
    "inert": "<div inert>{}</div>",
}
"""Ways to hide what is within."""

UNSEEN = HIDDEN | {
    "no ink": "<div style='opacity: 0'>{}</div>",
    "no height": "<div style='height: 0; overflow: hidden'>{}</div>",
    "before what scrolls": "<div style='overflow: auto'><p style='margin-left: -900px'>{}</p></div>",
}


@pytest.mark.apps
@pytest.mark.parametrize("name", PAGES)
async def test_all_that_can_be_operated_is_told_once_and_nothing_hidden(
    hand: Hand, stage: Stage, name: str
) -> None:
    (page,) = (page for page in FIRST if page.name == name)
    verdict = await Bench(stage, hand.session, hand.controller).measure(page)
    assert verdict.operable > 5
    assert not verdict.faults, "\n".join(str(fault.as_json()) for fault in verdict.faults)


async def test_the_measure_knows_what_can_be_seen(hand: Hand) -> None:
    hidden = "".join(way.format(f"<button>{why}</button>") for why, way in UNSEEN.items())
    seen = """
        <button>Plain</button>
        <div style='overflow: auto; height: 50px'><hr style='height: 900px'><button>Scrolled to</button></div>
        <div style='height: 0; overflow: clip'><button style='position: fixed'>Not clipped</button></div>
        <label><input type='checkbox' style='position: absolute; opacity: 0; width: 1px'>Drawn anew</label>
        <div style='margin-top: 3000px'><button>Far below</button></div>"""
    frames = "<iframe srcdoc='<button>Framed'></iframe><iframe hidden srcdoc='<button>Not'></iframe>"
    await hand.show(seen + hidden + frames)
    tree = await tree_of(hand)
    wanted = {"Plain", "Scrolled to", "Not clipped", "Drawn anew", "Far below", "Framed"}
    assert {node.name for node in tree.operable} == wanted


async def test_the_measure_looks_into_frames_of_other_sites(hand: Hand) -> None:
    inner = hand.elsewhere("<button>Theirs</button>")
    await hand.show(f"<button>Ours</button><iframe src='{inner}'></iframe>")
    ours = Ours(hand.session, hand.controller)
    await ours.list()
    tree = await tree_of(hand)
    verdict = await judge("frames", tree, ours.listed, {}, await ours.keys(tree))
    assert (verdict.operable, verdict.listed, verdict.faults) == (2, 2, [])


async def test_the_measure_tells_what_is_listed_though_it_is_hidden(hand: Hand) -> None:
    await hand.show("".join(f"<section><button>{way}</button></section>" for way in HIDDEN))
    ours = Ours(hand.session, hand.controller)
    await ours.list()
    await hand.script(
        """ways => document.querySelectorAll('section').forEach((section, i) => {
            const button = section.firstChild;
            section.innerHTML = ways[i].replace('{}', '<b></b>');
            section.querySelector('b').replaceWith(button);
        })""",
        [*HIDDEN.values()],
    )
    tree = await tree_of(hand)
    verdict = await judge("hidden", tree, ours.listed, {}, await ours.keys(tree))
    assert {fault.name: fault.why for fault in verdict.faults} == {way: way for way in HIDDEN}


@pytest.mark.parametrize(
    ("html", "told", "missing"),
    [
        ("<a href=#a id=x>Go</a>", Line("link", "Go"), []),
        ("<a href=#a id=x>Go</a>", None, ["link"]),
        (
            "<div role=button tabindex=0 aria-label=Save><button id=x>Save</button></div>",
            Line("button", "Save"),
            [],
        ),
        ("<div role=tab tabindex=0>Mail <button id=x>Close</button></div>", Line("button", "Close"), ["tab"]),
        ("<div role=tab tabindex=0>Mail <button id=x>×</button></div>", Line("button", "×"), ["tab"]),
        ("<div id=x>Mail <button></button></div>", Line("clickable", "Mail"), ["button"]),
        ("<div id=x role=combobox tabindex=0 aria-label=City><input></div>", Line("combobox", "City"), []),
        (
            "<li id=x><a href=#a>One</a> <a href=#b>Two</a></li>",
            Line("clickable", "One Two"),
            ["link", "link"],
        ),
        ("<label id=x><input type=checkbox>Tea</label>", Line("checkbox", "Tea"), []),
        ("<label id=x><input type=checkbox>Tea</label>", Line("clickable", "Tea"), ["checkbox"]),
        ("<div id=x><input type=range aria-label=Size></div>", Line("clickable", "Size"), ["slider"]),
    ],
)
async def test_the_measure_knows_what_stands_for_what(
    hand: Hand, html: str, told: Line | None, missing: list[str]
) -> None:
    verdict = await judged(hand, html, {} if told is None else {"x": told})
    assert [fault.role for fault in verdict.faults] == missing


async def test_the_measure_tells_what_is_listed_twice(hand: Hand) -> None:
    html = "<div role=button tabindex=0 aria-label=Save id=x><button id=y>Save</button></div>"
    verdict = await judged(hand, html, {"x": Line("button", "Save"), "y": Line("button", "Save")})
    assert [fault.kind for fault in verdict.faults] == ["twice"]


async def judged(hand: Hand, html: str, told: dict[str, Line]) -> Verdict:
    """A page, judged as if these elements, by their ids, were what is listed."""
    await hand.show(html)
    tree = await tree_of(hand)
    keys: dict[int, Key] = {}
    for index, wanted in enumerate(told):
        keys[index] = next(
            (process.number, own)
            for process in tree.processes
            for own, node in process.nodes.items()
            if ["id", wanted] in [node.get("attributes", [])[at : at + 2] for at in range(0, 20, 2)]
        )
    return await judge("page", tree, dict(enumerate(told.values())), {}, keys)


async def tree_of(hand: Hand) -> Tree:
    tree = Tree(hand.tab.page)
    await tree.read()
    return tree
