"""Serves clients over HTTP: MCP, the health checks, and files of sessions; stops after the running calls."""

import asyncio
import errno
import json
import logging
import os
import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError, NotFound, SettingsError
from mcp_browser.server.app import create_server, offers_of
from mcp_browser.server.elicitation import SecretForms
from mcp_browser.server.http.auth.middleware import asks_who_calls, is_loopback
from mcp_browser.server.http.endpoints import (
    RETRY_MILLISECONDS,
    ResumableEvents,
    ServerSentEvents,
    StreamableHttp,
)
from mcp_browser.server.http.limits import MIB, Connections
from mcp_browser.server.http.loopback import ServerWithoutSignals
from mcp_browser.server.http.metrics import Metrics
from mcp_browser.server.http.middleware import BACKLOG, middleware_stack, uvicorn_options
from mcp_browser.server.http.secret_pages import hosted_at, secret_route
from mcp_browser.server.principals import Principal, SettingsOf, principal_of
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.server.sessions.tools import session_tools
from mcp_browser.settings import ServerSettings, Settings

logger = logging.getLogger(__name__)

READY_SECONDS = 20.0  # How long a browser may take to start before the server counts as not ready
LAST_ANSWERS_SECONDS = 2  # How long the answers of the last calls may take to reach their clients

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

    async def readyz(_request: Request) -> JSONResponse:
        if sessions.stopping:
            return JSONResponse({"status": "stopping"}, 503)
        try:
            async with asyncio.timeout(READY_SECONDS):
                await manager.ready()
        except (ActionError, TimeoutError) as error:
            logger.warning("Not ready: %s", error or "the browser takes too long to start")
            return JSONResponse({"status": "no browser"}, 503)
        return JSONResponse({"status": "ready"})

    found: list[BaseRoute] = [
        Route(f"{prefix}/healthz", JSONResponse({"status": "ok"}), methods=["GET"]),
        Route(f"{prefix}/readyz", readyz, methods=["GET"]),
        files_route(SessionFiles(manager, sessions), sessions.may_read, prefix=prefix),
        *routes,
    ]
    if settings.server.http:
        found.append(Route(f"{prefix}/mcp", StreamableHttp(streamable, events, sessions)))
    if settings.server.sse:
        # A proxy before several servers routes messages by this path.
        messages = f"{prefix}/messages/{settings.server.replica or ''}".rstrip("/")
        older = ServerSentEvents(server, sessions, path=messages, longest_body=longest_body)
        found += [Route(f"{prefix}/sse", older), Route(messages, older)]

    return Starlette(routes=found, middleware=list(middleware), lifespan=lambda _app: streamable.run())


