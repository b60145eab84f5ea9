"""The navigation of a site is told once, and its links keep their indexes on the pages that follow."""

import pytest

from mcp_browser.errors import StaleElement
from mcp_browser.rendering import render_snapshot
from tests.snapshot.hand import Hand, snapshot_of

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

GOODS = ("tea", "cups", "pots", "books", "gifts", "trays", "tins", "jars", "spoons")
CURRENT = '[{Cups}] link "Cups" current → /cups'
LINKS = "".join(f"<a href='/{name}'>{name.title()}</a>" for name in GOODS)


def page(hand: Hand, title: str, *, nav: str = LINKS, to: str = "") -> str:
    menu = f"<nav aria-label=Main>{nav}<a href='{to}'>Next</a><button>Menu</button><a href=#top>Up</a></nav>"
    return hand.site.page(f"<title>{title}</title>{menu}<main><h1>{title}</h1><button>Order</button></main>")


async def go(hand: Hand, first: str, name: str = "Next") -> tuple[dict[str, int | None], str]:
    """Open a page, click a link of it: the indexes of the page left, and what is told of the new one."""
    opened = snapshot_of(await hand.do("go_to_url", url=first))
    indexes = {node.name: node.index for node in opened.nodes}
    return indexes, render_snapshot(snapshot_of(await hand.do("click_element", index=indexes[name])))


async def test_the_navigation_of_the_next_page_is_told_as_it_was_and_its_links_keep_their_indexes(
    hand: Hand,
) -> None:
    last = hand.site.page("<title>Tea</title><h1>All the tea</h1>")
    links = LINKS.replace("/tea", last)
    second = page(hand, "Second", nav=links, to=last)
    indexes, text = await go(hand, page(hand, "First", nav=links, to=second))
    assert f'[{indexes["Main"]}] navigation "Main" as before' in text
    assert "Cups" not in text
    assert "# Second" in text
    result = await hand.click(indexes["Tea"])
    assert result.observation is not None
    assert result.observation.url == last


async def test_what_is_there_for_its_page_gets_an_index_and_a_line_of_its_own(hand: Hand) -> None:
    indexes, text = await go(hand, page(hand, "First", to=page(hand, "Second")))
    assert 'button "Menu"' in text
    assert f"[{indexes['Menu']}]" not in text
    for name in ("Menu", "Up", "Order"):
        with pytest.raises(StaleElement, match=name):
            await hand.click(indexes[name])


@pytest.mark.parametrize(
    ("nav", "said", "unsaid"),
    [
        (LINKS.replace("/cups'", "/mugs'"), "→ /mugs", ("[{Cups}]", "Pots")),
        (LINKS.replace("href='/cups'", "href='/cups' aria-current=page"), CURRENT, ("Pots",)),
        (LINKS + "<b>Sale</b>", "Pots", ("as before", "[{Pots}]")),
    ],
    ids=["a link goes elsewhere", "a state differs", "another line"],
)
async def test_what_differs_in_the_navigation_is_told(
    hand: Hand, nav: str, said: str, unsaid: tuple[str, ...]
) -> None:
    indexes, text = await go(hand, page(hand, "First", to=page(hand, "Second", nav=nav)))
    assert said.format(**indexes) in text
    assert not [words for words in unsaid if words.format(**indexes) in text]


async def test_a_look_tells_the_navigation_in_full_and_going_back_keeps_what_each_index_means(
    hand: Hand,
) -> None:
    indexes, _ = await go(hand, page(hand, "First", to=page(hand, "Second")))
    assert (await hand.look()).index("Pots") == indexes["Pots"]
    await hand.do("go_back")
    view = await hand.look()
    assert view.index("Pots") == indexes["Pots"]
    assert len({node.index for node in view.elements}) == len(view.elements)


async def test_the_navigation_of_another_site_is_told_whole(hand: Hand) -> None:
    there = page(hand, "Second").replace(hand.site.url, hand.site.other)
    indexes, text = await go(hand, page(hand, "First", to=there))
    assert "as before" not in text
    with pytest.raises(StaleElement):
        await hand.click(indexes["Pots"])
