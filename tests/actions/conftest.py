"""A hand that works a session by all actions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.settings import FileSettings
from tests.actions.hand import Hand, hand_in
from tests.support.site import Site


@pytest.fixture
def upload_dir(folders: FileSettings) -> Path:
    """The folder that files may be uploaded from."""
    return folders.upload_dirs[0]


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
