"""The middlewares in their order, and the options of uvicorn."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mcp_browser.server.http.auth.middleware import (
    WELL_KNOWN,
    Authentication,
    ResourceMetadata,
    asks_who_calls,
)
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.server.http.middleware.connection_limits import LONGEST_HEAD, Connections
from mcp_browser.server.http.middleware.hosts import NameCheck
from mcp_browser.server.http.middleware.request_limits import BodyLimit, OnRefusal, OpenLimit, RateLimit
from mcp_browser.server.principals import Principal
from mcp_browser.settings import AccessSettings

MIB = 1024 * 1024
LONGEST_MESSAGE = 128 * 1024  # Most bytes of a message that a WebSocket takes
BACKLOG = 256
_EXPOSED = ("Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate", "Retry-After")
_FORWARDED = frozenset(
    name.encode()
    for name in "x-forwarded-for x-forwarded-proto x-forwarded-host x-forwarded-port forwarded".split()
)


class ProxyHeaders:
    """ASGI middleware: `client` and `scheme` as a trusted proxy gives them; drops the headers of others."""

    def __init__(self, app: ASGIApp, *, trusted: tuple[str, ...]) -> None:
        self._app = app
        self._believing = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as it came to the outermost proxy."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else None
        if address in self._believing.trusted_hosts:
            await self._believing(cast("Any", scope), cast("Any", receive), cast("Any", send))
            return
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _FORWARDED]
        await self._app(scope, receive, send)


def middleware_stack(  # noqa: PLR0913 - options, all by keyword
    settings: AccessSettings,
    *,
    endpoints: Sequence[str],
    open_paths: Sequence[str],
    open_folders: Sequence[str] = (),
    listens_at: str = "",
    access_of: Callable[[Principal], AccessSettings] | None = None,
    before_tokens: Sequence[Middleware] = (),
    on_refusal: OnRefusal,
) -> list[Middleware]:
    """The middlewares between the network and the app, the outermost first; raises SettingsError for tokens.

    `listens_at` is one more name of the server. `open_paths` need no token, nor do paths that begin with one
    of the `open_folders`. `access_of` gives the settings of a principal, where they differ. `before_tokens`
    admit by other means.
    """
    everybodys = frozenset(open_paths)

    def is_open(path: str) -> bool:
        # A client without a token looks there for how to get one.
        return path in everybodys or path.startswith((WELL_KNOWN, *open_folders))

    found = [
        Middleware(ProxyHeaders, trusted=settings.trusted_proxies),
        Middleware(NameCheck, settings=settings, listens_at=listens_at, on_refusal=on_refusal),
    ]
    if settings.allowed_origins:
        found.append(
            Middleware(
                CORSMiddleware,
                allow_origins=settings.allowed_origins,
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=("*",),
                expose_headers=_EXPOSED,
            )
        )
    found.append(Middleware(ResourceMetadata, settings=settings, endpoints=tuple(endpoints)))
    found += before_tokens
    if asks_who_calls(settings):
        found.append(
            Middleware(
                Authentication,
                settings=settings,
                tokens=TokenSource(settings),
                is_open=is_open,
                on_refusal=on_refusal,
            )
        )

    def own(principal: Principal) -> AccessSettings:
        return access_of(principal) if access_of is not None else settings

    def most_open(principal: Principal) -> int:
        limits = own(principal)
        return limits.max_connections_per_client or max(1, limits.max_connections // 2)

    found.append(Middleware(OpenLimit, most=most_open, on_refusal=on_refusal))
    found.append(
        Middleware(RateLimit, rate=lambda principal: own(principal).rate_limit, on_refusal=on_refusal)
    )
    found.append(
        Middleware(
            BodyLimit,
            longest=settings.max_body * MIB,
            seconds=settings.client_timeout,
            on_refusal=on_refusal,
        )
    )
    return found


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
