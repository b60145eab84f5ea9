"""The processes that come from one process."""

from contextlib import suppress
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Process:
    """A process that was alive when it was looked at."""

    pid: int
    command: str
    _process: psutil.Process

    @property
    def alive(self) -> bool:
        # A later process with its number is another one.
        with suppress(psutil.Error):
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        return False


def family(root: int) -> dict[int, Process]:
    """A process and all its living descendants, by their ids.

    A browser's renderers do not keep the environment they were started with, so that only their descent tells
    whose they are.
    """
    members: dict[int, Process] = {}
    with suppress(psutil.Error):
        first = psutil.Process(root)
        for one in [first, *first.children(recursive=True)]:
            with suppress(psutil.Error):
                member = Process(one.pid, " ".join(one.cmdline()), one)
                members |= {one.pid: member} if member.alive else {}
    return members
