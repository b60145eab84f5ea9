"""What all that HTTP serves shares; forms and the live view of a server over stdio, on the loopback."""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.server.elicitation import Context, SecretForm, SecretForms, ViewLink
from mcp_browser.server.principals import SettingsOf
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import AccessSettings, ServerSettings, Settings

if TYPE_CHECKING:
    from mcp_browser.server.view.app import ViewApp

LOOPBACK = "127.0.0.1"

_TALKATIVE = ("mcp", "sse_starlette", "httpx2", "httpcore2", "asyncio")
"""Loggers that write messages, headers or session identifiers at the levels below WARNING."""

FLOOD_SECONDS = 60.0


def _without_content(record: logging.LogRecord) -> bool:
    """Leave out the traceback of a message that is not understood: it quotes the message."""
    if record.exc_info is not None and type(record.exc_info[1]).__name__ == "ValidationError":
        record.exc_info = record.exc_text = None
    return True


class _WithoutFloods(logging.Filter):
    """Logs once a minute, in one line, that no more files can be opened; asyncio logs each attempt."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_at = -FLOOD_SECONDS

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.getMessage().startswith("socket.accept() out of system resource"):
            return True
        if time.monotonic() - self._logged_at < FLOOD_SECONDS:
            return False
        self._logged_at = time.monotonic()
        record.msg, record.args = "No connection can be taken: this process has too many files open.", ()
        record.exc_info = record.exc_text = None
        return True


_FLOODS = _WithoutFloods()


def quiet_logs() -> None:
    """Keep tokens, cookies, arguments and session identifiers out of the logs, whatever the log level is."""
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    # Anybody can fill a log with one line for each wrong request; those of the SDK name sessions besides.
    for name in ("mcp.server.sse", "mcp.server.streamable_http", "mcp.server.streamable_http_manager"):
        logging.getLogger(name).addFilter(_without_content)
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("asyncio").addFilter(_FLOODS)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.access").disabled = True


class ServerWithoutSignals(uvicorn.Server):
    """uvicorn in a process that handles its signals itself."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take none."""
        yield


@asynccontextmanager
async def _served(app: Starlette, **options: Any) -> AsyncGenerator[str]:
    """Serve an app within the block; gives its address."""
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
async def asking_on_loopback(request: Context, *asked: str) -> AsyncGenerator[SecretForm]:
    """Serve a form for a secret as long as its question stands."""
    from mcp_browser.server.http.secrets.pages import asking, secret_route  # noqa: PLC0415 - no view's parts

    forms = SecretForms()
    app = Starlette(routes=[secret_route(forms)])
    async with (
        _served(app, log_config=None, access_log=False, server_header=False) as base,
        asking(forms, lambda _: base, request, *asked) as form,
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
    from mcp_browser.server.http.middleware.connection_limits import Connections  # noqa: PLC0415
    from mcp_browser.server.http.middleware.stack import middleware_stack, uvicorn_options  # noqa: PLC0415
    from mcp_browser.server.http.view.view import LiveView  # noqa: PLC0415

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
