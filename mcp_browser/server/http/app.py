"""The app that is served over HTTP: MCP's transports, the health checks, and the files of sessions."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError, NotFound
from mcp_browser.server.http.endpoints import (
    RETRY_MILLISECONDS,
    Endpoint,
    ResumableEvents,
    ServerSentEvents,
    StreamableHttp,
)
from mcp_browser.server.http.middleware.stack import MIB
from mcp_browser.server.principals import Principal, principal_of
from mcp_browser.server.resources.contents import SessionFiles
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.settings import Settings

SAFELY = {
    # What came from the web must run in no browser that opens it here.
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


def files_route(
    files: SessionFiles, may_read: Callable[[Principal, BrowserSession], bool], *, prefix: str = ""
) -> Route:
    """The route that sends files below `prefix`; `may_read` says whether a caller may read a session's."""

    async def send(request: Request) -> Response:
        caller = principal_of(request.scope)
        key, number = request.path_params["key"], request.path_params["number"]
        try:
            file = files.find(f"browser://{key}/files/{number}", lambda session: may_read(caller, session))
        except NotFound:
            return PlainTextResponse("There is no such file.", 404, headers=SAFELY)
        if not file.path.is_file():
            return PlainTextResponse("The file was deleted.", 410, headers=SAFELY)
        # A name that came from the web is repeated only in the header, encoded.
        return FileResponse(file.path, media_type=file.mime_type, filename=file.name, headers=SAFELY)

    return Route(f"{prefix}/files/{{key}}/{{number}}/{{name}}", send, methods=["GET"])


logger = logging.getLogger(__name__)

READY_SECONDS = 20.0  # How long a browser may take to start before the server counts as not ready


def http_app(  # noqa: PLR0913 - what the parts of a server are, by keyword
    settings: Settings,
    *,
    server: Server[Any],
    sessions: RemoteSessions,
    manager: BrowserManager,
    middleware: Sequence[Middleware] = (),
    routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """The ASGI app, behind `middleware`, the outermost first; `routes` are served beside MCP."""
    prefix = settings.server.path_prefix
    longest_body = settings.access.max_body * MIB
    idle = settings.sessions.idle_timeout
    events = ResumableEvents(idle_seconds=idle)
    streamable = StreamableHTTPSessionManager(
        server,
        event_store=events,
        retry_interval=RETRY_MILLISECONDS,
        session_idle_timeout=idle,
        max_request_body_size=longest_body,
    )

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(_request: Request) -> JSONResponse:
        status = "stopping" if sessions.stopping else await _readiness(manager)
        return JSONResponse({"status": status}, 200 if status == "ready" else 503)

    found: list[BaseRoute] = [
        Route(f"{prefix}/healthz", healthz, methods=["GET"]),
        Route(f"{prefix}/readyz", readyz, methods=["GET"]),
        files_route(SessionFiles(manager, sessions), sessions.may_read, prefix=prefix),
        *routes,
    ]
    if settings.server.http:
        found.append(Route(f"{prefix}/mcp", Endpoint(StreamableHttp(streamable, events, sessions))))
    if settings.server.sse:
        # A proxy before several servers routes messages by this path.
        messages = f"{prefix}/messages/{settings.server.replica or ''}".rstrip("/")
        older = ServerSentEvents(server, sessions, path=messages, longest_body=longest_body)
        found.append(Route(f"{prefix}/sse", Endpoint(older.stream)))
        found.append(Route(messages, Endpoint(older.messages)))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with streamable.run():
            yield

    return Starlette(routes=found, middleware=list(middleware), lifespan=lifespan)


async def _readiness(manager: BrowserManager) -> str:
    try:
        async with asyncio.timeout(READY_SECONDS):
            await manager.ready()
    except (ActionError, TimeoutError) as error:
        logger.warning("Not ready: %s", error or "the browser takes too long to start")
        return "no browser"
    return "ready"
