import asyncio
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import httpx2
import pytest
import uvicorn

from mcp_browser.server.http.loopback import ServerWithoutSignals
from mcp_browser.settings import AccessSettings
from tests.server.http.small_app import small_config


@dataclass
class Served:
    """A server that runs, and a client for it."""

    port: int
    client: httpx2.AsyncClient
    refused: Counter[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A connection, until the end of the block."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()

    async def raw(self, request: bytes) -> bytes:
        """Send bytes; what comes back until the server closes."""
        async with self.connected() as (reader, writer):
            writer.write(request)
            return await asyncio.wait_for(reader.read(-1), 10)

    async def status(self, path: str = "/mcp", **headers: str) -> int:
        """What a request is answered, with headers whose names have `_` for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (await self.client.get(path, headers=named)).status_code


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@asynccontextmanager
async def run_server(config: uvicorn.Config, listener: socket.socket) -> AsyncGenerator[None]:
    """A uvicorn that runs in this loop, until the end of the block."""
    server = ServerWithoutSignals(config)  # They are pytest's
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            assert not task.done(), "the server has ended"
            await asyncio.sleep(0.005)
        yield
    finally:
        server.should_exit = server.force_exit = True
        await task


def free_listener() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


@pytest.fixture
def serve() -> Serve:
    """Serves the small app with the settings given, on a free port."""

    @asynccontextmanager
    async def serving(**options: object) -> AsyncGenerator[Served]:
        refused = Counter[str]()
        settings = AccessSettings.model_validate(options)
        listener = free_listener()
        port = int(listener.getsockname()[1])
        config = uvicorn.Config(**small_config(settings, lambda reason: refused.update([reason])))
        async with (
            run_server(config, listener),
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=15) as client,
        ):
            yield Served(port, client, refused)

    return serving


@pytest.fixture
async def served(serve: Serve) -> AsyncGenerator[Served]:
    """The small app with the usual settings."""
    async with serve() as served:
        yield served
