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


async def test_controls_of_rows_are_found_and_look_alikes_say_which_row_they_are_of(hand: Hand) -> None:
    row = "<tr><td><a href=#>User {0}</a><td>Role {0}<td><button onclick=log.push({0})>Edit</button></tr>"
    await hand.show(
        f"{LOG}<table><tr><th>Name<th>Role<th>Do</tr>{''.join(map(row.format, range(3)))}</table>"
    )
    lines = (await hand.find(role="button", text="Edit")).splitlines()
    assert [re.sub(r"\[\d+\]", "[n]", line) for line in lines] == [
        f'[n] button "Edit" in="User {n} | Role {n}"' for n in range(3)
    ]
    assert await hand.clicks(int(lines[2][1 : lines[2].index("]")])) == [2]


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


async def test_each_of_the_thousands_of_cells_of_a_spreadsheet_is_found_by_its_role(hand: Hand) -> None:
    rows = "".join(
        f"<div role=row>{''.join(f'<span role=gridcell tabindex=-1>{row}:{n}</span>' for n in range(20))}"
        "</div>"
        for row in range(60)
    )
    view = await hand.show(f"{LOG}<div role=grid aria-label=Sheet onclick='{NOTE}'>{rows}</div>")
    assert "| 7:0 | 7:1 |" in view.text
    result = await hand.do("find_elements", role="gridcell", limit=100)
    assert (result.data or {})["total"] == 1200
    cell = re.fullmatch(r'\[(\d+)\] gridcell "41:17"', (await hand.find(role="gridcell", text="41:17")))
    assert cell
    assert await hand.clicks(int(cell[1])) == ["41:17"]


async def test_cells_that_reach_over_thousands_of_columns_make_no_long_row(hand: Hand) -> None:
    cells = "<td colspan=1000>x" * 50
    view = await hand.show(f"<table><tr><th>A{f'<tr>{cells}' * 3}</table>")
    assert len(view.text) < 3000
