"""Checks the host names and the web pages that requests come by.

A web page can make a browser on this machine, or in this network, send requests here. Its name gives it away:
the `Origin` header names the page, and after DNS rebinding the `Host` header still holds its name.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.hosts import THIS_MACHINE, Origin
from mcp_browser.server.http.middleware.connection_limits import LONGEST_HEAD
from mcp_browser.server.http.middleware.request_limits import OnRefusal, Reason, refusal
from mcp_browser.settings import AccessSettings, Settings

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


def named_hosts(headers: Headers) -> list[str]:
    """The host names in a request's headers, with those of trusted proxies."""
    forwarded = [name for value in headers.getlist("x-forwarded-host") for name in value.split(",")]
    return [headers.get("host", ""), *(name.strip() for name in forwarded)]


def own_origins(scope: Scope, settings: AccessSettings) -> set[Origin | None]:
    """The origins of this server's pages: of the public address, and of the names that a request comes by.

    Their scheme is that of the connection, or the one that a trusted proxy gives.
    """
    public = Origin.of(settings.public_url or "")
    own = {public}
    for host in named_hosts(Headers(scope=scope)):
        if public is None or Origin.of(f"{public.scheme}://{host}") != public:
            own.add(Origin.of(f"{scope['scheme'].replace('ws', 'http')}://{host}"))
    return own


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
