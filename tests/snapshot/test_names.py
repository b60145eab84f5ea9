"""Roles and names are those of the standards, and agree with Chromium's own accessibility tree."""

import re
from pathlib import Path

import pytest

from tests.snapshot.hand import Hand
from tests.snapshot.oracle import pairs, same_words
from tests.support.in_page import in_page

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "naming.html"

OTHERWISE = {
    "Hidden label": "accname 2A uses a hidden label of a native control; Chromium gives no name at all",
    "Empty value": "HTML-AAM goes on to the title where value is empty; Chromium stops at the empty value",
    "Total 5": "accname 2F takes the text of any descendant; Chromium leaves out <output>, a live region",
    "see x = 1": "accname 2F takes the text of any descendant; Chromium leaves out <math>",
    "Clip": "Chromium reports the error of a player without a source in place of its name",
}
"""Names by which we differ from Chromium on the page of cases, and why."""


async def cases(hand: Hand) -> list[tuple[str, str, str, str]]:
    """Role and name that the standard gives, and ours, of every case on the page.

    The cells of a grid are told in the line of their row, by their indexes.
    """
    view = await hand.visit(hand.site.publish(CASES.read_bytes()))
    found: list[tuple[str, str, str, str]] = []
    rows = [node for node in view.snapshot.nodes if node.kind == "row"]
    cells = [int(index) for row in rows for index in re.findall(r"\[(\d+)\]", row.name)]
    told = {node.index: node for node in view.elements}
    for index in dict.fromkeys([*told, *cells]):
        assert index is not None
        node = told.get(index) or await hand.tab.dom.describe(index)
        wanted = "element => [element.dataset.role ?? null, element.dataset.name]"
        role, name = await in_page(hand.tab.dom, index, wanted)
        if role is not None:
            found.append((role, name, node.role, node.name))
    return found


async def test_every_case_has_the_role_and_name_that_the_standards_give(hand: Hand) -> None:
    found = await cases(hand)
    wrong = [case for case in found if case[0] != case[2] or not same_words(case[3], case[1])]
    assert not wrong, "\n".join(map(str, wrong))
    assert len(found) == CASES.read_text(encoding="utf-8").count(" data-role=")


async def test_the_cases_agree_with_chromium(hand: Hand) -> None:
    await hand.visit(hand.site.publish(CASES.read_bytes()))
    found = await pairs(hand)
    assert len(found) >= 160
    differing = [pair for pair in found if not pair.agrees]
    assert len(differing) <= len(found) * 0.02 + len(OTHERWISE)
    unexplained = [pair for pair in differing if pair.ours.name not in OTHERWISE]
    assert not unexplained, "\n".join(map(str, unexplained))
    assert {pair.ours.name for pair in differing} == set(OTHERWISE)
