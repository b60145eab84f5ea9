"""The live view of one server, over HTTP or beside stdio."""

import struct
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from typing import Any

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_browser.audit import name_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import has_display
from mcp_browser.browser.screencast import Frame
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.elicitation import Context
from mcp_browser.server.http.auth.middleware import STILL_ADMITTED, asks_who_calls, public_base
from mcp_browser.server.http.middleware.request_limits import refusal
from mcp_browser.server.http.view.admission import (
    LINK,
    Admission,
    CookieAdmission,
    may_view,
    viewer_of,
)
from mcp_browser.server.principals import ANONYMOUS, Principal, SettingsOf, principal_of_request
from mcp_browser.server.view.app import PAGE, ViewApp
from mcp_browser.server.view.journal import Journal
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.server.view.transport import TransportClosed
from mcp_browser.server.view.viewer import Viewer

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


def _file(name: str, *, status: int = 200) -> Response:
    content = PAGE.joinpath(name).read_bytes()
    return Response(content, status, headers=SAFELY, media_type=_TYPES[PurePath(name).suffix])


async def _send_file(name: str, _request: Request) -> Response:
    return _file(name)


def _with_cookie(response: Response, cookie: str) -> Response:
    response.headers.update({**SAFELY, "Set-Cookie": cookie})
    return response


def _refused(message: str) -> Response:
    return refusal(403, message, headers=SAFELY)


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
        self._admission = Admission(settings.access, self._folder)
        self._takeovers = Takeovers()
        self.app = ViewApp(settings_of, self._journal, self._takeovers)
        self._origin, self._opens = "", False

    @property
    def middleware(self) -> Middleware:
        """The middleware that has to come before the check of tokens."""
        return Middleware(CookieAdmission, admission=self._admission)

    def is_open(self, path: str) -> bool:
        """Whether a path needs no token: nothing in the page's files is private."""
        files = (self._folder, *(f"{self._folder}/{name}" for name in FILES))
        return path in files or path.startswith(f"{self._folder}{LINK}")

    def routes(self) -> list[BaseRoute]:
        """The page, its files, its pictures, its socket and the ways in."""
        folder = self._folder
        return [
            Route(folder, self._page, methods=["GET"]),
            *(Route(f"{folder}/{name}", partial(_send_file, name), methods=["GET"]) for name in FILES),
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
        if self._asks:
            sys.stderr.write(
                f"mcp-browser: live view at {self._origin}{self._folder}: sign in with a token\n"
            )
            sys.stderr.flush()
        else:
            self._print_link()

    def link_to(self, request: Context, session: BrowserSession) -> str | None:
        """A link to one session for the person behind a call; it works once. None where they may not view."""
        principal = principal_of_request(request)
        if not self._allows(principal):
            return None
        path = self._admission.link(principal, session=name_of(session))
        if request.request is None:
            return f"{self._origin}{path}"
        return f"{public_base(request.request.scope, self._settings_of.default.access)}{path}"

    def _print_link(self) -> None:
        link = f"{self._origin}{self._admission.link(ANONYMOUS)}"
        sys.stderr.write(f"mcp-browser: live view at {link} (the link works once)\n")
        sys.stderr.flush()
        if self._opens and has_display():
            self._opens = False
            webbrowser.open(link)

    def _sessions_of(self, viewer: Principal, scope: Scope) -> list[BrowserSession]:
        """The sessions that a viewer may see, the newest first."""
        return [
            one
            for one in reversed(self._manager.sessions)
            if self._may_see(viewer, one) and may_view(scope, name_of(one))
        ]

    def _allows(self, viewer: Principal) -> bool:
        return self._settings_of(viewer).server.view

    async def _page(self, request: Request) -> Response:
        # The requests of the page check a token. Without one, serve the page that asks for it.
        let_in = viewer_of(request.scope) is not None or "authorization" in request.headers
        name = "view.html" if let_in else "token.html" if self._asks else "link.html"
        return _file(name, status=200 if let_in else 401)

    async def _sign_in(self, request: Request) -> Response:
        if not self._asks or not self._admission.is_own_page(request.scope):
            return _refused("A page of this server signs in, with a token, where the server asks for one.")
        # The token counts: the request has come through the check of tokens.
        header = Headers(scope=request.scope)["authorization"]
        return _with_cookie(Response(status_code=204), self._admission.set_cookie(request.scope, header))

    async def _sign_out(self, request: Request) -> Response:
        if not self._admission.is_own_page(request.scope):
            return _refused("A page of this server signs out.")
        return _with_cookie(RedirectResponse(self._folder, 303), self._admission.forget(request.scope))

    async def _link(self, request: Request) -> Response:
        if request.method == "HEAD":
            # Sent by programs that preview links: the link is for the person.
            return Response(headers=SAFELY)
        found = self._admission.follow(request.path_params["token"])
        if found is None:
            return refusal(410, GONE, headers=SAFELY)
        if not found.session:
            self._print_link()
        cookie = self._admission.set_cookie(request.scope, found)
        path = f"{self._folder}{f'#{found.session}' if found.session else ''}"
        # Not by a redirect: after a click on another site's page, the browser would leave out the cookie.
        return _with_cookie(HTMLResponse(FOLLOWED.format(path=path)), cookie)

    async def _me(self, request: Request) -> Response:
        viewer = viewer_of(request.scope)
        if viewer is None:
            return _refused(NOT_LET_IN)
        return JSONResponse({"name": viewer.name}, headers=SAFELY)

    async def _picture(self, request: Request) -> Response:
        viewer = viewer_of(request.scope)
        if viewer is None or not self._allows(viewer):
            return _refused(NOT_LET_IN)
        name, number = request.path_params["session"], request.path_params["number"]
        for session in self._sessions_of(viewer, request.scope):
            if name_of(session) == name and (picture := self._journal.of(session).picture(number)):
                return Response(picture, headers=SAFELY, media_type="image/jpeg")
        return refusal(404, "There is no such picture any more.", headers=SAFELY)

    async def _live(self, socket: WebSocket) -> None:
        viewer = viewer_of(socket.scope)
        refused = None
        if viewer is None:
            refused = NOT_LET_IN
        elif not self._allows(viewer):
            refused = "The settings do not allow you the live view."
        elif not self._admission.is_own_page(socket.scope):
            refused = "Only the page of the view may connect here."
        if viewer is None or refused is not None:
            await socket.send_denial_response(_refused(refused or ""))
            return
        await socket.accept()
        await Viewer(
            _SocketTransport(socket),
            viewer,
            journal=self._journal,
            takeovers=self._takeovers,
            visible=lambda: self._sessions_of(viewer, socket.scope),
        ).serve()


class _SocketTransport:
    """Messages as JSON; a frame as the width and height of the view, 4 bytes each, and a JPEG."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> str:
        with _closes():
            try:
                return await self._socket.receive_text()
            except KeyError:
                return ""

    async def send(self, message: dict[str, Any]) -> None:
        with _closes():
            await self._socket.send_json(message)

    async def send_frame(self, frame: Frame) -> None:
        with _closes():
            await self._socket.send_bytes(struct.pack(">II", frame.width, frame.height) + frame.data)

    async def close(self, code: int, reason: str) -> None:
        await self._socket.close(code, reason)

    async def still_admitted(self) -> bool:
        check: Callable[[], Awaitable[bool]] | None = self._socket.scope.get(STILL_ADMITTED)
        return check is None or await check()


@contextmanager
def _closes() -> Generator[None]:
    try:
        yield
    except WebSocketDisconnect as gone:
        raise TransportClosed from gone
