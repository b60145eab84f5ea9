"""MCP's two transports over HTTP, with the protocol session of each request made known to `Sessions`."""

import re
import time
from collections import Counter, deque
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    LAST_EVENT_ID_HEADER,
    MCP_SESSION_ID_HEADER,
    EventCallback,
    EventMessage,
    EventStore,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from mcp_browser.browser.concurrency import Condition
from mcp_browser.server.http.limits import MIB
from mcp_browser.server.sessions.remote import CONNECTION, RemoteSessions

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
class SessionEvents:
    """The events of one protocol session, and the requests that are being served.

    Its event ids say nothing to another session. `used` is when its last request ended.
    """

    client: Hashable = None  # None: the session itself is one
    opened: bool = False  # Whether the client knows the session's id
    closed: bool = False
    requests: int = 0
    used: float = field(default_factory=time.monotonic)
    streams: dict[int, _Stream] = field(default_factory=dict[int, _Stream])  # That are kept, or go on
    latest: dict[str, _Stream] = field(default_factory=dict[str, _Stream])
    last_stream: int = 0

    @property
    def owner(self) -> Hashable:
        return self if self.client is None else self.client

    def find(self, event_id: str) -> tuple[_Stream, int] | None:
        """The stream of an event and the event's number in it; None if it cannot be resumed."""
        number, _, position = event_id.partition("-")
        if not (number.isdecimal() and position.isdecimal() and len(event_id) < 40):  # noqa: PLR2004
            return None
        stream = self.streams.get(int(number))
        return (stream, int(position)) if stream is not None and int(position) <= stream.last else None


_CURRENT: ContextVar[SessionEvents] = ContextVar("mcp_browser.session_events")


class ResumableEvents(EventStore):
    """The events of all sessions, each apart. The oldest of the client with most are dropped first.

    The SDK has one store for all, whose streams are named by the ids of requests, which clients share. The
    context names the session: a request sets it, and the task of a session has that of the request which
    opened it.
    """

    def __init__(
        self, *, idle_seconds: float, most: int = MOST_OF_ALL, most_of_one: int = MOST_OF_ONE
    ) -> None:
        """`idle_seconds` after its last request the SDK ends a session."""
        self.size = 0  # What is kept, bytes
        self._idle_seconds = idle_seconds
        self._most = most
        self._most_of_one = most_of_one
        self._sessions: dict[str, SessionEvents] = {}
        self._ages: dict[Hashable, deque[tuple[SessionEvents, _Stream]]] = {}  # Of each client, oldest first
        self._sizes = Counter[Hashable]()

    @contextmanager
    def serving(self, scope: Scope, session_id: str | None) -> Generator[SessionEvents]:
        """Serve a request of a session within the block; without an id, that of a new session."""
        events = self._sessions.get(session_id or "")
        if events is None or _owner(scope) not in {None, events.owner}:
            events = SessionEvents(_owner(scope))
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
        """Note that a session has ended: streams that go on end."""
        if (events := self._sessions.pop(session_id, None)) is None:
            return
        events.closed = True
        ages = deque(one for one in self._ages.get(events.owner, ()) if one[0] is not events)
        self._ages[events.owner] = ages
        self._count(events, -sum(size for stream in events.streams.values() for *_, size in stream.events))
        for stream in events.streams.values():
            stream.changed.wake()
        events.streams.clear()
        events.latest.clear()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message of a stream of the current session, or begin one with None; the event's id."""
        events = _CURRENT.get()
        stream = events.latest.get(stream_id)
        # A request's id may come again once the request is answered.
        if stream is None or stream.answered:
            events.last_stream += 1
            stream = _Stream(events.last_stream)
            events.latest[stream_id] = events.streams[stream.number] = stream
        stream.last += 1
        if message is not None and not events.closed:
            is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
            stream.answered = is_answer and stream_id != GET_STREAM_KEY
            self._keep(events, stream, message)
        stream.changed.wake()
        return f"{stream.number}-{stream.last}"

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> None:
        """Send the events of a stream after this one, and new ones until its request is answered.

        Return no stream: the SDK would continue it by itself, and lose what comes in between.
        """
        events = _CURRENT.get()
        if (found := events.find(last_event_id)) is None:
            return
        stream, after = found
        while not events.closed:
            following = next((event for event in stream.events if event[0] > after), None)
            if following is not None:
                after, message, _ = following
                await send_callback(EventMessage(message, f"{stream.number}-{after}"))
            elif stream.answered:
                return
            else:
                await stream.changed.wait()

    def _keep(self, events: SessionEvents, stream: _Stream, message: JSONRPCMessage) -> None:
        owner = events.owner
        ages = self._ages.setdefault(owner, deque())
        size = len(message.model_dump_json(by_alias=True, exclude_unset=True)) + EVENT_BYTES
        stream.events.append((stream.last, message, size))
        ages.append((events, stream))
        self._count(events, size)
        while self._sizes[owner] > self._most_of_one or len(ages) > MOST_EVENTS:
            self._forget_oldest(owner)
        while self.size > self._most:
            self._forget_oldest(max(self._sizes, key=self._sizes.__getitem__))

    def _forget_oldest(self, owner: Hashable) -> None:
        events, stream = self._ages[owner].popleft()
        _, _, size = stream.events.popleft()
        self._count(events, -size)
        if stream.answered and not stream.events:
            del events.streams[stream.number]
            events.latest = {key: latest for key, latest in events.latest.items() if latest is not stream}

    def _count(self, events: SessionEvents, size: int) -> None:
        self.size += size
        self._sizes[events.owner] += size
        if not self._sizes[events.owner]:
            del self._ages[events.owner], self._sizes[events.owner]


