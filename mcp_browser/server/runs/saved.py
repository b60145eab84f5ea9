"""Runs in their folders: owner, state, and the lock of the server that works on them."""

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Self

from platformdirs import user_state_path
from pydantic import ValidationError

from mcp_browser.agent.record.history import HISTORY_FILE, AgentHistory, TaskFolder
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.browser.process.profile import lock_file
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import NotActionable, NotFound
from mcp_browser.server.principals import Principal
from mcp_browser.settings import AgentSettings

YOUNGEST_SECONDS = 3600.0  # For how long a folder is kept, however little room there is

RECORD_FILE = "run.json"
LOCK_FILE = ".lock"

IDENTIFIER = re.compile(r"[\w-]{8,64}")  # What an identifier of a task looks like: never a path
BROKEN_OFF = "The server ended while it worked. resume_task goes on with it."


class RunRecord(Frozen):
    """What a server needs to know of a run besides its history."""

    format: Literal[1] = 1
    owner: str  # A digest of who may steer it
    model: str | None = None  # The one that the call named; None: the server's own or the client's
    turns: int = 1  # How often it has begun or gone on


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run in its folder."""

    folder: Path
    record: RunRecord
    history: AgentHistory


@dataclass(frozen=True, slots=True)
class _Folder:
    """A run's folder: last change (Unix time), size in bytes, a digest of the owner if readable."""

    path: Path
    changed: float
    size: int
    owner: str | None


class SavedRuns:
    """The folders of all runs, also of earlier servers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, settings: AgentSettings) -> Self:
        """Those in the folder that the settings name, or the usual one."""
        return cls(settings.tasks_dir or user_state_path("mcp-browser") / "tasks")

    def all(self) -> Iterator[AgentHistory]:
        """The histories of all runs that can be read, of all callers."""
        for folder in self._folders_with(HISTORY_FILE):
            with contextlib.suppress(NotFound):
                yield TaskFolder.read(folder).history()

    def named(self, name: str) -> Path:
        """The folder of a run, by its path, its identifier, or the beginning of that; raises NotFound."""
        with contextlib.suppress(OSError, ValueError):  # It may be too long for a path.
            if (Path(name) / HISTORY_FILE).is_file():
                return Path(name)
        fitting = [folder for folder in self._folders_with(HISTORY_FILE) if folder.name.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        why = f"{len(fitting)} tasks begin with" if fitting else "There is no task"
        raise NotFound(f"{why} {name[:60]!r}.", hint=f"`mcp-browser tasks` lists those in {self.folder}.")

    def find(self, identifier: str, principal: Principal) -> SavedRun:
        """The caller's run of that identifier; raises NotFound, also for another's."""
        path, record = self._of_owner(identifier, principal)
        try:
            return SavedRun(path, record, TaskFolder(path).history())
        except NotFound:
            raise not_found(identifier) from None

    def folder_for(self, identifier: str, principal: Principal) -> Path:
        """The folder of the caller's run; raises NotFound, also for another's."""
        return self._of_owner(identifier, principal)[0]

    def write_record(self, identifier: str, principal: Principal, *, model: str | None = None) -> None:
        """Write a run's owner, and the model that the call named, into its folder."""
        self._write(self.folder / identifier, RunRecord(owner=owner_of(principal), model=model))

    def write_turn(self, identifier: str, principal: Principal, turn: int) -> None:
        """Note that a run of this caller's goes on once more. Raises NotFound: its folder has gone."""
        path, record = self._of_owner(identifier, principal)
        self._write(path, record.model_copy(update={"turns": turn}))

    def _write(self, folder: Path, record: RunRecord) -> None:
        TaskFolder(folder).write(RECORD_FILE, record.model_dump_json().encode())

    def prune(self, *, days: float, megabytes: float) -> list[str]:
        """Delete folders older than `days`; above `megabytes`, the oldest ones of the owner with most bytes.

        Keeps those in use and those of the last hour. Returns the identifiers of the deleted ones.
        """
        folders = sorted(self._ended(), key=lambda found: found.changed)
        left: Counter[str | None] = Counter()
        for found in folders:
            left[found.owner] += found.size
        now, deleted = time.time(), list[str]()
        spare = [found for found in folders if now - found.changed >= YOUNGEST_SECONDS]
        while spare:
            too_old = now - spare[0].changed > days * 86_400
            if not too_old and left.total() <= megabytes * 1_000_000:
                break
            found = spare[0] if too_old else max(spare, key=lambda one: left[one.owner])
            spare.remove(found)
            lock = FolderLock(found.path)
            try:
                lock.take()
            except NotActionable:
                continue
            # Held while it goes, so that no other server takes the run up.
            shutil.rmtree(found.path, ignore_errors=True)
            lock.release()
            left[found.owner] -= found.size
            deleted.append(found.path.name)
        return deleted

    def _folders_with(self, file: str) -> list[Path]:
        """The folders of runs that have this file, and can be read. Raises OSError: theirs cannot be."""
        folders = self.folder.iterdir() if self.folder.is_dir() else ()
        return [folder for folder in folders if os.path.isfile(folder / file)]  # noqa: PTH113 - never raises

    def _ended(self) -> Iterator[_Folder]:
        for path in self._folders_with(RECORD_FILE):
            with contextlib.suppress(OSError):
                if IDENTIFIER.fullmatch(path.name):
                    files, record = [file.stat() for file in path.iterdir()], _record_in(path)
                    changed = max(file.st_mtime for file in files)
                    yield _Folder(path, changed, sum(file.st_size for file in files), record and record.owner)

    def _of_owner(self, identifier: str, principal: Principal) -> tuple[Path, RunRecord]:
        path = self.folder / identifier
        if IDENTIFIER.fullmatch(identifier) and path.is_dir():
            # A folder that is not whole is as good as none.
            record = _record_in(path)
            if record is not None and record.owner == owner_of(principal):
                return path, record
        raise not_found(identifier)


def _record_in(folder: Path) -> RunRecord | None:
    with contextlib.suppress(OSError, ValidationError):
        return RunRecord.model_validate_json((folder / RECORD_FILE).read_bytes())
    return None


class FolderLock:
    """Holds a run's folder for this process, until that ends, however it does."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._file: IO[str] | None = None

    def take(self) -> None:
        """Hold it, unless this process does already; raises NotActionable."""
        if self._file is not None:
            return
        file = self._path.open("a+", encoding="utf-8")
        if not lock_file(file):
            file.close()
            raise NotActionable("Another server works on this task now.", hint="Steer it there.")
        self._file = file

    def release(self) -> None:
        """Let others have it."""
        if self._file is not None:
            self._file.close()
            self._file = None


def outcome_of(history: AgentHistory) -> TaskOutcome:
    """The outcome of a run that no server works on, as it was saved last."""
    outcome = history.outcome or TaskOutcome(id=history.id, status=history.status)
    if history.status.is_final or history.status in (TaskStatus.NEEDS_PERSON, TaskStatus.INTERRUPTED):
        return outcome
    return outcome.model_copy(update={"status": TaskStatus.INTERRUPTED, "obstacle": BROKEN_OFF})


def owner_of(principal: Principal) -> str:
    """A digest of a caller, which does not reveal them."""
    return hashlib.sha256(f"mcp-browser task owner {principal.id}".encode()).hexdigest()


def not_found(identifier: str) -> NotFound:
    """The error for a task that there is not, or that is somebody else's."""
    return NotFound(f"There is no task {identifier[:60]!r}.", hint="Start one with run_task.")
