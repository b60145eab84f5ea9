"""Events of Streamable HTTP's older era, kept so that a broken stream can be resumed.

A client that has lost a stream asks for it again with `Last-Event-ID`: it gets what came after that event,
then what comes, to the request's answer. The modern era has no such thing.
"""

import time
from collections import deque
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
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


class SessionEvents:
    """The events of one protocol session. Its event ids say nothing to another session."""

    def __init__(self, kept: KeptEvents, owner: Hashable) -> None:
        """Keep events among others; `owner` is the client, the session itself where that is None."""
        self.owner = self if owner is None else owner
        self.opened = False
        """Whether the session is open, so that its client knows its id."""
        self.requests = 0
        """How many requests of the session are being served."""
        self.used = time.monotonic()
        """When the last one of them ended."""
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

        Returns no stream, with which the SDK would go on by itself and lose what comes in between.
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


_CURRENT: ContextVar[SessionEvents] = ContextVar("mcp_browser.session_events")


class ResumableEvents(EventStore):
    """The events of all sessions, each apart.

    The SDK has one store for all, whose streams are named by requests' ids: those of one client would be
    another's. Which session is meant follows from the context: a request sets it, and the task that serves a
    session has that of the request which opened it.
    """

    def __init__(self, *, idle_seconds: float) -> None:
        """`idle_seconds` after its last request the SDK ends a session."""
        self.kept = KeptEvents()
        self._idle_seconds = idle_seconds
        self._sessions: dict[str, SessionEvents] = {}

    @contextmanager
    def serving(self, scope: Scope, session_id: str | None) -> Generator[SessionEvents]:
        """Within it, a request of a session is served; of a new one without an id."""
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
        """A session has been opened. The events of those that have ended since are forgotten."""
        oldest = time.monotonic() - self._idle_seconds
        for other, one in list(self._sessions.items()):
            if not one.requests and one.used < oldest:
                self.end(other)
        self._sessions[session_id] = events
        events.opened = True

    def end(self, session_id: str) -> None:
        """A session has ended."""
        if (events := self._sessions.pop(session_id, None)) is not None:
            events.close()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message of the current session; see `SessionEvents`."""
        return await _CURRENT.get().store_event(stream_id, message)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> None:
        """Send what came after an event of the current session; see `SessionEvents`."""
        await _CURRENT.get().replay_events_after(last_event_id, send_callback)


def _owner(scope: Scope) -> Hashable:
    """Who sends a request; None where nobody has to say."""
    user = scope.get("user")
    return (*authorization_context(user).values(),) if isinstance(user, AuthenticatedUser) else None
