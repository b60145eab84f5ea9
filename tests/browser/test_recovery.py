"""Browsers and pages that die, and what the session makes of it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process import launch
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.cdp import send
from mcp_browser.errors import BrowserNotFound, BrowserUnavailable, NotFound
from tests.browser.conftest import Hand, browsing, managing, shown, until
from tests.browser.test_launch import program
from tests.support.family import family
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the browser's processes"),
]


async def test_a_killed_browser_is_started_again_and_losses_told(own_hand: Hand, site: Site) -> None:
    hand = own_hand
    first, second = site.page("One"), site.page("Two")
    await hand.open(first)
    await hand.do(lambda _: hand.session.new_tab(second), effect="navigation")
    ids = set(hand.session.tabs)
    await hand.kill_browser()
    told = await hand.do(lambda tab: tab.page.title(), effect="read")
    (notice,) = (notice for notice in told.notices if "started again" in notice)
    assert first in notice
    assert f"The current page was {second}" in notice
    assert not ids & set(hand.session.tabs)
    assert "Two" in shown(await hand.open(second))
    # Input that was meant for a lost page is refused once.
    await hand.kill_browser()
    with pytest.raises(NotFound, match=r"started again.*Nothing was done") as refusal:
        await hand.do(lambda tab: tab.page.mouse.click(5, 5))
    assert second in str(refusal.value)
    await hand.do(lambda tab: tab.page.mouse.click(5, 5))


async def test_a_browser_killed_during_a_call_ends_only_that(own_hand: Hand, site: Site) -> None:
    hand = own_hand
    await hand.open(site.page("Here"))
    seen = len(site.requests)
    opening = asyncio.create_task(hand.open(f"{site.url}/hang"))
    await until(lambda: "GET /hang" in site.requests[seen:])
    await hand.kill_browser()
    with pytest.raises(BrowserUnavailable):
        await opening
    assert "After" in shown(await hand.open(site.page("After")))


async def test_sessions_of_a_killed_browser_come_back_apart(own_hand: Hand, site: Site) -> None:
    hands = [own_hand, Hand(await own_hand.manager.open_session())]
    for hand in hands:
        await hand.open(site.page("Here"))
    await own_hand.kill_browser()
    for number, hand in enumerate(hands):
        assert f"Again {number}" in shown(await hand.open(site.page(f"Again {number}")))
    assert hands[0].session.context is not hands[1].session.context


@pytest.mark.fresh
async def test_a_crashed_page_is_opened_again_as_another_tab(hand: Hand, site: Site) -> None:
    url = site.page("Fragile")
    await hand.open(site.page("Crashing"))
    behind = hand.tab
    await hand.do(lambda _: hand.session.new_tab(url), effect="navigation")
    current = hand.tab
    await crash(behind)
    told = await hand.look()
    assert hand.tab is current
    assert "Fragile" in shown(told)
    assert any(f"Tab {behind.id} " in notice and "had crashed" in notice for notice in told.notices)
    await crash(current)
    told = await hand.look()
    assert any(f"Tab {current.id} ({url}) had crashed" in notice for notice in told.notices)
    assert "Fragile" in shown(told)
    assert hand.tab.id != current.id
    assert not {behind.id, current.id} & hand.session.tabs.keys()


@pytest.mark.fresh
async def test_a_page_that_crashes_during_an_action_is_told_as_crashed(hand: Hand, site: Site) -> None:
    await hand.open(site.page("Fragile"))
    with pytest.raises(BrowserUnavailable, match="crashed"):
        await hand.do(crash)
    with pytest.raises(NotFound, match=r"opened again.*Nothing was done"):
        await hand.do(lambda tab: tab.page.mouse.click(5, 5))
    assert "Fragile" in shown(await hand.look())


async def crash(tab: Tab) -> None:
    sending = asyncio.create_task(send(tab.cdp, "Page.crash"))
    await until(lambda: tab.crashed)
    sending.cancel()


async def test_a_call_given_up_leaves_the_browser_starting(own_manager: BrowserManager, site: Site) -> None:
    session = await own_manager.open_session()
    running = len(family(os.getpid()))
    starting = asyncio.create_task(session.ensure_open())
    await until(lambda: len(family(os.getpid())) > running)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert "Here" in shown(await Hand(session).open(site.page("Here")))


async def test_a_warmed_browser_is_there_for_the_first_call(own_manager: BrowserManager, site: Site) -> None:
    await own_manager.warm()
    session = await own_manager.default_session()
    assert "Here" in shown(await Hand(session).open(site.page("Here")))
    assert await own_manager.default_session() is session


async def test_without_a_browser_the_call_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/nowhere")
    for places in ("_NAMES", "_LINUX_PLACES"):
        monkeypatch.setattr(launch, places, dict.fromkeys(getattr(launch, places), ()))
    async with managing() as manager:
        await manager.warm()
        session = await manager.default_session()
        with pytest.raises(BrowserNotFound, match="Get one with: mcp-browser install"):
            await session.ensure_open()
        with pytest.raises(BrowserNotFound):
            await manager.start()


LIBRARY = "x: error while loading shared libraries: "


@pytest.mark.parametrize(
    ("of", "script", "said"),
    [
        ("browser", "echo 'No usable sandbox! Update your kernel' >&2; exit 1", "--no-sandbox"),
        ("browser", "echo 'Missing X server or $DISPLAY' >&2; exit 1", "--headless"),
        ("browser", f"echo '{LIBRARY}libnss3.so' >&2; exit 127", "install-deps"),
        ("browser", "exit 3", "could not be started"),
        ("driver", f"echo '{LIBRARY}libatomic.so.1' >&2; exit 127", r"libatomic\.so\.1.*install --with-deps"),
    ],
)
async def test_a_failed_start_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str, script: str, said: str
) -> None:
    made = program(tmp_path / of, script)
    if of == "driver":
        monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(made))
    given = {"headless": None, "executable": made} if of == "browser" else {}
    async with browsing(isolated=True, **given) as hand:
        with pytest.raises(BrowserUnavailable, match=said):
            await hand.look()


async def test_a_session_has_no_tab_until_it_is_open_and_stays_closed(own_manager: BrowserManager) -> None:
    session = await own_manager.open_session()
    for part in ("current_tab", "context"):
        with pytest.raises(BrowserUnavailable, match="not running"):
            getattr(session, part)
    await session.ensure_open()
    await session.close()
    await session.close()
    with pytest.raises(BrowserUnavailable, match="closed"):
        await session.ensure_open()


async def test_a_manager_that_closes_ends_every_process(own_manager: BrowserManager, site: Site) -> None:
    before = set(family(os.getpid()))
    hand = Hand(await own_manager.open_session())
    await hand.open(site.page("<button onclick=\"alert('open')\">Go</button>"))
    await hand.click("Go")
    started = [process for pid, process in family(os.getpid()).items() if pid not in before]
    assert len(started) > 3
    async with asyncio.timeout(30):
        await own_manager.close()
        await until(lambda: not any(process.alive for process in started))
    session = await own_manager.open_session()
    with pytest.raises(BrowserUnavailable, match="ending"):
        await session.ensure_open()
