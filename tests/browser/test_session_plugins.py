"""What lives beside a session's pages follows it from its start to its end."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser import session_plugins
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.errors import NotFound
from mcp_browser.settings import ToolSettings
from tests.browser.conftest import Hand, another, managing, shown, until
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


class Diary(SessionPlugin):
    def __init__(self, session: BrowserSession) -> None:
        self.session = session
        self.contexts: list[BrowserContext] = []
        self.tabs: list[int] = []
        self.requests: list[str] = []
        self.gone: list[int] = []
        self.news: list[str] = []
        self.ended = False

    async def opened(self, context: BrowserContext) -> None:
        self.contexts.append(context)
        context.on("request", lambda request: self.requests.append(request.url))

    async def tab_opened(self, tab: Tab) -> None:
        self.tabs.append(tab.id)
        await send(tab.cdp, "Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")

    def tab_closed(self, tab: Tab) -> None:
        self.gone.append(tab.id)

    def notices(self) -> Iterable[str]:
        told, self.news = self.news, []
        return told

    async def closed(self) -> None:
        assert self.session.open_context is not None
        self.ended = True


class Slow(Diary):
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def opened(self, context: BrowserContext) -> None:
        self.begun.set()
        await self.go_on.wait()


class Broken(SessionPlugin):
    async def opened(self, context: BrowserContext) -> None:
        raise PlaywrightError("BrowserContext.route: something is wrong")

    async def tab_opened(self, tab: Tab) -> None:
        raise NotFound("Nothing there.")

    async def closed(self) -> None:
        raise RuntimeError("a fault in a plugin")


@pytest_asyncio.fixture(loop_scope="session")
async def with_standing(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BrowserManager]:
    """A manager whose sessions have a diary from their start."""
    monkeypatch.setitem(session_plugins.FROM_THE_START, "diaries", f"{__name__}:Diary")
    async with managing(tools=ToolSettings(tools=("core", "diaries"))) as manager:
        yield manager


@pytest_asyncio.fixture(loop_scope="session")
async def diary(hand: Hand) -> Diary:
    return await hand.session.plugin(Diary)


TIME_ZONE = "document.title = Intl.DateTimeFormat().resolvedOptions().timeZone"


async def test_a_companion_is_made_once_and_attached_to_what_is_open(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Here"))
    first = hand.tab
    diary = await hand.session.plugin(Diary)
    assert diary.contexts == [hand.session.context]
    assert diary.tabs == [first.id]
    assert await hand.session.plugin(Diary) is diary
    await hand.open(site.page("There", path="/there"))
    assert f"{site.url}/there" in diary.requests


async def test_a_companion_sees_a_new_tab_before_its_page_does(hand: Hand, diary: Diary, site: Site) -> None:
    there = site.page(f"<script>{TIME_ZONE}</script>")
    told = await hand.do(lambda _: hand.session.new_tab(there), effect="navigation")
    assert diary.tabs[-1] == hand.tab.id
    assert told.title == "Asia/Tokyo"
    # And a popup, when it is told.
    await hand.open(site.page(f"<a target=_blank href='{site.page('Popped')}'>Open</a>"))
    told = await hand.click("Open")
    assert "Popped" in shown(told)
    assert diary.tabs[-1] == hand.tab.id


async def test_a_companion_hears_of_closed_tabs_once(hand: Hand, diary: Diary, site: Site) -> None:
    await hand.do(lambda _: hand.session.new_tab(site.page("Second")), effect="navigation")
    second = hand.tab.id
    await hand.session.close_tab(second)
    await hand.do(lambda _: hand.session.new_tab(site.page("Third")), effect="navigation")
    third = hand.tab
    await third.page.close()
    await until(lambda: third.id not in hand.session.tabs)
    assert diary.gone == [second, third.id]


async def test_a_companion_whose_caller_gives_up_is_attached_all_the_same(hand: Hand) -> None:
    asking = asyncio.create_task(hand.session.plugin(Slow))
    await Slow.begun.wait()
    asking.cancel()
    await asyncio.wait({asking})
    Slow.go_on.set()
    slow = await hand.session.plugin(Slow)
    assert [one for one in hand.session.services.plugins if isinstance(one, Slow)] == [slow]
    assert slow.tabs == [hand.tab.id]


async def test_notices_of_a_companion_come_with_the_next_result(hand: Hand, diary: Diary, site: Site) -> None:
    diary.news = ["The diary is full."]
    assert "The diary is full." in (await hand.open(site.page("Here"))).notices
    assert "The diary is full." not in (await hand.look()).notices


async def test_a_companion_hears_of_the_start_and_of_the_end_of_its_browser(manager: BrowserManager) -> None:
    before = manager.pool.contexts
    async with another(manager) as hand:
        # One that fails at the end holds nothing back.
        await hand.session.plugin(Broken)
        diary = await hand.session.plugin(Diary)
        assert not diary.contexts
        await hand.session.ensure_open()
        assert diary.contexts == [hand.session.context]
        assert diary.tabs == [hand.tab.id]
    assert diary.ended
    assert manager.pool.contexts == before
    assert hand.session not in manager.sessions


async def test_a_companion_that_fails_is_told_and_the_session_goes_on(hand: Hand, site: Site) -> None:
    await hand.session.plugin(Broken)
    tab = hand.tab.id
    told = await hand.open(site.page("Here"))
    assert "Here" in shown(told)
    assert "Broken could not follow the browser: something is wrong." in told.notices
    assert f"Broken could not follow tab {tab}: Nothing there." in told.notices


async def test_a_tab_held_from_its_start_holds_no_companion(hand: Hand, diary: Diary, site: Site) -> None:
    there = site.page("<script>alert('Stop')</script>Popped")
    await hand.open(site.page(f"<a target=_blank href='{there}'>Open</a>"))
    told = await hand.click("Open")
    assert told.dialog is not None
    told = await hand.answer(True)
    assert "Popped" in shown(told)
    assert diary.tabs[-1] == hand.tab.id
    assert not any("could not" in notice for notice in told.notices)


async def test_groups_bring_their_companions(
    with_standing: BrowserManager, manager: BrowserManager, site: Site
) -> None:
    hand = Hand(await with_standing.open_session())
    await hand.open(site.page("Here", path="/first"))
    diary = await hand.session.plugin(Diary)
    assert f"{site.url}/first" in diary.requests
    async with another(manager) as other:
        await other.open(site.page("Here", path="/first"))
        assert not (await other.session.plugin(Diary)).requests


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the browser's processes")
async def test_a_companion_follows_into_another_browser(own_hand: Hand, site: Site) -> None:
    hand = own_hand
    await hand.open(site.page("Here"))
    diary = await hand.session.plugin(Diary)
    lost = hand.tab.id
    await hand.kill_browser()
    assert diary.gone == [lost]
    told = await hand.open(site.page(f"<script>{TIME_ZONE}</script>"))
    assert told.title == "Asia/Tokyo"
    assert len(set(map(id, diary.contexts))) == 2
    assert diary.tabs == [lost, hand.tab.id]
    assert await hand.session.plugin(Diary) is diary
