"""What servers leave behind, also those that are killed: no process, no secret, no folder for long."""

import io
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mcp_browser.browser.process.profile import LOCK_FILE, PREFIX, TemporaryFolder, remove_leftovers
from tests.support.family import family
from tests.support.process import RawServer
from tests.support.site import Site
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and owners of files")


def left(temporary: Path, name: str = "left") -> Path:
    """A folder as a killed server leaves it."""
    folder = temporary / f"{PREFIX}{name}"
    folder.mkdir(mode=0o700)
    (folder / LOCK_FILE).touch()
    (folder / "secret.pdf").touch()
    return folder


@pytest.mark.slow
def test_what_a_killed_server_has_left_is_removed_by_the_next_one(temporary: Path, site: Site) -> None:
    page = site.page("<p>Secret</p>")
    with RawServer() as killed, RawServer() as living:
        for server in (killed, living):
            server.opens(page)
            assert not server.call("save_pdf")["isError"]
        first = {file.parent for file in temporary.glob("*/*.pdf")}
        assert len(first) == 2
        killed.end(signal.SIGKILL)
        killed.left_over(seconds=60)
        with RawServer() as following:
            following.opens(page)
            wait_until(lambda: sum(folder.exists() for folder in first) <= 1, seconds=60)
        assert any(folder.exists() for folder in first)
        assert not living.call("get_state")["isError"]
        assert len(list(temporary.glob("*/*.pdf"))) == 1


def test_a_folder_in_use_stays_until_it_is_given_up(temporary: Path) -> None:
    folder = TemporaryFolder()
    assert folder.path.parent == temporary
    remove_leftovers()
    assert folder.path.exists()
    folder.remove()
    assert not folder.path.exists()


def test_only_folders_of_a_servers_own_are_removed_and_no_link_is_followed(temporary: Path) -> None:
    other_name = left(temporary).rename(temporary / "somebody-else")
    without_lock = left(temporary, "unlocked")
    (without_lock / LOCK_FILE).unlink()
    lock_elsewhere = left(temporary, "linked")
    (lock_elsewhere / LOCK_FILE).unlink()
    (lock_elsewhere / LOCK_FILE).symlink_to(other_name / LOCK_FILE)
    link = temporary / f"{PREFIX}link"
    link.symlink_to(other_name)
    own = left(temporary)
    (own / "link").symlink_to(other_name)
    remove_leftovers()
    assert not own.exists()
    for folder in (other_name, without_lock, lock_elsewhere, link):
        assert (folder / "secret.pdf").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives a folder away")
def test_another_users_folder_stays(temporary: Path) -> None:
    folder, lock = left(temporary), left(temporary, "lock") / LOCK_FILE
    os.chown(folder, 12345, 12345)
    os.chown(lock, 12345, 12345)
    remove_leftovers()
    assert folder.exists()
    assert lock.exists()


SECRET = "0pen-sesame-now"
PAGE = """<style>p { color: #123456 }</style><p>Hello</p>
<label>Password <input type=password id=pw></label><button id=send>Send</button>
<script>
  pw.onchange = () => history.pushState(0, "", `?${pw.value}`);
  send.onclick = () => fetch("?", { method: "POST", body: JSON.stringify({ saw: pw.value }) });
</script>"""


def telling(folder: Path) -> list[str]:
    """The files in which the secret can be read; the browser's own profile is none of them."""
    return [
        str(path.relative_to(folder))
        for path in list(folder.rglob("*"))
        if path.is_file() and "profile" not in str(path) and SECRET.encode() in whole(path)
    ]


def whole(path: Path) -> bytes:
    content = path.read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(path) as parts:
        return b"\n".join(parts.read(name) for name in parts.namelist())


@pytest.mark.slow
def test_a_password_that_is_typed_during_a_trace_is_on_no_disk(temporary: Path, site: Site) -> None:
    with RawServer("--tools", "core,recording") as server:
        server.initialize()
        assert not server.call("start_recording", kind="trace")["isError"]
        server.call("go_to_url", url=site.page(PAGE))
        password, send = re.findall(r"\[(\d+)\] (?:textbox|button)", str(server.call("get_state")))
        told = server.call("input_text", index=int(password), text=SECRET)
        assert "the trace was discarded" in str(told)
        assert not server.call("click_element", index=int(send))["isError"]
        assert list(temporary.glob("playwright-artifacts-*/*.trace")), "written until then"
        assert not telling(temporary)
        server.all_lines()
    assert not list(temporary.glob("playwright-artifacts-*"))


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
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to find what is left over")
@pytest.mark.parametrize("profile", ["none", "kept"])
@pytest.mark.parametrize("what", ["starting", "busy", "idle", "navigating", "asked"])
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
