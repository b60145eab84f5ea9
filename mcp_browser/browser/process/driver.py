"""Playwright's driver: its Node.js program, and the library that it may lack on a minimal machine."""

import subprocess
import sys

LIBRARY = "libatomic"
LIBRARY_PACKAGE = "libatomic1"
WITH_DEPS = "allow the system's packages: mcp-browser install --with-deps"
LIBRARY_HINT = f"Install {LIBRARY_PACKAGE}, or {WITH_DEPS}."


def driver_problem() -> str | None:
    """Why Playwright's driver does not run, in one line; None if it runs."""
    command = [sys.executable, "-m", "playwright", "--version"]
    try:
        said = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if said.returncode == 0:
        return None
    words = (said.stderr.strip() or said.stdout.strip()).splitlines()
    about_libraries = (line for line in words if "shared libraries" in line)
    return next(about_libraries, words[-1] if words else f"it ended with code {said.returncode}")
