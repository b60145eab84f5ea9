"""Listens for clients over HTTP, and stops after the running calls."""

import errno
import json
import logging
import os
import socket
import ssl
import sys
from typing import TYPE_CHECKING

import anyio
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import Route

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import SettingsError
from mcp_browser.server.app import create_server, offers_of
from mcp_browser.server.elicitation import PATH
from mcp_browser.server.http.app import http_app
from mcp_browser.server.http.auth.middleware import asks_who_calls, is_loopback
from mcp_browser.server.http.loopback import ServerWithoutSignals
from mcp_browser.server.http.metrics import Metrics, Numbers
from mcp_browser.server.http.middleware.connection_limits import Connections
from mcp_browser.server.http.middleware.request_limits import OnRefusal
from mcp_browser.server.http.middleware.stack import BACKLOG, middleware_stack, uvicorn_options
from mcp_browser.server.http.secrets.pages import HostedForms, secret_route
from mcp_browser.server.principals import SettingsOf
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.server.sessions.tools import session_tools
from mcp_browser.settings import ServerSettings, Settings

if TYPE_CHECKING:
    from mcp_browser.server.http.view.view import LiveView

logger = logging.getLogger(__name__)

LAST_ANSWERS_SECONDS = 2  # How long the answers of the last calls may take to reach their clients


class HttpServer:
    """A server of one process: its sessions and its listener."""

    def __init__(self, settings: Settings, manager: BrowserManager, listener: socket.socket) -> None:
        """Make the app; nothing is served yet. Raises SettingsError for actions or a certificate."""
        self._settings = settings
        self._listener = listener
        settings_of = SettingsOf(settings)
        self.sessions = RemoteSessions(manager, settings_of)
        access = settings.access
        numbers = Numbers(
            sessions=lambda: len(self.sessions),
            connections=lambda: len(connections),
            restarts=lambda: manager.pool.restarts,
        )
        metrics = Metrics(numbers)
        connections = Connections(
            most=access.max_connections, seconds=access.client_timeout, on_refusal=metrics.refused
        )
        forms = HostedForms(settings)
        view = None
        if any(one.server.view for one in settings.variants):
            # Imported late: most servers have no view.
            from mcp_browser.server.http.view.view import LiveView  # noqa: PLC0415

            view = LiveView(settings, manager, self.sessions.may_read)
        self._view = view
        try:
            self._offers = offers_of(
                settings_of,
                manager,
                self.sessions,
                session_tools=session_tools(self.sessions),
                open_form=forms.asking,
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
            middleware=http_middleware(settings, metrics.refused, settings_of, view),
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


def http_middleware(
    settings: Settings,
    on_refusal: OnRefusal,
    settings_of: SettingsOf | None = None,
    view: "LiveView | None" = None,
) -> list[Middleware]:
    """The middlewares of the app; raises SettingsError."""
    prefix = settings.server.path_prefix
    everybodys = ["/healthz", "/readyz", *(["/metrics"] if settings.access.open_metrics else [])]
    endpoints = [path for path, on in (("/mcp", settings.server.http), ("/sse", settings.server.sse)) if on]
    return middleware_stack(
        settings.access,
        endpoints=[prefix + path for path in endpoints],
        open_paths=[prefix + path for path in everybodys] + (view.open_paths if view else []),
        # For people, whose browsers have no token: the address itself is the secret.
        open_folders=[prefix + PATH, *(view.open_folders if view else ())],
        before_tokens=[view.middleware] if view else (),
        listens_at=settings.server.host,
        access_of=lambda principal: (settings_of(principal) if settings_of else settings).access,
        on_refusal=on_refusal,
    )


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
    settings = all_settings.server
    base = base_address(settings, listener)
    urls: list[str] = []
    entries: dict[str, dict[str, object]] = {}
    for kind, path, on in (("http", "/mcp", settings.http), ("sse", "/sse", settings.sse)):
        if on:
            urls.append(base + path)
            entries["browser-sse" if entries else "browser"] = {"type": kind, "url": base + path}
    access = all_settings.access
    if access.tokens is not None or access.token is not None:
        for entry in entries.values():
            entry["headers"] = {"Authorization": "Bearer YOUR_TOKEN"}
    return (
        f"mcp-browser: listening at {' and '.join(urls)}\n"
        f"mcp-browser: for a client's configuration: {json.dumps({'mcpServers': entries})}\n"
    )
