"""The driver that is started before anything else."""

import sys

import pytest
from playwright.async_api import async_playwright

from mcp_browser.browser.process import early_driver as early
from tests.support.process import RawServer
from tests.support.site import Site

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be handed over there")


async def test_playwright_takes_over_the_driver_that_runs_already() -> None:
    early.start_driver()
    started = early._waiting
    assert started is not None
    with early.take_over():
        playwright = await async_playwright().start()
    assert playwright.chromium.name == "chromium"
    assert started.poll() is None
    await playwright.stop()
    assert started.wait(10) == 0


async def test_without_an_early_driver_playwright_starts_its_own() -> None:
    assert early._waiting is None
    with early.take_over():
        playwright = await async_playwright().start()
    assert playwright.chromium.name == "chromium"
    await playwright.stop()


async def test_an_early_driver_that_has_died_is_replaced() -> None:
    early.start_driver()
    started = early._waiting
    assert started is not None
    started.kill()
    started.wait(10)
    with early.take_over():
        playwright = await async_playwright().start()
    assert playwright.chromium.name == "chromium"
    await playwright.stop()


async def test_a_playwright_that_works_otherwise_starts_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    early.start_driver()
    started = early._waiting
    assert started is not None
    with monkeypatch.context() as patch:
        patch.delattr("playwright._impl.transport.PipeTransport")
        with early.take_over():
            assert started.poll() is not None, "the early driver is ended"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the processes")
def test_a_server_has_one_driver(site: Site) -> None:
    with RawServer() as server:
        server.initialize()
        assert not server.call("go_to_url", url=site.page("<h1>Here</h1>"))["isError"]
        drivers = [
            command for command in server.descendants().values() if "playwright/driver/node" in command
        ]
        assert len(drivers) == 1
