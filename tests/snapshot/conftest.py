"""One browser for all tests of the snapshot, which follow one another in one tab of it."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from benchmarks.wholeness.stage import Stage
from mcp_browser.actions import load_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.settings import BrowserSettings, LimitSettings, ObservationSettings, Settings, ToolSettings
from tests.snapshot.hand import Hand
from tests.support.sharing import leave_one_tab
from tests.support.site import Site

SETTINGS = Settings(
    browser=BrowserSettings(isolated=True, headless=True),
    limits=LimitSettings(settle_timeout=3, call_timeout=60, navigation_timeout=30),
    observation=ObservationSettings(snapshot_budget=6000, changes_budget=1500),
)


@asynccontextmanager
async def opened(site: Site, limits: LimitSettings) -> AsyncGenerator[Hand]:
    """A hand at a browser of its own, with other limits."""
    settings = SETTINGS.model_copy(update={"limits": limits})
    manager = BrowserManager(settings)
    session = await manager.default_session()
    await session.ensure_open()
    yield Hand(session, Controller(load_registry(ToolSettings()), settings), site)
    await manager.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session() -> AsyncIterator[BrowserSession]:
    """One session that settles soon, so that a test that waits for that cap is short."""
    manager = BrowserManager(SETTINGS)
    yield await manager.default_session()
    await manager.close()


@pytest_asyncio.fixture(loop_scope="session")
async def hand(session: BrowserSession, site: Site, request: pytest.FixtureRequest) -> AsyncIterator[Hand]:
    """A tab: the one of the test before, or a new one."""
    await session.ensure_open()
    await leave_one_tab(session, new=request.node.get_closest_marker("fresh") is not None)
    yield Hand(session, Controller(load_registry(ToolSettings()), SETTINGS), site)


@pytest.fixture(scope="module")
def stage(site: Site) -> Iterator[Stage]:
    """Pages of packages."""
    with Stage(site) as pages:
        yield pages
