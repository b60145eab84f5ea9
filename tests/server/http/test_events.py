"""What is kept of streams of events has bounds, and nobody's is another's."""

import asyncio

from mcp.server.streamable_http import GET_STREAM_KEY, EventMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from mcp_browser.server.http.endpoints import KeptEvents, ResumableEvents, SessionEvents


def answer(size: int, number: int = 1) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"text": "x" * size})


def told(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/message", params={"data": text})


class Reader:
    """What a client gets that resumes a stream."""

    def __init__(self) -> None:
        self.got: list[EventMessage] = []

    async def send(self, event: EventMessage) -> None:
        self.got.append(event)


async def test_the_oldest_events_of_who_has_most_go_first() -> None:
    kept = KeptEvents(most=62_000, most_of_one=30_000)
    small, other, large = (
        SessionEvents(kept, "small"),
        SessionEvents(kept, None),
        SessionEvents(kept, "large"),
    )
    again = SessionEvents(kept, "large")  # Another session of the same client
    asked = await small.store_event("1", None)
    await small.store_event("1", answer(1000))
    begun: list[str] = []
    for number in range(100):
        for events in (large, again, other):
            begun.append(await events.store_event(str(number), None))
            await events.store_event(str(number), answer(4000, number))
            assert kept.size <= 62_000
    assert small.knows(asked)
    # Four in all, of both sessions.
    assert [number for number in range(100) if large.knows(begun[3 * number])] == [98, 99]
    assert [number for number in range(100) if again.knows(begun[3 * number + 1])] == [98, 99]
    assert sum(other.knows(event) for event in begun[2::3]) == 4
    assert len(large.streams) == 2
    await large.store_event("vast", answer(30_000))
    assert not large.streams
    for events in (small, other, large, again):
        events.close()
    assert kept.size == 0


async def test_of_many_small_events_only_the_newest_are_kept() -> None:
    events = SessionEvents(KeptEvents(), None)
    begun: list[str] = []
    for number in range(400):
        begun.append(await events.store_event(str(number), None))
        await events.store_event(str(number), answer(1, number))
    assert [number for number in range(400) if events.knows(begun[number])] == list(range(100, 400))
    assert len(events.streams) == 300


async def test_a_resumed_stream_gets_each_event_once_until_the_answer() -> None:
    events = SessionEvents(KeptEvents(), None)
    primed = await events.store_event("7", None)
    await events.store_event("7", told("before"))
    reader = Reader()
    reading = asyncio.create_task(events.replay_events_after(primed, reader.send))
    for text in ("a", "b"):
        await events.store_event("8", told("another request's"))
        await events.store_event("7", told(text))
        await asyncio.sleep(0)
    await events.store_event("7", answer(1, 7))
    await reading
    assert [one.message for one in reader.got] == [*map(told, ("before", "a", "b")), answer(1, 7)]
    assert len({one.event_id for one in reader.got}) == 4


async def test_the_stream_of_no_request_goes_on_until_the_session_ends() -> None:
    events = SessionEvents(KeptEvents(), None)
    first = await events.store_event(GET_STREAM_KEY, told("one"))
    reader = Reader()
    reading = asyncio.create_task(events.replay_events_after(first, reader.send))
    await events.store_event(GET_STREAM_KEY, answer(1))
    await events.store_event(GET_STREAM_KEY, told("two"))
    while len(reader.got) < 2:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0)
    events.close()
    await reading
    for event in (first, "1-3", "0-0", "1-²", "1" * 5000, "-", ""):
        assert not events.knows(event)


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
        store.open("third", SessionEvents(store.kept, None))
        event = await store.store_event("1", answer(1))
        assert other.knows(event)
    store.end("other")
    assert not other.knows(event)
