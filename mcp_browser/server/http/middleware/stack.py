"""The middlewares in their order, and the options of uvicorn."""

from typing import TYPE_CHECKING, Any, cast

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mcp_browser.server.elicitation import PATH
from mcp_browser.server.http.auth.middleware import (
    WELL_KNOWN,
    Authentication,
    asks_who_calls,
    resource_metadata,
)
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.server.http.middleware.connection_limits import LONGEST_HEAD, Connections
from mcp_browser.server.http.middleware.hosts import name_check
from mcp_browser.server.http.middleware.request_limits import BodyLimit, OnRefusal, caller_limits
from mcp_browser.server.principals import SettingsOf
from mcp_browser.settings import AccessSettings

if TYPE_CHECKING:
    from mcp_browser.server.http.live_view import LiveView

LONGEST_MESSAGE = 128 * 1024  # Most bytes of a message that a WebSocket takes
BACKLOG = 256
_EXPOSED = ("Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate", "Retry-After")
_FORWARDED = frozenset(
    b"x-forwarded-for x-forwarded-proto x-forwarded-host x-forwarded-port forwarded".split()
)


class ProxyHeaders(ProxyHeadersMiddleware):
    """ASGI middleware: `client` and `scheme` as a trusted proxy gives them; drops the headers of others."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on as it came to the outermost proxy."""
        address = scope["client"][0] if scope.get("client") else None
        if scope["type"] != "lifespan" and address not in self.trusted_hosts:
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _FORWARDED]
        await super().__call__(scope, receive, send)


def middleware_stack(
    settings_of: SettingsOf, on_refusal: OnRefusal, *, view: "LiveView | None" = None
) -> list[Middleware]:
    """The middlewares between network and app, the outermost first; raises SettingsError for tokens."""
    access, server = settings_of.default.access, settings_of.default.server
    prefix = server.path_prefix
    endpoints = [prefix + path for path, on in (("/mcp", server.http), ("/sse", server.sse)) if on]
    everybodys = [f"{prefix}/healthz", f"{prefix}/readyz"]
    if access.open_metrics:
        everybodys.append(f"{prefix}/metrics")

    def is_open(path: str) -> bool:
        # A client without a token looks for how to get one; a form's address itself is the secret.
        known = path in everybodys or path.startswith((WELL_KNOWN, prefix + PATH))
        return known or (view is not None and view.is_open(path))

    found = [
        Middleware(cast("Any", ProxyHeaders), trusted_hosts=list(access.trusted_proxies)),
        Middleware(name_check, settings=settings_of.default, on_refusal=on_refusal),
    ]
    if access.allowed_origins:
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=access.allowed_origins,
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=("*",),
                expose_headers=_EXPOSED,
            )
        )
    found.append(Middleware(resource_metadata, settings=access, endpoints=endpoints))
    if view is not None:
        found.append(Middleware(view.admission.middleware))
    if asks_who_calls(access):
        tokens = TokenSource(access)
        found.append(
            Middleware(Authentication, settings=access, tokens=tokens, is_open=is_open, on_refusal=on_refusal)
        )
    return [
        *found,
        Middleware(caller_limits, settings_of=settings_of, on_refusal=on_refusal),
        Middleware(BodyLimit, settings=access, on_refusal=on_refusal),
    ]


def uvicorn_options(
    settings: AccessSettings, connections: Connections, *, websockets: bool = False
) -> dict[str, Any]:
    """The options of `uvicorn.Config` that the middlewares rely on."""
    return {
        "http": connections.protocol(),
        "ws": "websockets-sansio" if websockets else "none",
        "ws_max_size": LONGEST_MESSAGE,
        # Pictures are compressed already.
        "ws_per_message_deflate": False,
        # How many connections are taken at once: as often it is tried where no more files can be opened.
        "backlog": BACKLOG,
        "h11_max_incomplete_event_size": LONGEST_HEAD,
        "timeout_keep_alive": settings.client_timeout,
        "access_log": False,
        "server_header": False,
        # Which proxies count is decided by our own middleware.
        "proxy_headers": False,
        # Logging is set up already; uvicorn would set it up anew.
        "log_config": None,
    }
