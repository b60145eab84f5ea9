"""Connects Playwright to the user's browser; each session sees its own tabs, and those that the user lends.

Playwright attaches to every tab of a browser that it connects to. So it connects to a WebSocket of this
module instead, on the loopback interface and at a secret address. Unlike a browser that was started here, the
user's does not auto-attach new tabs, which would include the user's own.
"""

import asyncio
import contextlib
import hmac
import json
import logging
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from websockets.asyncio.client import connect
from websockets.asyncio.server import broadcast, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from mcp_browser.browser.concurrency import SingleFlight, begin, within
from mcp_browser.browser.process.divide.divider import (
    Divider,
    DividerClient,
    Leaving,
    Parameters,
    PendingCommand,
    TargetSession,
    line,
)
from mcp_browser.browser.process.launch import HOW_TO_ALLOW, PORT_FILE, OwnBrowser, find_own_browser
from mcp_browser.dom.driver_errors import OWN_REFUSAL
from mcp_browser.errors import BrowserUnavailable
from mcp_browser.hosts import HostPattern, Origin, addresses_written

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import Server, ServerConnection
    from websockets.http11 import Request, Response

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 30.0  # How long a call waits for the user to allow the connection; the question stays open
ALLOWING_SECONDS = 600.0  # How long the user has to allow it before they are asked again
CLOSING_SECONDS = 2.0

_TO_FRONT = re.compile(rb'^\{"id":(\d+),"method":"Page\.bringToFront"')
_DOWNLOAD = b'{"method":"Page.downloadWillBegin"'
_OURS = b'{"id":-1,'

# Messages may contain secrets: they are not logged.
_wire = logging.getLogger(f"{__name__}.wire")
_wire.setLevel(logging.WARNING)
OPTIONS: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None, "logger": _wire}


