"""Browsers of a Playwright server that runs elsewhere."""

import asyncio
import json
import subprocess
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import playwright
import pytest

from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import BrowserSettings
from tests.support.remote import connected, serving
from tests.support.site import Site

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
