"""MCP's two transports over HTTP, with the protocol session of each request made known to `Sessions`."""

import re
import time
from collections import deque
from collections.abc import Generator, Hashable, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_browser.browser.concurrency import Condition
from mcp_browser.server.sessions.remote import CONNECTION, RemoteSessions

MIB = 1024 * 1024
MOST_OF_ALL = 64 * MIB  # What is kept of all clients, bytes of JSON
MOST_OF_ONE = 4 * MIB  # What is kept of one client: more than its four largest results
MOST_EVENTS = 300  # And how many: those of the calls that it may still wait for, with their progress
EVENT_BYTES = 3072  # What an event takes besides its message's JSON, measured
RETRY_MILLISECONDS = 1000  # How long clients are asked to wait before they connect again


@dataclass(eq=False, slots=True)
class _Stream:
    """The events of a request, or of none: number, message and size of each."""

    number: int
    events: deque[tuple[int, JSONRPCMessage, int]] = field(
        default_factory=deque[tuple[int, JSONRPCMessage, int]]
    )
    last: int = 0
    answered: bool = False
    changed: Condition = field(default_factory=Condition)


@dataclass(eq=False, slots=True)
class _Client:
    """The kept events of one client: the stream of each, oldest first, and their size."""

    ages: deque[tuple["SessionEvents", _Stream]] = field(
        default_factory=deque[tuple["SessionEvents", _Stream]]
    )
    size: int = 0


class KeptEvents:
    """The kept events of all clients, `size` bytes. The oldest of the client with most are dropped first."""

    def __init__(self, *, most: int = MOST_OF_ALL, most_of_one: int = MOST_OF_ONE) -> None:
        self.size = 0
        self._most = most
        self._most_of_one = most_of_one
        self._clients: dict[Hashable, _Client] = {}

    def keep(self, events: "SessionEvents", stream: _Stream, message: JSONRPCMessage) -> None:
        """Keep the last event of a stream."""
        client = self._clients.setdefault(events.owner, _Client())
        size = len(message.model_dump_json(by_alias=True, exclude_unset=True)) + EVENT_BYTES
        stream.events.append((stream.last, message, size))
        client.ages.append((events, stream))
        client.size += size
        self.size += size
        while client.size > self._most_of_one or len(client.ages) > MOST_EVENTS:
            self._forget_oldest(client)
        while self.size > self._most:
            self._forget_oldest(max(self._clients.values(), key=lambda one: one.size))

    def forget(self, events: "SessionEvents") -> None:
        """Keep nothing more of a session."""
        if (client := self._clients.get(events.owner)) is None:
            return
        size = sum(size for stream in events.streams.values() for _, _, size in stream.events)
        client.size -= size
        self.size -= size
        client.ages = deque(one for one in client.ages if one[0] is not events)
        if not client.ages:
            del self._clients[events.owner]

    def _forget_oldest(self, client: _Client) -> None:
        events, stream = client.ages.popleft()
        _, _, size = stream.events.popleft()
        client.size -= size
        self.size -= size
        if stream.answered and not stream.events:
            events.drop(stream)
        if not client.ages:
            del self._clients[events.owner]


class SessionEvents:
    """The events of one protocol session. Its event ids say nothing to another session."""

    def __init__(self, kept: KeptEvents, owner: Hashable) -> None:
        """Keep events among others; `owner` is the client, the session itself where that is None."""
        self.owner = self if owner is None else owner
        self.opened = False  # Whether the client knows the session's id
        self.requests = 0  # How many are being served
        self.used = time.monotonic()  # When the last one of them ended
        self._kept = kept
        self.streams: dict[int, _Stream] = {}  # Those of which something is kept, or that go on
        self._latest: dict[str, _Stream] = {}
        self._last_stream = 0
        self._closed = False

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message of a stream, or begin one with None; the event's id."""
        stream = self._latest.get(stream_id)
        # A request's id may come again once the request is answered.
        if stream is None or stream.answered:
            self._last_stream += 1
            stream = self._latest[stream_id] = self.streams[self._last_stream] = _Stream(self._last_stream)
        stream.last += 1
        if message is not None and not self._closed:
            is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
            stream.answered = is_answer and stream_id != GET_STREAM_KEY
            self._kept.keep(self, stream, message)
        stream.changed.wake()
        return f"{stream.number}-{stream.last}"

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> None:
        """Send the events of a stream after this one, and new ones until its request is answered.

        Return no stream: the SDK would continue it by itself, and lose what comes in between.
        """
        found = self._find(last_event_id)
        if found is None:
            return
        stream, after = found
        while not self._closed:
            following = next((event for event in stream.events if event[0] > after), None)
            if following is not None:
                after, message, _ = following
                await send_callback(EventMessage(message, f"{stream.number}-{after}"))
            elif stream.answered:
                return
            else:
                await stream.changed.wait()

    def knows(self, event_id: str) -> bool:
        """Whether the stream of an event can be resumed."""
        return self._find(event_id) is not None

    def drop(self, stream: _Stream) -> None:
        """Forget a stream of which nothing is left."""
        del self.streams[stream.number]
        for key in [key for key, latest in self._latest.items() if latest is stream]:
            del self._latest[key]

    def close(self) -> None:
        """The session is over: streams that go on end."""
        self._closed = True
        self._kept.forget(self)
        for stream in self.streams.values():
            stream.changed.wake()
        self.streams.clear()
        self._latest.clear()

    def _find(self, event_id: str) -> tuple[_Stream, int] | None:
        """The stream of an event and the event's number in it."""
        number, _, position = event_id.partition("-")
        if not (number.isdecimal() and position.isdecimal() and len(event_id) < 40):  # noqa: PLR2004
            return None
        stream = self.streams.get(int(number))
        return (stream, int(position)) if stream is not None and int(position) <= stream.last else None


