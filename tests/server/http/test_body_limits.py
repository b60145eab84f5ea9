import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from mcp_browser.server.http.middleware import request_limits as bodies
from tests.server.http.conftest import Serve, Served

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
        assert served.refused == {"body_size": 2}


async def test_a_body_that_does_not_come_is_not_waited_for(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served:
        answer = await served.raw(HEAD + b"Content-Length: 10\r\n\r\n12345")
        assert b" 408 " in answer
        assert served.refused == {"body_time": 1}


async def test_a_body_that_trickles_is_not_waited_for(serve: Serve) -> None:
    loop = asyncio.get_running_loop()
    async with serve(client_timeout=0.3) as served:
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.setblocking(False)
            await loop.sock_sendall(client, HEAD + b"Content-Length: 100000\r\n\r\n")
            answer = asyncio.create_task(loop.sock_recv(client, 1000))
            # What comes after the answer meets a closed connection.
            with suppress(ConnectionError):
                while not answer.done():
                    await loop.sock_sendall(client, b"x")
                    await asyncio.sleep(0.01)
            assert b" 408 " in await answer


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_let_go(serve: Serve) -> None:
    async with serve() as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\nxxx")
        await writer.drain()
        writer.close()
        assert (await served.client.post("/mcp", content=b"x")).status_code == 200


async def test_long_bodies_at_once_fill_only_so_much_memory(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODIES_AT_ONCE", 2)

    async def begin(served: Served) -> asyncio.StreamWriter:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(HEAD + b"Content-Length: 1048576\r\n\r\n" + b"x" * (MIB - 1))
        await writer.drain()
        return writer

    async with serve(max_body=1) as served:
        writers = [await begin(served) for _ in range(2)]
        answer = await served.client.post("/mcp", content=b"x" * 1000)
        while answer.status_code == 200:  # Their bodies have not come whole yet.
            answer = await served.client.post("/mcp", content=b"x" * 1000)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        for writer in writers:
            writer.close()
        while (await served.client.post("/mcp", content=b"x" * 1000)).status_code == 503:
            pass