class HttpServer:
    """A server of one process: its sessions and its listener."""

    def __init__(self, settings: Settings, manager: BrowserManager, listener: socket.socket) -> None:
        """Make the app; nothing is served yet. Raises SettingsError for actions or a certificate."""
        self._settings = settings
        self._listener = listener
        settings_of = SettingsOf(settings)
        self.sessions = RemoteSessions(manager, settings_of)
        access = settings.access
        metrics = Metrics(
            sessions=lambda: len(self.sessions),
            connections=lambda: len(connections.open),
            restarts=lambda: manager.pool.restarts,
        )
        connections = Connections(access, metrics.refused)
        forms = SecretForms(settings.server.replica)
        view = None
        if any(one.server.view for one in settings.variants):
            # Imported late: most servers have no view.
            from mcp_browser.server.http.live_view import LiveView  # noqa: PLC0415

            view = LiveView(settings_of, manager, self.sessions.may_read)
        self._view = view
        try:
            self._offers = offers_of(
                settings_of,
                manager,
                self.sessions,
                session_tools=session_tools(self.sessions),
                open_form=lambda request, question, site, task: forms.asking(
                    hosted_at(settings, request), question, site, task
                ),
                view=(view.link_to, view.app) if view is not None else None,
                on_call=metrics.called,
            )
        except ValueError as error:
            raise SettingsError(f"actions: {error}.") from error
        self._server = create_server(self._offers, self.sessions)
        app = http_app(
            settings,
            server=self._server,
            sessions=self.sessions,
            manager=manager,
            middleware=middleware_stack(settings_of, metrics.refused, view=view),
            routes=[
                Route(f"{settings.server.path_prefix}/metrics", metrics.show, methods=["GET"]),
                secret_route(forms, prefix=settings.server.path_prefix),
                *(view.routes() if view is not None else ()),
            ],
        )
        config = uvicorn.Config(
            app,
            **uvicorn_options(access, connections, websockets=view is not None),
            lifespan="on",
            timeout_graceful_shutdown=LAST_ANSWERS_SECONDS,
            ssl_certfile=settings.server.tls_cert,
            ssl_keyfile=settings.server.tls_key,
        )
        try:
            config.load()
        except (ssl.SSLError, OSError) as error:
            raise SettingsError(f"tls-cert or tls-key cannot be used: {error}.") from error
        self._uvicorn = ServerWithoutSignals(config)
        in_the_open = settings.server.tls_cert is None and not access.trusted_proxies
        if in_the_open and asks_who_calls(access) and not is_loopback(settings.server.host):
            logger.warning(
                "Tokens come over plain HTTP, where others in the network can read them: "
                "add --tls-cert and --tls-key, or name the proxy that does TLS with --trusted-proxies."
            )

    async def serve(self) -> None:
        """Serve until `stop` is called."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sessions.watch)
            sys.stderr.write(where_it_listens(self._settings, self._listener))
            sys.stderr.flush()
            if self._view is not None:
                self._view.print_address(base_address(self._settings.server, self._listener))
            await self._uvicorn.serve([self._listener])
            tasks.cancel_scope.cancel()

    async def stop(self) -> None:
        """Let running calls end, close the sessions, then the connections; `serve` returns."""
        await self.sessions.stop(self._settings.server.shutdown_timeout)
        self._server.resources.close()
        if self._view is not None:
            await self._view.app.close()
        await self._offers.close()
        self._uvicorn.should_exit = True


def listen(settings: ServerSettings) -> socket.socket:
    """A socket that listens where the settings say; raises SettingsError."""
    host, port = settings.host.strip("[]"), settings.port
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)  # pyright: ignore[reportArgumentType] - strings and numbers, whatever the family
    except OSError as error:
        # `create_server` has the address in its strerror, too.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        taken = error.errno == errno.EADDRINUSE
        hint = " Another program uses it: choose one with --port, or --port 0." if taken else ""
        raise SettingsError(f"cannot listen at {host} port {port}: {reason}.{hint}") from None
    listener.setblocking(False)
    return listener


def base_address(settings: ServerSettings, listener: socket.socket) -> str:
    """What the addresses of the server begin with, without a slash at its end."""
    scheme = "https" if settings.tls_cert is not None else "http"
    host, port = listener.getsockname()[:2]
    if host in {"0.0.0.0", "::"}:
        host = socket.gethostname()
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{settings.path_prefix}"


def where_it_listens(all_settings: Settings, listener: socket.socket) -> str:
    """Lines for the terminal: the server's addresses, and the entry for a client's configuration."""
    settings, access = all_settings.server, all_settings.access
    base = base_address(settings, listener)
    asks = access.tokens is not None or access.token is not None
    headers = {"headers": {"Authorization": "Bearer YOUR_TOKEN"}} if asks else {}
    urls: list[str] = []
    entries: dict[str, dict[str, object]] = {}
    for kind, path, on in (("http", "/mcp", settings.http), ("sse", "/sse", settings.sse)):
        if on:
            urls.append(base + path)
            entries["browser-sse" if entries else "browser"] = {"type": kind, "url": base + path, **headers}
    return (
        f"mcp-browser: listening at {' and '.join(urls)}\n"
        f"mcp-browser: for a client's configuration: {json.dumps({'mcpServers': entries})}\n"
    )
