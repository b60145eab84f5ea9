"""The driver that is started before anything else."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import async_playwright

from mcp_browser.browser.process import early_driver as early
from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be handed over there")


def start() -> subprocess.Popen[bytes]:
    early.start_driver()
    assert early._waiting is not None
    return early._waiting


@asynccontextmanager
async def playing() -> AsyncGenerator[None]:
    """A Playwright that works, started with the early driver if there is one."""
    with early.take_over():
        playwright = await async_playwright().start()
    assert playwright.chromium.name == "chromium"
    yield
    await playwright.stop()


async def test_playwright_takes_over_the_driver_that_runs_already() -> None:
    started = start()
    async with playing():
        assert started.poll() is None
    assert started.wait(10) == 0


async def test_without_an_early_driver_or_with_a_dead_one_playwright_starts_its_own() -> None:
    assert early._waiting is None
    async with playing():
        pass
    started = start()
    started.kill()
    started.wait(10)
    async with playing():
        pass


async def test_a_playwright_that_works_otherwise_starts_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    started = start()
    with monkeypatch.context() as patch:
        patch.delattr("playwright._impl.transport.PipeTransport")
        with early.take_over():
            assert started.poll() is not None, "the early driver is ended"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the processes")
def test_a_server_has_one_driver(site: Site) -> None:
    with RawServer() as server:
        server.opens(site.page("<h1>Here</h1>"))
        assert sum("playwright/driver/node" in command for command in server.descendants().values()) == 1
