"""Clients that read nothing fill no memory, and keep nobody from working."""

import asyncio
import json
from collections.abc import AsyncGenerator

import psutil
import pytest

from tests.e2e.test_remote_doors import INITIALIZE, LIST_TOOLS
from tests.support.remote import RemoteServer, client_of, serving, until

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
STREAMS = 30
MESSAGES = 100


@pytest.fixture
async def server() -> AsyncGenerator[RemoteServer]:
    async with serving("--client-timeout", "3", "--rate-limit", "0", "--max-body", "4") as server:
        yield server


def memory(server: RemoteServer) -> int:
    """The server's own share of memory, bytes."""
    return int(psutil.Process(server.process.pid).memory_full_info().pss)


async def post(server: RemoteServer, path: str, message: object) -> bytes:
    """Post a message; the first line of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    body = json.dumps(message).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
    )
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    try:
        return await reader.readline()
    finally:
        writer.close()


async def stream_that_is_never_read(server: RemoteServer) -> asyncio.StreamWriter:
    """A stream of events with many answers in it, of which nobody reads any."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
    writer.write(b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n")
    path = ""
    while not path.startswith("data: "):
        path = (await reader.readline()).decode()
    path = path.removeprefix("data: ").strip()
    await post(server, path, INITIALIZE)
    await post(server, path, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    for number in range(MESSAGES):
        if not (await post(server, path, LIST_TOOLS | {"id": number + 10})).startswith(b"HTTP/1.1 202"):
            break
    return writer


async def test_streams_that_nobody_reads_are_ended_and_fill_no_memory(server: RemoteServer) -> None:
    async with client_of(server.url, "legacy") as client:
        await client.list_tools()
        before = memory(server)
        writers = await asyncio.gather(*(stream_that_is_never_read(server) for _ in range(STREAMS)))
        during = memory(server)
        assert (await client.list_tools()).tools
        assert during - before < 100 * MIB, f"{(during - before) / MIB:.0f} MiB more"
        for writer in writers:
            writer.transport.abort()

        async def is_small_again() -> bool:
            return memory(server) - before < 60 * MIB

        await until(is_small_again)
