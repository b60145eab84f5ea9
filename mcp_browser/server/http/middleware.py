"""The middlewares in their order, the options of uvicorn, and the check of names.

A web page can make a browser on this machine, or in this network, send requests here. Its name gives it away:
the `Origin` header names the page, and after DNS rebinding the `Host` header still holds its name.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from mcp_browser.hosts import THIS_MACHINE, Origin
from mcp_browser.server.elicitation import PATH
from mcp_browser.server.http.auth.middleware import (
    WELL_KNOWN,
    Authentication,
    asks_who_calls,
    named_hosts,
    own_origins,
    resource_metadata,
)
from mcp_browser.server.http.auth.tokens import TokenSource
from mcp_browser.server.http.limits import (
    LONGEST_HEAD,
    BodyLimit,
    Connections,
    OnRefusal,
    Reason,
    caller_limits,
    refusal,
)
from mcp_browser.server.principals import SettingsOf
from mcp_browser.settings import AccessSettings, Settings

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


# -- names

_ONCE = ("host", "origin", "authorization", "content-length", "content-type", "mcp-session-id")
_TOKEN_KEYS = frozenset({"access_token", "token", "api_key", "apikey", "authorization", "bearer", "auth"})
_TOKEN_IN_URL = (
    "A token does not belong into an address, where logs keep it. "
    "Send the header `Authorization: Bearer …`, and replace that token by a new one."
)
_OTHER_ORIGIN = (
    "That origin may not use this server; --allowed-origins adds one. Behind a proxy that does TLS, set "
    "--public-url, or --trusted-proxies for its X-Forwarded-Proto."
)
_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>\d{1,5}))?", re.ASCII)


def split_host(value: str) -> tuple[str, int | None] | None:
    """The name and port of a `Host` header, in lower case and without the root's dot; None if it is none."""
    found = _HOST.fullmatch(value.lower())
    if found is None:
        return None
    name = found["v6"] or found["name"].removesuffix(".")
    try:
        name = str(ipaddress.ip_address(name))
    except ValueError:
        if found["v6"]:
            return None
    port = int(found["port"]) if found["port"] else None
    return (name, port) if name else None


def known_names(settings: AccessSettings, listens_at: str = "") -> Callable[[str, str | None], bool]:
    """Whether a `Host` header names this server, or the address at which the connection arrived.

    A number in the header cannot come from DNS rebinding, so the server's own is always known.
    """
    hosts = [*settings.allowed_hosts, urlsplit(settings.public_url or "").hostname or ""]
    if listens_at not in {"0.0.0.0", "::", "[::]"}:
        hosts.append(listens_at)
    bracketed = (f"[{host}]" if host.count(":") > 1 and "[" not in host else host for host in hosts)
    here = ((name, None) for name in (*THIS_MACHINE, socket.gethostname().lower()))
    known = {*here, *map(split_host, bracketed)}

    def knows(host: str, reached_at: str | None) -> bool:
        split = split_host(host)
        return split is not None and (split[0] == reached_at or split in known or (split[0], None) in known)

    return knows


def name_check(app: ASGIApp, settings: Settings, on_refusal: OnRefusal) -> ASGIApp:
    """ASGI middleware: admits requests by a known name, from a known page, without a token in the URL."""
    access = settings.access
    knows = known_names(access, settings.server.host)
    origins = frozenset(origin.lower() for origin in access.allowed_origins)

    def wrong(scope: Scope) -> tuple[Reason, int, str] | None:
        """What is wrong with a request, also what a proxy before this server could read otherwise."""
        headers = Headers(scope=scope)
        # h11 bounds only a head that has not come whole.
        length = sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope["raw_path"])
        if length > LONGEST_HEAD:
            return "request", 431, f"The address and headers are longer than {LONGEST_HEAD} bytes."
        if (twice := next((name for name in _ONCE if len(headers.getlist(name)) > 1), None)) is not None:
            return "request", 400, f"The header {twice} must not be there twice."
        if "content-length" in headers and "transfer-encoding" in headers:
            return "request", 400, "A request has a Content-Length or a Transfer-Encoding, not both."
        reached_at = scope["server"][0] if scope.get("server") else None
        if not all(knows(host, reached_at) for host in named_hosts(headers)):
            return "host", 421, "This server does not go by that name; --allowed-hosts adds one."
        for origin in headers.getlist("origin"):
            there, own = Origin.of(origin), own_origins(scope, access)
            is_own = there is not None and (there.host in THIS_MACHINE or there in own)
            if not is_own and origin.lower() not in origins:
                return "origin", 403, _OTHER_ORIGIN
        return ("token_in_url", 400, _TOKEN_IN_URL) if _has_token(scope["query_string"]) else None

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        answer = app
        if scope["type"] != "lifespan" and (found := wrong(scope)) is not None:
            reason, status, message = found
            on_refusal(reason)
            answer = refusal(status, message, headers={"Connection": "close"})
        await answer(scope, receive, send)

    return serve


def _has_token(query: bytes) -> bool:
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return True
    return any(key.lower() in _TOKEN_KEYS for key, _ in pairs)
