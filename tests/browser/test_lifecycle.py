"""Whatever is broken off, and whenever: no context, driver or folder is left."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process import pool as pools
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.errors import ActionError, BrowserUnavailable
from mcp_browser.settings import BrowserSettings, LimitSettings, SessionSettings
from tests.browser.conftest import Hand, browsers, managing, shown, until
from tests.support.family import Process, family
from tests.support.load import load
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find what is left over"),
]


class Stepped:
    """Runs a coroutine and calls `then` when it waits for the `number`-th time; `reached` whether it did."""

    def __init__(self, work: Coroutine[Any, Any, Any], number: int, then: Callable[[], object]) -> None:
        self._work = work
        self._left = number
        self._then = then
        self.reached = False

    def __await__(self) -> Generator[Any, Any, Any]:
        resume: Callable[[Any], Any] = self._work.send
        passed_on: Any = None
        while True:
            try:
                waited_for = resume(passed_on)
            except StopIteration as end:
                return end.value
            self._left -= 1
            if not self._left:
                self.reached = True
                asyncio.get_running_loop().call_soon(self._then)
            try:
                passed_on = yield waited_for
                resume = self._work.send
            except BaseException as error:  # noqa: BLE001 - passed on
                passed_on, resume = error, self._work.throw

    async def run(self) -> Any:
        return await self


def drivers() -> list[Process]:
    return [process for process in family(os.getpid()).values() if "run-driver" in process.command]


def contexts(manager: BrowserManager) -> int:
    """How many contexts the shared browsers themselves have."""
    return sum(len(browser.contexts) for browser in manager.pool.browsers)


async def close_at(manager: BrowserManager, monkeypatch: pytest.MonkeyPatch, number: int) -> bool:
    """Close a session at the n-th wait of its opening; whether it waited so often."""
    bring_up = BrowserSession._bring_up
    steps: list[Stepped] = []

    async def stepped(session: BrowserSession) -> None:
        step = Stepped(bring_up(session), number, lambda: asyncio.ensure_future(session.close()))
        steps.append(step)
        await step.run()

    with monkeypatch.context() as patch:
        patch.setattr(BrowserSession, "_bring_up", stepped)
        session = await manager.open_session(isolated=manager.settings.browser.isolated)
        opening = asyncio.create_task(session.ensure_open())
        await asyncio.wait({opening})
        assert "closed" in str(opening.exception() or "closed")
        await session.close()
    assert session.open_context is None
    assert manager.pool.contexts == 0
    await until(lambda: contexts(manager) == 0)
    return steps[0].reached


async def every(work: Callable[[int], Coroutine[Any, Any, bool]], *, most: int = 400) -> int:
    """Do something at each wait until there are no more of them; how often it was done."""
    for number in range(1, most):
        async with asyncio.timeout(60):
            if not await work(number):
                return number
    raise AssertionError("it never ended")


async def test_a_session_closed_at_each_wait_of_its_opening_leaves_no_context(
    own_manager: BrowserManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    await own_manager.ready()
    assert await every(lambda number: close_at(own_manager, monkeypatch, number)) > 3


async def test_a_profile_closed_at_each_wait_of_its_opening_is_free_again(
    monkeypatch: pytest.MonkeyPatch, temporary: Path, tmp_path: Path
) -> None:
    settings = BrowserSettings(headless=True, profile=tmp_path / "profile")
    before = len(drivers())
    async with managing(browser=settings) as manager:
        assert await every(lambda number: close_at(manager, monkeypatch, number)) > 3
        session = await manager.default_session()
        await session.ensure_open()
    assert manager.pool.contexts == 0
    await until(lambda: len(drivers()) == before)
    await until(lambda: not list(temporary.glob("mcp-browser*")))


async def cancel_at(work: Coroutine[Any, Any, Any], number: int) -> bool:
    """Cancel work at its n-th wait; whether it waited so often."""
    step = Stepped(work, number, lambda: task.cancel())  # noqa: PLW0108 - there is none yet
    task = asyncio.create_task(step.run())
    await asyncio.wait({task})
    if not task.cancelled() and not isinstance(error := task.exception(), ActionError | None):
        raise error
    return step.reached


async def test_a_call_cancelled_at_waits_of_its_action_leaves_a_session_that_works(
    own_manager: BrowserManager, site: Site, temporary: Path
) -> None:
    hand = Hand(await own_manager.open_session())
    there = site.page("<a target=_blank href='about:blank' style='position:fixed;inset:0'>Open</a>")
    await hand.open(there)

    async def act_and_cancel(number: int) -> bool:
        reached = await cancel_at(hand.open(there), number)
        # A point, since the tab may be one that an earlier click has opened late: there is nothing in it.
        click = hand.do(lambda tab: tab.act(tab.page.mouse.click(20, 20)))
        return reached | await cancel_at(click, number)

    await every(act_and_cancel)
    assert "Open" in shown(await hand.open(there))
    assert own_manager.pool.contexts == 1
    assert not hand.session.lock.locked()
    await hand.session.close()
    assert contexts(own_manager) == own_manager.pool.contexts == 0
    await until(lambda: not list(temporary.glob("mcp-browser*")))
    await own_manager.close()


async def test_an_end_cancelled_at_waits_comes_about_all_the_same(own_manager: BrowserManager) -> None:
    async def end_and_cancel(number: int) -> bool:
        session = await own_manager.open_session()
        await cancel_at(session.ensure_open(), number)
        reached = await cancel_at(session.close(), number)
        await session.close()
        assert contexts(own_manager) == own_manager.pool.contexts == 0
        return reached

    await every(end_and_cancel)


async def test_contexts_that_cannot_be_opened_are_not_counted(own_manager: BrowserManager) -> None:
    for _ in range(3):
        session = await own_manager.open_session(
            context_options={"geolocation": {"latitude": 1000, "longitude": 0}}
        )
        with pytest.raises(BrowserUnavailable, match="latitude"):
            await session.ensure_open()
        await session.close()
    (shared,) = own_manager.pool._shared
    assert shared.contexts == own_manager.pool.contexts == 0


async def test_a_browser_that_hangs_is_replaced_and_ended(
    own_manager: BrowserManager, monkeypatch: pytest.MonkeyPatch, site: Site
) -> None:
    before = set(family(os.getpid()))
    await own_manager.ready()
    (browser,) = browsers(since=before)
    monkeypatch.setattr(pools, "OPENING_SECONDS", 3)
    os.kill(browser.pid, signal.SIGSTOP)
    try:
        hand = Hand(await own_manager.open_session())
        assert "Here" in shown(await hand.open(site.page("Here")))
        (shared,) = own_manager.pool._shared
        assert shared.contexts == own_manager.pool.contexts == 1
    finally:
        os.kill(browser.pid, signal.SIGCONT)
    await until(lambda: not browser.alive)


async def test_a_list_of_devices_asked_for_many_times_at_once_starts_one_driver() -> None:
    before = len(drivers())
    async with managing() as manager:
        sessions = [await manager.open_session() for _ in range(3)]
        lists = await asyncio.gather(*(session.devices() for session in sessions))
        assert all("iPhone 13" in devices for devices in lists)
        assert len(drivers()) == before + 1
    await until(lambda: len(drivers()) == before)


async def test_a_session_that_fails_at_its_end_keeps_no_browser_running(
    own_manager: BrowserManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {process.pid for process in drivers()}
    first, second = [await own_manager.open_session() for _ in range(2)]
    await first.ensure_open()
    await second.ensure_open()

    async def fail() -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(first.artifacts, "close", fail)
    # Not others' browsers, which start and end processes as they like.
    (driver,) = [process for process in drivers() if process.pid not in before]
    started = [*family(driver.pid).values()]
    assert len(started) > 2
    await own_manager.close()
    assert second.closed
    await until(lambda: not any(process.alive for process in started))


async def test_a_driver_killed_during_a_call_is_told_at_once(site: Site) -> None:
    before = {process.pid for process in drivers()}
    limits = LimitSettings(navigation_timeout=50, action_timeout=50, settle_timeout=50, call_timeout=55)
    async with managing(limits=limits) as manager:
        hand = Hand(await manager.open_session())
        here = site.page("Here")
        await hand.open(here)
        begun = asyncio.Event()

        async def wait(tab: Tab) -> None:
            await tab.ask(tab.page.title())
            begun.set()
            await tab.activity.change(limit=50)

        waiting = asyncio.create_task(hand.do(wait))
        await begun.wait()
        (driver,) = [process for process in drivers() if process.pid not in before]
        os.kill(driver.pid, signal.SIGKILL)
        with pytest.raises(
            BrowserUnavailable, match=r"driver ended during the action.*The next call"
        ) as told:
            async with asyncio.timeout(15):
                await waiting
        assert here in str(told.value)
        again = await hand.open(site.page("After"))
        assert "After" in shown(again)
        assert any("driver had ended" in notice for notice in again.notices)
        # One that is killed between calls is replaced, too.
        (driver,) = [process for process in drivers() if process.pid not in before]
        os.kill(driver.pid, signal.SIGKILL)
        await until(lambda: not driver.alive)
        told_later = await hand.open(site.page("Later"))
        assert "Later" in shown(told_later)
        assert any("started again" in notice for notice in told_later.notices)
    assert not [process for process in drivers() if process.pid not in before]


async def test_many_broken_off_sessions_leave_nothing(temporary: Path) -> None:
    before = len(drivers())
    chance = random.Random(7)
    turns = asyncio.Semaphore(12)

    async def live(number: int) -> None:
        async with turns:
            session = await manager.open_session()
            opening = asyncio.create_task(session.ensure_open())
            if number % 3 == 0:
                await asyncio.wait({opening}, timeout=chance.random())
                if number % 2:
                    opening.cancel()
            else:
                await opening
            await session.close()
            await asyncio.wait({opening})
            if not opening.cancelled():
                opening.exception()

    async with managing(sessions=SessionSettings(sessions_per_browser=8)) as manager:
        await asyncio.gather(*map(live, range(load(40, full=500))))
        assert manager.pool.contexts == contexts(manager) == 0
        assert manager.sessions == ()
    await until(lambda: len(drivers()) <= before)
    await until(lambda: not list(temporary.iterdir()))
