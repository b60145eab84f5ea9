"""A browser that was running already: driven, never ended."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.errors import BrowserUnavailable
from tests.browser.conftest import Hand, another, browsing, shown, until
from tests.support.own_chrome import foreign_chromium
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="starts Chromium by hand as on POSIX"),
]


@contextmanager
def running_chromium(profile: Path, *, port: int = 0, url: str = "about:blank") -> Generator[str]:
    """A Chromium that somebody else has started; its CDP address."""
    with foreign_chromium(profile, url, port=port, stderr=subprocess.PIPE) as process:
        for line in process.stderr or ():
            if found := re.search(rb"listening on ws://([\d.:]+)/", line):
                yield f"http://{found[1].decode()}"
                assert process.poll() is None, "it was ended"
                return
        raise AssertionError("Chromium did not start")


def attached(endpoint: str) -> AbstractAsyncContextManager[Hand]:
    return browsing(headless=None, cdp_endpoint=endpoint)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def endpoint(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    with running_chromium(tmp_path_factory.mktemp("theirs")) as address:
        yield address


async def test_tabs_that_are_open_are_taken_over_and_stay(site: Site, tmp_path: Path) -> None:
    pages = [site.page(body) for body in ("Opened by its owner", "Left open")]
    with running_chromium(tmp_path, url=pages[0]) as address:
        for url in pages:
            async with attached(address) as hand:
                told = await hand.look()
                assert told.url == url
                assert ("Left open" in shown(told)) is (url == pages[1])
                await hand.open(pages[1])


async def test_an_isolated_session_sees_nothing_of_it(site: Site, endpoint: str) -> None:
    url = site.page("<script>document.title = 'mark ' + localStorage.mark; localStorage.mark = 1</script>")
    async with attached(endpoint) as owner:
        await owner.open(url)
        async with another(owner.manager, isolated=True) as clean:
            assert "mark undefined" in shown(await clean.open(url))
            assert "mark 1" in shown(await owner.open(url))
        assert "mark 1" in shown(await owner.open(url))


async def test_a_connection_that_drops_is_made_again_at_its_address(site: Site, tmp_path: Path) -> None:
    with running_chromium(tmp_path / "one") as address:
        port = int(address.rpartition(":")[2])
    async with attached(address) as hand:
        reached = "No browser could be reached at the CDP endpoint.*--remote-debugging-port"
        with pytest.raises(BrowserUnavailable, match=reached):
            await hand.look()
        for number in range(2):
            with running_chromium(tmp_path / f"two{number}", port=port):
                told = await hand.open(site.page(f"Here {number}"))
                assert f"Here {number}" in shown(told)
                assert any("connection to the browser was lost" in notice for notice in told.notices) is bool(
                    number
                )
            await until(lambda: hand.session.tab_in_use is None)
