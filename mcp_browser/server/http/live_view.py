"""The live view of one server, over HTTP or beside stdio, and who may see it.

Browsers send no tokens of their own, so a cookie stands for what let them in: the token of a client, which is
checked anew with each request, or a link that works once.
"""

import math
import secrets
import struct
import sys
import time
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_browser.audit import name_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import has_display
from mcp_browser.browser.session import BrowserSession
from mcp_browser.hosts import Origin
from mcp_browser.server.elicitation import Context
from mcp_browser.server.http.auth.middleware import (
    STILL_ADMITTED,
    asks_who_calls,
    own_origins,
    public_base,
)
from mcp_browser.server.http.limits import refusal
from mcp_browser.server.principals import (
    ANONYMOUS,
    Principal,
    SettingsOf,
    is_admitted,
    principal_of,
    principal_of_request,
    set_principal,
)
from mcp_browser.server.view.app import PAGE, ViewApp
from mcp_browser.server.view.journal import Journal
from mcp_browser.server.view.viewer import Viewer
from mcp_browser.settings import AccessSettings

LINK = "/link/"  # Where links are, below the view
COOKIE_SECONDS = 12 * 3600.0  # How long a cookie counts after its last use
MOST_COOKIES = 1000
MOST_LINKS = 1000
SECRET_BYTES = 32
ADMISSION_SECONDS = 10.0  # How often it is checked whether a viewer's token still counts
NOT_ADMITTED = 4401  # The code of a socket whose viewer's token counts no more

_ONLY = "mcp_browser.view.only"  # The key in a scope of the session that a link was made for; "" for all

SAFELY = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = ("view.css", "view.js", "task.js", "socket.js", "enter.js", "icon.svg")

FOLLOWED = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={path}">
<title>mcp-browser</title>
<p><a href="{path}">Go to the live view</a>
</html>
"""

NOT_LET_IN = "Open the link that the terminal shows in which the server runs, or sign in with a token."
GONE = "This link was used already. The terminal in which the server runs shows a new one."


async def _file(name: str, _request: Request, *, status: int = 200) -> Response:
    content = PAGE.joinpath(name).read_bytes()
    return Response(content, status, headers=SAFELY, media_type=_TYPES[PurePath(name).suffix])


def _with_cookie(response: Response, cookie: str) -> Response:
    response.headers.update({**SAFELY, "Set-Cookie": cookie})
    return response


def _refused(message: str) -> Response:
    return refusal(403, message, headers=SAFELY)


Link = tuple[Principal, str]
"""Whom a link lets in, and to which session alone, by its name in the view; "" for all of theirs."""


class Admission:
    """The cookies and links of one server, whose view is at the path `folder`."""

    def __init__(self, settings: AccessSettings, folder: str) -> None:
        self._settings = settings
        self._folder = folder
        # What a cookie stands for, the `Authorization` of a client or a link, and when it was used.
        self._cookies: dict[str, tuple[str | Link, float]] = {}
        self.links: dict[str, Link] = {}  # By their tokens

    def link(self, principal: Principal, *, session: str = "") -> str:
        """The path of a link that lets in as this principal, once: to all that they may see, or a session."""
        while len(self.links) >= MOST_LINKS:
            del self.links[next(iter(self.links))]
        token = secrets.token_urlsafe(SECRET_BYTES)
        self.links[token] = principal, session
        return f"{self._folder}{LINK}{token}"

    def set_cookie(self, scope: Scope, admits: str | Link) -> str:
        """A `Set-Cookie` header for the sender of this `Authorization`, or the user of this link."""
        now = time.monotonic()
        fresh = {key: one for key, one in self._cookies.items() if now - one[1] < COOKIE_SECONDS}
        self._cookies = dict([*fresh.items()][-MOST_COOKIES + 1 :])
        value = secrets.token_urlsafe(SECRET_BYTES)
        self._cookies[value] = admits, now
        return self._header(scope, value)

    def forget(self, scope: Scope) -> str:
        """A `Set-Cookie` header that takes the request's cookie away, which counts no more."""
        self._cookies.pop(HTTPConnection(scope).cookies.get(_name(scope), ""), None)
        return f"{self._header(scope, '')}; Max-Age=0"

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """ASGI middleware before the check of tokens: admits requests to the view whose cookie counts."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "lifespan" and f"{scope['path']}/".startswith(f"{self._folder}/"):
                self._admit(scope)
            await app(scope, receive, send)

        return serve

    def _admit(self, scope: Scope) -> None:
        """Admit a request as the link's principal, or with the token of the sign-in."""
        cookie, now = HTTPConnection(scope).cookies.get(_name(scope), ""), time.monotonic()
        admits, used = self._cookies.get(cookie, ("", -math.inf))
        if now - used >= COOKIE_SECONDS:
            return
        self._cookies[cookie] = admits, now
        match admits:
            case str(authorization):
                MutableHeaders(scope=scope)["authorization"] = authorization
            case principal, session:
                set_principal(scope, principal)
                scope[_ONLY] = session

    def is_own_page(self, scope: Scope) -> bool:
        """Whether a page of this server sends the request. Other schemes and ports are other pages."""
        origin = Origin.of(Headers(scope=scope).get("origin", ""))
        return origin is not None and origin in own_origins(scope, self._settings)

    def _header(self, scope: Scope, value: str) -> str:
        safe = "; Secure" if public_base(scope, self._settings).startswith(("https:", "wss:")) else ""
        return f"{_name(scope)}={value}; Path={self._folder}; HttpOnly; SameSite=Strict{safe}"


