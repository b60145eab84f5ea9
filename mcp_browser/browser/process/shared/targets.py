"""Whose tab is whose: one DevTools connection to a browser, divided among clients that each see their own.

A message of a tab names its session at its very end and goes to the session's owner as it is. Only the few
without a session, which are about the browser, are read: a client's numbers are exchanged for ones of our
own, and tabs are given to whom they belong.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakSet

SESSION = re.compile(rb',"sessionId":"([0-9A-F]+)"\}$')
TAIL = 64
_ATTACHED = b'{"method":"Target.attachedToTarget"'
_DETACHED = b'{"method":"Target.detachedFromTarget"'


class Client(Protocol):
    """Somebody who works with the browser."""

    def send(self, message: bytes, /) -> None:
        """Give it a DevTools message."""
        ...


class Leaving(Exception):
    """A client has done with the browser."""


@dataclass(eq=False, slots=True)
class Asked:
    """A command about the browser that has not been answered: by whom (None: by us), and which."""

    client: Client | None
    number: int
    method: str


@dataclass(eq=False, slots=True)
class Attached:
    """A target that is attached to the browser's own session; `held` is for its owner, once that is known."""

    session: bytes
    target: str
    kind: str
    held: list[bytes] = field(default_factory=list[bytes])


class Targets:
    """Divides the browser among clients. `to_browser` and a client's `send` take one message each."""

    def __init__(self, to_browser: Callable[[bytes], None]) -> None:
        """Ask the browser for its tabs, those to come included."""
        self.clients: list[Client] = []
        """Those that want its tabs, in the order in which they came."""
        self._to_browser = to_browser
        self._gone: WeakSet[Client] = WeakSet()
        self._asked: dict[int, Asked] = {}
        self._numbers = 0
        self._owners: dict[bytes, Client] = {}
        self._owner_of_target: dict[str, Client] = {}
        self._attached: dict[bytes, Attached] = {}
        self._unowned: dict[bytes, Attached] = {}
        self._first: Client | None = None
        """Whose the tab is that the browser begins with, until it is there."""
        self._had_clients = False
        self._begin()

    def _begin(self) -> None:
        self._ask(None, "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def end(self) -> None:
        """Have the browser close."""
        self._ask(None, "Browser.close")

    def leave(self, client: Client) -> None:
        """Close the tabs of a client that has gone."""
        self._gone.add(client)
        if client in self.clients:
            self.clients.remove(client)
        for session, attached in list(self._attached.items()):
            if self._owners.get(session) is client:
                self._drop(attached)
        for session in [session for session, owner in self._owners.items() if owner is client]:
            del self._owners[session]

    # -- from a client

    def from_client(self, client: Client, message: bytes) -> None:
        """Pass on what a client wants of the browser.

        Raises:
            Leaving: it wants the browser to close.
            ValueError, TypeError, KeyError: it does not speak the protocol.
        """
        if (found := SESSION.search(message, len(message) - TAIL)) is not None:
            if self._owners.get(found[1]) is client:
                self._to_browser(message)
            else:
                number = json.loads(message)["id"]
                error = {"code": -32001, "message": "Session with given id not found."}
                client.send(line({"id": number, "error": error, "sessionId": found[1].decode()}))
            return
        command = json.loads(message)
        number, method = command["id"], command["method"]
        parameters: dict[str, Any] = command.get("params") or {}
        match method:
            case "Browser.close":
                raise Leaving
            case "Target.setAutoAttach":
                client.send(line({"id": number, "result": {}}))
                self._come(client)
                return
            case "Target.createTarget" if self._others_have_tabs(client):
                # In the window that was used last it would hide another client's tab.
                parameters["newWindow"] = True
            case "Target.closeTarget" | "Target.attachToTarget" | "Target.activateTarget":
                if self._owner_of_target.get(parameters.get("targetId", "")) is not client:
                    error = {"code": -32602, "message": "No target with given id found"}
                    client.send(line({"id": number, "error": error}))
                    return
            case _:
                pass
        self._ask(client, method, number, **parameters)

    def _come(self, client: Client) -> None:
        """Give a new client a tab: the browser's first one, which may be to come, or a new window."""
        self.clients.append(client)
        if self._had_clients:
            self._ask(client, "Target.createTarget", url="about:blank", newWindow=True)
        else:
            self._had_clients, self._first = True, client
        self._find_owners()

    def _others_have_tabs(self, client: Client) -> bool:
        return any(
            attached.kind == "page" and self._owners.get(session) is not client
            for session, attached in self._attached.items()
        )

    # -- from the browser

    def from_browser(self, message: bytes) -> None:
        """Pass on what the browser says to the client that it is for."""
        if (found := SESSION.search(message, len(message) - TAIL)) is not None:
            session = found[1]
            if message.startswith((_ATTACHED, _DETACHED)):
                self._note_child(session, json.loads(message))
            if (owner := self._owners.get(session)) is not None:
                owner.send(message)
            elif (unowned := self._unowned.get(session)) is not None:
                unowned.held.append(message)
            return
        said = json.loads(message)
        if "id" in said:
            self._answer(said)
        elif said["method"] == "Target.attachedToTarget":
            self._attach(message, said["params"])
        elif said["method"] == "Target.detachedFromTarget":
            self._detach(message, said["params"])
        else:
            # A client knows nothing of the others' frames and files, and takes no notice of news of them.
            for client in self.clients:
                client.send(message)

    def _answer(self, said: dict[str, Any]) -> None:
        asked = self._asked.pop(said["id"], None)
        if asked is None or asked.client is None:
            return
        client, result = asked.client, said.get("result", {})
        here = client not in self._gone
        if asked.method == "Target.createTarget" and "targetId" in result:
            self._owner_of_target[result["targetId"]] = client
        elif "sessionId" in result and here:
            self._owners[result["sessionId"].encode()] = client
        self._find_owners()
        if asked.number and here:
            client.send(line({**said, "id": asked.number}))

    def _attach(self, message: bytes, parameters: dict[str, Any]) -> None:
        target = parameters["targetInfo"]
        if target["type"] == "browser":
            return
        session = parameters["sessionId"].encode()
        attached = Attached(session, target["targetId"], target["type"], [message])
        self._attached[session] = self._unowned[session] = attached
        opener = self._owner_of_target.get(target.get("openerId", ""))
        if opener is not None:
            self._owner_of_target[attached.target] = opener
        self._find_owners()

    def _find_owners(self) -> None:
        """Give each target to whom it belongs, as far as that is known by now."""
        for session, attached in list(self._unowned.items()):
            owner = self._owner_of_target.get(attached.target)
            if owner is None:
                if not self._may_be_given(attached):
                    continue
                owner = self._heir(attached)
            del self._unowned[session]
            if owner is None or owner in self._gone:
                self._drop(attached)
                continue
            self._owner_of_target[attached.target] = self._owners[session] = owner
            for message in attached.held:
                owner.send(message)

    def _may_be_given(self, attached: Attached) -> bool:
        """Whether nobody will turn out to have asked for a target that has no opener."""
        opening = any(asked.method == "Target.createTarget" for asked in self._asked.values())
        return bool(self.clients) and not (opening and attached.kind == "page")

    def _heir(self, attached: Attached) -> Client | None:
        """Who is given what nobody has asked for: a page whoever was here first, a worker the only client.

        A worker serves the pages of all: it must not be held up for one of several.
        """
        if attached.kind != "page":
            return self.clients[0] if len(self.clients) == 1 else None
        heir, self._first = self._first or self.clients[0], None
        return heir

    def _drop(self, attached: Attached) -> None:
        """Close a page of a client that has gone; let go of what is not only its own."""
        if attached.kind == "page":
            self._ask(None, "Target.closeTarget", targetId=attached.target)
            return
        self._numbers += 1
        session = attached.session.decode()
        resume = {"id": self._numbers, "method": "Runtime.runIfWaitingForDebugger", "sessionId": session}
        self._to_browser(line(resume))
        self._ask(None, "Target.detachFromTarget", sessionId=session)

    def _detach(self, message: bytes, parameters: dict[str, Any]) -> None:
        session = parameters["sessionId"].encode()
        owner = self._owners.pop(session, None)
        self._unowned.pop(session, None)
        self._attached.pop(session, None)
        if owner is not None:
            owner.send(message)

    def _note_child(self, parent: bytes, said: dict[str, Any]) -> None:
        """A frame or a worker of a target has come or gone; it belongs to whom that belongs."""
        child = said["params"]["sessionId"].encode()
        owner = self._owners.get(parent)
        if said["method"] == "Target.detachedFromTarget":
            self._owners.pop(child, None)
        elif owner is not None:
            self._owners[child] = owner
            self._owner_of_target.setdefault(said["params"]["targetInfo"]["targetId"], owner)

    def _ask(self, client: Client | None, method: str, number: int = 0, /, **parameters: Any) -> int:
        """Ask the browser, for a client under its number or for ourselves; the number that the answer has."""
        self._numbers += 1
        self._asked[self._numbers] = Asked(client, number, method)
        self._to_browser(line({"id": self._numbers, "method": method, "params": parameters}))
        return self._numbers


def line(message: dict[str, Any]) -> bytes:
    """A message as it is sent."""
    return json.dumps(message, separators=(",", ":")).encode()
