"""An index that is gone is told as gone, with what is there now; nothing else is clicked in its stead."""

from pathlib import Path

import pytest

from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError, NotFound, StaleElement
from tests.snapshot.hand import LOG, Hand

SAVE = "<button onclick=\"log.push('{0}')\">{0}</button>"


@pytest.mark.parametrize("shown", [True, False])
async def test_a_button_replaced_by_an_identical_one_is_stale_and_names_its_match(
    hand: Hand, shown: bool
) -> None:
    old = (await hand.show(f"{LOG}<div id=d>{SAVE.format('Save')}</div>")).index("Save")
    await hand.script("d.innerHTML = d.innerHTML")
    new = (await hand.look()).index("Save") if shown else None
    with pytest.raises(StaleElement) as caught:
        await hand.click(old)
    named = int(str(caught.value).split('] button "Save"')[-2].split("[")[-1])
    assert named == new if shown else named != old
    assert await hand.log() == []
    assert await hand.clicks(named) == ["Save"]


@pytest.mark.parametrize(
    ("now", "named"),
    [("Save all", r' is gone.* \[\d+\] button "Save all"'), ("Delete", " is gone")],
    ids=["nearly the same", "different"],
)
async def test_another_element_at_the_same_place_is_not_clicked(hand: Hand, now: str, named: str) -> None:
    old = (await hand.show(f"{LOG}<div id=d>{SAVE.format('Save')}</div>")).index("Save")
    await hand.script("html => { d.innerHTML = html }", SAVE.format(now))
    with pytest.raises(StaleElement, match=rf'\[{old}\] button "Save"{named}'):
        await hand.click(old)
    assert await hand.log() == []


async def test_an_element_that_moved_is_clicked_where_it_is_now(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div id=a>{SAVE.format('Save')}{SAVE.format('Delete')}</div>"
        "<div style='height:2000px'></div><div id=z></div>"
    )
    await hand.script("z.append(a.firstChild)")
    assert await hand.clicks(view.index("Save")) == ["Save"]


async def test_an_element_that_became_another_is_clicked_and_told_by_its_new_name(hand: Hand) -> None:
    view = await hand.show(f"{LOG}{SAVE.format('Follow')}")
    await hand.script("document.querySelector('button').textContent = 'Unfollow'")
    result = await hand.click(view.index("Follow"))
    assert "Unfollow" in (result.extracted_content or "")


@pytest.mark.parametrize("action", ["click_element", "hover_element", "input_text"])
async def test_a_detached_element_is_never_acted_on(hand: Hand, action: str) -> None:
    view = await hand.show(f"{LOG}<input aria-label=Name onclick=note(1)() onmouseover=note(2)()>")
    await hand.script("window.kept = document.querySelector('input'); kept.remove()")
    with pytest.raises(StaleElement):
        await hand.do(action, index=view.index("Name"), **({"text": "x"} if "text" in action else {}))
    assert await hand.log() == []
    assert await hand.script("kept.value") == ""


async def test_an_index_never_given_is_told_as_that(hand: Hand) -> None:
    await hand.show(SAVE.format("Save"))
    for index in (99_999, 0, -1):
        with pytest.raises(NotFound, match=str(index)):
            await hand.click(index)


async def test_an_index_of_another_tab_is_not_taken_for_one_of_this(hand: Hand) -> None:
    first = await hand.show(f"{LOG}{SAVE.format('First')}")
    await hand.do("open_tab", url=hand.site.page(f"{LOG}{SAVE.format('Second')}"))
    second = await hand.look()
    assert second.offers("Second")
    if first.index("First") != second.index("Second"):
        with pytest.raises(ActionError):
            await hand.click(first.index("First"))
    assert await hand.log() == []


async def test_a_frame_that_went_takes_its_indexes_with_it(hand: Hand) -> None:
    inner = hand.elsewhere(SAVE.format("Save"))
    view = await hand.show(f"<iframe id=f src='{inner}'></iframe>")
    await hand.script("f.remove()")
    with pytest.raises(StaleElement, match="Save"):
        await hand.click(view.index("Save"))


VIRTUAL = (Path(__file__).parent / "virtual.html").read_bytes()


async def test_a_virtual_list_that_reuses_its_rows_is_worked_through_without_a_wrong_click(
    hand: Hand,
) -> None:
    await hand.visit(hand.site.publish(VIRTUAL))
    wanted = ["Open row 3", "Open row 250", "Open row 990", "Open row 40"]
    for name in wanted:
        row = int(name.split()[-1])
        await hand.script(
            "row => new Promise(done => { list.scrollTop = row * 30 - 60; list.onscroll = done })", row
        )
        view = await hand.look()
        await hand.click(view.index(name))
    assert await hand.log() == wanted


async def test_a_row_of_a_virtual_list_that_was_scrolled_away_is_not_clicked_as_another(hand: Hand) -> None:
    view = await hand.visit(hand.site.publish(VIRTUAL))
    old = view.index("Open row 3")
    await hand.do("scroll", direction="down", pages=3, index=view.index("Rows"))
    # The list writes other rows into the same elements: the index goes on to mean the element.
    named = {node.index: node.name for node in (await hand.look()).elements}
    assert named.get(old) not in (None, "Open row 3")


async def test_indexes_outlive_the_collection_of_what_stands_for_their_elements(hand: Hand) -> None:
    rows = "".join(f"<p>Line {n} <button>Act {n}</button></p>" for n in range(300))
    before = {node.name: node.index for node in (await hand.show(rows)).elements}
    session = await hand.tab.page.context.new_cdp_session(hand.tab.page)
    for _ in range(2):
        await hand.script("for (let n = 0; n < 3e5; n++) window.last = [n, [n]]; window.last = null")
        await send(session, "HeapProfiler.collectGarbage")
    assert {node.name: node.index for node in (await hand.look()).elements} == before