def viewer_of(scope: Mapping[str, Any]) -> Principal | None:
    """Who views; None where nothing has let the request in."""
    return principal_of(scope) if is_admitted(scope) else None


def _name(scope: Mapping[str, Any]) -> str:
    """A name for each port: browsers send the cookies of one server to all those of the machine."""
    return f"mcp-browser-view-{scope['server'][1] if scope.get('server') else 0}"


class LiveView:
    """What is served of the view: its routes, and the middleware that lets viewers in."""

    def __init__(
        self,
        settings_of: SettingsOf,
        manager: BrowserManager,
        may_see: Callable[[Principal, BrowserSession], bool],
    ) -> None:
        """Follow the sessions of a server; `may_see` says whose a session is."""
        settings = settings_of.default
        self._manager = manager
        self._may_see = may_see
        self._settings_of = settings_of
        self._journal = Journal(manager)
        self._folder = f"{settings.server.path_prefix}/view"
        self._asks = asks_who_calls(settings.access)
        self.admission = Admission(settings.access, self._folder)
        self.app = ViewApp(settings_of, self._journal)
        self._origin, self._opens = "", False

    def is_open(self, path: str) -> bool:
        """Whether a path needs no token: nothing in the page's files is private."""
        files = (f"{self._folder}/{name}" for name in FILES)
        return path in (self._folder, *files) or path.startswith(self._folder + LINK)

    def routes(self) -> list[BaseRoute]:
        """The page, its files, its pictures, its socket and the ways in."""
        folder = self._folder
        return [
            Route(folder, self._page, methods=["GET"]),
            *(Route(f"{folder}/{name}", partial(_file, name), methods=["GET"]) for name in FILES),
            Route(f"{folder}/me", self._me, methods=["GET"]),
            Route(f"{folder}/sign-in", self._sign_in, methods=["POST"]),
            Route(f"{folder}/sign-out", self._sign_out, methods=["POST"]),
            Route(f"{folder}{LINK}{{token}}", self._link, methods=["GET"]),
            Route(f"{folder}/pictures/{{session}}/{{number:int}}", self._picture, methods=["GET"]),
            WebSocketRoute(f"{folder}/live", self._live),
        ]

    def print_address(self, base: str, *, opens: bool = False) -> None:
        """Write on standard error where the view is, below the server's address `base`; it may be opened."""
        self._origin = base.removesuffix(self._settings_of.default.server.path_prefix)
        self._opens = opens
        self._print()

    def link_to(self, request: Context, session: BrowserSession) -> str | None:
        """A link to one session for the person behind a call; it works once. None where they may not view."""
        principal = principal_of_request(request)
        if not self._allows(principal):
            return None
        path = self.admission.link(principal, session=name_of(session))
        if request.request is None:
            return f"{self._origin}{path}"
        return f"{public_base(request.request.scope, self._settings_of.default.access)}{path}"

    def _print(self) -> None:
        path = self._folder if self._asks else self.admission.link(ANONYMOUS)
        how = ": sign in with a token" if self._asks else " (the link works once)"
        sys.stderr.write(f"mcp-browser: live view at {self._origin}{path}{how}\n")
        if self._opens and not self._asks and has_display():
            self._opens = False
            webbrowser.open(f"{self._origin}{path}")

    def _sessions_of(self, viewer: Principal, scope: Scope) -> list[BrowserSession]:
        """The sessions that a viewer may see, the newest first."""
        return [
            one
            for one in reversed(self._manager.sessions)
            if self._may_see(viewer, one) and scope.get(_ONLY, "") in {"", name_of(one)}
        ]

    def _allows(self, viewer: Principal) -> bool:
        return self._settings_of(viewer).server.view

    async def _page(self, request: Request) -> Response:
        # The requests of the page check a token. Without one, serve the page that asks for it.
        let_in = viewer_of(request.scope) is not None or "authorization" in request.headers
        name = "view.html" if let_in else "token.html" if self._asks else "link.html"
        return await _file(name, request, status=200 if let_in else 401)

    async def _sign_in(self, request: Request) -> Response:
        if not self._asks or not self.admission.is_own_page(request.scope):
            return _refused("A page of this server signs in, with a token, where the server asks for one.")
        # The token counts: the request has come through the check of tokens.
        header = Headers(scope=request.scope)["authorization"]
        return _with_cookie(Response(status_code=204), self.admission.set_cookie(request.scope, header))

    async def _sign_out(self, request: Request) -> Response:
        if not self.admission.is_own_page(request.scope):
            return _refused("A page of this server signs out.")
        return _with_cookie(RedirectResponse(self._folder, 303), self.admission.forget(request.scope))

    async def _link(self, request: Request) -> Response:
        if request.method == "HEAD":
            # Sent by programs that preview links: the link is for the person.
            return Response(headers=SAFELY)
        if (found := self.admission.links.pop(request.path_params["token"], None)) is None:
            return refusal(410, GONE, headers=SAFELY)
        _, session = found
        if not session:
            self._print()
        cookie = self.admission.set_cookie(request.scope, found)
        path = f"{self._folder}{f'#{session}' if session else ''}"
        # Not by a redirect: after a click on another site's page, the browser would leave out the cookie.
        return _with_cookie(HTMLResponse(FOLLOWED.format(path=path)), cookie)

    async def _me(self, request: Request) -> Response:
        if (viewer := viewer_of(request.scope)) is None:
            return _refused(NOT_LET_IN)
        return JSONResponse({"name": viewer.name}, headers=SAFELY)

    async def _picture(self, request: Request) -> Response:
        if (viewer := viewer_of(request.scope)) is None or not self._allows(viewer):
            return _refused(NOT_LET_IN)
        name, number = request.path_params["session"], request.path_params["number"]
        for session in self._sessions_of(viewer, request.scope):
            if name_of(session) == name and (picture := self._journal.of(session).picture(number)):
                return Response(picture, headers=SAFELY, media_type="image/jpeg")
        return refusal(404, "There is no such picture any more.", headers=SAFELY)

    async def _live(self, socket: WebSocket) -> None:
        if (viewer := viewer_of(socket.scope)) is None:
            refused = NOT_LET_IN
        elif not self._allows(viewer):
            refused = "The settings do not allow you the live view."
        elif not self.admission.is_own_page(socket.scope):
            refused = "Only the page of the view may connect here."
        else:
            await socket.accept()
            await _connect(socket, self.app.viewer(viewer, partial(self._sessions_of, viewer, socket.scope)))
            return
        await socket.send_denial_response(_refused(refused))


