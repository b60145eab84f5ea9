import asyncio
import logging
from contextlib import AsyncExitStack, suppress

import pytest

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


async def test_a_connection_that_says_nothing_is_closed(serve: Serve) -> None:
    async with serve(client_timeout=0.2) as served:
        assert await served.raw(b"") == b""
        assert served.refused == {"stalled": 1}


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


async def test_many_connections_at_once_leave_the_server_well(serve: Serve) -> None:
    async with serve(max_connections=50) as served:

        async def come_and_go() -> None:
            with suppress(OSError):
                async with served.connected() as (_, writer):
                    writer.write(GET[:20])

        await asyncio.gather(*(come_and_go() for _ in range(500)))
        assert await served.status() == 200


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
