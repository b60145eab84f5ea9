"""Calendars by the hour: their columns say which day they are, and each time in them can be acted on."""

from pathlib import Path

import pytest

from mcp_browser.dom.models import ElementQuery
from tests.snapshot.hand import Hand, View

PAGE = Path(__file__).with_name("calendar.html").read_text("utf-8")
SHAPES = ["tiled", "across", "free"]
"""A time begins its box, stands across the line at its top, or is put there without a box."""


async def week(hand: Hand, shape: str) -> View:
    return await hand.show(PAGE.replace("location.search.slice(1)", f'"{shape}"'))


def log(view: View) -> str:
    return str(view.snapshot.nodes[-1].name)


@pytest.mark.parametrize("shape", SHAPES)
async def test_each_day_is_a_part_of_the_page_with_what_is_in_it(hand: Hand, shape: str) -> None:
    view = await week(hand, shape)

    days = [node for node in view.snapshot.nodes if node.role == "group"]
    assert [day.name for day in days] == ["Mon 23", "Tue 24", "Wed 25", "Thu 26", "Fri 27"]
    note = view.one("Review")
    assert note.depth == days[2].depth + 1
    assert view.snapshot.nodes.index(note) == view.snapshot.nodes.index(days[2]) + 1
    assert len(view.of_role("cell")) == 0


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_time_of_a_day_is_found_and_clicked(hand: Hand, shape: str) -> None:
    await week(hand, shape)
    late = "17:30" if shape == "across" else "5:30 PM"

    found = await hand.do("find_elements", text=f"Thu 26 {late}")
    await hand.do("click_element", index=f'cell "Thu 26 {late}"')

    assert f'cell "Thu 26 {late}"' in str(found)
    assert log(await hand.look()) == "Review 25 11:00-12:00, New 26 17:30-18:00"


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_drag_to_a_time_means_what_is_dragged(hand: Hand, shape: str) -> None:
    await week(hand, shape)
    ten, noon, two, six = (
        ["10:00", "12:00", "14:00", "18:00"] if shape == "across" else ["10 AM", "12 PM", "2 PM", "6 PM"]
    )

    await hand.do("drag_element", index=f'cell "Mon 23 {ten}"', target=f'cell "Mon 23 {noon}"')
    review = (await hand.look()).index("Review")
    await hand.do("drag_element", index=review, target=f'cell "Fri 27 {two}"')
    view = await hand.look()
    assert log(view) == "Review 27 14:00-15:00, New 23 10:00-12:00"

    grip = next(line for line in view.elements if "Review" in str(line.states))
    await hand.do("drag_element", index=grip.index, target=f'cell "Fri 27 {six}"')
    assert log(await hand.look()) == "Review 27 14:00-18:00, New 23 10:00-12:00"


async def test_the_days_of_a_week_without_entries_are_parts_of_the_page_too(hand: Hand) -> None:
    await week(hand, "tiled")
    await hand.tab.page.evaluate("notes.length = 0; draw()")

    days = [node.name for node in (await hand.look()).snapshot.nodes if node.role == "group" and node.name]
    assert days == ["Mon 23", "Tue 24", "Wed 25", "Thu 26", "Fri 27"]


async def test_a_time_is_where_the_page_has_it_now(hand: Hand) -> None:
    await week(hand, "tiled")
    found = await hand.tab.dom.find(ElementQuery(text="Tue 24 9 AM"), limit=1)
    await hand.tab.page.evaluate("document.body.insertAdjacentHTML('afterbegin', '<h1>News</h1>')")

    await hand.do("click_element", index=found.nodes[0].index)

    assert log(await hand.look()) == "Review 25 11:00-12:00, New 24 9:00-9:30"


@pytest.mark.parametrize(
    "page",
    [
        "".join(f"<p>10:{minute:02} Somebody</p><p>10:{minute:02}</p>" for minute in range(0, 50, 5)),
        "".join(f"<p>{hour}:00</p>" for hour in range(8, 18)),
        "<p>Mon Tue Wed</p>" + "".join(f"<p>{hour} AM</p>" for hour in range(1, 9)),
    ],
    ids=["messages", "times alone", "no days"],
)
async def test_times_without_days_above_are_texts(hand: Hand, page: str) -> None:
    view = await hand.show(page)

    assert not view.of_role("group")