async def _connect(socket: WebSocket, viewer: Viewer) -> None:
    """Connect a page to its viewer, until one of them or what has admitted the page has gone.

    Messages are JSON; a frame is the width and height of the view, 4 bytes each, and a JPEG.
    """
    still_admitted: Callable[[], Awaitable[bool]] | None = socket.scope.get(STILL_ADMITTED)

    async def listen() -> None:
        while True:
            try:
                viewer.take(await socket.receive_text())
            except KeyError:
                viewer.take("")  # It is no text.
            except WebSocketDisconnect:
                viewer.end()
                return

    async def check() -> None:
        while still_admitted is None or await still_admitted():  # noqa: ASYNC110 - no event for it
            await anyio.sleep(ADMISSION_SECONDS)
        viewer.end(NOT_ADMITTED, "Your token counts no more: sign in again.")

    async with anyio.create_task_group() as tasks:
        for work in (viewer.serve, listen, check):
            tasks.start_soon(work)
        with suppress(WebSocketDisconnect):
            while viewer.ended is None or viewer.news:
                if viewer.news:
                    await socket.send_json(viewer.news.popleft())
                elif viewer.frames:
                    frame = viewer.frames.popleft()
                    await socket.send_bytes(struct.pack(">II", frame.width, frame.height) + frame.data)
                else:
                    await viewer.fresh.wait()
            if viewer.ended[0]:
                await socket.close(*viewer.ended)
        tasks.cancel_scope.cancel()
