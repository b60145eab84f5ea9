"""Browsers that others have started: one that was running already is driven, never ended; those of a grid."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio

from mcp_browser.browser.process import early_driver as early
from mcp_browser.cli.arguments import parse_arguments
from mcp_browser.cli.doctor import doctor
from mcp_browser.cli.sources import LoadedSettings
from mcp_browser.errors import BrowserUnavailable
from mcp_browser.settings import BrowserSettings, Settings, all_options
from tests.browser.conftest import Hand, another, answering, browsing, shown, until
from tests.support.family import family
from tests.support.own_chrome import foreign_chromium
from tests.support.packages import debian_package
from tests.support.process import RawServer
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


# -- a Selenium Grid: a real WebDriver server, chromedriver, stands for it: it answers alike


class Grid:
    """A WebDriver server that runs."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.process = process
        self.port = port
        self.address = f"http://127.0.0.1:{port}"

    def sessions(self) -> list[dict[str, Any]]:
        """Those that nobody has given back."""
        return httpx.get(f"{self.address}/sessions", timeout=10).json()["value"]


def _chromedriver() -> Path:
    found = shutil.which("chromedriver")
    return Path(found) if found else debian_package("chromium-driver") / "usr" / "bin" / "chromedriver"


def kill_family(root: int, *, itself: bool = False) -> None:
    """End all that a process has started, and that process too if asked."""
    for pid in [*([root] if itself else []), *(pid for pid in family(root) if pid != root)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def running_grid(port: int = 0) -> Generator[Grid]:
    """A chromedriver; at its end all that it has started is ended, too."""
    if sys.platform != "linux":
        pytest.skip("chromedriver comes from Debian")
    process = subprocess.Popen([_chromedriver(), f"--port={port}"], stdout=subprocess.PIPE)
    try:
        for line in process.stdout or ():
            if b"started successfully on port" in line:
                yield Grid(process, int(line.strip().rstrip(b".").rpartition(b" ")[2]))
                return
        raise AssertionError("chromedriver did not start")
    finally:
        kill_family(process.pid, itself=True)
        process.communicate()


@pytest.fixture
def grid() -> Generator[Grid]:
    with running_grid() as grid:
        yield grid


def gridded(address: str, **more: Any) -> AbstractAsyncContextManager[Hand]:
    # chromedriver's Chromium runs on this machine, where root may have no sandbox.
    return browsing(headless=None, browser_endpoint=address, sandbox=False, **more)


async def test_the_default_session_has_a_browser_of_the_grid_for_its_time(site: Site, grid: Grid) -> None:
    early.start_driver()
    started = early._waiting
    assert started is not None
    async with gridded(grid.address) as hand:
        assert "From the grid" in shown(await hand.open(site.page("<h1>From the grid</h1>")))
        (session,) = grid.sessions()
        assert session["capabilities"]["browserName"] == "chrome"
        # A driver that was started before is ended for one that knows the grid.
        assert started.poll() is not None
        assert early._waiting is None
    assert not grid.sessions()
    assert "SELENIUM_REMOTE_URL" not in os.environ


async def test_a_grid_that_ends_and_comes_back_is_used_again(site: Site) -> None:
    with running_grid() as first:
        hand_over = gridded(first.address)
        hand = await hand_over.__aenter__()
        await hand.open(site.page("Before"))
    await until(lambda: hand.session.tab_in_use is None)
    with pytest.raises(BrowserUnavailable, match=f"Grid at 127.0.0.1:{first.port} cannot be reached"):
        await hand.look()
    with running_grid(first.port) as second:
        told = await hand.open(site.page("After"))
        assert "After" in shown(told)
        assert any("connection to the browser was lost" in notice for notice in told.notices)
        assert len(second.sessions()) == 1
        await hand_over.__aexit__(None, None, None)
        assert not second.sessions()


async def test_a_browser_of_the_grid_that_dies_is_given_back_and_replaced(site: Site, grid: Grid) -> None:
    async with gridded(grid.address) as hand:
        await hand.open(site.page("Before"))
        (before,) = grid.sessions()
        kill_family(grid.process.pid)
        await until(lambda: hand.session.tab_in_use is None)
        assert "After" in shown(await hand.open(site.page("After")))
        await until(lambda: len(grid.sessions()) == 1)
        assert grid.sessions()[0]["id"] != before["id"]
    assert not grid.sessions()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_server_that_ends_leaves_nothing_behind(number: signal.Signals, site: Site, grid: Grid) -> None:
    with RawServer("--browser-endpoint", grid.address, "--no-sandbox") as server:
        server.opens(site.page("<h1>Here</h1>"))
        commands = list(server.descendants().values())
        assert sum("playwright/driver/node" in command for command in commands) == 1
        assert not any("chrom" in command for command in commands)
        assert len(grid.sessions()) == 1
        server.process.send_signal(number)
        server.process.wait(20)
        assert not server.left_over(seconds=20)
    assert not grid.sessions()


def hub(grid: Grid, *, authorization: str) -> AbstractContextManager[str]:
    """What stands before a grid: it asks who calls and tells the browser's address as a hub does."""

    class Relay(BaseHTTPRequestHandler):
        def relay(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Authorization") != authorization:
                self.answer(401, b"who are you?")
                return
            told = httpx.request(self.command, grid.address + self.path, content=body, timeout=30).json()
            if self.path == "/session":
                capabilities = told["value"]["capabilities"]
                debugger = capabilities.pop("goog:chromeOptions")["debuggerAddress"]
                version = httpx.get(f"http://{debugger}/json/version", timeout=30).json()
                capabilities["se:cdp"] = version["webSocketDebuggerUrl"]
            self.answer(200, json.dumps(told).encode())

        do_GET = do_POST = do_DELETE = relay  # noqa: N815 - the base class looks for these names

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return answering(Relay)


async def test_a_hub_alone_is_told_the_credentials_in_its_address(site: Site, grid: Grid) -> None:
    known = f"Basic {base64.b64encode(b'me:p@ss').decode()}"
    with hub(grid, authorization=known) as place:
        async with gridded(f"http://me:p%40ss@{place}/") as hand:
            assert "Through a hub" in shown(await hand.open(site.page("Through a hub")))
            assert len(grid.sessions()) == 1
        assert not grid.sessions()
        async with gridded(f"http://me:wrong@{place}") as hand:
            with pytest.raises(BrowserUnavailable, match=r"gave no browser: who are you\?") as refused:
                await hand.manager.ready()
            assert "wrong" not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "address", "said"),
    [
        ('CAPABILITIES={"browserName": "lynx"}', "", "gave no browser: session not created"),
        ("HEADERS=secret", "http://127.0.0.1:9", "SELENIUM_REMOTE_HEADERS is not a JSON object"),
        ("CAPABILITIES=secret", "http://127.0.0.1:9", "SELENIUM_REMOTE_CAPABILITIES is not a JSON object"),
        ("_=", "SITE", "what answers there is a web page"),
    ],
)
async def test_why_a_grid_refuses(site: Site, grid: Grid, environment: str, address: str, said: str) -> None:
    name, _, value = environment.partition("=")
    address = address.replace("SITE", site.page("<h1>A page</h1>")) or grid.address
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"SELENIUM_REMOTE_{name}", value)
        async with gridded(address) as hand:
            with pytest.raises(BrowserUnavailable, match=said) as refused:
                await hand.manager.ready()
    assert "secret" not in str(refused.value)
    assert "\n" not in refused.value.message
    assert not grid.sessions()


async def test_pages_are_fetched_through_the_proxy_that_is_set(grid: Grid) -> None:
    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"<title>Proxy</title>Asked for {self.path}".encode())

    with answering(Proxy) as place:
        async with gridded(grid.address, proxy=f"http://{place}") as hand:
            assert "Asked for http://nowhere.test/" in shown(await hand.open("http://nowhere.test/"))


def test_the_doctor_asks_if_it_is_ready(site: Site, grid: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    ready = f"those of the Selenium Grid at 127.0.0.1:{grid.port}: ChromeDriver ready for new sessions"
    with hub(grid, authorization="Bearer x") as place:
        for address, expected, said in (
            (grid.address, 0, ready),
            (site.page("<h1>A page</h1>"), 1, "its /status cannot be read"),
            ("http://127.0.0.1:9", 1, "nothing answers at 127.0.0.1:9"),
            (f"http://{place}", 1, ""),
        ):
            settings = Settings(browser=BrowserSettings(browser_endpoint=address, sandbox=False))
            loaded = LoadedSettings(settings, dict.fromkeys(all_options(), "default"))
            assert doctor(loaded, parse_arguments(["doctor"])) == expected
            assert said in capsys.readouterr().out
