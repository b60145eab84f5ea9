"""Finding a browser, to start or of the user's that runs, and the options that one is started with."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from platformdirs import user_cache_path

from mcp_browser.browser.process.early_driver import driver_package
from mcp_browser.errors import BrowserNotFound, BrowserUnavailable, NotFound
from mcp_browser.settings import BrowserSettings, Settings
from mcp_browser.settings.values import OWN_BROWSERS, proxy_parts

Origin = Literal["setting", "playwright", "system"]

SIMILAR = 8  # How many names of devices an error lists

NO_SELECTION_PASTE = "--blink-settings=editingBehaviorType=1"
"""Edits as on Windows: on X11 the middle button pastes the last selection of any program on the display."""

QUIET_ARGS = (
    "--disable-background-networking --disable-client-side-phishing-detection --disable-component-update "
    "--disable-default-apps --disable-domain-reliability --disable-quic --disable-sync "
    "--hide-crash-restore-bubble --no-default-browser-check --no-first-run --no-pings "
    # Remaining requests, for components and the signed-in user, go nowhere.
    "--component-updater=url-source=http://127.0.0.1:9/ --gaia-url=http://127.0.0.1:9/"
).split()
"""Keep Chromium from requests that no page has made."""

_UNUSED_FEATURES = (
    # Each window loads these pages of the address bar into a process: 0.6 s of work, 60 MB.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    # A process kept ready for the next site costs more work at each new context than it saves.
    "SpareRendererForSitePerProcess",
)
_PLAYWRIGHTS_DISABLED_FEATURES = (
    "AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades "
    "HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding "
    "ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect TcpPortRandomizationWin "
    "OptimizationHints NetworkTimeServiceQuerying AimEnabled PreconnectToSearch msForceBrowserSignIn "
    "msEdgeUpdateLaunchServicesPreferredVersion"
).split()
"""Playwright's own list, repeated since Chromium takes the last of several such switches only."""

_ENABLE_FEATURES = "--enable-features="
ENABLE_WEB_MCP = f"{_ENABLE_FEATURES}WebMCP"
"""The switch for the group `page_tools`: Chromium's `document.modelContext`, by which pages offer tools."""
_DISABLE_FEATURES = "--disable-features="

