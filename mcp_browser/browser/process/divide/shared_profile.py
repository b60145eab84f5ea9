"""The browser of a profile for several servers at once: when it can be shared, and how it is started.

Playwright starts `profile_client.py` in Chromium's place, which connects it to the profile's broker.
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

from mcp_browser.browser.process.launch import BrowserChoice, proxy_options, uses_sandbox
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
    """Whether the browser of the profile can be one for several servers: it is at a known place.

    There is no broker for Windows yet. What a folder mounted with `noexec` holds cannot be started, and what
    anybody may write, or another user owns, not be trusted.
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
    """Keyword arguments for Playwright's `launch_persistent_context` that share the profile's browser.

    Args:
        settings: the settings in force.
        choice: the browser to start where none runs.
        folder: the profile's, which is there.
    """
    environment = {
        **os.environ,
        profile_client.FOLDER: str(folder),
        profile_client.EXECUTABLE: str(choice.executable),
        profile_client.TERMS: _terms(settings, choice),
    }
    # One folder for all: Chromium has one for the whole profile. Names of files in it are chance.
    return {
        "executable_path": _starter(folder),
        "env": environment,
        "downloads_path": folder / profile_client.DOWNLOADS,
    }


def why_not_shared(log: str, folder: Path) -> BrowserUnavailable | None:
    """Return why the broker let nobody in, or there is none, by the log; None where that is not so."""
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
    """Return who shares the browser of a profile now: the process id of its driver for each session."""
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
    """Whether others work with the browser of a profile, besides this server; logs it if so."""
    others = len(sharers_of(folder)) - 1
    if others > 0:
        logger.warning(
            "The browser of the profile %s is shared with %s: tabs are separate, logins common.",
            folder,
            "another session" if others == 1 else f"{others} other sessions",
        )
    return others > 0


def _terms(settings: BrowserSettings, choice: BrowserChoice) -> str:
    """What a browser is started with that matters to whoever works with it."""
    terms = {
        "executable": str(choice.executable),
        "sandbox": uses_sandbox(settings),
        "proxy": proxy_options(settings.proxy)["server"] if settings.proxy is not None else None,
        "browser-arg": settings.browser_args,
    }
    return json.dumps(terms)


def _starter(folder: Path) -> Path:
    """Return a program that runs `profile_client.py`; it is made in the profile where it is missing."""
    command = shlex.join([sys.executable, "-I", "-S", profile_client.__file__])
    text = f'#!/bin/sh\nexec {command} "$@"\n'
    path = folder / f".mcp-browser-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if not path.exists():
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.chmod(0o700)
        new.replace(path)
    return path
