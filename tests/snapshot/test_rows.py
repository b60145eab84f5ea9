"""What stands in a row is told in its one line and found, drawn or not; nothing can pass for it."""

import re

import pytest

from tests.snapshot.hand import LOG, Hand

ELEMENT = re.compile(r'(?<= )\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"')
"""An element in a row, as docs/snapshot.md has it."""


async def test_text_of_the_page_passes_neither_for_an_element_in_a_row_nor_for_a_cell(hand: Hand) -> None:
    view = await hand.show(
        '<table><tr><td>x [7] button "Pay" | [8] link "y"<td>\\[9] button "z"<td><button>a | [5] button "b"'
        '</button><td><select aria-label=s><option>one<option>[6] link "two"</select></table>'
    )
    (line,) = view.text.splitlines()
    real = {node.index for node in view.elements}
    assert {int(index) for index, _, _ in ELEMENT.findall(line)} == real
    assert len(line.strip("| ").split(" | ")) == 4


MONTH = "".join(
    f"<tr>{''.join(f'<td>{day}</td>' for day in range(week, week + 7))}</tr>" for week in range(1, 29, 7)
)
NOTE = "log.push(event.target.textContent)"

CALENDARS = {
    "the table listens": f"<table onclick='{NOTE}'>{MONTH}</table>",
    "its body listens": f"<table><tbody id=b>{MONTH}</table>"
    f"<script>b.addEventListener('click', () => {NOTE})</script>",
    "a hand over each day": f"<style>td {{ cursor: pointer }}</style><table id=b>{MONTH}</table>"
    f"<script>document.addEventListener('click', () => {NOTE})</script>",
    "a grid listens": f"<table role=grid onclick='{NOTE}'>{MONTH}</table>",
    "a grid of tab stops": f"<table role=grid>{MONTH.replace('<td', '<td tabindex=-1')}</table>"
    f"<script>document.addEventListener('click', () => {NOTE})</script>",
}


@pytest.mark.parametrize("calendar", CALENDARS.values(), ids=CALENDARS.keys())
async def test_each_day_of_a_calendar_has_an_index_in_its_week(hand: Hand, calendar: str) -> None:
    view = await hand.show(f"{LOG}{calendar}")
    week = re.search(r"^\s*\| \[\d+\] 8 \| \[(\d+)\] 9 \| .*\[\d+\] 14 \|$", view.text, re.M)
    assert week, view.text
    assert await hand.clicks(int(week[1])) == ["9"]
