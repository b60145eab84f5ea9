"""Who may see the live view. Browsers send no tokens of their own, so a cookie stands for what let them in.

That is the token of a client, which is checked anew with each request, or a link that works once.
"""

import secrets
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.hosts import Origin
from mcp_browser.server.http.auth.middleware import public_base
from mcp_browser.server.http.middleware.hosts import own_origins
from mcp_browser.server.principals import Principal, is_admitted, principal_of, set_principal
from mcp_browser.settings import AccessSettings

LINK = "/link/"  # Where links are, below the view

COOKIE_SECONDS = 12 * 3600.0  # How long a cookie counts after its last use
MOST_COOKIES = 1000
MOST_LINKS = 1000
SECRET_BYTES = 32

_ONLY = "mcp_browser.view.only"


@dataclass(frozen=True, slots=True)
class Link:
    """Whom a link lets in, and to which session alone, by its name in the view; "" for all of theirs."""

    principal: Principal
    session: str


@dataclass(slots=True)
class _Cookie:
    """What a cookie stands for: the `Authorization` that a client sent, or a link."""

    admits: str | Link
    used: float


class Admission:
    """The cookies and links of one server, whose view is at the path `folder`."""

    def __init__(self, settings: AccessSettings, folder: str) -> None:
        self._settings = settings
        self.folder = folder
        self._cookies: dict[str, _Cookie] = {}
        self._links: dict[str, Link] = {}

    def link(self, principal: Principal, *, session: str = "") -> str:
        """The path of a link that lets in as this principal, once: to all that they may see, or a session."""
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        token = secrets.token_urlsafe(SECRET_BYTES)
        self._links[token] = Link(principal, session)
        return f"{self.folder}{LINK}{token}"

    def follow(self, token: str) -> Link | None:
        """The link of this token, which counts no more then; None where it does not count."""
        return self._links.pop(token, None)

    def set_cookie(self, scope: Scope, admits: str | Link) -> str:
        """A `Set-Cookie` header for the sender of this `Authorization`, or the user of this link."""
        now = time.monotonic()
        fresh = {key: one for key, one in self._cookies.items() if now - one.used < COOKIE_SECONDS}
        self._cookies = dict([*fresh.items()][-MOST_COOKIES + 1 :])
        value = secrets.token_urlsafe(SECRET_BYTES)
        self._cookies[value] = _Cookie(admits, now)
        return self._header(scope, value)

    def forget(self, scope: Scope) -> str:
        """A `Set-Cookie` header that takes the request's cookie away, which counts no more."""
        self._cookies.pop(HTTPConnection(scope).cookies.get(_name(scope), ""), None)
        return f"{self._header(scope, '')}; Max-Age=0"

    def admit(self, scope: MutableMapping[str, Any]) -> None:
        """Admit a request whose cookie counts: as the link's principal, or with the token of the sign-in."""
        cookie = self._cookies.get(HTTPConnection(scope).cookies.get(_name(scope), ""))
        if cookie is None or time.monotonic() - cookie.used >= COOKIE_SECONDS:
            return
        cookie.used = time.monotonic()
        match cookie.admits:
            case Link(principal, session):
                set_principal(scope, principal)
                scope[_ONLY] = session
            case authorization:
                MutableHeaders(scope=scope)["authorization"] = authorization

    def is_own_page(self, scope: Scope) -> bool:
        """Whether a page of this server sends the request. Other schemes and ports are other pages."""
        origin = Origin.of(Headers(scope=scope).get("origin", ""))
        return origin is not None and origin in own_origins(scope, self._settings)

    def _header(self, scope: Scope, value: str) -> str:
        safe = "; Secure" if public_base(scope, self._settings).startswith(("https:", "wss:")) else ""
        return f"{_name(scope)}={value}; Path={self.folder}; HttpOnly; SameSite=Strict{safe}"


class CookieAdmission:
    """ASGI middleware before the check of tokens: admits requests to the view whose cookie counts."""

    def __init__(self, app: ASGIApp, *, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with its principal or its token where the cookie stands for one."""
        if scope["type"] != "lifespan" and f"{scope['path']}/".startswith(f"{self._admission.folder}/"):
            self._admission.admit(scope)
        await self._app(scope, receive, send)


def viewer_of(scope: Mapping[str, Any]) -> Principal | None:
    """Who views; None where nothing has let the request in."""
    return principal_of(scope) if is_admitted(scope) else None


def may_view(scope: Mapping[str, Any], session: str) -> bool:
    """Whether the link that has let the request in was made for this session, or for all."""
    return scope.get(_ONLY, "") in {"", session}


def _name(scope: Mapping[str, Any]) -> str:
    """A name for each port: browsers send the cookies of one server to all those of the machine."""
    return f"mcp-browser-view-{scope['server'][1] if scope.get('server') else 0}"
