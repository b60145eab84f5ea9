"""Connects Playwright to the user's browser; each session sees its own tabs only.

Playwright attaches to every tab of a browser that it connects to. So it connects to a WebSocket of this
module instead, on the loopback interface and at a secret address.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from mcp_browser.browser.concurrency import SingleFlight, begin, within
from mcp_browser.browser.process.divide.divider import Leaving
from mcp_browser.browser.process.divide.own_tabs import OwnTabs
from mcp_browser.errors import BrowserUnavailable
from mcp_browser.hosts import HostPattern, Origin, addresses_written
from mcp_browser.settings.values import OWN_BROWSERS

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request, Response

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
    """The user data folders to look in, each with its browser's name."""
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
    """The addresses that browsers have written, each with the file's time."""
    for folder, label in places_of(wanted):
        file = folder / FILE
        try:
            lines = file.read_text("ascii").splitlines()
            when = file.stat().st_mtime
        except (OSError, ValueError):
            continue
        if len(lines) >= _LINES and lines[0].isdecimal() and lines[1].startswith("/"):
            yield when, OwnBrowser(label, folder, int(lines[0]), lines[1])


logger = logging.getLogger(__name__)

ANSWER_SECONDS = 30.0  # How long a call waits for the user to allow the connection; the question stays open
ALLOWING_SECONDS = 600.0  # How long the user has to allow it before they are asked again
CLOSING_SECONDS = 2.0

# Messages may contain secrets: they are not logged.
_wire = logging.getLogger(f"{__name__}.wire")
_wire.setLevel(logging.WARNING)
OPTIONS: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None, "logger": _wire}


class WebSocketEnd:
    """One WebSocket; `send` queues a message without waiting."""

    def __init__(self, socket: "ClientConnection | ServerConnection") -> None:
        self._socket = socket
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue()
        self.send = self._unsent.put_nowait

    async def serve(self, take: Callable[[bytes], None]) -> None:
        """Send queued messages, and pass received ones to `take`, until the other end closes."""
        sending = begin(self._send())
        try:
            async for message in self._socket:
                take(message if isinstance(message, bytes) else message.encode())
        except ConnectionClosed:
            pass
        finally:
            sending.cancel()

    async def _send(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._socket.send(await self._unsent.get(), text=True)


class Relay:
    """Connects to the user's browser, and gives Playwright access to a session's own tabs there."""

    def __init__(self, wanted: str, tabs: Sequence[str] = ()) -> None:
        """Connect to nothing yet; `wanted` is the setting `connect`, `tabs` are sites whose tabs are lent."""
        self._wanted = wanted
        self._may_use = allows(tabs)
        self._connect = SingleFlight(self._start)
        self._browser: OwnBrowser | None = None
        self._socket: ClientConnection | None = None
        self._server: Server | None = None
        self._tabs: OwnTabs | None = None
        self._quiet = asyncio.Event()
        self._closed = False
        self._path = ""  # A secret: who knows it may connect

    async def address(self) -> str:
        """The address for Playwright; connects to the user's browser first. Raises BrowserUnavailable."""
        if self._tabs is None:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._connect()
            except TimeoutError:
                raise BrowserUnavailable(
                    f"{self._browser or 'The browser'} has not let mcp-browser in yet: it asks its user "
                    "whether to allow remote debugging.",
                    hint="Have the user confirm that in the browser's window, then call again. Where it asks "
                    "nothing, another program may have its port: restart the browser.",
                ) from None
        assert self._server is not None
        return f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self._path}"

    @property
    def lent(self) -> Collection[str]:
        """Ids of the targets that are lent tabs of the user."""
        return self._tabs.lent if self._tabs is not None else ()

    def describe(self) -> str:
        """Sentences that name the browser, and count the tabs that are left alone."""
        untouched = self._tabs.untouched if self._tabs is not None else 0
        lent = f"; {_count(len(self.lent))} used and left open" if self.lent else ""
        browser = self._browser.within if self._browser is not None else "the browser"
        return (
            f"Connected to {browser}. Tabs opened here are closed at the end{lent}; "
            f"{_count(untouched)} not touched."
        )

    async def close(self) -> None:
        """Close the sessions' tabs, and disconnect from the browser, which stays open."""
        self._closed = True
        tabs, socket = self._tabs, self._socket
        if tabs is None or socket is None:
            return  # The browser may still ask its user; that ends with this process.
        self._quiet.clear()
        for client in list(tabs.clients):
            tabs.leave(client)
        if tabs.closing:
            await within(CLOSING_SECONDS, self._quiet.wait())
        await socket.close()
        await self._ended(tabs)

    # -- the user's browser

    async def _start(self) -> None:
        browser = self._browser = await anyio.to_thread.run_sync(find_own_browser, self._wanted)
        logger.info("Connecting to %s, which may ask its user to allow that.", browser)
        socket = await connect_to(browser)
        if self._closed:
            await socket.close()
            raise BrowserUnavailable("The server is ending.")
        upward = WebSocketEnd(socket)
        tabs = OwnTabs(upward.send, may_use=self._may_use, copy=_copy)
        self._path = f"/{secrets.token_urlsafe(32)}"
        self._server = await serve(
            self._let_in, "127.0.0.1", 0, process_request=self._check, origins=[None], **OPTIONS
        )
        self._socket, self._tabs = socket, tabs
        begin(self._serve(upward, tabs))

    async def _serve(self, upward: WebSocketEnd, tabs: OwnTabs) -> None:
        def take(message: bytes) -> None:
            tabs.from_browser(message)
            if not tabs.closing:
                self._quiet.set()

        await upward.serve(take)
        await self._ended(tabs)

    async def _ended(self, tabs: OwnTabs) -> None:
        """The browser has ended, or was disconnected: its sessions lose it."""
        if self._tabs is not tabs or self._server is None:
            return
        server, self._server, self._tabs, self._socket = self._server, None, None, None
        self._quiet.set()
        server.close()

    # -- Playwright

    def _check(self, connection: "ServerConnection", request: "Request") -> "Response | None":
        known = hmac.compare_digest(request.path.encode(), self._path.encode())
        return None if known else connection.respond(HTTPStatus.NOT_FOUND, "")

    async def _let_in(self, socket: "ServerConnection") -> None:
        if (tabs := self._tabs) is None:
            return
        client = WebSocketEnd(socket)
        try:
            with contextlib.suppress(Leaving, ValueError, TypeError, KeyError):
                await client.serve(lambda message: tabs.from_client(client, message))
        finally:
            tabs.leave(client)


