"""Limits of connections, bodies, rates and streams."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from functools import partial

import httpx2
import pytest

from mcp_browser.server.http import limits
from mcp_browser.server.http.limits import Buckets
from tests.server.http.conftest import Serve, Served

GET = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
STREAM = GET.replace(b"/mcp", b"/sse")
TOKEN = "a-token-0123456789"


async def answer(reader: asyncio.StreamReader) -> bytes:
    """The head of an answer; its body is read, too."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
    return head


async def closed_while(part: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a part again and again until the server closes, without an answer."""
    closed = asyncio.create_task(reader.read(-1))
    while not closed.done():
        writer.write(part)
        await asyncio.sleep(0.01)
    assert closed.exception() is not None or closed.result() == b""


async def streaming(served: Served, stack: AsyncExitStack, headers: str = "") -> asyncio.StreamWriter:
    """Begin a stream without end, which is left at the stack's end; a server whose stream it is goes on."""
    reader, writer = await stack.enter_async_context(served.connected())
    stack.callback(writer.transport.abort)
    writer.write(STREAM[:-2] + headers.encode() + b"\r\n")
    assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
    return writer


async def test_a_head_that_trickles_does_not_hold_its_connection(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served, served.connected() as (reader, writer):
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        await closed_while(b"X: 1\r\n", reader, writer)
        assert served.refused == {"stalled": 1}


async def test_what_trickles_after_a_refusal_does_not_hold_its_connection(serve: Serve) -> None:
    async with serve(client_timeout=0.3, token=TOKEN) as served, served.connected() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        assert (await answer(reader)).startswith(b"HTTP/1.1 401")
        await closed_while(b"x", reader, writer)
        assert served.refused["stalled"] == 1


async def test_a_client_that_never_reads_is_let_go(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served, served.connected() as (_, writer):
        writer.write(STREAM)
        async with asyncio.timeout(10):
            while not served.refused["stalled"]:  # noqa: ASYNC110 - the server knows of no event
                await asyncio.sleep(0.01)


async def test_a_client_that_reads_slowly_is_served_on(serve: Serve) -> None:
    async with serve(client_timeout=0.5) as served, served.connected() as (reader, writer):
        writer.write(STREAM)
        read = 0
        started = asyncio.get_running_loop().time()
        # It takes what fits into the buffers several times over, and longer than a client that stops may.
        while read < 12_000_000 or asyncio.get_running_loop().time() - started < 1:
            read += len(await reader.read(65_536))
        assert served.refused == {}


async def test_a_request_that_takes_long_is_not_taken_for_a_silent_client(serve: Serve) -> None:
    async with serve(client_timeout=0.2) as served:
        assert [await served.status() for _ in range(3)] == [200] * 3
        async with served.connected() as (reader, writer):
            writer.write(GET + GET)
            for _ in range(2):
                assert (await answer(reader)).startswith(b"HTTP/1.1 200")


async def test_idle_connections_make_room_for_new_ones(serve: Serve) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serve(max_connections=5))
        idle = [await stack.enter_async_context(served.connected()) for _ in range(20)]
        assert await served.status() == 200
        assert served.refused["connections"] == 16
        assert await idle[0][0].read() == b""


async def test_where_all_are_at_work_a_new_one_is_turned_away(serve: Serve) -> None:
    async with AsyncExitStack() as stack:
        served = await stack.enter_async_context(serve(max_connections=3, max_connections_per_client=3))
        working = [await streaming(served, stack) for _ in range(3)]
        assert (await served.raw(b"")).startswith(b"HTTP/1.1 503 ")
        working[0].transport.abort()
        closing = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        async with asyncio.timeout(10):
            while not (await served.raw(closing)).startswith(b"HTTP/1.1 200"):
                pass


async def test_heads_that_are_too_long_are_refused(served: Served) -> None:
    long_header = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000 + b"\r\n\r\n"
    many_headers = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1234567\r\n" * 8_000 + b"\r\n"
    long_target = b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for request in (long_header, many_headers, long_target):
        assert (await served.raw(request)).startswith(b"HTTP/1.1 431 ")
    assert served.refused == {"request": 3}


async def test_what_is_not_http_is_refused_without_a_word_about_the_server(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /mcp HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n\r\n\x00\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ]
    for request in hostile:
        answer = await served.raw(request)
        assert not any(word in answer.lower() for word in (b"uvicorn", b"h11", b"traceback"))
        assert not answer or answer.split(b" ", 2)[1] in {b"400", b"421", b"505"}, request
    assert await served.status() == 200
    assert "Traceback" not in caplog.text


async def test_an_error_of_the_servers_own_is_told_without_its_trace(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await served.client.get("/break")
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")
    assert "server" not in answer.headers
    assert "a secret of the server's" in caplog.text


async def test_nothing_is_logged_of_requests_that_are_refused(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with serve(token=TOKEN) as served:
            caplog.clear()
            for path in ("/mcp?access_token=secret", "/mcp"):
                await served.status(path, Authorization="Bearer wrong-secret", Cookie="session=secret")
    own = [record for record in caplog.records if not record.name.startswith("httpx2")]
    assert all("secret" not in record.getMessage() for record in own)


async def test_an_upgrade_to_another_protocol_is_ignored(serve: Serve) -> None:
    upgrade = b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n"
    async with serve(token=TOKEN) as served:
        answer = await served.raw(GET[:-2] + upgrade)
    assert answer.startswith(b"HTTP/1.1 401 ")


async def test_idle_streams_of_one_client_leave_room_for_others(serve: Serve) -> None:
    tokens = "alice:alice-0123456789abcdef,bob:bob-0123456789abcdef"
    alice = "Bearer alice-0123456789abcdef"
    async with AsyncExitStack() as stack:
        serving = serve(token=tokens, max_connections=10, max_connections_per_client=2)
        served = await stack.enter_async_context(serving)
        writer, _ = [await streaming(served, stack, f"Authorization: {alice}\r\n") for _ in range(2)]
        refused = await served.client.get("/mcp", headers={"Authorization": alice})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
        assert "close one first" in refused.text
        assert await served.status(Authorization="Bearer bob-0123456789abcdef") == 200
        writer.transport.abort()
        async with asyncio.timeout(10):
            while await served.status(Authorization=alice) != 200:  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.01)


MIB = 1024 * 1024
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def chunks(size: int) -> AsyncGenerator[bytes]:
    for _ in range(size // 65_536 + 1):
        yield b"x" * 65_536


async def test_a_body_up_to_the_limit_arrives_whole(serve: Serve) -> None:
    async with serve(max_body=1) as served:
        for size in (0, 1, MIB):
            answer = await served.client.post("/mcp", content=b"x" * size)
            assert (answer.status_code, answer.json()["size"]) == (200, size)
        assert (await served.client.post("/mcp", content=chunks(MIB // 2))).json()["size"] > MIB // 2


async def test_a_body_that_is_too_long_is_refused_whether_it_says_so_or_not(serve: Serve) -> None:
    async with serve(max_body=1) as served:
        declared = await served.raw(
            HEAD + b"Content-Length: 99999999999999999999\r\nConnection: close\r\n\r\n"
        )
        assert b" 413 " in declared
        streamed = await served.client.post("/mcp", content=chunks(4 * MIB))
        assert streamed.status_code == 413
        assert "longer than 1 MiB (--max-body)" in streamed.text
        assert served.refused == {"body_size": 2}


async def test_a_body_that_trickles_is_not_waited_for(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served, served.connected() as (reader, writer):
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\n")
        answer = asyncio.create_task(reader.readuntil(b"\r\n"))
        while not answer.done():
            writer.write(b"x")
            await asyncio.sleep(0.01)
        assert b" 408 " in await answer
        assert served.refused == {"body_time": 1}


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_let_go(served: Served) -> None:
    async with served.connected() as (_, writer):
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\nxxx")
        await writer.drain()
    assert (await served.client.post("/mcp", content=b"x")).status_code == 200


async def test_long_bodies_at_once_fill_only_so_much_memory(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODIES_AT_ONCE", 2)

    async with serve(max_body=1) as served:

        async def send() -> httpx2.Response:
            return await served.client.post("/mcp", content=b"x" * 1000)

        async with served.connected() as (_, first), served.connected() as (_, second):
            for writer in (first, second):
                writer.write(HEAD + b"Content-Length: 1048576\r\n\r\n" + b"x" * (MIB - 1))
                await writer.drain()
            while (answer := await send()).status_code == 200:  # Their bodies have not come whole yet.
                pass
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        while (await send()).status_code == 503:
            pass


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(limits.time, "monotonic", lambda: self.now)


def test_a_bucket_fills_at_its_rate_and_no_further_than_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    take = partial(Buckets().take, "a", rate=2, burst=3)
    assert [take() for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.25
    assert take() == 0.25
    clock.now += 0.25
    assert take() == 0
    clock.now += 3600
    assert [take() > 0 for _ in range(4)] == [False, False, False, True]


def test_buckets_are_each_ones_own_and_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    monkeypatch.setattr(limits, "MOST_BUCKETS", 10)
    buckets = Buckets()
    take = partial(buckets.take, rate=1, burst=1)
    assert [take("a"), take("b")] == [0, 0]
    assert take("a") > 0
    for number in range(100):
        take(str(number))
    assert len(buckets._levels) == 10


async def test_who_asks_too_much_is_told_when_to_come_again(serve: Serve) -> None:
    async with serve(rate_limit=0.2, token="alice:a-token-0123456789,bob:b-token-0123456789") as served:
        alice = {"Authorization": "Bearer a-token-0123456789"}
        answers = [await served.client.get("/mcp", headers=alice) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 5
        assert await served.status(Authorization="Bearer b-token-0123456789") == 200
        assert await served.status("/healthz") == 200
        assert served.refused == {"rate": 2}


async def test_the_anonymous_count_by_address(serve: Serve) -> None:
    async with serve(rate_limit=0.1, trusted_proxies="127.0.0.1") as served:
        assert [await served.status(X_Forwarded_For="192.0.2.1") for _ in range(2)] == [200, 429]
        assert await served.status(X_Forwarded_For="192.0.2.2") == 200
    async with serve(rate_limit=0) as served:
        assert {await served.status() for _ in range(20)} == {200}
