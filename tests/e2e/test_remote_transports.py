"""Clients that come over HTTP: the transports, both protocol eras, and how the server starts and ends."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.client import Era
from tests.support.process import warnings_aside
from tests.support.remote import RemoteServer, connected, serving, serving_process, until, until_working
from tests.support.site import Site
from tests.test_cli import run

DOCUMENT = Path(__file__).parents[2] / "docs" / "remote.md"
WAYS = [
    ("http", "auto"),
    ("http", "legacy"),
    ("sse", "auto"),
    pytest.param("sse", "legacy", marks=pytest.mark.slow),
]
BUTTON = "<button onclick=\"this.textContent='Pressed'\">Press</button>"


def address(server: RemoteServer, transport: str) -> str:
    return server.url if transport == "http" else server.sse_url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server() -> AsyncIterator[RemoteServer]:
    async with serving() as running:
        yield running


@pytest.mark.smoke
@pytest.mark.parametrize(("transport", "era"), WAYS)
async def test_a_client_browses_over_each_transport_in_each_era(
    server: RemoteServer, site: Site, transport: str, era: Era
) -> None:
    async with connected(address(server, transport), era) as browser:
        assert '[1] button "Press"' in await browser.open(site.page(BUTTON))
        await browser.click("button", "Press")
        assert browser.shows('button "Pressed"')


@pytest.mark.smoke
async def test_the_server_tells_that_it_is_alive_and_ready(server: RemoteServer) -> None:
    assert await asyncio.to_thread(server.get, "/healthz") == (200, '{"status":"ok"}')
    assert await asyncio.to_thread(server.get, "/readyz") == (200, '{"status":"ready"}')


async def test_standard_error_tells_the_configuration_for_a_client(server: RemoteServer) -> None:
    servers = server.client_configuration()["mcpServers"]
    assert servers == {
        "browser": {"type": "http", "url": server.url},
        "browser-sse": {"type": "sse", "url": server.sse_url},
    }


@pytest.mark.slow
async def test_a_port_in_use_ends_the_program_with_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = await asyncio.to_thread(run, "--http", "--port", str(port), "--headless")
    assert found.returncode == 2
    assert len(warnings_aside(found.stderr)) == 1
    assert f"port {port}: Address already in use. Another program uses it" in found.stderr


@pytest.mark.parametrize(
    ("flags", "waits", "ended"),
    [((), {"seconds": 2}, True), (("--shutdown-timeout", "1"), {"text": "never", "timeout": 50}, False)],
    ids=["to its end", "at most as long as may be"],
)
async def test_a_running_call_is_waited_for_and_answered_before_the_server_ends(
    site: Site, flags: tuple[str, ...], waits: dict[str, Any], ended: bool
) -> None:
    async with serving("--http", *flags) as server, connected(server.url, "legacy") as browser:
        await browser.open(site.page(BUTTON))
        call = asyncio.create_task(browser.call("wait_for", **waits))
        await until_working(browser)
        assert await asyncio.to_thread(server.stop) == 0
        assert (await call).is_error is not ended


async def test_a_stream_of_changes_is_ended_before_the_server_goes() -> None:
    async with (
        serving("--http") as server,
        connected(server.url) as browser,
        browser.client.listen(resources_list_changed=True) as changes,
    ):
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        async with asyncio.timeout(20):
            assert [change async for change in changes] == []
        assert await stopping == 0


@pytest.mark.slow
async def test_a_second_signal_ends_the_server_at_once(site: Site) -> None:
    with serving_process("--http", "--shutdown-timeout", "60") as server:
        async with connected(server.url, "legacy") as browser:
            await browser.open(site.page(BUTTON))
            call = asyncio.create_task(browser.call("wait_for", text="never", timeout=50))
            await until_working(browser)
            server.process.send_signal(signal.SIGTERM)
            await until(lambda: _is_unready(server))
            assert await asyncio.to_thread(server.stop, signal.SIGINT) == 128 + signal.SIGINT
            call.cancel()


async def _is_unready(server: RemoteServer) -> bool:
    return (await asyncio.to_thread(server.get, "/readyz"))[0] == 503


async def test_the_client_of_the_documentation_works(server: RemoteServer, site: Site) -> None:
    text = await asyncio.to_thread(DOCUMENT.read_text)
    program = text.partition("<!-- example: remote_client.py -->\n```python\n")[2].partition("```")[0]
    command = [sys.executable, "-c", program, server.url, site.page("<h1>From the documentation</h1>")]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert "From the documentation" in done.stdout, done.stderr
