"""A server in this process, with a real browser behind it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client
from mcp.server.lowlevel import Server

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions.sessions import Sessions
from tests.support.client import Era, held
from tests.support.servers import server_of

custom = Registry()


@custom.action("Fail in a way that nobody foresaw.", effect="read")
def stumble() -> str:
    """Raise what is not meant for callers."""
    raise KeyError("token=hunter2")


@custom.action("Only for one site.", domains=["*.example.com"])
def only_there() -> str:
    """Do nothing."""
    return "done"


@pytest.fixture(scope="session")
def registry() -> Registry:
    """All actions of the package, and two of a user."""
    registry = default_registry()
    registry.include(custom)
    return registry


@pytest_asyncio.fixture(loop_scope="session")
async def server(registry: Registry, manager: BrowserManager) -> AsyncIterator[Server[Any]]:
    """A server with a clean browser session."""
    session = manager.default = await manager.open_session(isolated=True)
    source = Sessions(manager)
    controller = Controller(registry, manager.settings)
    yield server_of(controller, source, resources=[SessionFiles(manager, source)])
    await session.close()


@pytest.fixture
def era() -> Era:
    """The era of the client; tests of both name their own."""
    return "auto"


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Server[Any], era: Era) -> AsyncIterator[Client]:
    """A client of the module's server."""
    async with held(Client(server, mode=era)) as client:
        yield client
