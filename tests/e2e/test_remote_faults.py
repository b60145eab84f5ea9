"""A server for many clients while browsers, renderers and connections are killed at random.

`just remote chaos` does it a hundred times; `BROWSER_TEST_SEED` chooses another order.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from tests.support.gates import gated_site, relay
from tests.support.havoc import KINDS, Folders, Visitor, havoc_folders, page, visited
from tests.support.remote import serving, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a browser as on Linux"),
]

logger = logging.getLogger(__name__)

FAULTS = 12
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
        assert await asyncio.to_thread(server.stop, signal.SIGTERM) == 128 + signal.SIGTERM
