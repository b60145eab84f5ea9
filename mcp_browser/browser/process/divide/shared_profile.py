"""A profile's browser for several servers at once: whether it can be shared, and how it is started.

Playwright starts `profile_client.py` instead of Chromium, which connects it to the profile's broker.
"""

import contextlib
import hashlib
import json
import logging
import os
import re
import shlex
import socket
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp_browser.browser.process.launch import ENABLE_WEB_MCP, BrowserChoice, proxy_options, uses_sandbox
from mcp_browser.browser.process.profile import profile_folder
from mcp_browser.errors import BrowserUnavailable, ProfileInUse
from mcp_browser.settings import BrowserSettings

if sys.platform != "win32":
    from mcp_browser.browser.process.divide import profile_client

logger = logging.getLogger(__name__)

_REFUSED = re.compile(r"mcp-browser: refused (\[.*\])")
_IN_USE = "mcp-browser: in use"
_NO_BROKER = "mcp-browser: the broker ended"
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
    if os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0):
        return False
    return choice.executable is not None


def sharing_options(settings: BrowserSettings, choice: BrowserChoice, folder: Path) -> dict[str, Any]:
    """Keyword arguments for Playwright's `launch_persistent_context` to share the browser of a profile."""
    # What has to be equal for all clients of a browser.
    terms = {
        "executable": str(choice.executable),
        "sandbox": uses_sandbox(settings),
        "proxy": proxy_options(settings.proxy)["server"] if settings.proxy is not None else None,
        "browser-arg": [argument for argument in settings.browser_args if argument != ENABLE_WEB_MCP],
    }
    environment = {
        **os.environ,
        profile_client.FOLDER: str(folder),
        profile_client.EXECUTABLE: str(choice.executable),
        profile_client.TERMS: json.dumps(terms),
    }
    # One folder for all, since Chromium has one for each profile; file names in it are random.
    return {
        "executable_path": _starter(folder),
        "env": environment,
        "downloads_path": folder / profile_client.DOWNLOADS,
    }


def why_not_shared(log: str, folder: Path) -> BrowserUnavailable | None:
    """The error for a broker that refused the client or did not start, by the log; None if it did neither."""
    hint = (
        "Give all servers with this profile the same settings, or start this one with --isolated (a clean "
        "profile), --profile FOLDER (another one), or --profile-in-use temporary."
    )
    if (found := _REFUSED.search(log)) is not None:
        wanted, there = (json.loads(terms) for terms in json.loads(found[1]))
        names = ", ".join(name for name in there if wanted.get(name) != there[name])
        return ProfileInUse(
            f"Another server has started the browser of the profile {folder} with other settings ({names}).",
            hint=hint,
        )
    if _NO_BROKER in log:
        return BrowserUnavailable(
            f"The browser of the profile {folder} could not be started: see {profile_client.LOG} there.",
            hint="--profile-in-use error starts it without letting other servers share it.",
        )
    if _IN_USE in log:
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


def _starter(folder: Path) -> Path:
    """The program that runs `profile_client.py`; it is written to the profile if missing."""
    command = shlex.join([sys.executable, "-I", "-S", profile_client.__file__])
    text = f'#!/bin/sh\nexec {command} "$@"\n'
    path = folder / f".mcp-browser-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if not path.exists():
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o700)
        new.replace(path)
    return path
