"""What the streams of Streamable HTTP's older era have told, kept so that a broken one can be resumed.

A client that has lost a stream asks for it again with `Last-Event-ID`: it gets what came after that event,
then what comes, to the request's answer. The modern era has no such thing.
"""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    AuthorizationContext,
    authorization_context,
)
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    EventCallback,
    EventMessage,
    EventStore,
    StreamableHTTPServerTransport,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse
from starlette.types import Scope

MIB = 1024 * 1024
MOST_OF_ALL = 64 * MIB  # What is kept of all clients, bytes of JSON
MOST_OF_ONE = 4 * MIB  # What is kept of one client: more than its four largest results
EVENT_BYTES = 512  # What an event takes besides its message
RETRY_MILLISECONDS = 1000  # How long clients are asked to wait before they connect again


@dataclass(eq=False, slots=True)
class _Stream:
    """The events of a request, or those that belong to none: the number of each and its message."""

    number: int
    events: deque[tuple[int, JSONRPCMessage, int]] = field(
        default_factory=deque[tuple[int, JSONRPCMessage, int]]
    )
    last: int = 0
    answered: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)

    def wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


@dataclass(eq=False, slots=True)
class _Client:
    """What is kept of one client: the stream of each event, the oldest event first, and their size."""

    ages: deque[tuple["SessionEvents", _Stream]] = field(
        default_factory=deque[tuple["SessionEvents", _Stream]]
    )
    size: int = 0


class KeptEvents:
    """The events that are kept of all clients, `size` bytes. The oldest go, first those of who has most."""

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
        while client.size > self._most_of_one:
            self._forget_oldest(client)
        while self.size > self._most:
            self._forget_oldest(max(self._clients.values(), key=lambda one: one.size))

    def forget(self, events: "SessionEvents") -> None:
        """Keep nothing more of a session."""
        if (client := self._clients.get(events.owner)) is None:
            return
        size = sum(size for stream in events.streams for _, _, size in stream.events)
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


class SessionEvents(EventStore):
    """The events of one protocol session. Its event ids say nothing to another session."""

    def __init__(self, kept: KeptEvents, owner: Hashable) -> None:
        """Keep events among others; `owner` is the client, the session itself where that is None."""
        self.owner = self if owner is None else owner
        self._kept = kept
        self._streams: dict[int, _Stream] = {}
        self._latest: dict[str, _Stream] = {}
        self._last_stream = 0
        self._closed = False

    @property
    def streams(self) -> list[_Stream]:
        """Those of which something is kept, or that go on."""
        return list(self._streams.values())

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message of a stream, or begin one with None; the event's id."""
        stream = self._latest.get(stream_id)
        # A request's id may come again once the request is answered.
        if stream is None or stream.answered:
            self._last_stream += 1
            stream = self._latest[stream_id] = self._streams[self._last_stream] = _Stream(self._last_stream)
        stream.last += 1
        if message is not None and not self._closed:
            is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
            stream.answered = is_answer and stream_id != GET_STREAM_KEY
            self._kept.keep(self, stream, message)
        stream.wake()
        return f"{stream.number}-{stream.last}"

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> None:
        """Send what came after an event of a stream, and what comes until its request is answered.

        Whatever comes later is sent from here too: what it would tell the SDK to go on by itself is None,
        since that loses what comes in between.
        """
        found = self._find(last_event_id)
        if found is None:
            return
        stream, after = found
        while not self._closed:
            changed = stream.changed
            following = next((event for event in stream.events if event[0] > after), None)
            if following is not None:
                after, message, _ = following
                await send_callback(EventMessage(message, f"{stream.number}-{after}"))
            elif stream.answered:
                return
            else:
                await changed.wait()

    def knows(self, event_id: str) -> bool:
        """Whether the stream of an event can be resumed."""
        return self._find(event_id) is not None

    def drop(self, stream: _Stream) -> None:
        """Forget a stream of which nothing is left."""
        del self._streams[stream.number]
        for key in [key for key, latest in self._latest.items() if latest is stream]:
            del self._latest[key]

    def close(self) -> None:
        """The session is over: streams that go on end."""
        self._closed = True
        self._kept.forget(self)
        for stream in self._streams.values():
            stream.wake()
        self._streams.clear()
        self._latest.clear()

    def _find(self, event_id: str) -> tuple[_Stream, int] | None:
        """The stream of an event and the event's number in it."""
        number, _, position = event_id.partition("-")
        if not (number.isdecimal() and position.isdecimal() and len(event_id) < 40):  # noqa: PLR2004
            return None
        stream = self._streams.get(int(number))
        return (stream, int(position)) if stream is not None and int(position) <= stream.last else None


class ResumableSessions(StreamableHTTPSessionManager):
    """The SDK's sessions, each with events of its own.

    The SDK has one store for all, whose streams are called by requests' ids: those of one client would be
    another's. So a session gets its store as the SDK admits it, and loses it as the SDK discards it.
    """

    def __init__(self, app: Server[Any], *, session_idle_timeout: float, max_request_body_size: int) -> None:
        """Serve `app` to sessions that end after so many idle seconds."""
        super().__init__(
            app,
            retry_interval=RETRY_MILLISECONDS,
            session_idle_timeout=session_idle_timeout,
            max_request_body_size=max_request_body_size,
        )
        self.kept = KeptEvents()
        self._events: dict[str, SessionEvents] = {}

    def has_forgotten(self, scope: Scope, session_id: str, event_id: str) -> bool:
        """Whether nothing is known of an event in a session of the request's sender."""
        user = scope.get("user")
        owner = _owner(authorization_context(user) if isinstance(user, AuthenticatedUser) else None)
        events = self._events.get(session_id)
        return events is not None and owner in {None, events.owner} and not events.knows(event_id)

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        self.event_store = events = SessionEvents(self.kept, _owner(requestor))
        transport = super()._admit_session(requestor)
        if transport is not None and transport.mcp_session_id is not None:
            self._events[transport.mcp_session_id] = events
        return transport

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        if (events := self._events.pop(session_id, None)) is not None:
            events.close()
        await super()._discard_session(session_id, transport)


def _owner(requestor: AuthorizationContext | None) -> Hashable:
    """Who that is; None where nobody has to say."""
    return None if requestor is None else (*requestor.values(),)
