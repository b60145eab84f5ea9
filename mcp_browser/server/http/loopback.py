"""Serves forms and the live view of a server over stdio: over HTTP, at a free port of the loopback."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.server.elicitation import Context, SecretForm, SecretForms, ViewLink
from mcp_browser.server.http.quiet_logs import quiet_logs
from mcp_browser.server.principals import SettingsOf
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

if TYPE_CHECKING:
    from mcp_browser.server.view.app import ViewApp

LOOPBACK = "127.0.0.1"


class ServerWithoutSignals(uvicorn.Server):
    """uvicorn in a process that handles its signals itself."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take none."""
        yield


@asynccontextmanager
async def _served(app: Starlette, **options: Any) -> AsyncGenerator[str]:
    quiet_logs()
    listener = socket.create_server((LOOPBACK, 0))
    server = ServerWithoutSignals(uvicorn.Config(app, timeout_graceful_shutdown=1, lifespan="off", **options))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://{LOOPBACK}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def asking_on_loopback(_request: Context, *asked: str) -> AsyncGenerator[SecretForm]:
    """Serve a form for a secret as long as its question stands."""
    from mcp_browser.server.http.secret_pages import secret_route  # noqa: PLC0415 - no view's parts

    forms = SecretForms()
    app = Starlette(routes=[secret_route(forms)])
    async with (
        _served(app, log_config=None, access_log=False, server_header=False) as base,
        forms.asking(base, *asked) as form,
    ):
        yield form


@asynccontextmanager
async def viewed_on_loopback(
    settings: Settings, manager: BrowserManager, source: Sessions | None, *, opens: bool = False
) -> AsyncGenerator["tuple[ViewLink, ViewApp]"]:
    """Serve the live view; its link is written to standard error, and opened in a browser if that `opens`.

    Without a `source` all sessions are the viewer's. The settings for clients over HTTP do not apply:
    requests come from this machine, and the link admits them.
    """
    # A form needs none of these.
    from mcp_browser.server.http.limits import Connections  # noqa: PLC0415
    from mcp_browser.server.http.live_view import LiveView  # noqa: PLC0415
    from mcp_browser.server.http.middleware import middleware_stack, uvicorn_options  # noqa: PLC0415

    access = AccessSettings()
    own = settings.model_copy(update={"access": access, "server": ServerSettings(view=True)})
    settings_of = SettingsOf(own)
    view = LiveView(
        settings_of, manager, source.may_read if source is not None else lambda _who, _session: True
    )
    connections = Connections(access, lambda _: None)
    middleware = middleware_stack(settings_of, lambda _: None, view=view)
    app = Starlette(routes=view.routes(), middleware=middleware)
    async with _served(app, **uvicorn_options(access, connections, websockets=True)) as base:
        view.print_address(base, opens=opens)
        yield view.link_to, view.app
