"""The profile folder, its locks, and its browser for several servers at once.

There are two locks: our own file lock, which the system releases when its holder ends, and Chromium's
`SingletonLock`, a link to `host-pid` that stays after a browser was killed. To share a browser, Playwright
starts `profile_client.py` instead of Chromium, which connects it to the profile's broker.
"""

import contextlib
import functools
import hashlib
import json
import logging
import os
import re
import shlex
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import anyio
from platformdirs import user_data_path

from mcp_browser.browser.process.divide import profile_client
from mcp_browser.browser.process.divide.profile_client import CHROMIUM_LOCK
from mcp_browser.browser.process.launch import ENABLE_WEB_MCP, BrowserChoice, proxy_options, uses_sandbox
from mcp_browser.errors import BrowserUnavailable, ProfileInUse
from mcp_browser.settings import BrowserSettings

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

logger = logging.getLogger(__name__)

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
        host, _, number = str((folder / CHROMIUM_LOCK).readlink()).rpartition("-")
    except OSError:
        return None
    pid = int(number) if number.isdigit() else None
    here = host == socket.gethostname()
    return Holder(pid, host, pid is not None and _is_browser(pid) if here else None)


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
            lock = (self.folder / profile_client.LOCK).open("a+", encoding="utf-8")
        except OSError as error:
            raise BrowserUnavailable(
                f"The profile folder {self.folder} cannot be used: {error.strerror}.",
                hint="Choose another one with --profile FOLDER, or start with --isolated.",
            ) from error
        try:
            if not lock_file(lock):
                holder = _own_holder(lock)
                if self._shared and (holder is None or holder.shared):
                    lock.close()
                    return
                raise in_use(self.folder, holder)
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
    with contextlib.suppress(OSError), (folder / profile_client.LOCK).open("r+", encoding="utf-8") as lock:
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


_ANSWER_BYTES = 65_536
_ANSWER_SECONDS = 5.0
_LONGEST_ADDRESS = 100


def can_share(settings: BrowserSettings, choice: BrowserChoice) -> bool:
    """Whether several servers can share the browser of the profile.

    There is no broker for Windows. The browser's path has to be known, and the folder must allow to execute
    files (`noexec`), belong to this user, and not be writable by all.
    """
    if settings.profile_in_use != "share" or sys.platform == "win32":
        return False
    folder = profile_folder(settings)
    place = next(place for place in (folder, *folder.parents) if place.exists())
    status = place.stat()
    if place == folder and (status.st_uid != os.getuid() or status.st_mode & stat.S_IWOTH):
        return False
    may_execute = not os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0)
    return may_execute and choice.executable is not None


def sharing_options(settings: BrowserSettings, choice: BrowserChoice, folder: Path) -> dict[str, Any]:
    """Keyword arguments for Playwright's `launch_persistent_context` to share the browser of a profile.

    They name a program that runs `profile_client.py`; it is written to the profile if missing.
    """
    # What has to be equal for all clients of a browser.
    terms = {
        "executable": str(choice.executable),
        "sandbox": uses_sandbox(settings),
        "proxy": proxy_options(settings.proxy)["server"] if settings.proxy is not None else None,
        "browser-arg": [argument for argument in settings.browser_args if argument != ENABLE_WEB_MCP],
    }
    command = shlex.join([sys.executable, "-I", "-S", profile_client.__file__])
    text = f'#!/bin/sh\nexec {command} "$@"\n'
    starter = folder / f".mcp-browser-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if not starter.exists():
        new = starter.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o700)
        new.replace(starter)
    return {
        "executable_path": starter,
        "env": {
            **os.environ,
            profile_client.FOLDER: str(folder),
            profile_client.EXECUTABLE: str(choice.executable),
            profile_client.TERMS: json.dumps(terms),
        },
        # One folder for all, since Chromium has one for each profile; file names in it are random.
        "downloads_path": folder / profile_client.DOWNLOADS,
    }


def why_not_shared(log: str, folder: Path) -> BrowserUnavailable | None:
    """The error for a broker that refused the client or did not start, by the log; None if it did neither."""
    hint = (
        "Give all servers with this profile the same settings, or start this one with --isolated (a clean "
        "profile), --profile FOLDER (another one), or --profile-in-use temporary."
    )
    if (found := re.search(r"mcp-browser: refused (\[.*\])", log)) is not None:
        wanted, there = (json.loads(terms) for terms in json.loads(found[1]))
        names = ", ".join(name for name in there if wanted.get(name) != there[name])
        return ProfileInUse(
            f"Another server has started the browser of the profile {folder} with other settings ({names}).",
            hint=hint,
        )
    if "mcp-browser: the broker ended" in log:
        return BrowserUnavailable(
            f"The browser of the profile {folder} could not be started: see {profile_client.LOG} there.",
            hint="--profile-in-use error starts it without letting other servers share it.",
        )
    if "mcp-browser: in use" in log:
        return ProfileInUse(f"The browser profile {folder} is in use, and cannot be shared.", hint=hint)
    return None


def sharers_of(folder: Path) -> list[int]:
    """The sessions that share the browser of a profile now: the process ids of their drivers."""
    place = folder / profile_client.SOCKET
    with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as opened:
        if len(os.fsencode(place)) > _LONGEST_ADDRESS:
            short = Path(opened.enter_context(tempfile.TemporaryDirectory()), "profile")
            short.symlink_to(folder)
            place = short / profile_client.SOCKET
        line = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        line.settimeout(_ANSWER_SECONDS)
        line.connect(str(place))
        line.send(b"{}")
        return [int(pid) for pid in json.loads(line.recv(_ANSWER_BYTES))]
    return []


def warn_of_others(folder: Path) -> bool:
    """Whether other servers use the browser of a profile; logs a warning if so."""
    others = len(sharers_of(folder)) - 1
    if others > 0:
        logger.warning(
            "The browser of the profile %s is shared with %s: tabs are separate, logins common.",
            folder,
            "another session" if others == 1 else f"{others} other sessions",
        )
    return others > 0


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