class OwnTabs(Divider):
    """Gives each client the tabs that it or its tabs open; the first one also the lent tabs."""

    def __init__(self, to_browser: Callable[[bytes], None], may_use: Callable[[str], bool]) -> None:
        """Ask the browser, which gets its messages by `to_browser`, for its tabs.

        `may_use(address)`: whether a tab of the user is lent.
        """
        super().__init__(to_browser)
        self._may_use = may_use
        self._pages: dict[str, str] = {}
        self._created: dict[str, tuple[PendingCommand, Parameters]] = {}
        self._downloads: dict[str, DividerClient] = {}
        self._folders: dict[DividerClient, Path] = {}
        self._ask(None, "Target.setDiscoverTargets", discover=True, filter=[{"type": "page"}])
        # Files are saved in the user's folder; the browser reports their paths.
        self._ask(None, "Browser.setDownloadBehavior", behavior="default", eventsEnabled=True)

    @property
    def untouched(self) -> int:
        """How many tabs belong to no client."""
        return sum(target not in self._owners for target in self._pages)

    @property
    def closing(self) -> bool:
        """Whether commands sent when a client left are not answered yet."""
        return any(asked.client is None for asked in self._asked.values())

    # -- from a client

    def _may_send(self, client: DividerClient, session: TargetSession, message: bytes) -> bool:
        if session.kind == "browser":
            command = json.loads(message)
            attaches = command["method"] == "Target.attachToTarget" and self._owns(client, command["params"])
            if not attaches and not self._detaches(client, command["method"], command["params"]):
                self._refuse(client, command)
                return False
        elif (front := _TO_FRONT.match(message)) is not None:
            # It would take the focus away from the user, who types elsewhere.
            session_id = json.loads(message)["sessionId"]
            client.send(line({"id": int(front[1]), "result": {}, "sessionId": session_id}))
            return False
        return True

    def _command(
        self, client: DividerClient, command: Parameters, method: str, parameters: Parameters
    ) -> None:
        owns = self._owns(client, parameters)
        allowed = {
            "Browser.cancelDownload": self._downloads.get(parameters.get("guid", "")) is client,
            "Browser.getVersion": True,
            "Target.attachToBrowserTarget": True,
            "Target.attachToTarget": owns,
            "Target.closeTarget": owns and parameters["targetId"] not in self.lent,
            "Target.createTarget": "browserContextId" not in parameters,
            "Target.detachFromTarget": self._detaches(client, method, parameters),
            "Target.getTargetInfo": owns or not parameters,
        }
        if method == "Browser.setDownloadBehavior":
            self._folders[client] = Path(parameters["downloadPath"])
            client.send(line({"id": command["id"], "result": {}}))
        elif not allowed.get(method):
            self._refuse(client, command)
        else:
            if method == "Target.createTarget":
                # A window in the background hides no tab of the user.
                parameters |= {"newWindow": True, "background": True}
            elif method in ("Browser.getVersion", "Target.attachToBrowserTarget"):
                parameters = {}  # Nothing that a client adds reaches the user's browser.
            self._ask(client, method, command["id"], **parameters)

    def _detaches(self, client: DividerClient, method: str, parameters: Parameters) -> bool:
        session = self._sessions.get(parameters.get("sessionId", "").encode())
        return method == "Target.detachFromTarget" and session is not None and session.owner is client

    def _refuse(self, client: DividerClient, command: Parameters) -> None:
        self.refuse(client, command, f"{OWN_REFUSAL}: {command['method']}")

    def _join(self, client: DividerClient) -> None:
        for target, url in self._pages.items():
            self._consider(target, url)

    def leave(self, client: DividerClient) -> None:
        """Close the tabs of a client that has left; release lent ones."""
        super().leave(client)
        self._folders.pop(client, None)
        for target in [target for target in self.lent if self._owners.get(target) is client]:
            self._release(target)

    # -- from the browser

    def _of_session(self, name: bytes, message: bytes) -> None:
        session = self._sessions.get(name)
        if message.startswith(_DOWNLOAD) and session is not None and session.owner is not None:
            begun = json.loads(message)["params"]
            # Each session of the same tab reports it.
            if begun["guid"] not in self._downloads:
                self._downloads[begun["guid"]] = session.owner
                session.owner.send(line({"method": "Browser.downloadWillBegin", "params": begun}))
        if not message.startswith(_OURS):
            super()._of_session(name, message)

    def _event(self, message: bytes, method: str, parameters: Parameters) -> None:
        match method:
            case "Target.targetCreated" | "Target.targetInfoChanged":
                self._know(parameters["targetInfo"])
            case "Target.targetDestroyed":
                self._pages.pop(parameters["targetId"], None)
                self._release(parameters["targetId"])
            case "Browser.downloadProgress":
                self._pass_progress(message, parameters)
            case _:
                pass

    def _know(self, target: Parameters) -> None:
        """Attach to a tab that a client's tab has opened, or that is lent by its address."""
        name, url, opener = target["targetId"], target["url"], target.get("openerId", "")
        is_new = name not in self._pages
        self._pages[name] = url
        owner = self._owners.get(opener) if opener not in self.lent else None
        if is_new and owner is not None and name not in self._owners:
            self._take(name, owner)
        else:
            self._consider(name, url)

    def _consider(self, target: str, url: str) -> None:
        """Attach to a tab that is lent, or release one that has left the lent sites."""
        if target in self.lent:
            if not self._may_use(url):
                self._give_back(target)
        elif self.clients and target not in self._owners and self._may_use(url):
            self.lent.add(target)
            self._take(target, self.clients[0])

    def _take(self, target: str, owner: DividerClient) -> None:
        self._owners[target] = owner
        self._ask(None, "Target.attachToTarget", targetId=target, flatten=True)

    def _give_back(self, target: str) -> None:
        self._release(target)
        for name, session in self._sessions.items():
            if session.target != target:
                continue
            if not session.parent:
                self._ask(None, "Target.detachFromTarget", sessionId=name.decode())
            elif (root := self._sessions.get(session.parent)) is not None and root.kind == "browser":
                detach = {"method": "Target.detachFromTarget", "params": {"sessionId": name.decode()}}
                self._to_browser(line({"id": -1, **detach, "sessionId": session.parent.decode()}))

    def _release(self, target: str) -> None:
        self._owners.pop(target, None)
        self.lent.discard(target)

    def _answered(self, asked: PendingCommand, said: Parameters) -> bool:
        target = said.get("result", {}).get("targetId")
        if asked.method == "Target.createTarget" and target is not None:
            assert asked.client is not None
            if asked.client in self._gone:
                self._ask(None, "Target.closeTarget", targetId=target)
            else:
                # Playwright expects the tab to be attached before the answer.
                self._created[target] = (asked, said)
                self._take(target, asked.client)
            return False
        if asked.client is None and asked.method == "Target.attachToTarget" and "error" in said:
            failed = asked.parameters["targetId"]
            self._pages.pop(failed, None)
            self._release(failed)
            self._answer_created(failed, {"error": said["error"]})
        return True

    def _attach(self, message: bytes, parameters: Parameters) -> None:
        super()._attach(message, parameters)
        self._answer_created(parameters["targetInfo"]["targetId"])

    def _answer_created(self, target: str, instead: Parameters | None = None) -> None:
        """Answer the client that has created a tab, now that it is attached or has failed."""
        if (created := self._created.pop(target, None)) is not None:
            asked, said = created
            assert asked.client is not None
            asked.client.send(line({**(instead or said), "id": asked.number}))

    def _pass_progress(self, message: bytes, parameters: Parameters) -> None:
        """Report a client's download; copy its file to the client's folder first once it is complete."""
        guid, state, file = parameters["guid"], parameters["state"], parameters.get("filePath")
        if (owner := self._downloads.get(guid)) is None:
            return
        if state != "inProgress":
            del self._downloads[guid]
        folder = self._folders.get(owner)
        if state == "completed" and folder is not None and file:
            begin(_deliver(Path(file), folder / guid, owner, message))
        else:
            owner.send(message)


class WebSocketEnd:
    """One WebSocket, at whose other end DevTools messages are read and written."""

    def __init__(self, socket: "ClientConnection | ServerConnection") -> None:
        self._socket = socket

    def send(self, message: bytes) -> None:
        """Send a message without waiting, if the connection is open."""
        broadcast((self._socket,), message.decode())

    async def serve(self, take: Callable[[bytes], None]) -> None:
        """Pass received messages to `take`, until the other end closes."""
        with contextlib.suppress(ConnectionClosed):
            async for message in self._socket:
                take(message if isinstance(message, bytes) else message.encode())


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
        tabs = OwnTabs(upward.send, self._may_use)
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
    file = browser.folder / PORT_FILE
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


async def _deliver(file: Path, place: Path, owner: DividerClient, message: bytes) -> None:
    """Link or copy a client's downloaded file to its place, then send the client the message."""

    def link_or_copy() -> None:
        try:
            os.link(file, place)
        except OSError:
            shutil.copyfile(file, place)

    # If the file is missing, the client that looks for it reports that.
    with contextlib.suppress(OSError):
        await anyio.to_thread.run_sync(link_or_copy)
    owner.send(message)
