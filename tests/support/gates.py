"""What faults need: a site whose answers never end, and a connection that a test can break.

async with gated_site(page) as site, relay(server.port) as line:
    async with connected(f"http://127.0.0.1:{line.port}/mcp") as browser:
        waiting = asyncio.create_task(browser.call("go_to_url", url=f"{site.url}/never/1"))
        await site.asked("/never/1")
        line.cut()
"""

import asyncio
import contextlib
import struct
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from socket import SO_LINGER, SOL_SOCKET
from typing import cast

import psutil

PART = b"x" * 65536
"""As much of an endless download as comes."""


class GatedSite:
    """A page at `/page…`, downloads at `/part…` that stop in the middle, and nothing at all elsewhere."""

    def __init__(self, page: Callable[[str], str]) -> None:
        self._page = page
        self._asked: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.on_page: Callable[[str, int], None] = lambda _path, _port: None
        """Takes the path of each page that is asked for, and the port of who asks."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def asked(self, path: str, *, seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            await self._asked[path].wait()

    def hang_up(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; each has a connection of its own."""
        self._open.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            if path.startswith("/page"):
                self.on_page(path, writer.get_extra_info("peername")[1])
                await _answer(writer, self._page(path).encode())
            elif path == "/favicon.ico":
                await _answer(writer, b"")
            else:
                if path.startswith("/part"):
                    writer.write(_head(10 * len(PART), "Content-Disposition: attachment; filename=part.bin"))
                    writer.write(PART)
                    await writer.drain()
                self._asked[path].set()
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the browser, or the test, has broken it off
        finally:
            self._open.discard(writer)
            writer.close()


def _head(length: int, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {length}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


async def _answer(writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(_head(len(body), "Content-Type: text/html; charset=utf-8") + body)
    await writer.drain()


@asynccontextmanager
async def gated_site(page: Callable[[str], str]) -> AsyncGenerator[GatedSite]:
    site = GatedSite(page)
    async with listening(site.serve) as site.port:
        try:
            yield site
        finally:
            site.hang_up()


@asynccontextmanager
async def listening(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncGenerator[int]:
    """Serve connections to a free loopback port, in this event loop; the port."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Relay:
    """Passes on connections to a port of this machine, until it is told to break or to freeze them."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    def cut(self) -> None:
        """Reset every connection, on both sides."""
        for writer in list(self._writers):
            connection = writer.get_extra_info("socket")
            with contextlib.suppress(OSError):  # it may just have been closed
                connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def freeze(self) -> None:
        """Pass nothing on any more, with every connection open: as when a machine has lost its network."""
        self._flows.clear()

    def thaw(self) -> None:
        self._flows.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self._writers |= {writer, there}
        try:
            await asyncio.gather(self._pass_on(reader, there), self._pass_on(there_reader, writer))
        finally:
            self._writers -= {writer, there}
            writer.close()
            there.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def relay(port: int) -> AsyncGenerator[Relay]:
    passing = Relay(port)
    async with listening(passing.serve) as passing.port:
        try:
            yield passing
        finally:
            passing.cut()


def holder_of(port: int, root: int) -> psutil.Process:
    """Which process, of those that come from `root`, holds the open connection from a local port."""
    for process in psutil.Process(root).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            for connection in process.net_connections("tcp4"):
                address = cast("tuple[str, int]", connection.laddr)
                if address and address[1] == port and connection.raddr:
                    return process
    raise AssertionError(f"no process of {root} holds a connection from {port}")
