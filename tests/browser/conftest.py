"""Sessions of a real browser, and a hand that acts in them as the controller does."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import pytest_asyncio

from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.observation import Effect, Observation
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.pipeline import Execution, Rules, locked, not_taken_over, pipeline
from mcp_browser.settings import BrowserSettings, LimitSettings, Settings
from tests.support.sharing import leave_one_tab

HEADLESS = BrowserSettings(headless=True, isolated=True)
LIMITS = LimitSettings(navigation_timeout=4, action_timeout=3, settle_timeout=4)


class Hand:
    """Acts in a session: opens it, does something, looks what became of it."""

    def __init__(self, session: BrowserSession) -> None:
        self.session = session

    @property
    def tab(self) -> Tab:
        return self.session.current_tab

    async def do(self, work: Callable[[Tab], Awaitable[Any]], *, effect: Effect = "input") -> Observation:
        """Do something in the current tab and observe."""

        async def end(call: Execution) -> ActionResult:
            await call.scope.run(work(self.tab))
            return ActionResult(observation=await self.session.observe(call.scope))

        action = replace(default_registry()["get_state"], effect=effect)
        call = Execution(action, {}, self.session, Rules(self.session.settings, exports=False))
        with anyio.fail_after(30):
            observation = (await pipeline((not_taken_over, locked), end, call.rules)(call)).observation
        assert observation is not None
        return observation

    async def open(self, url: str) -> Observation:
        return await self.do(lambda tab: tab.goto(url), effect="navigation")

    async def click(self, text: str) -> Observation:
        """Click what has this text, by a real mouse."""
        box = await self.tab.page.get_by_text(text, exact=True).first.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        return await self.do(lambda tab: tab.act(tab.page.mouse.click(x, y)))

    async def answer(self, accept: bool, text: str | None = None) -> Observation:
        return await self.do(lambda tab: tab.answer_dialog(accept, text))

    async def look(self) -> Observation:
        with anyio.fail_after(30):
            async with self.session.lock:
                await self.session.ensure_open()
                return await self.session.full_observation()


def shown(observation: Observation) -> str:
    """Everything that an observation tells, as text."""
    lines = [observation.url, observation.title, *observation.notices]
    if observation.snapshot is not None:
        lines += map(str, observation.snapshot.nodes)
    if observation.changes is not None:
        lines += [str(change.node) for change in observation.changes.changes]
    if observation.dialog is not None:
        lines.append(observation.dialog.message)
    return "\n".join(lines)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that no event tells of."""
    with anyio.fail_after(30):
        while not condition():  # noqa: ASYNC110 (it comes from another process)
            await anyio.sleep(0.01)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def manager() -> AsyncIterator[BrowserManager]:
    """One browser for all sessions that do it no harm."""
    manager = BrowserManager(Settings(browser=HEADLESS, limits=LIMITS))
    yield manager
    await manager.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_session(manager: BrowserManager) -> AsyncIterator[BrowserSession]:
    """The session of all tests that need no clean one."""
    session = await manager.open_session()
    yield session
    await session.close()


@pytest_asyncio.fixture(loop_scope="session")
async def hand(
    manager: BrowserManager, shared_session: BrowserSession, request: pytest.FixtureRequest
) -> AsyncIterator[Hand]:
    """A hand in a session with one tab; in a session of its own for a test that is marked `fresh`."""
    if request.node.get_closest_marker("fresh") is None:
        await shared_session.ensure_open()
        await leave_one_tab(shared_session)
        yield Hand(shared_session)
        return
    session = await manager.open_session()
    await session.ensure_open()
    yield Hand(session)
    await session.close()


@pytest_asyncio.fixture(loop_scope="session")
async def own_manager() -> AsyncIterator[BrowserManager]:
    """A manager of its own, for tests that kill its browser."""
    manager = BrowserManager(Settings(browser=HEADLESS, limits=LIMITS))
    yield manager
    await manager.close()


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder for this test alone; with a long path, Chromium could not make its socket in it."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)
