"""The live view of a server over stdio: at a free port of the loopback, as long as the client is there."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.server.elicitation import ViewLink
from mcp_browser.server.http.middleware.connection_limits import Connections
from mcp_browser.server.http.middleware.stack import middleware_stack, uvicorn_options
from mcp_browser.server.http.quiet_logs import quiet_logs
from mcp_browser.server.http.signals import ServerWithoutSignals
from mcp_browser.server.http.view.view import LiveView
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.view.app import ViewApp
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def viewed_on_loopback(
    settings: Settings, manager: BrowserManager, source: Sessions
) -> AsyncGenerator[tuple[ViewLink, ViewApp]]:
    """The view, served within the block; its link is told on standard error.

    Settings for clients over HTTP do not hold for it: nobody comes from elsewhere, and the link lets in.
    """
    quiet_logs()
    access = AccessSettings()
    own = settings.model_copy(update={"access": access, "server": ServerSettings(view=True)})
    view = LiveView(own, manager, source.may_read)
    connections = Connections(
        most=access.max_connections, seconds=access.client_timeout, on_refusal=lambda _: None
    )
    doors = middleware_stack(
        access,
        endpoints=(),
        open_paths=view.open_paths,
        open_folders=view.open_folders,
        doors=[view.door],
        on_refusal=lambda _: None,
    )
    listener = socket.create_server((LOOPBACK, 0))
    config = uvicorn.Config(
        Starlette(routes=view.routes(), middleware=doors),
        **uvicorn_options(access, connections, websockets=True),
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = ServerWithoutSignals(config)
    serving = asyncio.create_task(server.serve([listener]))
    view.tell_address(f"http://{LOOPBACK}:{listener.getsockname()[1]}")
    try:
        yield view.link_to, view.app
    finally:
        server.should_exit = True
        await serving
