"""The profile folder: kept between runs, held by one, given back by the dead."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_browser.browser.process.divide.profile_client import LOCK
from mcp_browser.browser.process.profile import CHROMIUM_LOCK, ProfileLock, profile_folder, profile_holder
from mcp_browser.errors import BrowserUnavailable, ProfileInUse
from mcp_browser.settings import BrowserSettings
from tests.browser.conftest import Hand, browsing, shown
from tests.support.site import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Chromium's lock is a link on POSIX only"),
]

DEAD = 4194999


@contextmanager
def process(code: str, *arguments: str) -> Generator[subprocess.Popen[str]]:
    """Another Python process that has got ready (it prints a line) and waits for its end."""
    code += "\nprint('ready', flush=True)\nimport time\ntime.sleep(60)"
    command = [sys.executable, "-c", code, *arguments]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.kill()
        running.wait()


HOLD = "import fcntl, sys\nf = open(sys.argv[1], 'a+')\nfcntl.flock(f, fcntl.LOCK_EX)"


async def test_what_a_site_stores_is_there_the_next_time(site: Site, tmp_path: Path) -> None:
    url = site.page(
        "<script>document.title = 'mark ' + localStorage.mark; localStorage.mark = 'kept'</script>"
    )
    for mark in ("undefined", "kept"):
        async with browsing(profile=tmp_path / "new" / "profile") as hand:
            assert f"mark {mark}" in shown(await hand.open(url))


async def test_a_second_manager_is_told_what_to_do_and_may_go_on_later(site: Site, tmp_path: Path) -> None:
    async with browsing(profile=tmp_path, profile_in_use="error") as first:
        await first.open(site.page("First"))
        holder = profile_holder(tmp_path)
        assert holder is not None
        assert holder.alive
        async with browsing(profile=tmp_path, profile_in_use="temporary") as other:
            told = await other.open(site.page("Second"))
            assert any("temporary profile" in notice for notice in told.notices)
            assert "Second" in shown(told)
        # A second session of the same manager may have a clean context only.
        session = await first.manager.open_session(isolated=False)
        with pytest.raises(BrowserUnavailable, match="isolated session"):
            await session.ensure_open()
        clean = Hand(await first.manager.open_session(isolated=True))
        assert "Second" in shown(await clean.open(site.page("Second")))
        async with browsing(profile=tmp_path, profile_in_use="error") as second:
            with pytest.raises(ProfileInUse) as refusal:
                await second.session.ensure_open()
            for word in (str(tmp_path), "--isolated", "--profile FOLDER", "--profile-in-use temporary"):
                assert word in str(refusal.value)
            await first.manager.close()
            assert "Second" in shown(await second.open(site.page("Second")))
    assert profile_holder(tmp_path) is None


def locked(folder: Path, pid: int, host: str = socket.gethostname()) -> Path:
    """The lock of Chromium's in a profile, as if held by that process."""
    lock = folder / CHROMIUM_LOCK
    lock.unlink(missing_ok=True)
    lock.symlink_to(f"{host}-{pid}")
    return lock


async def test_the_lock_of_a_dead_browser_is_cleared(site: Site, tmp_path: Path) -> None:
    assert profile_holder(locked(tmp_path, 10**20).parent) is None, "no process has such a number"
    locked(tmp_path, DEAD)
    (tmp_path / "SingletonSocket").symlink_to("/nowhere/SingletonSocket")
    async with browsing(profile=tmp_path) as hand:
        assert "Unlocked" in shown(await hand.open(site.page("Unlocked")))


async def test_the_lock_of_another_host_is_not_touched(tmp_path: Path) -> None:
    lock = locked(tmp_path, 4711, "elsewhere")
    with pytest.raises(ProfileInUse, match=r"process 4711 on elsewhere.*delete"):
        await ProfileLock(tmp_path).acquire()
    assert lock.is_symlink()


async def test_a_browser_that_lives_holds_its_profile(tmp_path: Path) -> None:
    with process("pass", "--user-data-dir=here") as other:
        locked(tmp_path, other.pid)
        begun = time.monotonic()
        with pytest.raises(ProfileInUse, match=f"process {other.pid}"):
            await ProfileLock(tmp_path).acquire()
        assert time.monotonic() - begun < 10
        assert str(profile_holder(tmp_path)) == f"process {other.pid}"


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells what a process is")
async def test_another_program_with_the_number_of_a_dead_browser_holds_nothing(tmp_path: Path) -> None:
    with process("pass") as other:
        locked(tmp_path, other.pid)
        lock = ProfileLock(tmp_path)
        await lock.acquire()
        lock.release()
        lock.release()


def test_a_process_of_another_user_may_be_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    # Where /proc hides the processes of others, that is all to be seen of one.
    monkeypatch.setattr(os, "kill", kill)
    locked(tmp_path, DEAD)
    assert str(profile_holder(tmp_path)) == f"process {DEAD}"
    locked(tmp_path, os.getpid())
    assert profile_holder(tmp_path) is None, "what can be read of it is no browser's"


async def test_our_own_lock_holds_and_ends_with_its_process(tmp_path: Path) -> None:
    with process(HOLD, str(tmp_path / LOCK)) as other:
        with pytest.raises(ProfileInUse):
            await ProfileLock(tmp_path).acquire()
        holder = profile_holder(tmp_path)
        assert holder is None or not holder.alive
        other.kill()
        other.wait()
    lock = ProfileLock(tmp_path)
    await lock.acquire()
    assert profile_holder(tmp_path) is not None
    lock.release()
    assert profile_holder(tmp_path) is None


async def test_a_profile_that_is_no_folder_is_told() -> None:
    with pytest.raises(BrowserUnavailable, match=r"cannot be used.*--isolated"):
        await ProfileLock(Path(__file__)).acquire()


def test_each_kind_of_browser_has_a_profile_of_its_own(tmp_path: Path) -> None:
    assert profile_folder(BrowserSettings(profile=tmp_path)) == tmp_path
    chromium, chrome = (profile_folder(BrowserSettings(browser=kind)) for kind in ("chromium", "chrome"))
    assert chromium != chrome
    assert profile_folder(BrowserSettings(channel="chrome-beta")) not in (chromium, chrome)
    assert "mcp-browser" in str(chromium)
