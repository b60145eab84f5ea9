"""The live view of one server, over HTTP or beside stdio."""

import struct
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_browser.audit import name_of
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import has_display
from mcp_browser.browser.screencast import Frame
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.http.auth.bind_safety import asks_who_calls
from mcp_browser.server.http.auth.middleware import STILL_ADMITTED
from mcp_browser.server.http.auth.resource_metadata import public_base
from mcp_browser.server.http.middleware.refusals import refusal
from mcp_browser.server.http.view.admission import LINK, VIEW, Admission, CookieAdmission, may_view, viewer_of
from mcp_browser.server.http.view.pages import NOT_LET_IN, OPEN_PATHS, SAFELY, page_routes
from mcp_browser.server.principals import ANONYMOUS, Principal, SettingsOf, principal_of_request
from mcp_browser.server.view.app import ViewApp
from mcp_browser.server.view.journal import Journal
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.server.view.transport import TransportClosed
from mcp_browser.server.view.viewer import Viewer
from mcp_browser.settings import Settings

MaySee = Callable[[Principal, BrowserSession], bool]


class LiveView:
    """What is served of the view: its routes, and the middleware that lets viewers in."""

    def __init__(self, settings: Settings, manager: BrowserManager, may_see: MaySee) -> None:
        """Follow the sessions of a server; `may_see` says whose a session is."""
        self._manager = manager
        self._may_see = may_see
        self._settings_of = SettingsOf(settings)
        self._journal = Journal(manager)
        self._prefix = settings.server.path_prefix
        self._asks = asks_who_calls(settings.access)
        self._admission = Admission(settings.access, prefix=self._prefix)
        self._takeovers = Takeovers()
        self.app = ViewApp(self._settings_of, self._journal, self._takeovers)
        self._base, self._opens = "", False

    @property
    def middleware(self) -> Middleware:
        """The middleware that has to come before the check of tokens."""
        return Middleware(CookieAdmission, admission=self._admission, prefix=self._prefix)

    @property
    def open_paths(self) -> list[str]:
        """The paths that need no token."""
        return [self._prefix + path for path in OPEN_PATHS]

    @property
    def open_folders(self) -> list[str]:
        """What the paths that need no token begin with."""
        return [self._prefix + LINK]

    def routes(self) -> list[BaseRoute]:
        """The page, its files, its pictures and its socket."""
        folder = f"{self._prefix}{VIEW}"
        return [
            *page_routes(
                self._admission,
                prefix=self._prefix,
                asks=self._asks,
                followed=lambda link: None if link.session else self._tell_link(),
            ),
            Route(f"{folder}/pictures/{{session}}/{{number:int}}", self._picture, methods=["GET"]),
            WebSocketRoute(f"{folder}/live", self._live),
        ]

    def tell_address(self, base: str, *, opens: bool = False) -> None:
        """Write on standard error where the view is, below the server's address `base`; it may be opened."""
        self._base, self._opens = base, opens
        if self._asks:
            sys.stderr.write(f"mcp-browser: live view at {base}{VIEW}: sign in with a token\n")
            sys.stderr.flush()
        else:
            self._tell_link()

    def link_to(self, request: ServerRequestContext[Any, Any], session: BrowserSession) -> str | None:
        """A link to one session for the person behind a call; it works once. None where they may not view."""
        principal = principal_of_request(request)
        if not self._allows(principal):
            return None
        path = self._admission.link(principal, session=name_of(session))
        if request.request is None:
            return f"{self._base}{path}"
        return f"{public_base(request.request.scope, self._settings_of.default.access)}{path}"

    def _tell_link(self) -> None:
        path = self._admission.link(ANONYMOUS).removeprefix(self._prefix)
        sys.stderr.write(f"mcp-browser: live view at {self._base}{path} (the link works once)\n")
        sys.stderr.flush()
        if self._opens and has_display():
            self._opens = False
            webbrowser.open(f"{self._base}{path}")

    def _sessions_of(self, viewer: Principal, scope: Scope) -> list[BrowserSession]:
        """The sessions that a viewer may see, the newest first."""
        return [
            one
            for one in reversed(self._manager.sessions)
            if self._may_see(viewer, one) and may_view(scope, name_of(one))
        ]

    def _allows(self, viewer: Principal) -> bool:
        return self._settings_of(viewer).server.view

    async def _picture(self, request: Request) -> Response:
        viewer = viewer_of(request.scope)
        if viewer is None or not self._allows(viewer):
            return refusal(403, NOT_LET_IN, headers=SAFELY)
        for session in self._sessions_of(viewer, request.scope):
            if name_of(session) == request.path_params["session"]:
                for call in self._journal.of(session).calls:
                    if call.number == request.path_params["number"] and call.picture is not None:
                        return Response(call.picture, headers=SAFELY, media_type="image/jpeg")
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
            await socket.send_denial_response(refusal(403, refused or "", headers=SAFELY))
            return
        await socket.accept()
        await Viewer(
            SocketTransport(socket),
            viewer,
            journal=self._journal,
            takeovers=self._takeovers,
            visible=lambda: self._sessions_of(viewer, socket.scope),
        ).serve()


class SocketTransport:
    """Messages as JSON; a frame as the width and height of the view, 4 bytes each, and a JPEG."""

    def __init__(self, socket: WebSocket) -> None:
        """Take a socket that is accepted."""
        self._socket = socket

    async def receive(self) -> str:  # noqa: D102 - see `ViewTransport`, as for the next ones
        with _closes():
            try:
                return await self._socket.receive_text()
            except KeyError:
                return ""

    async def send(self, message: dict[str, Any]) -> None:  # noqa: D102
        with _closes():
            await self._socket.send_json(message)

    async def send_frame(self, frame: Frame) -> None:  # noqa: D102
        with _closes():
            await self._socket.send_bytes(struct.pack(">II", frame.width, frame.height) + frame.data)

    async def close(self, code: int, reason: str) -> None:  # noqa: D102
        await self._socket.close(code, reason)

    async def still_admitted(self) -> bool:  # noqa: D102
        check: Callable[[], Awaitable[bool]] | None = self._socket.scope.get(STILL_ADMITTED)
        return check is None or await check()


@contextmanager
def _closes() -> Generator[None]:
    try:
        yield
    except WebSocketDisconnect as gone:
        raise TransportClosed from gone
