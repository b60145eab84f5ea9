"""No process outlives the one that started it, however that one ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.family import family
from tests.support.site import Site
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find what is left over")

SERVER = """
import asyncio, sys
import psutil
from pathlib import Path
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.settings import BrowserSettings, Settings

async def main(profile, url, what):
    settings = BrowserSettings(headless=True, profile=Path(profile), isolated=profile == "none")
    manager = BrowserManager(Settings(browser=settings))
    session = await manager.default_session()
    if what == "starting":
        await manager.warm()
        while not psutil.Process().children():
            await asyncio.sleep(0.01)
    else:
        await session.ensure_open()
        page = session.current_tab.page
        await page.goto(url + "/status/200")
        works = {
            "navigating": lambda: page.goto(url + "/hang"),
            "asked": lambda: page.evaluate("alert('Sure?')"),
            "busy": lambda: page.evaluate("for (;;);"),
        }
        if what in works:
            work = asyncio.ensure_future(works[what]())
            await asyncio.wait({work}, timeout=0.3)
    print("ready", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["none", "kept"])
@pytest.mark.parametrize(
    "what",
    [
        *("starting", "busy"),
        *(pytest.param(what, marks=pytest.mark.slow) for what in ("idle", "navigating", "asked")),
    ],
)
def test_a_killed_server_leaves_no_process(site: Site, tmp_path: Path, profile: str, what: str) -> None:
    folder = "none" if profile == "none" else str(tmp_path)
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, folder, site.url, what], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        started = family(server.pid)
        assert len(started) > 1
    finally:
        server.kill()
        server.wait()
    try:
        # The driver gives its browser 30 s to end.
        wait_until(lambda: not any(process.alive for process in started.values()), seconds=40)
    finally:
        for process in started.values():
            if process.alive:
                os.kill(process.pid, signal.SIGKILL)
