"""Find a browser of the user's that allows remote debugging: by the file that it writes then."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcp_browser.errors import BrowserUnavailable
from mcp_browser.settings import OWN_BROWSERS

FILE = "DevToolsActivePort"
LABELS = {"chrome": "Chrome", "chromium": "Chromium", "edge": "Edge", "brave": "Brave"}

_REACH_SECONDS = 2.0
_LINES = 2

_BRAVE = "BraveSoftware/Brave-Browser|BraveSoftware/Brave-Browser-Beta|BraveSoftware/Brave-Browser-Nightly"
_LINUX = {
    "chrome": "google-chrome|google-chrome-beta|google-chrome-unstable"
    "|~/.var/app/com.google.Chrome/config/google-chrome",
    "chromium": "chromium|~/snap/chromium/common/chromium|~/.var/app/org.chromium.Chromium/config/chromium",
    "edge": "microsoft-edge|microsoft-edge-beta|microsoft-edge-dev"
    "|~/.var/app/com.microsoft.Edge/config/microsoft-edge",
    "brave": f"{_BRAVE}|~/snap/brave/current/.config/BraveSoftware/Brave-Browser"
    "|~/.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
}
_MAC = {
    "chrome": "Google/Chrome|Google/Chrome Beta|Google/Chrome Dev|Google/Chrome Canary",
    "chromium": "Chromium",
    "edge": "Microsoft Edge|Microsoft Edge Beta|Microsoft Edge Dev|Microsoft Edge Canary",
    "brave": _BRAVE,
}
_WINDOWS = {
    "chrome": "Google/Chrome|Google/Chrome Beta|Google/Chrome Dev|Google/Chrome SxS",
    "chromium": "Chromium",
    "edge": "Microsoft/Edge|Microsoft/Edge Beta|Microsoft/Edge Dev|Microsoft/Edge SxS",
    "brave": _BRAVE,
}
"""Where each kind of browser keeps its user data, below the folder that the system has for that."""

HOW_TO_ALLOW = (
    "Allow it in the browser: from version 144 on, open chrome://inspect/#remote-debugging in it (Edge: "
    "edge://inspect/#remote-debugging, Brave: brave://inspect/#remote-debugging), switch remote debugging "
    "on, and confirm when it asks. Or start one with a folder of its own: --user-data-dir=FOLDER "
    "--remote-debugging-port=0, and give --connect FOLDER."
)


@dataclass(frozen=True, slots=True)
class OwnBrowser:
    """A browser that has written down where it listens: `path` is that of its WebSocket."""

    label: str
    folder: Path
    port: int
    path: str

    @property
    def address(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path}"

    def __str__(self) -> str:
        return f"{self.label} ({self.folder})"

    @property
    def within(self) -> str:
        """Its name within a sentence."""
        return str(self).replace("The browser (", "the browser (")

    @property
    def answers(self) -> bool:
        """Whether anything listens at its port."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=_REACH_SECONDS).close()
        except OSError:
            return False
        return True


def find_own_browser(wanted: str) -> OwnBrowser:
    """Return the user's browser that runs and allows remote debugging; of several the one allowed last.

    Args:
        wanted: as the setting `connect` has it.

    Raises:
        BrowserUnavailable: there is none; the message says where it was looked for, and how to allow it.
    """
    found = sorted(_written(wanted), key=lambda pair: pair[0], reverse=True)
    for _, browser in found:
        if browser.answers:
            return browser
    if found:
        stale = "; ".join(f"{browser.folder / FILE} names port {browser.port}" for _, browser in found)
        raise BrowserUnavailable(
            f"No browser to connect to runs: {stale}, where nothing listens. The browser has ended, or no "
            "longer allows it, and left the file.",
            hint=HOW_TO_ALLOW,
        )
    places = dict(places_of(wanted))
    if wanted not in OWN_BROWSERS:
        there = "has no file" if Path(wanted).is_dir() else "is no folder with a file"
        raise BrowserUnavailable(
            f"No browser to connect to runs with {wanted}: it {there} {FILE}.", hint=HOW_TO_ALLOW
        )
    names = ", ".join(dict.fromkeys(places.values()))
    folders = ", ".join(f"{place}{'' if place.is_dir() else ' (not there)'}" for place in places)
    raise BrowserUnavailable(
        f"No browser to connect to was found: looked for the file {FILE} of {names} in {folders}.",
        hint=HOW_TO_ALLOW,
    )


def places_of(wanted: str) -> Iterator[tuple[Path, str]]:
    """The user data folders to look in, with the name of the browser that each is of."""
    if wanted not in OWN_BROWSERS:
        yield Path(wanted), "The browser"
        return
    match sys.platform:
        case "darwin":
            home, table = Path.home() / "Library" / "Application Support", _MAC
        case "win32":
            home, table = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"), _WINDOWS
        case _:
            given = os.environ.get("CHROME_CONFIG_HOME") or os.environ.get("XDG_CONFIG_HOME")
            home, table = Path(given) if given else Path.home() / ".config", _LINUX
    for kind, names in table.items():
        for name in names.split("|") if wanted in ("auto", kind) else ():
            place = home / Path(name).expanduser()
            yield (place / "User Data" if sys.platform == "win32" else place), LABELS[kind]


def _written(wanted: str) -> Iterator[tuple[float, OwnBrowser]]:
    """What the browsers have written, with the time at which they did."""
    for folder, label in places_of(wanted):
        file = folder / FILE
        try:
            lines = file.read_text("ascii").splitlines()
            when = file.stat().st_mtime
        except (OSError, ValueError):
            continue
        if len(lines) >= _LINES and lines[0].isdecimal() and lines[1].startswith("/"):
            yield when, OwnBrowser(label, folder, int(lines[0]), lines[1])
