"""Runs in their folders: whose they are, and who works on them."""

from pathlib import Path

import pytest

from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.task import Task, TaskStatus
from mcp_browser.errors import NotActionable, NotFound
from mcp_browser.server.principals import ANONYMOUS, Principal
from mcp_browser.server.runs.saved import RECORD_FILE, FolderLock, RunRecord, SavedRuns, outcome_of, owner_of

ALICE = Principal(name="alice", id="('token', 'alice')")


def saved(folder: Path, *, status: TaskStatus = TaskStatus.WORKING) -> SavedRuns:
    """A run of Alice's with the identifier `one-run-of-hers`."""
    history = AgentHistory(id="one-run-of-hers", task=Task(text="Look."), status=status)
    own = TaskFolder(folder / history.id)
    own.save_history(history)
    own.write(RECORD_FILE, RunRecord(owner=owner_of(ALICE)).model_dump_json().encode())
    return SavedRuns(folder)


def test_a_run_is_found_by_its_owner_only(tmp_path: Path) -> None:
    runs = saved(tmp_path)
    assert runs.find("one-run-of-hers", ALICE).history.task.text == "Look."
    with pytest.raises(NotFound) as refused:
        runs.find("one-run-of-hers", ANONYMOUS)
    with pytest.raises(NotFound) as unknown:
        runs.find("one-run-of-none", ANONYMOUS)
    assert str(refused.value).replace("hers", "none") == str(unknown.value)
    assert "alice" not in (tmp_path / "one-run-of-hers" / RECORD_FILE).read_text()


@pytest.mark.parametrize("identifier", ["..", "../one-run-of-hers", "/etc", "", ".", "one-run-of-hers/."])
def test_an_identifier_is_no_path(tmp_path: Path, identifier: str) -> None:
    with pytest.raises(NotFound):
        saved(tmp_path).find(identifier, ALICE)


def test_a_folder_that_is_not_whole_is_as_good_as_none(tmp_path: Path) -> None:
    runs = saved(tmp_path)
    (tmp_path / "one-run-of-hers" / "history.json").write_text("{")
    with pytest.raises(NotFound):
        runs.find("one-run-of-hers", ALICE)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (TaskStatus.WORKING, TaskStatus.INTERRUPTED),
        (TaskStatus.PAUSED, TaskStatus.INTERRUPTED),
        (TaskStatus.NEEDS_PERSON, TaskStatus.NEEDS_PERSON),
        (TaskStatus.SUCCEEDED, TaskStatus.SUCCEEDED),
    ],
)
def test_a_run_that_its_server_did_not_end_was_broken_off(
    tmp_path: Path, status: TaskStatus, told: TaskStatus
) -> None:
    found = saved(tmp_path, status=status).find("one-run-of-hers", ALICE)
    assert outcome_of(found.history).status is told


def test_one_server_at_a_time_works_on_a_run(tmp_path: Path) -> None:
    mine, other = FolderLock(tmp_path), FolderLock(tmp_path)
    mine.take()
    mine.take()
    with pytest.raises(NotActionable):
        other.take()
    mine.release()
    other.take()
    other.release()
