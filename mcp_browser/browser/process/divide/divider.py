"""Divides one DevTools connection to a browser among clients that each see their own tabs.

A message of a tab names its session at its end, and is passed to the session's owner unchanged. Only messages
about the browser, without a session, are parsed: a client's message ids are replaced by our own. `Divider`
routes; a subclass is the policy: which client owns a target, and what a client may send.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakSet

_SESSION = re.compile(rb',"sessionId":"([0-9A-F]+)"\}$')
_TAIL = 64
_CHILD = (b'{"method":"Target.attachedToTarget"', b'{"method":"Target.detachedFromTarget"')

Parameters = dict[str, Any]


class DividerClient(Protocol):
    """A client of the browser."""

    def send(self, message: bytes, /) -> None:
        """Send it a DevTools message."""
        ...


class Leaving(Exception):
    """A client is done with the browser."""


@dataclass(eq=False, slots=True)
class PendingCommand:
    """A command about the browser that is not answered yet; our own if `client` is None."""

    client: DividerClient | None
    number: int
    method: str
    parameters: Parameters


@dataclass(eq=False, slots=True)
class TargetSession:
    """An attachment to a target; `parent` is the session that reported it, b"" for the browser itself.

    `held` are messages that wait until the owner is known; None once it is.
    """

    target: str
    kind: str
    owner: DividerClient | None = None
    parent: bytes = b""
    held: list[bytes] | None = None


class Divider(ABC):
    """Routes messages between a browser and its clients."""

    def __init__(self, to_browser: Callable[[bytes], None]) -> None:
        """Serve no client yet; `to_browser` takes one message for the browser."""
        self.clients: list[DividerClient] = []  # Those that want tabs, in order of arrival
        self.lent: set[str] = set()  # Targets that stay when their client leaves
        self._to_browser = to_browser
        self._gone: WeakSet[DividerClient] = WeakSet()
        self._asked: dict[int, PendingCommand] = {}
        self._numbers = 0
        self._sessions: dict[bytes, TargetSession] = {}
        self._owners: dict[str, DividerClient] = {}  # Of targets

    # -- the policy

    @abstractmethod
    def _join(self, client: DividerClient) -> None:
        """Attach a new client to its tabs."""

    @abstractmethod
    def _command(
        self, client: DividerClient, command: Parameters, method: str, parameters: Parameters
    ) -> None:
        """Forward a client's command about the browser, or refuse it."""

    @abstractmethod
    def _event(self, message: bytes, method: str, parameters: Parameters, /) -> None:
        """Forward an event of the browser to the clients concerned."""

    @abstractmethod
    def _answered(self, asked: PendingCommand, said: Parameters) -> bool:
        """Take note of an answer; whether to forward it to the client now."""

    def _may_send(self, client: DividerClient, session: TargetSession, message: bytes) -> bool:
        """Whether to forward a client's message for its own session; otherwise answer it here."""
        return True

    def _heir(self, session: TargetSession) -> DividerClient | None:
        """The owner of a target that no client has opened, or None. Raises LookupError: not known yet."""
        raise LookupError

    # -- from a client

    def leave(self, client: DividerClient) -> None:
        """Close the tabs of a client that has left."""
        self._gone.add(client)
        if client in self.clients:
            self.clients.remove(client)
        for name, session in list(self._sessions.items()):
            if session.owner is client:
                session.owner = None
                if not session.parent:
                    self._drop(name, session)

    def from_client(self, client: DividerClient, message: bytes) -> None:
        """Forward a client's message to the browser.

        Raises Leaving: the client wants the browser to close; ValueError, TypeError, KeyError: the message
        breaks the protocol.
        """
        if (found := _SESSION.search(message, len(message) - _TAIL)) is not None:
            session = self._sessions.get(found[1])
            if session is None or session.owner is not client:
                self.refuse(client, json.loads(message), "Session with given id not found.", -32001)
            elif self._may_send(client, session, message):
                self._to_browser(message)
            return
        command = json.loads(message)
        match command["method"]:
            case "Browser.close":
                raise Leaving
            case "Target.setAutoAttach":
                self.clients.append(client)
                self._join(client)
                # Answered after the client's own tabs are attached.
                self._ask(client, "Browser.getVersion", command["id"])
            case method:
                self._command(client, command, method, command.get("params") or {})

    def refuse(self, client: DividerClient, command: Parameters, text: str, code: int = -32000) -> None:
        """Answer a client's command with an error."""
        error = {"id": command["id"], "error": {"code": code, "message": text}}
        client.send(line(error | {key: command[key] for key in ("sessionId",) if key in command}))

    def _owns(self, client: DividerClient, parameters: Parameters) -> bool:
        return self._owners.get(parameters.get("targetId", "")) is client

    # -- from the browser

    def from_browser(self, message: bytes) -> None:
        """Forward a message of the browser to the client concerned."""
        if (found := _SESSION.search(message, len(message) - _TAIL)) is not None:
            self._of_session(found[1], message)
            return
        said = json.loads(message)
        if "id" in said:
            self._answer(said)
        elif said["method"] == "Target.attachedToTarget":
            self._attach(message, said["params"])
        elif said["method"] == "Target.detachedFromTarget":
            session = self._sessions.pop(said["params"]["sessionId"].encode(), None)
            if session is not None and session.owner is not None:
                session.owner.send(message)
        else:
            self._event(message, said["method"], said["params"])

    def _of_session(self, name: bytes, message: bytes) -> None:
        if message.startswith(_CHILD):
            self._note_child(name, json.loads(message))
        session = self._sessions.get(name)
        if session is None:
            return
        if session.held is not None:
            session.held.append(message)
        elif session.owner is not None:
            session.owner.send(message)

    def _note_child(self, parent: bytes, said: Parameters) -> None:
        """A frame or worker of a target was attached or detached; it has the target's owner."""
        child = said["params"]["sessionId"].encode()
        if said["method"] == "Target.detachedFromTarget":
            self._sessions.pop(child, None)
        elif (session := self._sessions.get(parent)) is not None and session.owner is not None:
            info = said["params"]["targetInfo"]
            self._sessions[child] = TargetSession(info["targetId"], info["type"], session.owner, parent)
            self._owners.setdefault(info["targetId"], session.owner)

    def _answer(self, said: Parameters) -> None:
        asked = self._asked.pop(said["id"], None)
        if asked is None or not self._answered(asked, said) or asked.client is None:
            return
        here = asked.client not in self._gone
        if here and (name := said.get("result", {}).get("sessionId")):
            self._sessions.setdefault(name.encode(), TargetSession("", "browser")).owner = asked.client
        self._find_owners()
        if here and asked.number:
            asked.client.send(line({**said, "id": asked.number}))

    def _attach(self, message: bytes, parameters: Parameters) -> None:
        info = parameters["targetInfo"]
        if info["type"] == "browser":
            return
        session = TargetSession(info["targetId"], info["type"], held=[message])
        self._sessions[parameters["sessionId"].encode()] = session
        if (opener := self._owners.get(info.get("openerId", ""))) is not None:
            self._owners.setdefault(session.target, opener)
        self._find_owners()

    def _find_owners(self) -> None:
        """Assign each target to its owner, if that is known by now."""
        for name, session in list(self._sessions.items()):
            if session.held is None:
                continue
            try:
                owner = self._owners.get(session.target) or self._heir(session)
            except LookupError:
                continue
            held, session.held = session.held, None
            if owner is None or owner in self._gone:
                self._drop(name, session)
                continue
            self._owners[session.target] = session.owner = owner
            for message in held:
                owner.send(message)

    def _drop(self, name: bytes, session: TargetSession) -> None:
        """Close a page of a client that has left; detach from lent ones, and targets that others use, too."""
        if session.target not in self.lent:
            if session.kind == "page":
                self._ask(None, "Target.closeTarget", targetId=session.target)
                return
            self._send("Runtime.runIfWaitingForDebugger", sessionId=name.decode())
        self._ask(None, "Target.detachFromTarget", sessionId=name.decode())

    def _ask(self, client: DividerClient | None, method: str, number: int = 0, /, **parameters: Any) -> None:
        """Send the browser a command: a client's, with its number, or our own."""
        self._asked[self._numbers + 1] = PendingCommand(client, number, method, parameters)
        self._send(method, params=parameters)

    def _send(self, method: str, **rest: Any) -> None:
        self._numbers += 1
        self._to_browser(line({"id": self._numbers, "method": method, **rest}))


def line(message: Parameters) -> bytes:
    """A message as bytes on the wire."""
    return json.dumps(message, separators=(",", ":")).encode()
