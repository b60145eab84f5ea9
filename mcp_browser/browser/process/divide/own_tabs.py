"""The policy of the user's own browser: a client owns the tabs that it opens, and those that the user lends.

Nothing else is attached. Unlike a browser that was started here, this one does not auto-attach new tabs,
which would include the user's.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

from mcp_browser.browser.process.divide.divider import (
    Divider,
    DividerClient,
    Parameters,
    PendingCommand,
    TargetSession,
    line,
)
from mcp_browser.dom.driver_errors import OWN_REFUSAL

_TO_FRONT = re.compile(rb'^\{"id":(\d+),"method":"Page\.bringToFront"')
_DOWNLOAD = b'{"method":"Page.downloadWillBegin"'
_OURS = b'{"id":-1,'


class OwnTabs(Divider):
    """Gives each client the tabs that it or its tabs open; the first one also the lent tabs."""

    def __init__(
        self,
        to_browser: Callable[[bytes], None],
        *,
        may_use: Callable[[str], bool],
        copy: Callable[[Path, Path, Callable[[], None]], None],
    ) -> None:
        """Ask the browser, which gets its messages by `to_browser`, for its tabs.

        `may_use(address)`: whether a tab of the user is lent. `copy` copies a downloaded file from the first
        path to the second, then calls the function.
        """
        super().__init__(to_browser)
        self._may_use = may_use
        self._copy = copy
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
            self._copy(Path(file), folder / guid, lambda: owner.send(message))
        else:
            owner.send(message)
