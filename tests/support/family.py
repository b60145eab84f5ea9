"""The processes that come from one process, as /proc tells (Linux)."""

import contextlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process that was alive when it was looked at; its start tells it from a later one with its number."""

    pid: int
    parent: int
    start: str
    command: str

    @property
    def alive(self) -> bool:
        now = _look(self.pid)
        return now is not None and now.start == self.start


def family(root: int) -> dict[int, Process]:
    """A process and all its living descendants, by their ids.

    A browser's renderers do not keep the environment they were started with, so that only their descent tells
    whose they are.
    """
    everyone = [process for entry in Path("/proc").iterdir() if (process := _look_at(entry)) is not None]
    members = {process.pid: process for process in everyone if process.pid == root}
    while found := [
        process for process in everyone if process.parent in members and process.pid not in members
    ]:
        members |= {process.pid: process for process in found}
    return members


def _look_at(entry: Path) -> Process | None:
    return _look(int(entry.name)) if entry.name.isdigit() else None


def _look(pid: int) -> Process | None:
    with contextlib.suppress(OSError, ValueError):
        entry = Path(f"/proc/{pid}")
        state, parent, *rest = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        if state != "Z":
            return Process(pid=pid, parent=int(parent), start=rest[17], command=command)
    return None
