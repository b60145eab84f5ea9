"""Tabs: opened, followed, closed, never confused."""

import pytest

from mcp_browser.errors import BlockedUrl, NavigationError, NotFound
from tests.browser.conftest import Hand, shown, until
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


async def test_a_link_into_a_new_tab_is_followed_and_told(hand: Hand, site: Site) -> None:
    there = site.page("<h1>New one</h1>", title="New")
    await hand.open(site.page(f"<a href='{there}' target=_blank>Open</a>", title="Old"))
    old = hand.tab
    told = await hand.click("Open")
    assert told.url == there
    assert "New one" in shown(told)
    assert hand.tab.opener == old.id
    assert [(tab.title, tab.current) for tab in told.tabs] == [("Old", False), ("New", True)]
    assert any(f"new tab {hand.tab.id}" in notice for notice in told.notices)


async def test_a_popup_between_calls_is_told_but_not_followed(hand: Hand, site: Site) -> None:
    there = site.page("Late one")
    await hand.open(site.page(f"Base<script>setTimeout(() => window.open('{there}'), 1300)</script>"))
    base = hand.tab
    await until(lambda: len(hand.session.tabs) == 2)
    told = await hand.look()
    assert hand.tab is base
    assert "Base" in shown(told)
    assert any("switch_tab" in notice for notice in told.notices)


CHOSEN = "opener.document.querySelector('p').textContent = 'chosen'; window.close()"
CHOOSERS = {
    "at once": f'<button onclick="{CHOSEN}">Choose</button>',
    "by a timer": f'<button onclick="setTimeout(() => {{ {CHOSEN} }}, 150)">Choose</button>',
    "by the answer to its form": "<form action=/chosen><button>Choose</button></form>",
}


@pytest.mark.parametrize("way", CHOOSERS)
async def test_a_window_that_closes_itself_gives_way_to_its_opener(hand: Hand, site: Site, way: str) -> None:
    site.page(f"<script>{CHOSEN}</script>", path="/chosen")
    popup = site.page(CHOOSERS[way], title="Chooser")
    await hand.open(
        site.page(f"<p>nothing</p><button onclick=\"open('{popup}', 'c', 'width=400')\">Open</button>")
    )
    base = hand.tab
    await hand.click("Open")
    closing = hand.tab.id
    assert hand.tab is not base
    told = await hand.click("Choose")
    assert hand.tab is base
    assert "chosen" in shown(told)
    assert any("is the current one now" in notice for notice in told.notices)
    assert closing not in hand.session.tabs


async def test_a_slow_popup_and_what_its_timer_does_are_awaited(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<button onclick=\"window.open('/slow?s=1&text=Popped')\">Open</button>"))
    assert "Popped" in shown(await hand.click("Open"))
    later = "setTimeout(() => { document.querySelector('h1').textContent = 'Later' }, 200)"
    popup = site.page(f'<h1>Popup</h1><button onclick="{later}">Change</button>')
    await hand.open(site.page(f"<button onclick=\"open('{popup}', 'p', 'width=400')\">Open</button>"))
    await hand.click("Open")
    assert "Later" in shown(await hand.click("Change"))


async def test_after_its_tab_went_away_between_calls_input_is_refused_once(hand: Hand, site: Site) -> None:
    popup = site.page("<script>setTimeout(() => window.close(), 1300)</script>Brief")
    await hand.open(site.page(f"<button onclick=\"window.open('{popup}')\">Open</button>"))
    await hand.click("Open")
    brief = hand.tab
    await until(lambda: len(hand.session.tabs) == 1)
    clicked = False

    async def click(_: object) -> None:
        nonlocal clicked
        clicked = True

    with pytest.raises(NotFound, match=f"Tab {brief.id} .* was closed"):
        await hand.do(click)
    assert not clicked
    await hand.do(click)
    assert clicked


async def test_closing_the_current_tab_returns_to_its_opener(hand: Hand, site: Site) -> None:
    base = hand.tab
    second = await hand.session.new_tab(site.page("Second"))
    third = await hand.session.new_tab(site.page("Third"))
    await hand.session.switch_tab(second.id)
    await hand.session.close_tab(second.id)
    assert hand.tab is base
    # Numbers are never used again.
    with pytest.raises(NotFound, match=f"no tab {second.id}.*Open tabs.*{third.id}"):
        await hand.session.close_tab(second.id)
    assert (await hand.session.new_tab()).id > third.id


async def test_closing_the_last_tab_leaves_a_blank_one(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Only"))
    last = hand.tab
    told = await hand.do(lambda _: hand.session.close_tab(last.id), effect="navigation")
    assert told.url == "about:blank"
    assert hand.tab.id != last.id
    assert "Again" in shown(await hand.open(site.page("Again")))


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("notaurl", NavigationError),
        ("http://127.0.0.1:1/", NavigationError),
        ("file:///etc/passwd", BlockedUrl),
    ],
)
async def test_a_tab_that_cannot_open_is_closed_again(hand: Hand, url: str, error: type[Exception]) -> None:
    before = hand.tab
    with pytest.raises(error):
        await hand.session.new_tab(url)
    assert hand.tab is before
    assert list(hand.session.tabs) == [before.id]


async def test_changes_come_with_the_tabs_only_where_these_are_others(hand: Hand, site: Site) -> None:
    await hand.open(site.page(f"<p onclick=\"this.textContent = 'Now'\">Then</p>{'Words. ' * 90}"))
    await hand.do(lambda tab: tab.page.evaluate("open('about:blank')"))
    assert len((await hand.look()).tabs) == 2
    first = next(iter(hand.session.tabs))
    await hand.do(lambda _: hand.session.switch_tab(first))
    assert (await hand.click("Then")).tabs == ()
