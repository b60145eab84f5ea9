"""An index that is gone is told as gone, with what is there now; nothing else is clicked in its stead."""

import pytest

from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError, StaleElement
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


async def test_indexes_outlive_the_collection_of_what_stands_for_their_elements(hand: Hand) -> None:
    rows = "".join(f"<p>Line {n} <button>Act {n}</button></p>" for n in range(300))
    before = {node.name: node.index for node in (await hand.show(rows)).elements}
    session = await hand.tab.page.context.new_cdp_session(hand.tab.page)
    for _ in range(2):
        await hand.script("for (let n = 0; n < 3e5; n++) window.last = [n, [n]]; window.last = null")
        await send(session, "HeapProfiler.collectGarbage")
    assert {node.name: node.index for node in (await hand.look()).elements} == before