_CURRENT: ContextVar[SessionEvents] = ContextVar("mcp_browser.session_events")


class ResumableEvents(EventStore):
    """The events of all sessions, each apart.

    The SDK has one store for all, whose streams are named by the ids of requests, which clients share. The
    context names the session: a request sets it, and the task of a session has that of the request which
    opened it.
    """

    def __init__(self, *, idle_seconds: float) -> None:
        """`idle_seconds` after its last request the SDK ends a session."""
        self.kept = KeptEvents()
        self._idle_seconds = idle_seconds
        self._sessions: dict[str, SessionEvents] = {}

    @contextmanager
    def serving(self, scope: Scope, session_id: str | None) -> Generator[SessionEvents]:
        """Serve a request of a session within the block; without an id, that of a new session."""
        events = self._sessions.get(session_id or "")
        if events is None or _owner(scope) not in {None, events.owner}:
            events = SessionEvents(self.kept, _owner(scope))
        _CURRENT.set(events)
        events.requests += 1
        try:
            yield events
        finally:
            events.requests -= 1
            events.used = time.monotonic()

    def open(self, session_id: str, events: SessionEvents) -> None:
        """Note that a session was opened; forget the events of those that have ended."""
        oldest = time.monotonic() - self._idle_seconds
        for other, one in list(self._sessions.items()):
            if not one.requests and one.used < oldest:
                self.end(other)
        self._sessions[session_id] = events
        events.opened = True

    def end(self, session_id: str) -> None:
        """Note that a session has ended."""
        if (events := self._sessions.pop(session_id, None)) is not None:
            events.close()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message of the current session; see `SessionEvents`."""
        return await _CURRENT.get().store_event(stream_id, message)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> None:
        """Send the events after one of the current session; see `SessionEvents`."""
        await _CURRENT.get().replay_events_after(last_event_id, send_callback)


def _owner(scope: Scope) -> Hashable:
    """Who sends a request; None where nobody has to say."""
    user = scope.get("user")
    return (*authorization_context(user).values(),) if isinstance(user, AuthenticatedUser) else None


_SESSION_HEADER = b"mcp-session-id"
_VERSION_HEADER = b"mcp-protocol-version"
_RESUMED_HEADER = b"last-event-id"
_NOT_KEPT = "What came after that event is not kept: call again, or look at the page with get_state."
_SSE_SESSION = re.compile(rb"session_id=([0-9a-f]{32})")


class StreamableHttp:
    """Streamable HTTP: both protocol eras at one path.

    Session ids of the legacy era begin with the replica's name, if any, by which a proxy can route.
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
        self, server: Server[Any], sessions: RemoteSessions, *, path: str, longest_body: int
    ) -> None:
        """Serve `server`; clients post their messages to `path`."""
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
            # The SDK gives the session's id to the client only, in the first event.
            if connection is None and (found := _SSE_SESSION.search(message.get("body", b""))):
                connection = f"sse {found[1].decode()}"
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
            scope[CONNECTION] = f"sse {found[1].decode()}"
        await self._transport.handle_post_message(scope, receive, send)


class Endpoint:
    """An ASGI app for a route: Starlette takes a plain async function for a handler of requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)
