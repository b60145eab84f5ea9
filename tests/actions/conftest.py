"""A browser for the tests of actions, and a hand that works it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.settings import BrowserSettings, FileSettings, Settings
from tests.actions.hand import Hand, hand_in
from tests.support.sharing import leave_one_tab
from tests.support.site import Site


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> FileSettings:
    """An output folder, and one that files may be uploaded from."""
    return FileSettings(
        output_dir=tmp_path_factory.mktemp("output"), upload_dirs=(tmp_path_factory.mktemp("uploads"),)
    )


@pytest.fixture
def upload_dir(folders: FileSettings) -> Path:
    """The folder that files may be uploaded from."""
    return folders.upload_dirs[0]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def manager(folders: FileSettings) -> AsyncIterator[BrowserManager]:
    """One browser for all tests of actions."""
    settings = Settings(browser=BrowserSettings(headless=True, isolated=True), files=folders)
    running = BrowserManager(settings)
    yield running
    await running.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_session(manager: BrowserManager) -> AsyncIterator[BrowserSession]:
    """The session of all tests that need no clean one."""
    opened = await manager.open_session(isolated=True)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def session(
    manager: BrowserManager, shared_session: BrowserSession, request: pytest.FixtureRequest
) -> AsyncIterator[BrowserSession]:
    """A session with one tab; with a clean context for a test that is marked `fresh`."""
    if request.node.get_closest_marker("fresh") is None:
        await shared_session.ensure_open()
        await leave_one_tab(shared_session)
        yield shared_session
        return
    opened = await manager.open_session(isolated=True)
    yield opened
    await opened.close()


@pytest.fixture
def hand(session: BrowserSession, manager: BrowserManager, site: Site) -> Hand:
    """A hand that works a session by all actions that come with the package."""
    return Hand(Controller(default_registry(), manager.settings), session, site)


@pytest_asyncio.fixture(loop_scope="session")
async def listening(manager: BrowserManager, site: Site) -> AsyncIterator[Hand]:
    """A hand whose session listens to the network from its start."""
    async with hand_in(manager, site) as hand:
        await hand.session.plugin(NetworkLog)
        yield hand
