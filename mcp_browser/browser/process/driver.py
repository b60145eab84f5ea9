"""Playwright's driver: the Node.js program that comes with it, and what it may lack on a bare machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from mcp_browser.browser.process.launch import run_and_tell
from mcp_browser.errors import BrowserUnavailable

_LIBRARY = "libatomic"
_PACKAGE = "libatomic1"
_PATIENCE = 60


def driver_problem() -> str | None:
    """What keeps Playwright's driver from running, in one line; None where it runs."""
    command = [sys.executable, "-m", "playwright", "--version"]
    try:
        said = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if said.returncode == 0:
        return None
    words = (said.stderr.strip() or said.stdout.strip()).splitlines()
    about_libraries = (line for line in words if "shared libraries" in line)
    return next(about_libraries, words[-1] if words else f"it ended with code {said.returncode}")


def mend_driver(progress: Callable[[str], None]) -> None:
    """Check that Playwright's driver runs; get the library that small Debian images lack.

    Args:
        progress: takes one line after another of what is going on.

    Raises:
        BrowserUnavailable: it does not run; the message says what it lacks.
    """
    problem = driver_problem()
    if problem is not None and _LIBRARY in problem and shutil.which("apt-get"):
        progress(problem)
        prefix: list[str] = [] if os.geteuid() == 0 else ["sudo", "-n"]
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run_and_tell([*prefix, "apt-get", "update"], progress, environment=quiet)
        install = [*prefix, "apt-get", "install", "-y", "--no-install-recommends", _PACKAGE]
        run_and_tell(install, progress, environment=quiet)
        problem = driver_problem()
    if problem is not None:
        raise BrowserUnavailable(
            f"Playwright's driver does not run: {problem}.",
            hint=f"Install the library it names ({_PACKAGE} on Debian), or let PLAYWRIGHT_NODEJS_PATH "
            "name a Node.js of this machine.",
        )
