"""MCP's two transports over HTTP, with the protocol session of each request made known to `Sessions`."""

import re
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_browser.server.http.events import ResumableEvents
from mcp_browser.server.sessions.remote import CONNECTION, RemoteSessions

_SESSION_HEADER = b"mcp-session-id"
_VERSION_HEADER = b"mcp-protocol-version"
_RESUMED_HEADER = b"last-event-id"
_NOT_KEPT = "What came after that event is not kept: call again, or look at the page with get_state."
_SSE_SESSION = re.compile(rb"session_id=([0-9a-f]{32})")


class StreamableHttp:
    """Streamable HTTP: both protocol eras at one path.

    The legacy era's session ids start with the replica's name where there is one, so that a proxy can route
    on them as on the handles of sessions.
    """

    def __init__(
        self, manager: StreamableHTTPSessionManager, events: ResumableEvents, sessions: RemoteSessions
    ) -> None:
        self._manager = manager
        self._events = events
        self._sessions = sessions
        self._prefix = sessions.replica.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = self._read_headers(scope)
        version, session_id = headers.get(_VERSION_HEADER), headers.get(_SESSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._manager.handle_request(scope, receive, send)
            return
        connection = f"http {session_id}"
        status = 0
        with self._events.serving(scope, session_id) as events:
            if session_id is not None:
                scope[CONNECTION] = connection
                event = headers.get(_RESUMED_HEADER) if scope["method"] == "GET" else None
                # The SDK would send a stream without events, which clients ask for again without end.
                if event and events.opened and not events.knows(event):
                    error = {"code": INVALID_REQUEST, "message": _NOT_KEPT}
                    response = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
                    await response(scope, receive, send)
                    return

            async def answer(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    new = dict(message["headers"]).get(_SESSION_HEADER)
                    if session_id is None and new is not None and status < HTTPStatus.BAD_REQUEST:
                        self._events.open(new.decode(), events)
                    self._name_replica(message)
                await send(message)

            await self._manager.handle_request(scope, receive, answer)
        if session_id is not None and scope["method"] == "DELETE" and 200 <= status < 300:  # noqa: PLR2004
            self._events.end(session_id)
            await self._sessions.end_connection(connection)

    def _read_headers(self, scope: Scope) -> dict[bytes, str]:
        """The headers, with the session id as the SDK knows it, which the scope then holds too."""
        found: dict[bytes, str] = {}
        headers: list[tuple[bytes, bytes]] = []
        for name, value in scope["headers"]:
            own = value.removeprefix(self._prefix) if name == _SESSION_HEADER else value
            headers.append((name, own))
            found.setdefault(name, own.decode("latin-1"))
        scope["headers"] = headers
        return found

    def _name_replica(self, message: MutableMapping[str, Any]) -> None:
        if self._prefix:
            message["headers"] = [
                (name, self._prefix + value if name.lower() == _SESSION_HEADER else value)
                for name, value in message["headers"]
            ]


class ServerSentEvents:
    """The older HTTP transport: a stream of events, and a path to which messages are posted."""

    def __init__(
        self,
        server: Server[Any],
        sessions: RemoteSessions,
        *,
        path: str,
        longest_body: int,
    ) -> None:
        """Serve `server`; clients are told to post messages to `path`."""
        self._server = server
        self._sessions = sessions
        self._transport = SseServerTransport(path, max_request_body_size=longest_body)

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one stream of events, to its end; the browser session ends with it."""
        if scope["method"] not in {"GET", "HEAD"}:
            response = PlainTextResponse("Method Not Allowed", 405, headers={"Allow": "GET"})
            await response(scope, receive, send)
            return
        connection: str | None = None
        started = False

        async def answer(message: Message) -> None:
            nonlocal connection, started
            started = started or message["type"] == "http.response.start"
            # The SDK tells the session's id to the client only, in the first event.
            if connection is None and (found := _SSE_SESSION.search(message.get("body", b""))):
                connection = _of_sse(found[1].decode())
            await send(message)

        try:
            async with self._transport.connect_sse(scope, receive, answer) as (requests, answers):
                await self._server.run(requests, answers, self._server.create_initialization_options())
        except ValueError:
            # The SDK raises it after it has refused a request.
            if not started or connection is not None:
                raise
        finally:
            if connection is not None:
                await self._sessions.end_connection(connection)

    async def messages(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one message."""
        query = scope.get("query_string", b"")
        if found := _SSE_SESSION.search(query):
            scope[CONNECTION] = _of_sse(found[1].decode())
        await self._transport.handle_post_message(scope, receive, send)


def _of_sse(session_id: str) -> str:
    return f"sse {session_id}"


class Endpoint:
    """An ASGI app for a route: Starlette takes a plain async function for a handler of requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)
