"""What reading a page costs: the questions to the browser, counted, not timed."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.dom.scripts import page_script
from tests.snapshot.hand import Hand

COUNTING = Path(__file__).with_name("counting.js").read_text(encoding="utf-8")

ROW = (
    "<div class=row><span>Item {0}</span> <a href=/i/{0}>Link {0}</a> <button data-i={0}>Buy {0}</button> "
    "<input placeholder=q{0}><p>Some text of row {0}.</p></div>"
)
PAGES = {
    "rows": ROW,
    "a-table": "<table><tr><td>Cell {0}<td><a href=/t/{0}>Open {0}</a><td><input type=checkbox></table>",
    "what-can-be-clicked-without-a-role": "<div style='cursor: pointer'><b>Card {0}</b> <i>More</i></div>",
    "links-in-sentences": "<p>The user <a href=/u/{0}>User {0}</a> wrote <a href=/m/{0}>this</a> of it.</p>",
    "labels": "<label for=f{0}>Field {0}</label><input id=f{0}>"
    "<label><input type=checkbox> Agree {0}</label>",
    "deep-boxes": "<div><div><div><div><section><ul><li><em>Deep {0}</em></ul></section></div></div></div>"
    "</div>",
    "hidden-parts": "<div hidden><button>Never {0}</button></div><p style='opacity: 0'>Faint {0}</p>"
    "<b>Seen {0}</b>",
    "regions": "<nav aria-label='Menu {0}'><a href=/{0}>Go {0}</a></nav><h2>Title {0}</h2><p>Text {0}",
}

SHEET = (
    "<style>.row { display: flex } .gone { display: none } a { cursor: help } .row:hover { color: red }"
    " .note { text-indent: -999px } b::after { content: 'x' }</style>"
)

STYLE = ("getComputedStyle", "checkVisibility")
LAYOUT = (
    "getBoundingClientRect",
    "getClientRects",
    "elementFromPoint",
    "innerText",
    "offsetParent",
    "offsetWidth",
    "offsetHeight",
    "scrollLeft",
    "scrollTop",
)


class Cost(dict[str, float]):
    """How often the browser was asked for each element, by the name of what it was asked."""

    def of(self, *names: str) -> float:
        """How often it was asked for these, or in all."""
        return sum(self.get(name, 0) for name in names or self)


WISH = {"base": 0, "of": "", "whole": True, "budget": 24000, "changes": 6000, "strict": False}


async def test_a_search_and_the_look_after_it_walk_through_the_page_once(hand: Hand) -> None:
    await hand.tab.goto(hand.site.page(PAGES["rows"].format(1) * 50))
    counts = await hand.tab.page.evaluate_handle(COUNTING)
    door = await hand.tab.page.evaluate_handle(f"() => ({page_script()})('')")
    run = "async (door, call) => void await door.run(...call)"

    async def walked(*calls: tuple[str, list[Any]]) -> int:
        await counts.evaluate("counts => counts()")
        for call in calls:
            await door.evaluate(run, list(call))
        return int((await counts.evaluate("counts => counts()"))["nodeType"])

    look = await walked(("observe", [WISH]))
    search: tuple[str, list[Any]] = ("find", [{"role": "button"}, 20])
    assert await walked(search, ("observe", [{**WISH, "searched": True}])) < 1.3 * look
    assert await walked(search, ("observe", [WISH])) > 1.7 * look


async def cost(hand: Hand, html: str, *, again: bool = False) -> Cost:
    """What one reading of a page asks the browser; with `again`, one that compares with the last."""
    await hand.tab.goto(hand.site.page(html))
    page = hand.tab.page
    elements = await page.evaluate("document.querySelectorAll('*').length")
    counts = await page.evaluate_handle(COUNTING)
    door = await page.evaluate_handle(f"() => ({page_script()})('')")
    wish = WISH
    if again:
        seen = json.loads(await door.evaluate("(door, wish) => door.run('observe', [wish])", wish))
        wish = {**wish, "base": seen["number"], "of": seen["doc"], "whole": False}
    await counts.evaluate("counts => counts()")
    answer = json.loads(await door.evaluate("(door, wish) => door.run('observe', [wish])", wish))
    assert answer["count"] > 0
    asked = await counts.evaluate("counts => counts()")
    return Cost({name: count / elements for name, count in asked.items()})


@pytest.mark.slow
@pytest.mark.parametrize("sheet", ["", SHEET], ids=["bare", "styled"])
@pytest.mark.parametrize("kind", PAGES)
async def test_reading_asks_each_element_a_few_questions_however_long_the_page(
    hand: Hand, kind: str, sheet: str
) -> None:
    short = await cost(hand, sheet + "".join(PAGES[kind].format(n) for n in range(300)))
    long = await cost(hand, sheet + "".join(PAGES[kind].format(n) for n in range(1500)))
    assert long.of() <= short.of() * 1.1, "it grows faster than the page"
    assert long.of() <= 30
    assert long.of("checkVisibility") <= 2.1
    assert long.of(*STYLE) <= 2.6
    assert long.of(*LAYOUT) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("box", ["div", "section", "article", "li"])
async def test_far_off_rows_are_not_measured_one_by_one(hand: Hand, box: str) -> None:
    row = ROW.replace("div", box)
    found = await cost(hand, "".join(row.format(n) for n in range(4000)))
    assert found.of("getBoundingClientRect") <= 0.2
    assert found.of("getComputedStyle") <= 0.01
    assert found.of("checkVisibility") <= 1.01
    assert found.of() <= 14


@pytest.mark.slow
async def test_telling_changes_asks_no_more_than_reading_does(hand: Hand) -> None:
    html = "".join(ROW.format(n) for n in range(1000))
    first = await cost(hand, html)
    changes = await cost(hand, html, again=True)
    assert changes.of() <= first.of() * 1.05
