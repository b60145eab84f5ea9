"""A server for many clients: browsers, renderers and connections are killed, clients go without a word.

`just remote chaos` kills a hundred times; `BROWSER_TEST_SEED` chooses another order.
"""

import asyncio
import logging
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.e2e.test_resuming import Legacy
from tests.support.gates import gated_site, relay
from tests.support.havoc import KINDS, Folders, Visitor, havoc_folders, page, visited
from tests.support.load import load
from tests.support.remote import RemoteServer, connected, files_in, serving, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a browser as on Linux"),
]

logger = logging.getLogger(__name__)

FAULTS = load(4, full=24)
SEED = int(os.environ.get("BROWSER_TEST_SEED", "4"))


@pytest.fixture
def folders() -> Iterator[Folders]:
    with havoc_folders() as folders:
        yield folders


async def test_whatever_is_killed_each_call_is_answered_and_nobody_else_loses_anything(
    folders: Folders,
) -> None:
    async with visited(folders, SEED) as havoc:
        await havoc.rage(FAULTS)
        logger.warning("%d faults: %s", FAULTS, dict(sorted(havoc.told.items())))
        assert havoc.told.total() == FAULTS
    assert await asyncio.to_thread(folders.left) == []


async def test_clients_that_go_without_a_word_are_reaped(folders: Folders) -> None:
    flags = ("--idle-timeout", "2", "--tools", "core", "--profiles", str(folders.profiles))
    async with serving(*flags) as server, gated_site(page) as site, AsyncExitStack() as stack:
        for name, sse, era, profile in KINDS[1:]:
            line = await stack.enter_async_context(relay(server.port))
            visitor = Visitor(name=name, sse=sse, era=era, profile=profile, line=line, site=site, stack=stack)
            await visitor.connect()
            await visitor.browser.open(f"{site.url}/page/{name}/1")
            line.freeze()

        async def none_is_left() -> bool:
            _, figures = await asyncio.to_thread(server.get, "/metrics")
            return "mcp_browser_sessions 0.0" in figures

        await until(none_is_left)
        await until(folders.profile_is_free)
        assert server.process.poll() is None
        assert await asyncio.to_thread(server.stop, signal.SIGTERM) == 0


async def test_clients_that_leave_while_their_session_opens_leave_no_browser_context() -> None:
    async with serving("--http") as server, httpx2.AsyncClient(base_url=server.base, timeout=60) as http:
        await leave_while_opening(http, server)
        await until(lambda: has_no_session(server))
        before = renderers_of(server)
        for _ in range(3):
            await asyncio.gather(*(leave_while_opening(http, server) for _ in range(10)))
            await until(lambda: has_no_session(server))

        async def as_before() -> bool:
            return renderers_of(server) <= before

        await until(as_before)


async def test_a_server_without_descriptors_says_so_once_and_serves_those_it_has() -> None:
    server = RemoteServer("--http", "--tools", "core")
    pid = server.process.pid
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (256, 256))
    try:
        await asyncio.to_thread(server.wait_until_listening)
        assert any("128 connections at a time, not 1000" in line for line in server.stderr), server.stderr
        async with connected(server.url, "legacy") as old:
            await old.open("data:text/html,<button onclick='this.textContent += 1'>Count</button>")
            told = len(server.stderr)
            # So few more that the flood takes the last ones.
            enough = psutil.Process(pid).num_fds() + 20
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (enough, 256))
            begun = time.monotonic()
            flood = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(60)]

            async def has_told() -> bool:
                return len(server.stderr) > told

            await until(has_told)
            for number in range(1, 4):
                text = "Count" + "1" * number
                assert text in await old.click("button", re.compile("Count"))
            assert [line for line in server.stderr[told:] if "too many files" in line] == server.stderr[told:]
            assert len(server.stderr) - told <= 1 + (time.monotonic() - begun) / 60  # Once a minute
            for _, writer in flood:
                writer.transport.abort()
            async with connected(server.url) as new:
                assert "Hello" in await new.open("data:text/html,Hello")
    finally:
        server.stop()


async def test_a_full_disk_fails_what_is_to_be_written_and_nothing_else(tmp_path: Path) -> None:
    flags = ("--http", "--tools", "core", "--output-dir", str(tmp_path))
    async with serving(*flags) as server, connected(server.url) as browser:
        await browser.open("data:text/html,<h1>Here</h1>")
        # A file of this process cannot grow any more, as on a full disk.
        before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (500, before[1]))
        told = await browser.refused("save_pdf")
        assert "Internal error" not in told
        assert str(tmp_path) not in told
        assert files_in(tmp_path) == []
        assert "Here" in await browser.snapshot()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
        assert "Saved" in await browser.do("save_pdf")


async def leave_while_opening(http: httpx2.AsyncClient, server: RemoteServer) -> None:
    """Be a legacy client that ends its protocol session while its first call is under way."""
    client = Legacy(http, "leaver")
    await client.begin()
    params = {"name": "go_to_url", "arguments": {"url": "about:blank"}}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    call = asyncio.create_task(http.post("/mcp", headers=client.headers, json=message))
    await until(lambda: is_called(server))
    await http.delete("/mcp", headers=client.headers)
    await asyncio.wait({call})


async def figures(server: RemoteServer) -> str:
    return (await asyncio.to_thread(server.get, "/metrics"))[1]


async def has_no_session(server: RemoteServer) -> bool:
    return "mcp_browser_sessions 0.0" in await figures(server)


async def is_called(server: RemoteServer) -> bool:
    return not await has_no_session(server)


def renderers_of(server: RemoteServer) -> int:
    children = psutil.Process(server.process.pid).children(recursive=True)
    return sum("--type=renderer" in _arguments(child) for child in children)


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
