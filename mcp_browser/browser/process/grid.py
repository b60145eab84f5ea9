"""Browsers of a Selenium Grid.

Playwright's driver asks a grid for its browsers where its environment names one. It then gives each of them
back when it is closed, when the connection to it breaks, and when the driver itself ends, also because this
process was killed.
"""

import base64
import contextlib
import json
import os
import re
from collections.abc import Generator
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from mcp_browser.browser.process.launch import chromium_args
from mcp_browser.errors import BrowserUnavailable
from mcp_browser.settings import BrowserSettings

_URL = "SELENIUM_REMOTE_URL"
_HEADERS = "SELENIUM_REMOTE_HEADERS"
_CAPABILITIES = "SELENIUM_REMOTE_CAPABILITIES"
_REFUSAL = re.compile(r"Error connecting to Selenium at \S+?: ")
_UNREACHABLE = re.compile(r"\b(?:E[A-Z_]{4,}|socket hang up|certificate)\b")


def address_and_headers(endpoint: str) -> tuple[str, dict[str, str]]:
    """A grid's address without the credentials in it, and the headers that every request to it has.

    Raises:
        BrowserUnavailable: the headers in the environment cannot be read.
    """
    parts = urlsplit(endpoint)
    host = parts.netloc.rpartition("@")[2]
    headers: dict[str, str] = _json_variable(_HEADERS)
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), headers


@contextlib.contextmanager
def grid_environment(endpoint: str) -> Generator[None]:
    """Within this context, a driver that is started has its browsers of a grid.

    Raises:
        BrowserUnavailable: what the environment says already cannot be read.
    """
    _json_variable(_CAPABILITIES)
    address, headers = address_and_headers(endpoint)
    wanted = {_URL: address} | ({_HEADERS: json.dumps(headers)} if headers else {})
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def grid_launch_options(settings: BrowserSettings) -> dict[str, Any]:
    """Keyword arguments for Playwright's `launch` of a browser of a grid.

    What this machine is like says nothing about the grid's: its browsers have no window and use their sandbox
    unless told otherwise.
    """
    options: dict[str, Any] = {
        "headless": settings.headless is not False,
        "chromium_sandbox": settings.sandbox is not False,
        "args": chromium_args(settings),
    }
    if settings.browser == "msedge":
        options["channel"] = "msedge"
    return options


def grid_error(endpoint: str, message: str, *, seconds: float) -> BrowserUnavailable:
    """Why a grid gave no browser.

    Args:
        endpoint: its address; credentials in it are not told.
        message: the first sentence of Playwright's error.
        seconds: how long it was waited for.
    """
    place = urlsplit(endpoint).netloc.rpartition("@")[2]
    refusal = _REFUSAL.sub("", message)
    if refusal.startswith("<"):
        message = "what answers there is a web page"
    elif refusal != message:
        return BrowserUnavailable(
            f"The Selenium Grid at {place} gave no browser: {refusal}.",
            hint="Its /status page tells which browsers it has and which are in use.",
        )
    if message.startswith("Timeout"):
        return BrowserUnavailable(
            f"The Selenium Grid at {place} gave no browser within {seconds:g} s.",
            hint="All of its slots may be in use: try again later.",
        )
    if _UNREACHABLE.search(message):
        return BrowserUnavailable(
            f"The Selenium Grid at {place} cannot be reached: {message}.", hint="Is it running there?"
        )
    return BrowserUnavailable(
        f"No browser could be had at the Selenium Grid at {place}: {message}.",
        hint="The address has to be a grid's, such as http://127.0.0.1:4444; mcp-browser doctor asks it.",
    )


def _json_variable(name: str) -> dict[str, Any]:
    """The JSON object in an environment variable; an empty one where it is not set."""
    try:
        value = json.loads(os.environ.get(name) or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        # Playwright would go on without it. Its value may be a secret.
        raise BrowserUnavailable(f"The environment variable {name} is not a JSON object.", hint="Correct it.")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON has no types
