"""The processes that come from one process."""

import contextlib
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Process:
    """A process that was alive when it was looked at."""

    command: str
    _process: psutil.Process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        with contextlib.suppress(psutil.Error):
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        return False


def family(root: int) -> dict[int, Process]:
    """A process and all its living descendants, by their ids.

    A browser's renderers do not keep the environment they were started with, so that only their descent tells
    whose they are.
    """
    found: dict[int, Process] = {}
    with contextlib.suppress(psutil.NoSuchProcess):
        first = psutil.Process(root)
        for process in (first, *first.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found[process.pid] = Process(" ".join(process.cmdline()), process)
    return {pid: process for pid, process in found.items() if process.alive}
