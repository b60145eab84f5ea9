"""Which tabs of the user's browser are a session's: those that it opens, and those that the user lends.

Nothing else is attached to. Unlike a browser that was started here, this one is not asked to attach new tabs
by itself: it would do so with the user's, too.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_browser.browser.process.shared.targets import (
    SESSION,
    TAIL,
    Asked,
    Attached,
    Client,
    Leaving,
    Targets,
    line,
)
from mcp_browser.dom.driver_errors import OWN_REFUSAL

_TO_FRONT = re.compile(rb'^\{"id":(\d+),"method":"Page\.bringToFront"')
_DOWNLOAD = b'{"method":"Page.downloadWillBegin"'
_OURS = b'{"id":-1,'
_OF_A_TARGET = {"Target.closeTarget", "Target.attachToTarget", "Target.getTargetInfo"}


class OwnTargets(Targets):
    """Gives each client the tabs that it has opened, and what these open; the first one what is lent, too."""

    def __init__(
        self,
        to_browser: Callable[[bytes], None],
        *,
        may_use: Callable[[str], bool],
        bring: Callable[[Path, Path, Callable[[], None]], None],
    ) -> None:
        """Ask the browser which tabs there are.

        Args:
            to_browser: takes one message for the browser.
            may_use: whether a tab of the user's with this address is lent.
            bring: copies a file that has been downloaded, the first path, to the second, and then calls.
        """
        self.lent: set[str] = set()
        """The targets that are the user's and lent."""
        self._may_use = may_use
        self._bring = bring
        self._pages: dict[str, str] = {}
        self._roots: set[bytes] = set()
        self._by_root: dict[str, tuple[bytes, str]] = {}
        self._created: dict[str, tuple[Asked, dict[str, Any]]] = {}
        self._attaching: dict[int, str] = {}
        self._downloads: dict[str, Client] = {}
        self._folders: dict[Client, Path] = {}
        super().__init__(to_browser)

    @property
    def untouched(self) -> int:
        """How many tabs there are that belong to nobody here."""
        return sum(target not in self._owner_of_target for target in self._pages)

    @property
    def closing(self) -> bool:
        """Whether the browser has still to do what it was told when a client left."""
        return any(asked.client is None for asked in self._asked.values())

    def _begin(self) -> None:
        self._ask(None, "Target.setDiscoverTargets", discover=True, filter=[{"type": "page"}])
        # Files go where the user has them go; of ours, the browser tells where that was.
        self._ask(None, "Browser.setDownloadBehavior", behavior="default", eventsEnabled=True)

    # -- from a client

    def from_client(self, client: Client, message: bytes) -> None:
        """Pass on what concerns the client's own tabs, and nothing else; raises as `Targets` does."""
        if (found := SESSION.search(message, len(message) - TAIL)) is None:
            self._browser_command(client, json.loads(message))
        elif found[1] in self._roots and self._owners.get(found[1]) is client:
            command = json.loads(message)
            attach = command["method"] == "Target.attachToTarget" and self._is_own(client, command["params"])
            detach = command["method"] == "Target.detachFromTarget"
            if attach or (detach and self._has_session(client, command["params"])):
                self._to_browser(message)
            else:
                self._refuse(client, command)
        elif (front := _TO_FRONT.match(message)) is not None:
            # It would take the keyboard away from the user, who types elsewhere.
            client.send(line({"id": int(front[1]), "result": {}, "sessionId": found[1].decode()}))
        else:
            super().from_client(client, message)

    def _browser_command(self, client: Client, command: dict[str, Any]) -> None:
        number, method = command["id"], command["method"]
        parameters: dict[str, Any] = command.get("params") or {}
        match method:
            case "Browser.close":
                raise Leaving
            case "Target.setAutoAttach":
                self._come(client)
                # Answered after what is lent has been attached.
                self._ask(client, "Browser.getVersion", number)
            case "Target.createTarget" if "browserContextId" not in parameters:
                # A window that does not come to the front hides no tab of the user's.
                self._ask(client, method, number, **parameters, newWindow=True, background=True)
            case "Browser.setDownloadBehavior":
                self._folders[client] = Path(parameters["downloadPath"])
                client.send(line({"id": number, "result": {}}))
            case "Browser.cancelDownload" if self._downloads.get(parameters.get("guid", "")) is client:
                self._ask(client, method, number, **parameters)
            case "Browser.getVersion" | "Target.attachToBrowserTarget":
                self._ask(client, method, number)
            case "Target.getTargetInfo" if not parameters:
                self._ask(client, method, number)
            case "Target.detachFromTarget" if self._has_session(client, parameters):
                self._ask(client, method, number, **parameters)
            case _ if method in _OF_A_TARGET and self._is_own(client, parameters):
                if method == "Target.closeTarget" and parameters["targetId"] in self.lent:
                    self._refuse(client, command)
                else:
                    self._ask(client, method, number, **parameters)
            case _:
                self._refuse(client, command)

    def _is_own(self, client: Client, parameters: dict[str, Any]) -> bool:
        return self._owner_of_target.get(parameters.get("targetId", "")) is client

    def _has_session(self, client: Client, parameters: dict[str, Any]) -> bool:
        return self._owners.get(parameters.get("sessionId", "").encode()) is client

    def _refuse(self, client: Client, command: dict[str, Any]) -> None:
        refusal = {
            "id": command["id"],
            "error": {"code": -32000, "message": f"{OWN_REFUSAL}: {command['method']}"},
        }
        session = {"sessionId": command["sessionId"]} if "sessionId" in command else {}
        client.send(line(refusal | session))

    def _come(self, client: Client) -> None:
        self.clients.append(client)
        for target, url in self._pages.items():
            self._consider(target, url)

    def leave(self, client: Client) -> None:
        """Close the tabs of a client that has gone; give back those that were lent."""
        roots = {root for root in self._roots if self._owners.get(root) is client}
        super().leave(client)
        self._roots -= roots
        for root in roots:
            self._ask(None, "Target.detachFromTarget", sessionId=root.decode())
        self._folders.pop(client, None)
        for target in [target for target, owner in self._owner_of_target.items() if owner is client]:
            if target in self.lent:
                self.lent.discard(target)
                del self._owner_of_target[target]

    def _drop(self, attached: Attached) -> None:
        if attached.target in self.lent:
            self._ask(None, "Target.detachFromTarget", sessionId=attached.session.decode())
        else:
            super()._drop(attached)

    # -- from the browser

    def from_browser(self, message: bytes) -> None:
        """Pass on what the browser says of a client's own tabs to that client, and nothing else."""
        if (found := SESSION.search(message, len(message) - TAIL)) is not None:
            if message.startswith(_DOWNLOAD) and (owner := self._owners.get(found[1])) is not None:
                begun = json.loads(message)["params"]
                # Each session of the same tab tells of it.
                if begun["guid"] not in self._downloads:
                    self._downloads[begun["guid"]] = owner
                    owner.send(line({"method": "Browser.downloadWillBegin", "params": begun}))
            if not message.startswith(_OURS):
                super().from_browser(message)
            return
        said = json.loads(message)
        if "id" in said:
            self._answer(said)
            return
        parameters = said["params"]
        match said["method"]:
            case "Target.targetCreated" | "Target.targetInfoChanged":
                self._know(parameters["targetInfo"])
            case "Target.targetDestroyed":
                self._forget(parameters["targetId"])
            case "Target.attachedToTarget":
                self._attach(message, parameters)
                self._tell_created(parameters["targetInfo"]["targetId"])
            case "Target.detachedFromTarget":
                self._detach(message, parameters)
            case "Browser.downloadProgress":
                self._tell_progress(parameters)
            case _:
                pass

    def _know(self, target: dict[str, Any]) -> None:
        """Attach to a tab that one of the clients' tabs has opened, or that the user lends by its address."""
        name, url = target["targetId"], target["url"]
        is_new = name not in self._pages
        self._pages[name] = url
        opener = target.get("openerId", "")
        owner = self._owner_of_target.get(opener) if opener not in self.lent else None
        if is_new and owner is not None and name not in self._owner_of_target:
            self._take(name, owner)
        else:
            self._consider(name, url)

    def _consider(self, target: str, url: str) -> None:
        """Take a tab of the user's that is lent, or give one back that has gone elsewhere."""
        if target in self.lent:
            if not self._may_use(url):
                self._give_back(target)
        elif self.clients and target not in self._owner_of_target and self._may_use(url):
            self.lent.add(target)
            self._take(target, self.clients[0])

    def _take(self, target: str, owner: Client) -> None:
        self._owner_of_target[target] = owner
        self._attaching[self._ask(None, "Target.attachToTarget", targetId=target, flatten=True)] = target

    def _give_back(self, target: str) -> None:
        self.lent.discard(target)
        self._owner_of_target.pop(target, None)
        for attached in [attached for attached in self._attached.values() if attached.target == target]:
            self._ask(None, "Target.detachFromTarget", sessionId=attached.session.decode())
        for session, (root, whose) in self._by_root.items():
            if whose == target:
                detach = {"id": -1, "method": "Target.detachFromTarget", "params": {"sessionId": session}}
                self._to_browser(line({**detach, "sessionId": root.decode()}))

    def _note_child(self, parent: bytes, said: dict[str, Any]) -> None:
        super()._note_child(parent, said)
        session = said["params"]["sessionId"]
        if said["method"] == "Target.detachedFromTarget":
            self._by_root.pop(session, None)
        elif parent in self._roots:
            self._by_root[session] = (parent, said["params"]["targetInfo"]["targetId"])

    def _forget(self, target: str) -> None:
        self._pages.pop(target, None)
        self._owner_of_target.pop(target, None)
        self.lent.discard(target)

    def _answer(self, said: dict[str, Any]) -> None:
        number = said["id"]
        asked = self._asked.get(number)
        target = said.get("result", {}).get("targetId")
        if asked is not None and asked.method == "Target.createTarget" and target is not None:
            del self._asked[number]
            assert asked.client is not None
            if asked.client in self._gone:
                self._ask(None, "Target.closeTarget", targetId=target)
                return
            # Playwright wants to have heard of the tab before it hears that it is there.
            self._created[target] = (asked, said)
            self._take(target, asked.client)
            return
        if asked is not None and asked.method == "Target.attachToBrowserTarget" and "result" in said:
            self._roots.add(said["result"]["sessionId"].encode())
        if (taken := self._attaching.pop(number, None)) is not None and "error" in said:
            self._forget(taken)
            self._tell_created(taken, error=said["error"])
        super()._answer(said)

    def _tell_created(self, target: str, **instead: Any) -> None:
        """Answer who has created a tab, now that it is attached or, with `error`, cannot be."""
        if (created := self._created.pop(target, None)) is not None:
            asked, said = created
            assert asked.client is not None
            answer = {"id": asked.number, **instead} if instead else {**said, "id": asked.number}
            asked.client.send(line(answer))

    def _may_be_given(self, attached: Attached) -> bool:
        return False

    def _tell_progress(self, parameters: dict[str, Any]) -> None:
        """Tell of a download of a client's; once it is whole, its file is where the client looks for it."""
        guid, state = parameters["guid"], parameters["state"]
        owner = self._downloads.get(guid)
        if owner is None:
            return
        told = line({"method": "Browser.downloadProgress", "params": parameters})
        if state != "inProgress":
            del self._downloads[guid]
        folder, file = self._folders.get(owner), parameters.get("filePath")
        if state == "completed" and folder is not None and file:
            self._bring(Path(file), folder / guid, lambda: owner.send(told))
        else:
            owner.send(told)