_NAMES = {
    "headless-shell": ("chrome-headless-shell",),
    "chrome": ("google-chrome-stable", "google-chrome", "chrome"),
    "chromium": ("chromium", "chromium-browser"),
    "msedge": ("microsoft-edge-stable", "microsoft-edge", "msedge"),
}
_LABELS = {
    "headless-shell": "Chromium's headless shell",
    "chrome": "Chrome",
    "chromium": "Chromium",
    "msedge": "Edge",
    "edge": "Edge",
    "brave": "Brave",
}
_LINUX_PLACES = {
    # Debian's script on the PATH would keep a shell running beside it.
    "headless-shell": ("/usr/lib/chromium/chromium-headless-shell",),
    "chrome": ("/opt/google/chrome/chrome",),
    "chromium": ("/usr/lib/chromium/chromium", "/snap/bin/chromium"),
    "msedge": ("/opt/microsoft/msedge/msedge",),
}
_MAC_NAMES = {"chrome": "Google Chrome", "chromium": "Chromium", "msedge": "Microsoft Edge"}
_WINDOWS_PLACES = {
    "chrome": ("Google/Chrome/Application/chrome.exe",),
    "chromium": ("Chromium/Application/chrome.exe",),
    "msedge": ("Microsoft/Edge/Application/msedge.exe",),
}
_PLAYWRIGHT_EXECUTABLES = {
    "chromium": ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*", "chrome-win*/chrome.exe"),
    "chromium-headless-shell": (
        "chrome-*/chrome-headless-shell",
        "chrome-*/headless_shell",
        "chrome-*/*shell.exe",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserChoice:
    """A browser that can be started.

    `executable` is None if Playwright finds it by `channel`. `origin` is where it was found: a setting,
    Playwright's own builds, or the system. `headless_only`: it cannot show windows.
    """

    label: str
    origin: Origin
    executable: Path | None = None
    channel: str | None = None
    headless_only: bool = False

    def __str__(self) -> str:
        return f"{self.label} ({self.executable or self.channel})"


def find_browser(settings: BrowserSettings, *, isolated: bool = False) -> BrowserChoice:
    """The browser of the settings, or the best one on this machine; `isolated`: for clean contexts only.

    The order is: the setting `executable`, `channel`, Playwright's own build (found without its driver), then
    Chrome, Chromium and Edge of the system; before them the headless shell, if `prefers_headless_shell`.
    Raises BrowserNotFound, which names the command to install one.
    """
    if settings.executable is not None:
        executable = settings.executable.expanduser()
        if not _is_executable(executable):
            raise BrowserNotFound(
                f"There is no browser at {executable}.",
                hint="Give the path of an executable file, or leave the setting `executable` out.",
            )
        return BrowserChoice(label=executable.name, origin="setting", executable=executable)
    if settings.channel is not None:
        return BrowserChoice(label=settings.channel, origin="setting", channel=settings.channel)
    shells = headless_shells() if prefers_headless_shell(settings, isolated=isolated) else ()
    if choice := next(chain(shells, _candidates(settings.browser)), None):
        return choice
    asked_for, named = settings.browser, f" --browser {settings.browser}"
    if settings.browser == "chromium":
        asked_for, named = "Chrome, Chromium or Edge", ""
    raise BrowserNotFound(
        f"No browser was found on this machine (looked for {asked_for}).",
        hint=f"Get one with: mcp-browser install{named}. Or name one with --executable PATH.",
    )


def prefers_headless_shell(settings: BrowserSettings, *, isolated: bool) -> bool:
    """Whether to prefer the headless shell to a browser that can show windows.

    Never for a profile, which is shared with the browser in which a person logs in.
    """
    extended = any(argument.startswith("--load-extension") for argument in settings.browser_args)
    wanted = settings.headless_shell and isolated and settings.browser == "chromium"
    return wanted and runs_headless(settings) and not extended


def headless_shells() -> Iterator[BrowserChoice]:
    """The headless shells on this machine: Playwright's own build, then the system's."""
    if executable := _playwright_build("chromium-headless-shell"):
        label = "Playwright's headless shell"
        yield BrowserChoice(label=label, origin="playwright", executable=executable, headless_only=True)
    yield from _on_the_system("headless-shell")


def _candidates(browser: str) -> Iterator[BrowserChoice]:
    if browser != "chromium":
        yield from _on_the_system(browser)
        return
    if executable := _playwright_build("chromium"):
        yield BrowserChoice(label="Playwright's Chromium", origin="playwright", executable=executable)
    for kind in ("chrome", "chromium", "msedge"):
        yield from _on_the_system(kind)
    yield from headless_shells()


def _on_the_system(kind: str) -> Iterator[BrowserChoice]:
    is_shell = kind == "headless-shell"
    for place in filter(_is_executable, _places(kind)):
        yield BrowserChoice(label=_LABELS[kind], origin="system", executable=place, headless_only=is_shell)


def _places(kind: str) -> Iterator[Path]:
    for name in _NAMES[kind]:
        if found := shutil.which(name):
            yield Path(found)
    match sys.platform:
        case "darwin":
            for folder in (Path("/Applications"), Path.home() / "Applications"):
                if app := _MAC_NAMES.get(kind):
                    yield folder / f"{app}.app/Contents/MacOS/{app}"
        case "win32":
            for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
                if folder := os.environ.get(variable):
                    yield from (Path(folder) / place for place in _WINDOWS_PLACES.get(kind, ()))
        case _:
            yield from map(Path, _LINUX_PLACES[kind])


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _playwright_build(build: str) -> Path | None:
    """The executable of a build of Playwright's, of the wanted revision, or None."""
    package = driver_package()
    try:
        listed = json.loads((package / "browsers.json").read_text(encoding="utf-8"))["browsers"]
        revision = next(entry["revision"] for entry in listed if entry["name"] == build)
    except (OSError, ValueError, KeyError, StopIteration):
        return None
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    # Playwright reads no XDG_CACHE_HOME on macOS.
    caches = Path.home() / "Library" / "Caches" if sys.platform == "darwin" else user_cache_path()
    browsers = Path(given) if given else caches / "ms-playwright"
    if given == "0":
        browsers = package / ".local-browsers"
    folder = browsers / f"{build.replace('-', '_')}-{revision}"
    # False also if the folder may not be read.
    if not os.access(folder / "INSTALLATION_COMPLETE", os.F_OK):
        return None
    paths = (path for pattern in _PLAYWRIGHT_EXECUTABLES[build] for path in sorted(folder.glob(pattern)))
    return next(filter(_is_executable, paths), None)


def has_display() -> bool:
    """Whether this machine can show windows."""
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.platform in ("win32", "darwin") or bool(shown)


def runs_headless(settings: BrowserSettings) -> bool:
    """Whether the browser runs without windows: the setting, by default whether there is no display."""
    return not has_display() if settings.headless is None else settings.headless


def uses_sandbox(settings: BrowserSettings) -> bool:
    """Whether to use Chromium's process sandbox: the setting, by default unless this is root on Linux."""
    if settings.sandbox is not None:
        return settings.sandbox
    return sys.platform != "linux" or os.geteuid() != 0


def launch_options(
    choice: BrowserChoice,
    *,
    settings: BrowserSettings | None = None,
    headless: bool | None = None,
    isolated: bool = False,
) -> dict[str, Any]:
    """Keyword arguments for Playwright's `launch` and `launch_persistent_context`.

    `headless` overrides the settings. `isolated`: for clean contexts, which may belong to several clients.
    """
    settings = settings or BrowserSettings()
    headless = (runs_headless(settings) if headless is None else headless) or choice.headless_only
    sandbox = uses_sandbox(settings)
    options: dict[str, Any] = {
        "headless": headless,
        # The server itself ends the browser when it is interrupted.
        "handle_sigint": False,
        "chromium_sandbox": sandbox,
        "executable_path": choice.executable,
        "channel": choice.channel,
        "proxy": proxy_options(settings.proxy) if settings.proxy is not None else None,
        "args": chromium_args(settings),
        # Otherwise Playwright lifts Chromium's limit on how often a page may change its address.
        "ignore_default_args": ["--disable-ipc-flooding-protection"],
    }
    if isolated and not headless and sys.platform == "linux":
        options["args"].insert(0, NO_SELECTION_PASTE)
    if not sandbox and not headless:
        # Hides the bar in each window that warns of --no-sandbox.
        options["args"].insert(0, "--test-type")
    return options


def chromium_args(settings: BrowserSettings) -> list[str]:
    """The switches for Chromium, including those of the settings.

    All features to disable are in one switch, and all to enable: of several, Chromium takes the last one.
    """
    disabled = [*_PLAYWRIGHTS_DISABLED_FEATURES, *_UNUSED_FEATURES]
    enabled: list[str] = []
    others: list[str] = []
    for argument in settings.browser_args:
        if argument.startswith(_DISABLE_FEATURES):
            disabled += argument.removeprefix(_DISABLE_FEATURES).split(",")
        elif argument.startswith(_ENABLE_FEATURES):
            enabled += argument.removeprefix(_ENABLE_FEATURES).split(",")
        else:
            others.append(argument)
    if enabled:
        others.append(_ENABLE_FEATURES + ",".join(enabled))
    return [*QUIET_ARGS, _DISABLE_FEATURES + ",".join(disabled), *others]


def browser_settings(settings: Settings) -> BrowserSettings:
    """The browser's settings, with the switches that the offered tools need."""
    browser = settings.browser
    if {"page_tools", "all"}.isdisjoint(settings.tools.tools):
        return browser
    return browser.model_copy(update={"browser_args": (*browser.browser_args, ENABLE_WEB_MCP)})


def context_options(settings: BrowserSettings) -> dict[str, Any]:
    """Keyword arguments for Playwright's `new_context` and `launch_persistent_context`."""
    viewport = settings.viewport
    options: dict[str, Any] = {
        "viewport": {"width": viewport.width, "height": viewport.height},
        "accept_downloads": True,
        "ignore_https_errors": settings.ignore_https_errors or None,
        "device_scale_factor": settings.device_scale,
        "locale": settings.locale,
        "timezone_id": settings.timezone,
        "user_agent": settings.user_agent,
    }
    return {name: value for name, value in options.items() if value is not None}


def find_device(name: str, devices: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    """A device of Playwright's list, by its name in any case; raises NotFound, which lists similar names."""
    names = {known.lower(): known for known in devices}
    found = names.get(" ".join(name.lower().split()))
    if found is None:
        like = get_close_matches(name.lower(), names, n=SIMILAR, cutoff=0.3) or list(names)[:SIMILAR]
        raise NotFound(
            f"There is no device {name!r} in Playwright's list.",
            hint=f"Some of its {len(devices)}: {', '.join(names[one] for one in like)}.",
        )
    return found, devices[found]


def proxy_options(address: str) -> dict[str, str]:
    """Playwright's proxy option for an address such as `http://user:secret@host:3128`."""
    parts = proxy_parts(address)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    proxy = {"server": f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")}
    if parts.username:
        proxy["username"] = unquote(parts.username)
        proxy["password"] = unquote(parts.password or "")
    return proxy


def browser_version(choice: BrowserChoice) -> str | None:
    """The executable's version, such as `Chromium 140.0.7339.16`; None if it does not print one."""
    if choice.executable is None or sys.platform == "win32":
        return None
    try:
        said = subprocess.run(
            [choice.executable, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip().partition("\n")[0] or None


PORT_FILE = "DevToolsActivePort"
_REACH_SECONDS = 2.0
_PORT_FILE_LINES = 2  # The port, and the path of the browser's WebSocket

_BRAVE = "BraveSoftware/Brave-Browser|BraveSoftware/Brave-Browser-Beta|BraveSoftware/Brave-Browser-Nightly"
_LINUX_FOLDERS = {
    "chrome": "google-chrome|google-chrome-beta|google-chrome-unstable"
    "|~/.var/app/com.google.Chrome/config/google-chrome",
    "chromium": "chromium|~/snap/chromium/common/chromium|~/.var/app/org.chromium.Chromium/config/chromium",
    "edge": "microsoft-edge|microsoft-edge-beta|microsoft-edge-dev"
    "|~/.var/app/com.microsoft.Edge/config/microsoft-edge",
    "brave": f"{_BRAVE}|~/snap/brave/current/.config/BraveSoftware/Brave-Browser"
    "|~/.var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
}
_MAC_FOLDERS = {
    "chrome": "Google/Chrome|Google/Chrome Beta|Google/Chrome Dev|Google/Chrome Canary",
    "chromium": "Chromium",
    "edge": "Microsoft Edge|Microsoft Edge Beta|Microsoft Edge Dev|Microsoft Edge Canary",
    "brave": _BRAVE,
}
_WINDOWS_FOLDERS = {
    "chrome": "Google/Chrome|Google/Chrome Beta|Google/Chrome Dev|Google/Chrome SxS",
    "chromium": "Chromium",
    "edge": "Microsoft/Edge|Microsoft/Edge Beta|Microsoft/Edge Dev|Microsoft/Edge SxS",
    "brave": _BRAVE,
}
"""The user data folders of each kind of browser, below the system's folder for them."""

HOW_TO_ALLOW = (
    "Allow it in the browser: from version 144 on, open chrome://inspect/#remote-debugging in it (Edge: "
    "edge://inspect/#remote-debugging, Brave: brave://inspect/#remote-debugging), switch remote debugging "
    "on, and confirm when it asks. Or start one with a folder of its own: --user-data-dir=FOLDER "
    "--remote-debugging-port=0, and give --connect FOLDER."
)


@dataclass(frozen=True, slots=True)
class OwnBrowser:
    """A browser that has written the address it listens at; `path` is its WebSocket's."""

    label: str
    folder: Path
    port: int
    path: str

    def __str__(self) -> str:
        return f"{self.label} ({self.folder})"

    @property
    def within(self) -> str:
        """Its name within a sentence."""
        return str(self).replace("The browser (", "the browser (")


def find_own_browser(wanted: str) -> OwnBrowser:
    """The user's running browser that allows remote debugging; of several, the one that allowed it last.

    `wanted` is the setting `connect`. Raises BrowserUnavailable, which lists the places looked in.
    """
    found = sorted(_written(wanted), key=lambda pair: pair[0], reverse=True)
    for _, browser in found:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", browser.port), timeout=_REACH_SECONDS).close()
            return browser
    if found:
        stale = "; ".join(f"{browser.folder / PORT_FILE} names port {browser.port}" for _, browser in found)
        raise BrowserUnavailable(
            f"No browser to connect to runs: {stale}, where nothing listens. The browser has ended, or no "
            "longer allows it, and left the file.",
            hint=HOW_TO_ALLOW,
        )
    places = dict(places_of(wanted))
    if wanted not in OWN_BROWSERS:
        there = "has no file" if Path(wanted).is_dir() else "is no folder with a file"
        raise BrowserUnavailable(
            f"No browser to connect to runs with {wanted}: it {there} {PORT_FILE}.", hint=HOW_TO_ALLOW
        )
    names = ", ".join(dict.fromkeys(places.values()))
    folders = ", ".join(f"{place}{'' if place.is_dir() else ' (not there)'}" for place in places)
    raise BrowserUnavailable(
        f"No browser to connect to was found: looked for the file {PORT_FILE} of {names} in {folders}.",
        hint=HOW_TO_ALLOW,
    )


def places_of(wanted: str) -> Iterator[tuple[Path, str]]:
    """The user data folders to look in, each with its browser's name."""
    if wanted not in OWN_BROWSERS:
        yield Path(wanted), "The browser"
        return
    match sys.platform:
        case "darwin":
            home, table = Path.home() / "Library" / "Application Support", _MAC_FOLDERS
        case "win32":
            home, table = (
                Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"),
                _WINDOWS_FOLDERS,
            )
        case _:
            given = os.environ.get("CHROME_CONFIG_HOME") or os.environ.get("XDG_CONFIG_HOME")
            home, table = Path(given) if given else Path.home() / ".config", _LINUX_FOLDERS
    for kind, names in table.items():
        for name in names.split("|") if wanted in ("auto", kind) else ():
            place = home / Path(name).expanduser()
            yield (place / "User Data" if sys.platform == "win32" else place), _LABELS[kind]


def _written(wanted: str) -> Iterator[tuple[float, OwnBrowser]]:
    """The addresses that browsers have written, each with the file's time."""
    for folder, label in places_of(wanted):
        file = folder / PORT_FILE
        try:
            lines = file.read_text("ascii").splitlines()
            when = file.stat().st_mtime
        except (OSError, ValueError):
            continue
        if len(lines) >= _PORT_FILE_LINES and lines[0].isdecimal() and lines[1].startswith("/"):
            yield when, OwnBrowser(label, folder, int(lines[0]), lines[1])
