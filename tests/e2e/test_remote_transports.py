"""Clients that come over HTTP: transports and eras, how the server starts and ends, where its browser is."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import playwright
import pytest
import pytest_asyncio

from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import BrowserSettings
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


DRIVER = Path(playwright.__file__).parent / "driver"


@contextmanager
def playwright_server(folder: Path, port: int = 0) -> Generator[str]:
    """A Playwright server with a Chromium; its address."""
    options = {
        "executablePath": str(find_browser(BrowserSettings()).executable),
        "headless": True,
        "args": ["--no-sandbox"],
        "port": port,
        "wsPath": "/pw",
    }
    config = folder / "server.json"
    config.write_text(json.dumps(options))
    command = [DRIVER / "node", DRIVER / "package" / "cli.js", "launch-server", "--browser=chromium"]
    process = subprocess.Popen(
        [*command, f"--config={config}"], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.slow
async def test_sessions_work_in_a_browser_of_a_playwright_server_also_when_that_comes_back(
    site: Site, tmp_path: Path
) -> None:
    page = site.page("<h1>From afar</h1>")
    with playwright_server(tmp_path) as address:
        port = int(address.split(":")[2].partition("/")[0])
    async with serving("--http", "--browser-endpoint", address) as server, AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(connected(server.url, "legacy")) for _ in range(2)]
        assert (await asyncio.to_thread(server.get, "/readyz"))[0] == 503
        assert "No browser could be had at the browser endpoint" in await one.refused("go_to_url", url=page)
        with playwright_server(tmp_path, port):
            assert (await asyncio.to_thread(server.get, "/readyz"))[0] == 200
            assert "From afar" in await one.open(page)
            assert "From afar" in await two.open(page)
            own = server.processes.living(server.process.pid)
            assert not [command for command in own.values() if "--type=renderer" in command]
        with playwright_server(tmp_path, port):
            assert "was lost and has been made again" in await two.do("get_state")
            assert "From afar" in await two.open(page)
