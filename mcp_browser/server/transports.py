"""How clients reach the server."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

from mcp_browser.actions import load_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.server.app import create_server
from mcp_browser.settings import Settings


async def serve_stdio(settings: Settings, manager: BrowserManager) -> None:
    """Serve one client over standard input and output, until the input ends.

    All calls work in the manager's one session.
    """

    async def the_session(_ctx: ServerRequestContext[Any, Any]) -> BrowserSession:
        return await manager.default_session()

    server = create_server(Controller(load_registry(settings.tools), settings), the_session)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())
