"""Temporary folders for the files of sessions, and the removal of those that a killed server has left.

Each folder has a lock file, which the system unlocks when its process ends, in whatever way. That holds where
containers share the temporary folder, and where another process has got the number of the ended one.
"""

import contextlib
import functools
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path
from typing import IO

from mcp_browser.browser.process.profile import lock_file

PREFIX = "mcp-browser-"
LOCK_FILE = ".lock"


class TemporaryFolder:
    """A folder of this process's, until `remove` or the next server's start after the end of this one."""

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = (self.path / LOCK_FILE).open("x", encoding="utf-8")
            # Another server that starts right now may have taken it for left.
            if lock_file(self._lock) and (self.path / LOCK_FILE).exists():
                return
            self._lock.close()

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


@functools.cache
def remove_leftovers_once() -> None:
    """Remove, in the background, what killed servers have left; only the first call does anything."""
    threading.Thread(target=remove_leftovers, name="leftovers", daemon=True).start()


def remove_leftovers() -> None:
    """Remove this user's temporary folders of servers that have ended."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.name.startswith(PREFIX) and _is_own(entry.stat(follow_symlinks=False), stat.S_IFDIR):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(folder: Path) -> None:
    with _opened(folder / LOCK_FILE) as lock:
        left = _is_own(os.fstat(lock.fileno()), stat.S_IFREG) and lock_file(lock)
        if left:
            shutil.rmtree(folder, ignore_errors=True)
    if left:
        # Windows keeps a file that is open.
        shutil.rmtree(folder, ignore_errors=True)


def _opened(path: Path) -> IO[str]:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.fdopen(os.open(path, flags), "r+", encoding="utf-8")


def _is_own(status: os.stat_result, kind: int) -> bool:
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return own and stat.S_IFMT(status.st_mode) == kind
