"""What a killed server leaves in the temporary folder is removed by the next one, and nothing else."""

import os
import signal
import sys
from pathlib import Path

import pytest

from mcp_browser.browser.process.profile import LOCK_FILE, PREFIX, TemporaryFolder, remove_leftovers
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