async def connect_to(browser: OwnBrowser) -> "ClientConnection":
    """Connect to the user's browser once the user allows it; raises BrowserUnavailable."""
    file = browser.folder / FILE
    try:
        address = f"ws://127.0.0.1:{browser.port}{browser.path}"
        return await connect(address, open_timeout=ALLOWING_SECONDS, proxy=None, **OPTIONS)
    except InvalidStatus as error:
        status = error.response.status_code
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise BrowserUnavailable(
                f"{browser} has refused the connection (HTTP {status}).", hint=HOW_TO_ALLOW
            ) from None
        said = f"answers with HTTP {status}"
    except TimeoutError:
        raise BrowserUnavailable(
            f"{browser} was not allowed by its user in time.", hint="Try again."
        ) from None
    except (InvalidHandshake, OSError, EOFError):
        said = "does not answer as that browser does"
    raise BrowserUnavailable(
        f"{browser} could not be connected to: what listens at port {browser.port}, which {file} names, "
        f"{said}. Its user has refused, or the file is left over from a browser that has ended and another "
        "program has the port now.",
        hint=HOW_TO_ALLOW,
    )


async def list_tabs(browser: OwnBrowser) -> tuple[str, list[tuple[str, str]]]:
    """A browser's name, and its tabs' titles and addresses; attaches to none. Raises BrowserUnavailable."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS), await connect_to(browser) as socket:
            answers: list[dict[str, Any]] = []
            for method in ("Browser.getVersion", "Target.getTargets"):
                await socket.send(json.dumps({"id": len(answers), "method": method}))
                answers.append(json.loads(await socket.recv())["result"])
    except TimeoutError:
        raise BrowserUnavailable(
            f"{browser} has not answered: it may ask its user whether to allow remote debugging.",
            hint="Confirm that in its window.",
        ) from None
    version, targets = answers
    pages = [target for target in targets["targetInfos"] if target["type"] == "page"]
    return version["product"], [(page["title"], page["url"]) for page in pages]


def allows(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A function that says whether an address is on one of the sites of the setting `connect_tabs`."""
    parsed = [HostPattern.parse(text) for text in patterns]

    def may_use(url: str) -> bool:
        site = Origin.of(url)
        return site is not None and any(one.matches(site, addresses_written(site.host)) for one in parsed)

    return may_use


def _count(count: int) -> str:
    return "1 tab of its user's is" if count == 1 else f"{count} tabs of its user's are"


def _copy(source: Path, to: Path, done: Callable[[], None]) -> None:
    """Link or copy a downloaded file to another place, then call `done`."""

    def link_or_copy() -> None:
        try:
            os.link(source, to)
        except OSError:
            shutil.copyfile(source, to)

    async def copy() -> None:
        # If the file is missing, the client that looks for it reports that.
        with contextlib.suppress(OSError):
            await anyio.to_thread.run_sync(link_or_copy)
        done()

    begin(copy())
