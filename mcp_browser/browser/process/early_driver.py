"""Playwright's driver: what it may lack, and how it is started before anything else is imported.

The driver and Python's imports take a fifth of a second each; in parallel, the first page opens sooner.
Playwright has no public way to use a running driver, so this replaces a method of its pipe transport. If
Playwright's internals have changed, the early driver is ended and Playwright starts its own.
"""

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from platformdirs import user_cache_dir

logger = logging.getLogger(__name__)

LIBRARY = "libatomic"  # A library that the driver's Node.js may lack on a minimal machine
LIBRARY_PACKAGE = "libatomic1"
WITH_DEPS = "allow the system's packages: mcp-browser install --with-deps"
LIBRARY_HINT = f"Install {LIBRARY_PACKAGE}, or {WITH_DEPS}."

_LONGEST_LINE = 32_768
_waiting: "subprocess.Popen[bytes] | None" = None  # The early driver, until it is taken over
_NODE_OPTION = "--max-semi-space-size=1"
"""Collects short-lived objects at each megabyte instead of 16: the driver takes 17 MB less."""


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


def driver_package() -> Path:
    """The folder of the driver's package in Playwright, found without importing it."""
    spec = find_spec("playwright")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("Playwright is not installed.")
    return Path(spec.origin).parent / "driver" / "package"


def driver_environment() -> dict[str, str]:
    """Environment variables for the driver's Node.js, besides those of this process.

    Node.js caches the compiled driver, which then starts in three quarters of the time.
    """
    cache = os.environ.get("NODE_COMPILE_CACHE") or user_cache_dir("mcp-browser")
    options = os.environ.get("NODE_OPTIONS", "")
    if "--max-semi-space-size" not in options:
        options = f"{options} {_NODE_OPTION}".strip()
    return {"NODE_COMPILE_CACHE": cache, "NODE_OPTIONS": options}


def start_driver() -> None:
    """Start the driver in the background, if possible; `take_over` uses it."""
    global _waiting  # noqa: PLW0603
    if sys.platform == "win32" or _waiting is not None:
        return
    package = driver_package()
    node = os.environ.get("PLAYWRIGHT_NODEJS_PATH") or str(package.parent / "node")
    environment = {**os.environ, **driver_environment(), "PW_LANG_NAME": "python"}
    environment["PW_LANG_NAME_VERSION"] = f"{sys.version_info.major}.{sys.version_info.minor}"
    # If the driver cannot be started, Playwright's own attempt reports it.
    with contextlib.suppress(OSError):
        _waiting = subprocess.Popen(
            [node, str(package / "cli.js"), "run-driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )


def discard() -> None:
    """End the early driver, if there is one: another environment is needed."""
    global _waiting
    process, _waiting = _waiting, None
    if process is None:
        return
    process.kill()
    process.communicate()  # Closes its pipes now, since garbage collection may be off.


@contextlib.contextmanager
def take_over() -> Generator[None]:
    """In this context, Playwright uses the driver that runs already, if there is one."""
    global _waiting
    try:
        transport: Any = import_module("playwright._impl.transport").PipeTransport
        own_connect = transport.connect
    except (ImportError, AttributeError):
        logger.info("This version of Playwright starts its driver in another way.")
        discard()
        yield
        return
    process, _waiting = _waiting, None
    if process is None or process.poll() is not None:
        yield
        return

    import asyncio  # noqa: PLC0415 - this module is imported before all others

    async def connect(self: Any) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LONGEST_LINE, loop=loop)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), process.stdout)
        pipe, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=loop), loop=loop), process.stdin
        )
        self._stopped_future = loop.create_future()
        self._output = asyncio.StreamWriter(pipe, protocol, None, loop)
        # The part of an asyncio subprocess that the transport uses.
        self._proc = SimpleNamespace(
            stdin=self._output, stdout=reader, communicate=lambda: asyncio.to_thread(process.wait)
        )

    transport.connect = connect
    try:
        yield
    finally:
        transport.connect = own_connect
