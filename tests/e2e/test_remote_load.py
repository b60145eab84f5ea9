"""Many clients at once; slow, silent or greedy ones fill no memory, and keep nobody from working."""

import asyncio
import json
from collections.abc import AsyncGenerator
from itertools import count

import psutil
import pytest

from tests.e2e.test_remote_doors import INITIALIZE, LIST_TOOLS
from tests.support.client import ERAS
from tests.support.load import load
from tests.support.remote import RemoteBrowser, RemoteServer, client_of, connected, serving, until
from tests.support.site import Reply, Request, Site

pytestmark = pytest.mark.slow

CLIENTS = load(4, full=32)

FORM = """<form action=/order><label>Name <input name=name></label>
<label>Number <input name=number></label><button>Order</button></form><p id=kept></p>
<script>kept.textContent = `Kept: ${localStorage.who || "nobody"}, ${document.cookie || "nobody"}`</script>"""


async def order(
    browser: RemoteBrowser, site: Site, number: int, turns: list[int], all_there: asyncio.Barrier
) -> None:
    """Work through the form three times, and look each time whether everything is this client's own."""
    name = f"client-{number}"
    for round_ in range(3):
        await browser.open(f"{site.url}/form-of-orders")
        if round_ == 0:
            # How fast browser contexts open is not the subject.
            await all_there.wait()
        kept = name if round_ else "nobody"
        assert browser.shows(f"Kept: {kept}, {kept}"), browser.last()
        await browser.fill("textbox", "Name", name)
        await browser.fill("textbox", "Number", str(round_))
        await browser.click("button", "Order")
        assert browser.shows(f"{name} ordered {round_}."), browser.last()
        turns.append(number)


def answer(request: Request) -> Reply:
    """Confirms an order; the page keeps its client's name in a cookie and in the storage."""
    name, number = request.first("name"), request.first("number")
    body = f"""<title>Ordered</title><p>{name} ordered {number}.</p>
    <script>localStorage.who = "{name}"; document.cookie = "{name}"</script>"""
    return Reply(body.encode())


async def test_many_clients_work_at_once_and_none_meets_another(site: Site) -> None:
    site.page(FORM, path="/form-of-orders", title="Order")
    site.handlers["/order"] = answer
    turns: list[int] = []
    numbers = count()
    all_there = asyncio.Barrier(CLIENTS)

    async with serving("--http", "--sse", "--max-sessions", str(CLIENTS)) as server:

        async def client(url: str, era: str) -> None:
            async with connected(url, era) as browser:  # type: ignore[arg-type]
                await order(browser, site, next(numbers), turns, all_there)

        ways = [(server.url, ERAS[0]), (server.url, ERAS[1]), (server.sse_url, ERAS[1])]
        await asyncio.gather(*(client(*ways[number % len(ways)]) for number in range(CLIENTS)))

    assert len(turns) == 3 * CLIENTS
    first = [turns.index(number) for number in range(CLIENTS)]
    last = [len(turns) - 1 - turns[::-1].index(number) for number in range(CLIENTS)]
    # Fair: nobody has ended all its rounds while another one has not ended its first.
    assert max(first) < sorted(last)[CLIENTS // 2], "half of the clients were done before the slowest began"


MIB = 1024 * 1024
STREAMS = 30
MESSAGES = 100
HEADS = 200
BODIES = 20


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


async def begin(server: RemoteServer, request: bytes) -> asyncio.StreamWriter:
    """A request that is begun and not ended."""
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
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


async def test_requests_that_are_never_ended_are_closed_and_fill_no_memory(server: RemoteServer) -> None:
    async with client_of(server.url, "legacy") as client:
        await client.list_tools()
        before = memory(server)
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
        body = head + b"Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n" + b"x" * 3_900_000
        writers = [await begin(server, head) for _ in range(HEADS)]
        writers += [await begin(server, body) for _ in range(BODIES)]
        most = 0

        async def all_closed() -> bool:
            nonlocal most
            most = max(most, memory(server))
            connections = psutil.Process(server.process.pid).net_connections("tcp")
            return sum(connection.status == "ESTABLISHED" for connection in connections) < 20

        await until(all_closed)
        # As many long bodies as may be held at a time, and what reading them takes beside that.
        assert most - before < 2 * 8 * 4 * MIB + 60 * MIB, f"{(most - before) / MIB:.0f} MiB more"
        assert (await client.list_tools()).tools
        for writer in writers:
            writer.transport.abort()
