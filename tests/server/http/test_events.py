"""What is kept of streams of events has bounds, and nobody's is another's."""

import asyncio

from mcp.server.streamable_http import GET_STREAM_KEY, EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from mcp_browser.server.http.endpoints import _CURRENT, ResumableEvents, SessionEvents


def answer(size: int, number: int = 1) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"text": "x" * size})


def told(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": text})


class Session:
    """A session of a client, and what is got that resumes one of its streams."""

    def __init__(self, store: ResumableEvents, client: str | None = None) -> None:
        self.store = store
        self.events = SessionEvents(client)
        self.got: list[EventMessage] = []
        store.open(str(id(self)), self.events)

    async def keep(self, stream_id: str | int, message: JSONRPCMessage | None) -> str:
        _CURRENT.set(self.events)
        return await self.store.store_event(str(stream_id), message)

    async def resume(self, event: str) -> None:
        _CURRENT.set(self.events)

        async def send(event: EventMessage) -> None:
            self.got.append(event)

        await self.store.replay_events_after(event, send)

    def knows(self, event: str) -> bool:
        return self.events.find(event) is not None

    def end(self) -> None:
        self.store.end(str(id(self)))


async def test_the_oldest_events_of_who_has_most_go_first() -> None:
    store = ResumableEvents(idle_seconds=60, most=62_000, most_of_one=30_000)
    small, other, large = Session(store, "small"), Session(store), Session(store, "large")
    again = Session(store, "large")  # Another session of the same client
    asked = await small.keep(1, None)
    await small.keep(1, answer(1000))
    begun: list[str] = []
    for number in range(100):
        for session in (large, again, other):
            begun.append(await session.keep(number, None))
            await session.keep(number, answer(4000, number))
            assert store.size <= 62_000
    assert small.knows(asked)
    # Four in all, of both sessions.
    assert [number for number in range(100) if large.knows(begun[3 * number])] == [98, 99]
    assert [number for number in range(100) if again.knows(begun[3 * number + 1])] == [98, 99]
    assert sum(other.knows(event) for event in begun[2::3]) == 4
    assert len(large.events.streams) == 2
    await large.keep("vast", answer(30_000))
    assert not large.events.streams
    for session in (small, other, large, again):
        session.end()
    assert store.size == 0


async def test_of_many_small_events_only_the_newest_are_kept() -> None:
    session = Session(ResumableEvents(idle_seconds=60))
    begun: list[str] = []
    for number in range(400):
        begun.append(await session.keep(number, None))
        await session.keep(number, answer(1, number))
    assert [number for number in range(400) if session.knows(begun[number])] == list(range(100, 400))
    assert len(session.events.streams) == 300


async def test_a_resumed_stream_gets_each_event_once_until_the_answer() -> None:
    session = Session(ResumableEvents(idle_seconds=60))
    primed = await session.keep(7, None)
    await session.keep(7, told("before"))
    reading = asyncio.create_task(session.resume(primed))
    for text in ("a", "b"):
        await session.keep(8, told("another request's"))
        await session.keep(7, told(text))
        await asyncio.sleep(0)
    await session.keep(7, answer(1, 7))
    await reading
    assert [one.message for one in session.got] == [*map(told, ("before", "a", "b")), answer(1, 7)]
    assert len({one.event_id for one in session.got}) == 4


async def test_the_stream_of_no_request_goes_on_until_the_session_ends() -> None:
    session = Session(ResumableEvents(idle_seconds=60))
    first = await session.keep(GET_STREAM_KEY, told("one"))
    reading = asyncio.create_task(session.resume(first))
    await session.keep(GET_STREAM_KEY, answer(1))
    await session.keep(GET_STREAM_KEY, told("two"))
    while len(session.got) < 2:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0)
    session.end()
    await reading
    for event in (first, "1-3", "0-0", "1-²", "1" * 5000, "-", ""):
        assert not session.knows(event)


async def test_the_events_of_a_session_that_has_ended_are_forgotten_as_another_one_opens() -> None:
    store = ResumableEvents(idle_seconds=0)
    with store.serving({}, None) as idle:
        await store.store_event("1", answer(1))
    store.open("idle", idle)
    with store.serving({}, None) as other, store.serving({}, "other"):
        store.open("other", other)
        await store.store_event("1", answer(1))
        assert not idle.streams
        assert not other.streams, "an id that nobody has opened is another session's"
    with store.serving({}, "other") as again:
        assert again is other
        store.open("third", SessionEvents())
        event = await store.store_event("1", answer(1))
        assert other.find(event) is not None
    store.end("other")
    assert other.find(event) is None
