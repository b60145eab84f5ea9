"""Fixtures for every test: a local site and a real Chromium."""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import settings as hypothesis_settings
from playwright.async_api import Browser, Page, async_playwright

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import find_browser, launch_options
from mcp_browser.browser.session import BrowserSession
from mcp_browser.settings import BrowserSettings, FileSettings, Settings
from tests.support.sharing import leave_one_tab
from tests.support.site import Site

# On a busy machine an example may take any time.
hypothesis_settings.register_profile("no deadline", deadline=None)
hypothesis_settings.load_profile("no deadline")

LONGEST_TEST = 300.0
"""After which a test that waits fails, and shows where, seconds; the nightly run has longer ones."""


class TookTooLong(Exception):
    """A test has not ended; CI does not run it again."""


def limited(test: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The same test with a limit of time."""

    @functools.wraps(test)
    async def run(*arguments: Any, **keywords: Any) -> None:
        limit = asyncio.timeout(LONGEST_TEST)
        try:
            async with limit:
                await test(*arguments, **keywords)
        except TimeoutError as error:
            if limit.expired():
                raise TookTooLong(f"It has not ended after {LONGEST_TEST:g} s") from error
            raise

    return run


NIGHTLY = dict[str, list[str]]()
"""What nightly.txt names, and which examples of it CI runs all the same."""
for line in Path(__file__).with_name("nightly.txt").read_text("utf-8").splitlines():
    NIGHTLY[line.partition(" but ")[0]] = line.partition(" but ")[2].split(" | ")
COLLECTED = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow the end-to-end tests that neither are the smoke run's nor drive applications.

    Those in nightly.txt are marked as nightly, too. The others have a limit of time.
    """
    config.stash[COLLECTED] = [item.nodeid for item in items]
    for item in items:
        name, _, example = item.nodeid.partition("[")
        if item.path.parent.name == "e2e" and not any(map(item.get_closest_marker, ("smoke", "apps"))):
            item.add_marker(pytest.mark.slow)
        if item.nodeid in NIGHTLY or example[:-1] not in NIGHTLY.get(name, [example[:-1]]):
            item.add_marker(pytest.mark.nightly)
        elif isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = limited(item.obj)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """A local web site; see tests/support/site.py."""
    with Site() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """One headless Chromium for the whole run."""
    async with async_playwright() as playwright:
        settings = Settings()
        browser = await playwright.chromium.launch(
            **launch_options(find_browser(settings.browser), headless=True)
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A page in a context of its own."""
    context = await chromium.new_context()
    yield await context.new_page()
    await context.close()


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> FileSettings:
    """An output folder, and one that files may be uploaded from."""
    return FileSettings(
        output_dir=tmp_path_factory.mktemp("output"), upload_dirs=(tmp_path_factory.mktemp("uploads"),)
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def manager(folders: FileSettings) -> AsyncIterator[BrowserManager]:
    """One browser for all tests of a worker that need no settings of their own."""
    settings = Settings(browser=BrowserSettings(headless=True, isolated=True), files=folders)
    running = BrowserManager(settings)
    yield running
    await running.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_session(manager: BrowserManager) -> AsyncIterator[BrowserSession]:
    """The session of all tests that need no clean one."""
    opened = await manager.open_session(isolated=True)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def session(
    manager: BrowserManager, shared_session: BrowserSession, request: pytest.FixtureRequest
) -> AsyncIterator[BrowserSession]:
    """A session with one tab; with a clean context for a test that is marked `fresh`."""
    if request.node.get_closest_marker("fresh") is None:
        await shared_session.ensure_open()
        await leave_one_tab(shared_session)
        yield shared_session
        shared_session.hidden.clear()
        return
    opened = await manager.open_session(isolated=True)
    yield opened
    await opened.close()