def _owner(scope: Scope) -> Hashable:
    """Who sends a request; None where nobody has to say."""
    user = scope.get("user")
    return (*authorization_context(user).values(),) if isinstance(user, AuthenticatedUser) else None


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
        self._prefix = sessions.replica

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # Changes to these are changes to the scope.
        headers = MutableHeaders(scope=scope)
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if session_id is not None:
            headers[MCP_SESSION_ID_HEADER] = session_id = session_id.removeprefix(self._prefix)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._manager.handle_request(scope, receive, send)
            return
        connection = f"http {session_id}"
        status = 0
        with self._events.serving(scope, session_id) as events:
            if session_id is not None:
                scope[CONNECTION] = connection
                event = headers.get(LAST_EVENT_ID_HEADER) if scope["method"] == "GET" else None
                # The SDK would send a stream without events, which clients ask for again without end.
                if event and events.opened and events.find(event) is None:
                    error = {"code": INVALID_REQUEST, "message": _NOT_KEPT}
                    response = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
                    await response(scope, receive, send)
                    return

            async def answer(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    answered = MutableHeaders(scope=message)
                    if (new := answered.get(MCP_SESSION_ID_HEADER)) is not None:
                        answered[MCP_SESSION_ID_HEADER] = self._prefix + new
                        if session_id is None and status < HTTPStatus.BAD_REQUEST:
                            self._events.open(new, events)
                await send(message)

            await self._manager.handle_request(scope, receive, answer)
        if session_id is not None and scope["method"] == "DELETE" and 200 <= status < 300:  # noqa: PLR2004
            self._events.end(session_id)
            await self._sessions.end_connection(connection)


class ServerSentEvents:
    """The older HTTP transport: a stream of events, and a path to which messages are posted."""

    def __init__(
        self, server: Server[Any], sessions: RemoteSessions, *, path: str, longest_body: int
    ) -> None:
        """Serve `server`; clients post their messages to `path`."""
        self._server = server
        self._sessions = sessions
        self._path = path
        self._transport = SseServerTransport(path, max_request_body_size=longest_body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one message, or serve one stream of events to its end; the browser session ends with it."""
        if scope["path"] == self._path:
            if found := _SSE_SESSION.search(scope.get("query_string", b"")):
                scope[CONNECTION] = f"sse {found[1].decode()}"
            await self._transport.handle_post_message(scope, receive, send)
            return
        if scope["method"] not in {"GET", "HEAD"}:
            refused = PlainTextResponse("Method Not Allowed", 405, headers={"Allow": "GET"})
            await refused(scope, receive, send)
            return
        connection: str | None = None

        async def answer(message: Message) -> None:
            nonlocal connection
            # The SDK gives the session's id to the client only, in the first event.
            if connection is None and (found := _SSE_SESSION.search(message.get("body", b""))):
                connection = f"sse {found[1].decode()}"
            await send(message)

        try:
            async with self._transport.connect_sse(scope, receive, answer) as (requests, answers):
                await self._server.run(requests, answers, self._server.create_initialization_options())
        finally:
            if connection is not None:
                await self._sessions.end_connection(connection)
