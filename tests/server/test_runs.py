"""Runs: what they are made of, and their folders: whose they are, who works on them, how long they stay."""

import os
import time
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.agent.assembly import RunModels, actions_for
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.task import Task, TaskStatus
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.llm.scripted import ScriptedModel
from mcp_browser.server.principals import ANONYMOUS, Principal
from mcp_browser.server.runs.client import run_models
from mcp_browser.server.runs.saved import (
    LOCK_FILE,
    RECORD_FILE,
    FolderLock,
    RunRecord,
    SavedRuns,
    outcome_of,
    owner_of,
)
from mcp_browser.server.runs.service import RunService
from mcp_browser.server.runs.tools import RunTaskParams
from mcp_browser.settings import AgentSettings, Settings, ToolSettings

NOTHING = cast("Any", None)


@pytest.fixture
def service(tmp_path: Path) -> RunService:
    """One that writes below a folder of its own."""
    settings = Settings(agent=AgentSettings(tasks_dir=tmp_path))
    return RunService(settings, NOTHING, default_registry(), lambda _run, _name: None, NOTHING, NOTHING)


def test_a_task_is_offered_the_actions_that_it_names_and_no_others() -> None:
    task = Task(text="Click.", allowed_actions=("click_element", "call_user"))
    offered = actions_for(task, default_registry(), ToolSettings())
    assert [action.name for action in offered] == ["click_element"]


def test_a_start_outside_the_tasks_domains_is_refused_before_a_run_begins(service: RunService) -> None:
    params = RunTaskParams.model_validate(
        {"task": "Do.", "start_url": "https://other.org/", "allowed_domains": ["example.com"]}
    )
    models = RunModels(ScriptedModel(["Hm."]))
    with pytest.raises(InvalidArguments, match=r"start_url: .*outside"):
        service._new(NOTHING, NOTHING, params, models)


async def test_a_script_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    settings = AgentSettings(tasks_dir=tmp_path, model=f"scripted:{tmp_path / 'missing.json'}")
    with pytest.raises(NotActionable, match=r"missing\.json"):
        await run_models(settings, NOTHING, None, attended=True)


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


def test_a_run_that_its_server_did_not_end_was_broken_off(tmp_path: Path) -> None:
    broken_off = TaskStatus.WORKING, TaskStatus.PAUSED
    for status in (*broken_off, TaskStatus.NEEDS_PERSON, TaskStatus.SUCCEEDED):
        found = saved(tmp_path, status=status).find("one-run-of-hers", ALICE)
        told = TaskStatus.INTERRUPTED if status in broken_off else status
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


@pytest.mark.parametrize(
    ("kilobytes", "ages", "megabytes", "gone"),
    [(400, (5, 4, 3, 0), 0.9, 2), (400, (5, 4, 3, 0), 0.1, 3), (300, (8, 7, 6, 5), 1.02, 2)],
    ids=["the oldest", "but no fresh ones", "of who has most"],
)
def test_beyond_a_size_who_has_most_makes_room_with_the_oldest_folders(
    tmp_path: Path, kilobytes: int, ages: tuple[int, ...], megabytes: float, gone: int
) -> None:
    names = [f"task-number-{number}" for number in range(len(ages))]
    for name, days in zip(names, ages, strict=True):
        folder(tmp_path, name, days=days, kilobytes=kilobytes)
    if min(ages):
        folder(tmp_path, "bobs-only-one", days=9, kilobytes=400, owner="bob")
    assert SavedRuns(tmp_path).prune(days=90, megabytes=megabytes) == names[:gone]


def test_the_folder_of_a_run_that_is_held_stays(tmp_path: Path) -> None:
    path = folder(tmp_path, "held-task-1", days=91)
    claim = FolderLock(path)
    claim.take()
    age(path / LOCK_FILE, days=91)
    assert SavedRuns(tmp_path).prune(days=90, megabytes=100) == []
    claim.release()
    assert SavedRuns(tmp_path).prune(days=90, megabytes=100) == ["held-task-1"]
