"""Folders of tasks are deleted after a time, and beyond a size."""

import os
import time
from pathlib import Path

import pytest

from mcp_browser.errors import NotFound
from mcp_browser.server.runs.saved import LOCK_FILE, RECORD_FILE, FolderLock, RunRecord, SavedRuns

DAY = 86_400


def age(file: Path, *, days: float) -> None:
    """Let a file have been written so many days ago."""
    written = time.time() - days * DAY
    os.utime(file, (written, written))


def folder(tasks: Path, name: str, *, days: float, kilobytes: int = 1, owner: str = "alice") -> Path:
    """The folder of a run that was written so many days ago."""
    path = tasks / name
    path.mkdir()
    record = RunRecord(owner=owner).model_dump_json().encode()
    for file, content in ((RECORD_FILE, record), ("history.json", b"x" * kilobytes * 1000)):
        (path / file).write_bytes(content)
        age(path / file, days=days)
    return path


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "\udcff", "a/" * 3000, "../../etc"])
def test_a_name_that_is_no_path_names_no_task(tmp_path: Path, name: str) -> None:
    folder(tmp_path, "old-task-1", days=1)
    assert SavedRuns(tmp_path).named("old").name == "old-task-1"
    with pytest.raises(NotFound, match="There is no task"):
        SavedRuns(tmp_path).named(name)


def test_folders_are_deleted_after_their_time(tmp_path: Path) -> None:
    folder(tmp_path, "old-task-1", days=91)
    folder(tmp_path, "new-task-1", days=89)
    (tmp_path / "somebody-elses").mkdir()
    assert SavedRuns(tmp_path).prune(days=90, megabytes=100) == ["old-task-1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new-task-1", "somebody-elses"]


def test_the_oldest_folders_go_beyond_a_size_and_fresh_ones_stay(tmp_path: Path) -> None:
    for number, days in enumerate((5, 4, 3, 0)):
        folder(tmp_path, f"task-number-{number}", days=days, kilobytes=400)
    assert SavedRuns(tmp_path).prune(days=90, megabytes=0.9) == ["task-number-0", "task-number-1"]
    assert SavedRuns(tmp_path).prune(days=90, megabytes=0.1) == ["task-number-2"]
    assert [path.name for path in tmp_path.iterdir()] == ["task-number-3"]


def test_who_has_most_makes_room(tmp_path: Path) -> None:
    folder(tmp_path, "bobs-only-one", days=9, kilobytes=400, owner="bob")
    for number in range(4):
        folder(tmp_path, f"task-number-{number}", days=8 - number, kilobytes=300)
    deleted = SavedRuns(tmp_path).prune(days=90, megabytes=1.02)
    assert deleted == ["task-number-0", "task-number-1"]


def test_the_folder_of_a_run_that_is_held_stays(tmp_path: Path) -> None:
    path = folder(tmp_path, "held-task-1", days=91)
    claim = FolderLock(path)
    claim.take()
    age(path / LOCK_FILE, days=91)
    assert SavedRuns(tmp_path).prune(days=90, megabytes=100) == []
    claim.release()
    assert SavedRuns(tmp_path).prune(days=90, megabytes=100) == ["held-task-1"]
