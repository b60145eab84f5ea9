"""No page breaks a client: every result is within its budget, and what is left out can be reached."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from mcp_browser.errors import InvalidArguments
from mcp_browser.rendering import render_result, render_snapshot
from mcp_browser.settings import LimitSettings
from tests.snapshot.conftest import SETTINGS, opened
from tests.snapshot.hand import Hand, number
from tests.support.site import Site

BUDGET = SETTINGS.observation.snapshot_budget * 4
ROOM = 1.1
"""What the frame around the page part may add to the budget."""

ROWS = "".join(
    f"<div><b>Person {n}</b> <a href=/p/{n}>Open {n}</a> <button>Edit {n}</button></div>"
    for n in range(15_000)
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def huge(site: Site) -> AsyncIterator[Hand]:
    """A hand at a page of 60,000 elements, which takes long on a busy machine."""
    async with opened(
        site, LimitSettings(action_timeout=30, call_timeout=120, navigation_timeout=60)
    ) as hand:
        url = site.page(f"<h1>People</h1>{ROWS}<footer><button>The very last</button></footer>")
        await hand.session.new_tab(url)
        yield hand


async def state(hand: Hand, **arguments: object) -> str:
    result = await hand.do("get_state", screenshot=False, **arguments)
    return render_result(result, settings=SETTINGS)[0]


@pytest.mark.slow
async def test_a_page_of_60_000_elements_is_told_within_the_budget_with_what_is_left_out(huge: Hand) -> None:
    text = await state(huge)
    assert BUDGET * 0.7 <= len(text) <= BUDGET * ROOM
    assert '"Edit 0"' in text
    assert re.search(r"\d[\d,]* more .*below", text), text[-500:]
    # Where it is scrolled, the view is told first.
    await huge.script("document.querySelectorAll('button')[10000].scrollIntoView({block: 'center'})")
    text = await state(huge)
    assert '"Edit 10000"' in text
    assert re.search(r"\d[\d,]* more .*above", text)
    assert re.search(r"\d[\d,]* more .*below", text)


async def test_the_parts_of_a_page_follow_one_another_without_a_gap(hand: Hand) -> None:
    part = "<p>Sentence number {0} of many.</p><button>Act {0}</button>"
    await hand.tab.goto(hand.site.page("".join(part.format(n) for n in range(1500))))
    seen: list[str] = []
    number = 1
    while "Act 1499" not in seen:
        text = await state(hand, part=number)
        assert len(text) <= BUDGET * ROOM
        seen += re.findall(r'button "(Act \d+)"', text)
        number += 1
    assert list(dict.fromkeys(seen)) == [f"Act {n}" for n in range(1500)]
    assert len(seen) < 1600
    with pytest.raises(InvalidArguments, match=f"There is no part {number}"):
        await hand.do("get_state", part=number)


@pytest.mark.slow
async def test_find_elements_reaches_everything_and_counts_thousands_of_matches(huge: Hand) -> None:
    for arguments in (
        {"text": "The very last"},
        {"text": "Edit 14999"},
        {"pattern": "^Open 1499[0-9]$"},
        {"role": "button", "text": "Edit 12345"},
    ):
        assert re.search(r"\[\d+\] (button|link)", await huge.find(**arguments)), arguments
    result = await huge.do("find_elements", role="button")
    text = f"{result.extracted_content}\n{result.page_content}"
    assert len(text) <= BUDGET
    assert re.search(r"15[,.]?001", text)


@pytest.mark.slow
async def test_a_select_of_ten_thousand_options_is_one_line_and_its_options_can_be_listed(hand: Hand) -> None:
    options = "".join(f"<option>Place {n}</option>" for n in range(10_000))
    view = await hand.show(f"<select aria-label=Place>{options}</select>")
    assert [node.role for node in view.elements] == ["combobox"]
    assert not view.says("Place 150")
    assert len(await state(hand)) < 1000
    listed = await hand.do("get_options", index=view.index("Place"))
    assert "Place 10" in (listed.page_content or "")
    await hand.do("select_option", index=view.index("Place"), options=["Place 9999"])
    assert 'value="Place 9999"' in (await hand.look()).one("Place").states


async def test_the_count_of_what_is_left_out_is_true_under_a_fixed_header(hand: Hand) -> None:
    header = "<header style='position: fixed; top: 0'><button>Home</button><button>Help</button></header>"
    rows = "".join(f"<p>Line {line} of a long page, with some words to fill it.</p>" for line in range(6000))
    await hand.show(f"<p>First</p>{header}{rows}")
    await hand.script("scrollTo(0, document.body.scrollHeight * 0.8)")
    snapshot = await hand.tab.dom.snapshot()
    lines = render_snapshot(snapshot).splitlines()
    left_out = [line for line in lines if line.startswith("…")]
    assert sum(number(line) for line in left_out) + len(snapshot.nodes) == 6004
    (before,) = (line for line in left_out if "more lines above (" in line)
    assert number(before) > 4000
