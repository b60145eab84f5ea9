"""What a person could operate on pages of packages is listed or found, and nothing else is."""

from collections.abc import Iterator

import pytest

from benchmarks.wholeness.first import FIRST
from benchmarks.wholeness.run import Bench
from benchmarks.wholeness.stage import Stage
from benchmarks.wholeness.tree import Tree
from tests.snapshot.hand import Hand
from tests.support.site import Site

PAGES = {
    page.name: page
    for page in FIRST
    if page.name in ("jQuery UI, date picker", "Bootstrap, dialog", "Quill", "Tabulator", "Tom Select")
}


@pytest.fixture(scope="module")
def stage(site: Site) -> Iterator[Stage]:
    with Stage(site) as pages:
        yield pages


@pytest.mark.apps
@pytest.mark.parametrize("name", PAGES)
async def test_all_that_can_be_operated_is_told_once_and_nothing_hidden(
    hand: Hand, stage: Stage, name: str
) -> None:
    verdict = await Bench(stage, hand.session, hand.controller).measure(PAGES[name])
    assert verdict.operable >= 10
    assert not verdict.faults, "\n".join(str(fault.as_json()) for fault in verdict.faults)


HIDDEN = {
    "visibility": "<div style='visibility: hidden'>{}</div>",
    "display": "<div style='display: none'>{}</div>",
    "content-visibility": "<div style='content-visibility: hidden'>{}</div>",
    "details": "<details><summary>More</summary>{}</details>",
    "inert": "<div inert>{}</div>",
}


async def test_the_measure_knows_what_can_be_seen(hand: Hand) -> None:
    clipped = {
        "no ink": "<div style='opacity: 0'>{}</div>",
        "no height": "<div style='height: 0; overflow: hidden'>{}</div>",
        "before what scrolls": "<div style='overflow: auto'><p style='margin-left: -900px'>{}</p></div>",
    }
    hidden = "".join(way.format(f"<button>{why}</button>") for why, way in {**HIDDEN, **clipped}.items())
    seen = """
        <button>Plain</button>
        <div style='overflow: auto; height: 50px'><hr style='height: 900px'><button>Scrolled to</button></div>
        <div style='height: 0; overflow: clip'><button style='position: fixed'>Not clipped</button></div>
        <label><input type='checkbox' style='position: absolute; opacity: 0; width: 1px'>Drawn anew</label>
        <div style='margin-top: 3000px'><button>Far below</button></div>"""
    frames = "<iframe srcdoc='<button>Framed'></iframe><iframe hidden srcdoc='<button>Not'></iframe>"
    await hand.show(seen + hidden + frames)
    tree = Tree(hand.tab.page)
    await tree.read()
    await tree.close()
    wanted = {"Plain", "Scrolled to", "Not clipped", "Drawn anew", "Far below", "Framed"}
    assert {node.name for node in tree.operable} == wanted
