"""Hard cases of browsers that die or hang, and of profiles, over stdio."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import Settings
from tests.support.apps import free_port, running
from tests.support.client import browsing
from tests.support.process import RawServer
from tests.support.site import Site

reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find the browser's processes")


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def kill(server: RawServer, kind: str) -> None:
    """Kill the browser's processes of one kind; the main one has no --type."""
    for pid, command in server.descendants().items():
        is_browser = "--type=" not in command and "chrom" in command.lower().split(" ")[0]
        if f"--type={kind}" in command or (kind == "browser" and is_browser):
            os.kill(pid, signal.SIGKILL)


@reads_proc
def test_a_killed_browser_is_started_again_by_the_next_call_which_says_so(site: Site) -> None:
    with RawServer() as server:
        server.initialize()
        lost = site.page("<h1>Lost</h1>", title="Lost page")
        server.call("go_to_url", url=lost)
        kill(server, "browser")
        result = server.call("get_state", screenshot=False)
        assert "start" in text_of(result).lower()
        assert lost in text_of(result), "it tells what was lost"
        result = server.call("go_to_url", url=site.page("<h1>Alive again</h1>"))
        assert not result["isError"], text_of(result)
        assert "Alive again" in text_of(result)


@reads_proc
def test_a_crashed_page_is_told_and_opens_again(site: Site) -> None:
    with RawServer() as server:
        server.initialize()
        url = site.page("<h1>Fragile</h1>")
        server.call("go_to_url", url=url)
        kill(server, "renderer")
        told = text_of(server.call("get_state", screenshot=False))
        assert "crash" in told.lower()
        result = server.call("go_to_url", url=url)
        assert not result["isError"], text_of(result)
        assert "Fragile" in text_of(result)


@pytest.mark.slow
@reads_proc
def test_a_browser_that_is_killed_in_the_middle_of_a_call_does_not_hold_it(site: Site) -> None:
    with RawServer() as server:
        server.initialize()
        server.call("go_to_url", url=site.page("<h1>Here</h1>"))
        seen = len(site.requests)
        waiting = server.send("tools/call", {"name": "go_to_url", "arguments": {"url": f"{site.url}/hang"}})
        while "GET /hang" not in site.requests[seen:]:
            assert server.process.poll() is None
        kill(server, "browser")
        assert server.answer(waiting, seconds=20)["result"]["isError"]
        result = server.call("go_to_url", url=site.page("<h1>Alive again</h1>"))
        assert "Alive again" in text_of(result)


async def test_a_page_that_loops_for_ever_is_an_error_in_time_and_another_page_opens(site: Site) -> None:
    async with browsing(
        "auto", "--call-timeout=6", "--navigation-timeout=4", "--action-timeout=3"
    ) as browser:
        await browser.open(site.page("<button onclick='for (;;);'>Freeze</button>"))
        result = await browser.call("click_element", index=browser.find("button", "Freeze"))
        if not result.is_error:
            result = await browser.call("get_state", screenshot=False)
        assert result.is_error, result.text
        assert "Thawed" in await browser.open(site.page("<h1>Thawed</h1>"))
        await browser.open(site.other + "/status/200")


async def test_what_a_site_stores_outlives_the_server(site: Site, tmp_path: Path) -> None:
    page = """<p id=out></p><button onclick="
    localStorage.mark = 'kept'; document.cookie = 'mark=baked; max-age=9999'">Store</button>
    <script>out.textContent = `stored ${localStorage.mark} ${document.cookie}`</script>"""
    url = site.page(page)
    flags = ("--no-isolated", f"--profile={tmp_path / 'profile'}")
    async with browsing("auto", *flags) as browser:
        assert "stored undefined" in await browser.open(url)
        await browser.click("button", "Store")
    async with browsing("auto", *flags) as browser:
        told = await browser.open(url)
        assert "stored kept" in told
        assert "mark=baked" in told


async def test_an_isolated_server_stores_nothing(site: Site) -> None:
    script = "out.textContent = `stored ${localStorage.mark}`; localStorage.mark = 1"
    url = site.page(f"<p id=out></p><script>{script}</script>")
    for _ in range(2):
        async with browsing() as browser:
            assert "stored undefined" in await browser.open(url)


async def test_a_second_server_on_the_same_profile_is_told_what_to_do(site: Site, tmp_path: Path) -> None:
    flags = ("--no-isolated", f"--profile={tmp_path / 'profile'}", "--profile-in-use=error")
    url = site.page("<h1>Mine</h1>")
    async with browsing("auto", *flags) as first, browsing("auto", *flags) as second:
        await first.open(url)
        result = await second.call("go_to_url", url=url)
        assert result.is_error
        assert str(tmp_path / "profile") in result.text
        assert "--isolated" in result.text
        assert "Mine" in await first.snapshot()


@pytest.mark.slow
async def test_a_second_server_may_be_given_a_temporary_profile(site: Site, tmp_path: Path) -> None:
    flags = ("--no-isolated", f"--profile={tmp_path / 'profile'}", "--profile-in-use=temporary")
    url = site.page("<h1>Ours</h1>")
    async with browsing("auto", *flags) as first, browsing("auto", *flags) as second:
        await first.open(url)
        assert "Ours" in await second.open(url)


@pytest.mark.skipif(sys.platform == "win32", reason="Chromium's lock is a link on POSIX only")
async def test_the_lock_of_a_dead_browser_does_not_hold_a_profile(site: Site, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "SingletonLock").symlink_to(f"{os.uname().nodename}-4194999")
    async with browsing("auto", "--no-isolated", f"--profile={profile}") as browser:
        assert "Unlocked" in await browser.open(site.page("<h1>Unlocked</h1>"))


@pytest.mark.slow
@reads_proc
async def test_a_running_browser_that_is_started_anew_is_reached_again(site: Site, tmp_path: Path) -> None:
    port = free_port()
    url = site.page("<h1>Somebody else's browser</h1>")
    async with browsing("auto", f"--cdp-endpoint=http://127.0.0.1:{port}") as browser:
        for start in ("first", "second"):
            with running_chromium(port, tmp_path / start):
                result = await browser.call("go_to_url", url=url)
                assert not result.is_error, result.text
                assert "Somebody else" in result.text
        result = await browser.call("go_to_url", url=url)
        assert result.is_error
        assert str(port) in result.text


@contextmanager
def running_chromium(port: int, profile: Path) -> Generator[None]:
    """A headless browser of its own with an open CDP port, killed at the end."""
    choice = find_browser(Settings().browser)
    flags = [
        "--headless=new",
        f"--remote-debugging-port={port}",
        f"--user-data-dir={profile}",
        "--no-sandbox",
    ]
    command = [str(choice.executable), *flags, "--no-first-run", "about:blank"]
    with running(command, profile.parent, ready=f"http://127.0.0.1:{port}/json/version"):
        yield
