import asyncio
import logging

import pytest

from mcp_browser.server.http.middleware.connection_limits import Connections
from mcp_browser.server.http.quiet_logs import _WithoutFloods
from mcp_browser.settings import AccessSettings
from tests.server.http.conftest import Serve, Served

GET = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def connect(served: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", served.port)


async def test_a_connection_that_says_nothing_is_closed(serve: Serve) -> None:
    async with serve(client_timeout=0.2) as served:
        assert await served.raw(b"") == b""
        assert served.refused == {"stalled": 1}


async def test_a_head_that_trickles_does_not_hold_its_connection(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served:
        reader, writer = await connect(served)
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        closed = asyncio.create_task(reader.read(-1))
        while not closed.done():
            writer.write(b"X: 1\r\n")
            await asyncio.sleep(0.01)
        assert closed.exception() is not None or closed.result() == b""
        assert served.refused == {"stalled": 1}
        writer.close()


async def test_what_trickles_after_a_refusal_does_not_hold_its_connection(serve: Serve) -> None:
    async with serve(client_timeout=0.3, token="a-token-0123456789") as served:
        reader, writer = await connect(served)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        assert b" 401 " in await reader.readuntil(b"\r\n\r\n")
        closed = asyncio.create_task(reader.read(-1))
        while not closed.done():
            writer.write(b"x")
            await asyncio.sleep(0.01)
        assert served.refused["stalled"] == 1
        writer.close()


async def test_a_client_that_never_reads_is_let_go(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served:
        _, writer = await connect(served)
        writer.write(GET.replace(b"/mcp", b"/sse"))
        await writer.drain()
        await served.until_refused("stalled")
        writer.close()


async def test_a_client_that_reads_slowly_is_served_on(serve: Serve) -> None:
    async with serve(client_timeout=0.5) as served:
        reader, writer = await connect(served)
        writer.write(GET.replace(b"/mcp", b"/sse"))
        read = 0
        started = asyncio.get_running_loop().time()
        # It takes what fits into the buffers several times over, and longer than a client that stops may.
        while read < 12_000_000 or asyncio.get_running_loop().time() - started < 1:
            read += len(await reader.read(65_536))
        assert served.refused == {}
        writer.close()


async def test_a_request_that_takes_long_is_not_taken_for_a_silent_client(serve: Serve) -> None:
    async with serve(client_timeout=0.2) as served:
        for _ in range(3):
            assert (await served.client.get("/mcp")).status_code == 200
        reader, writer = await connect(served)
        writer.write(GET + GET)
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in head
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()


async def test_idle_connections_make_room_for_new_ones(serve: Serve) -> None:
    async with serve(max_connections=5) as served:
        idle = [await connect(served) for _ in range(20)]
        assert (await served.client.get("/mcp")).status_code == 200
        assert served.refused["connections"] == 16
        assert await idle[0][0].read() == b""
        for _, writer in idle:
            writer.close()


async def test_where_all_are_at_work_a_new_one_is_turned_away(serve: Serve) -> None:
    async with serve(max_connections=3, max_connections_per_client=3) as served:
        working = [await connect(served) for _ in range(3)]
        for reader, writer in working:
            writer.write(GET.replace(b"/mcp", b"/sse"))
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        reader, writer = await connect(served)
        assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
        writer.close()
        working.pop()[1].transport.abort()
        async with asyncio.timeout(10):
            while not (
                await served.raw(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            ).startswith(b"HTTP/1.1 200"):
                pass
        for _, writer in working:
            writer.transport.abort()


async def test_many_connections_at_once_leave_the_server_well(serve: Serve) -> None:
    async with serve(max_connections=50) as served:

        async def come_and_go() -> None:
            try:
                _, writer = await connect(served)
                writer.write(GET[:20])
                writer.close()
            except OSError:
                pass

        await asyncio.gather(*(come_and_go() for _ in range(500)))
        assert (await served.client.get("/mcp")).status_code == 200


async def test_heads_that_are_too_long_are_refused(serve: Serve) -> None:
    async with serve() as served:
        long_header = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000 + b"\r\n\r\n"
        many_headers = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1234567\r\n" * 8_000 + b"\r\n"
        long_target = b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for request in (long_header, many_headers, long_target):
            assert (await served.raw(request)).startswith(b"HTTP/1.1 431 ")
        assert served.refused == {"request": 3}


async def test_what_is_not_http_is_refused_without_a_word_about_the_server(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /mcp HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n\r\n\x00\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ]
    async with serve() as served:
        for request in hostile:
            answer = await served.raw(request)
            assert b"uvicorn" not in answer.lower()
            assert b"h11" not in answer.lower()
            assert b"Traceback" not in answer
            assert not answer or answer.split(b" ", 2)[1] in {b"400", b"421", b"505"}, request
        assert (await served.client.get("/mcp")).status_code == 200
    assert "Traceback" not in caplog.text


async def test_an_error_of_the_servers_own_is_told_without_its_trace(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve() as served:
        answer = await served.client.get("/break")
        assert (answer.status_code, answer.text) == (500, "Internal Server Error")
        assert "server" not in answer.headers
    assert "a secret of the server's" in caplog.text


async def test_nothing_is_logged_of_requests_that_are_refused(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with serve(token="a-token-0123456789") as served:
            caplog.clear()
            headers = {"Authorization": "Bearer wrong-secret", "Cookie": "session=secret"}
            await served.client.get("/mcp?access_token=secret", headers=headers)
            await served.client.get("/mcp", headers=headers)
    own = [record for record in caplog.records if not record.name.startswith("httpx2")]
    assert all("secret" not in record.getMessage() for record in own)


async def test_an_upgrade_to_another_protocol_is_ignored(serve: Serve) -> None:
    upgrade = b"Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n"
    async with serve(token="a-token-0123456789") as served:
        answer = await served.raw(GET[:-2] + upgrade)
    assert answer.startswith(b"HTTP/1.1 401 ")


async def test_idle_streams_of_one_client_leave_room_for_others(serve: Serve) -> None:
    tokens = "alice:alice-0123456789abcdef,bob:bob-0123456789abcdef"
    async with serve(token=tokens, max_connections=10, max_connections_per_client=2) as served:
        alice = GET.replace(b"/mcp", b"/sse")[:-2] + b"Authorization: Bearer alice-0123456789abcdef\r\n\r\n"
        writers: list[asyncio.StreamWriter] = []
        for _ in range(2):
            reader, writer = await connect(served)
            writer.write(alice)
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            writers.append(writer)
        headers = {"Authorization": "Bearer alice-0123456789abcdef"}
        refused = await served.client.get("/mcp", headers=headers)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
        assert "close one first" in refused.text
        other = await served.client.get("/mcp", headers={"Authorization": "Bearer bob-0123456789abcdef"})
        assert other.status_code == 200
        writers[0].transport.abort()
        async with asyncio.timeout(10):
            while (  # noqa: ASYNC110 - the server tells nobody
                await served.client.get("/mcp", headers=headers)
            ).status_code != 200:
                await asyncio.sleep(0.01)
        writers[1].transport.abort()


@pytest.mark.parametrize(("most", "room"), [(1000, 50), (20, 20)])
def test_connections_leave_files_for_all_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, most: int, room: int
) -> None:
    pytest.importorskip("resource")

    def limits(*_what: object) -> tuple[int, int]:
        return 100, 100

    monkeypatch.setattr("resource.getrlimit", limits)
    monkeypatch.setattr("resource.setrlimit", limits)
    connections = Connections(AccessSettings(max_connections=most), lambda _reason: None)
    connections.protocol()
    assert connections._most == room
    assert ("50 connections at a time, not 1000" in caplog.text) is (room < most)


def test_running_out_of_files_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    flood = _WithoutFloods()
    logger = logging.getLogger("asyncio")
    logger.addFilter(flood)
    try:
        for _ in range(1000):
            logger.error(
                "socket.accept() out of system resource\nsocket: x", exc_info=OSError(24, "Too many")
            )
        logger.error("Something else")
    finally:
        logger.removeFilter(flood)
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        ("No connection can be taken: this process has too many files open.", None),
        ("Something else", None),
    ]
