"""The profile folder and its locks.

There are two: our own file lock, which the system releases when its holder ends, and Chromium's
`SingletonLock`, a link to `host-pid` that stays after a browser was killed.
"""

import contextlib
import functools
import json
import os
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio
from platformdirs import user_data_path

from mcp_browser.errors import BrowserUnavailable, ProfileInUse
from mcp_browser.settings import BrowserSettings

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

OWN_LOCK = ".mcp-browser.lock"
CHROMIUM_LOCK = "SingletonLock"
CHROMIUM_FILES = (CHROMIUM_LOCK, "SingletonSocket", "SingletonCookie")
ENDING_SECONDS = 5.0  # How long a browser whose server has gone may take to end, seconds


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a profile folder: a process on a host; `alive` is None if unknown.

    `shared`: others on this machine may use the browser that it has started.
    """

    pid: int | None
    host: str
    alive: bool | None
    shared: bool = False

    def __str__(self) -> str:
        process = f"process {self.pid}" if self.pid else "another process"
        return process if self.host == socket.gethostname() else f"{process} on {self.host}"


def profile_folder(settings: BrowserSettings) -> Path:
    """The profile's folder: the setting, by default one for each user and kind of browser."""
    if settings.profile is not None:
        return settings.profile.expanduser().absolute()
    kind = settings.channel or settings.browser
    return user_data_path("mcp-browser", appauthor=False) / "profiles" / kind


def chromium_holder(folder: Path) -> Holder | None:
    """The holder in Chromium's own lock; `alive` is None if it is on another host."""
    try:
        text = str((folder / CHROMIUM_LOCK).readlink())
    except OSError:
        return None
    host, _, number = text.rpartition("-")
    pid = int(number) if number.isdigit() else None
    if host != socket.gethostname():
        return Holder(pid, host, None)
    return Holder(pid, host, pid is not None and _is_browser(pid))


class ProfileLock:
    """Holds a profile folder for this process, until released or until the process ends."""

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        """Lock nothing yet; `shared`: another server that shares the profile's browser may hold it."""
        self.folder = folder
        self._shared = shared
        self._file: IO[str] | None = None

    async def acquire(self) -> None:
        """Lock the folder; make it if missing, and remove the lock of a killed browser.

        Waits a moment for a browser whose server has just ended. Raises ProfileInUse: a running process holds
        it; BrowserUnavailable: the folder cannot be written.
        """
        deadline = time.monotonic() + ENDING_SECONDS
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = (self.folder / OWN_LOCK).open("a+", encoding="utf-8")
        except OSError as error:
            raise BrowserUnavailable(
                f"The profile folder {self.folder} cannot be used: {error.strerror}.",
                hint="Choose another one with --profile FOLDER, or start with --isolated.",
            ) from error
        try:
            if not lock_file(lock):
                own_holder = _own_holder(lock)
                if self._shared and (own_holder is None or own_holder.shared):
                    lock.close()
                    return
                raise in_use(self.folder, own_holder)
            lock.truncate(0)
            json.dump({"pid": os.getpid(), "host": socket.gethostname(), "shared": self._shared}, lock)
            lock.flush()
            while (holder := chromium_holder(self.folder)) is not None and holder.alive is not False:
                if holder.alive is None or time.monotonic() > deadline:
                    raise in_use(self.folder, holder)
                await anyio.sleep(0.1)
            if holder is not None:
                for name in CHROMIUM_FILES:
                    (self.folder / name).unlink(missing_ok=True)
        except BaseException:
            lock.close()
            raise
        self._file = lock

    def release(self) -> None:
        """Unlock the folder, if it is held."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None


def in_use(folder: Path, holder: Holder | None) -> ProfileInUse:
    """The error for a profile that is in use, with what to do instead."""
    who = f" by {holder}" if holder else ""
    hint = (
        "Close that one, or start this one with --isolated (a clean profile), --profile FOLDER (another "
        "one), or --profile-in-use temporary (a clean one whenever this happens)."
    )
    if holder is not None and holder.alive is None:
        hint += f" If {holder.host} no longer uses it, delete {folder / CHROMIUM_LOCK}."
    return ProfileInUse(f"The browser profile {folder} is in use{who}.", hint=hint)


def profile_holder(folder: Path) -> Holder | None:
    """The current holder of a profile folder, or None; locks nothing."""
    with contextlib.suppress(OSError), (folder / OWN_LOCK).open("r+", encoding="utf-8") as lock:
        if not lock_file(lock) and (holder := _own_holder(lock)) is not None:
            return holder
    holder = chromium_holder(folder)
    return holder if holder is not None and holder.alive is not False else None


def _own_holder(lock: IO[str]) -> Holder | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        lock.seek(0)
        signed = json.load(lock)
        return Holder(int(signed["pid"]), str(signed["host"]), True, signed.get("shared") is True)
    return None


def lock_file(file: IO[str]) -> bool:
    """Try to lock the file; whether that succeeded. The system unlocks it when it is closed."""
    try:
        if sys.platform == "win32":
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_browser(pid: int) -> bool:
    """Whether the process of that id runs and is a browser: the id may be reused."""
    # Imported late: few profiles have a lock that was left.
    import psutil  # noqa: PLC0415

    try:
        command = " ".join(psutil.Process(pid).cmdline()).lower()
    except psutil.ZombieProcess:
        return False
    except psutil.NoSuchProcess:  # Or one of another user, which /proc may hide
        try:
            os.kill(pid, 0)
        except PermissionError:
            return True
        except (OSError, OverflowError):
            pass
        return False
    except psutil.Error:
        return True
    return any(name in command for name in ("chrom", "edge", "--user-data-dir"))


PREFIX = "mcp-browser-"
LOCK_FILE = ".lock"


class TemporaryFolder:
    """A folder of this process, until `remove`, or until a server starts after the end of this one."""

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = (self.path / LOCK_FILE).open("x", encoding="utf-8")
            # Another server may have just removed it as a leftover.
            if lock_file(self._lock) and (self.path / LOCK_FILE).exists():
                return
            self._lock.close()

    def remove(self) -> None:
        """Delete the folder with its content."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


@functools.cache
def remove_leftovers_once() -> None:
    """Remove, in the background, temporary folders of killed servers; only the first call does anything."""
    threading.Thread(target=remove_leftovers, name="leftovers", daemon=True).start()


def remove_leftovers() -> None:
    """Remove this user's temporary folders of servers that have ended."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.name.startswith(PREFIX) and _is_own(entry.stat(follow_symlinks=False), stat.S_IFDIR):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(folder: Path) -> None:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(folder / LOCK_FILE, flags), "r+", encoding="utf-8") as lock:
        left = _is_own(os.fstat(lock.fileno()), stat.S_IFREG) and lock_file(lock)
        if left:
            shutil.rmtree(folder, ignore_errors=True)
    if left:
        shutil.rmtree(folder, ignore_errors=True)  # Windows does not delete an open file.


def _is_own(status: os.stat_result, kind: int) -> bool:
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return own and stat.S_IFMT(status.st_mode) == kind
