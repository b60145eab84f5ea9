"""A page of 100,000 elements, worked in a few calls by a client that knows only what the tools return."""

import re
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site

PARTS = 10
ROWS = 1_400
BUDGET = 6_000 * 4
"""Characters of a snapshot, without the frame around it."""


def part(number: int) -> str:
    """A part of the page: a table of orders, each with two buttons, and a button after it."""
    rows = "".join(
        f"<tr><td>Order {number}-{row}</td><td>{row * 7 % 90} kg</td><td><a href=/{number}/{row}>Open</a>"
        f"<td><button onclick=\"tell('Packed {number}-{row}')\">Pack {number}-{row}</button></td></tr>"
        for row in range(ROWS)
    )
    return (
        f"<section><h2>Store {number}</h2><table><tr><th>Order<th>Weight<th>Link<th>Do</tr>{rows}</table>"
        f"<button onclick=\"tell('Closed {number}')\">Close store {number}</button></section>"
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(site: Site) -> AsyncIterator[Browser]:
    """A client that has come to the page: its first call."""
    body = "<script>tell = words => done.textContent = words</script>" + "".join(map(part, range(PARTS)))
    async with browsing() as connected:
        told = await connected.open(
            site.page(f"<h1>Orders</h1><p id=done role=status>Nothing done</p>{body}")
        )
        if "still loading" in told:
            # A busy machine: the first call had its limit of time.
            await connected.do("wait_for", text=f"Close store {PARTS - 1}", timeout=60)
            await connected.snapshot()
            del connected.transcript[:-1]
        yield connected
        assert all(len(result.text) < BUDGET * 1.1 for _, _, result in connected.transcript)


def first_page(browser: Browser) -> str:
    """What was told of the page when it was opened."""
    return browser.transcript[0][2].text


async def test_all_parts_of_a_huge_page_are_told_at_once(browser: Browser) -> None:
    assert all(f"## Store {number}" in first_page(browser) for number in range(PARTS))
    assert len(re.findall(r"… 1,\d\d\d more rows", first_page(browser))) == PARTS


async def test_the_end_of_a_huge_page_is_acted_on_in_the_second_call(browser: Browser) -> None:
    index = re.search(rf'\[(\d+)\] button "Close store {PARTS - 1}"', first_page(browser))
    assert index

    assert f"Closed {PARTS - 1}" in await browser.do("click_element", index=int(index[1]))


async def test_a_row_among_thousands_is_searched_for_and_its_button_pressed(browser: Browser) -> None:
    found = await browser.do("find_elements", text="Pack 7-1234")
    index = re.search(r'\[(\d+)\] button "Pack 7-1234"', found)
    assert index

    assert "Packed 7-1234" in await browser.do("click_element", index=int(index[1]))


async def test_a_list_that_was_left_out_is_opened_and_read_on(browser: Browser) -> None:
    third = first_page(browser).split("## Store 2")[1]
    index = re.search(r"… [\d,]+ more rows \(get_state index=(\d+)\)", third)
    assert index

    opened = await browser.do("get_state", index=int(index[1]))
    following = await browser.do("get_state", index=int(index[1]), part=2)

    last = re.findall(r"\| Order 2-(\d+) \|", opened)[-1]
    assert re.findall(r"\| Order 2-(\d+) \|", following)[0] == str(int(last) + 1)
