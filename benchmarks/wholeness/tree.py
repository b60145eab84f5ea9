"""What Chromium's accessibility tree holds operable, in every frame, and what a person can see of it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import send
from tests.snapshot.oracle import targets

Key = tuple[int, int]
"""An element: the number of its process among those of the page, and its backend node id there."""

ROLES = frozenset(
    "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton tab menuitem "
    "menuitemcheckbox menuitemradio treeitem".split()
)
IF_FOCUSABLE = frozenset({"gridcell", "columnheader"})
VALUE_TAGS = frozenset({"INPUT", "SELECT", "TEXTAREA"})
OWN_ROLES = {"Date": "date", "DateTime": "datetime-local", "InputTime": "time", "ColorWell": "color"}
"""Chromium's names of form controls that ARIA has no role for, and ours."""

ELEMENT, DOCUMENT = 1, 9  # A node's type in the DOM
AT_ONCE = 50
_SIGHT = (Path(__file__).parent / "sight.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Sight:
    """Whether a person could see an element; see sight.js."""

    hidden: str
    unseen: str
    html: str


@dataclass(frozen=True)
class Operable:
    """A node of the tree that a person could operate."""

    key: Key
    role: str
    name: str
    html: str


@dataclass
class Process:
    """The documents of a page that one process holds."""

    number: int
    session: CDPSession
    frames: tuple[str, ...]
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    parents: dict[int, int] = field(default_factory=dict[int, int])
    browser_made: set[int] = field(default_factory=set[int])
    """What is in the shadow trees that the browser makes itself, as within a field for a date."""

    def take(self, root: dict[str, Any]) -> None:
        """Take in a document with all that is in it."""
        stack: list[tuple[dict[str, Any], int, bool]] = [(root, 0, False)]
        while stack:
            node, parent, made = stack.pop()
            own = node["backendNodeId"]
            self.nodes[own] = node
            self.parents[own] = parent
            if made:
                self.browser_made.add(own)
            stack += [(child, own, made) for child in node.get("children", [])]
            for shadow in node.get("shadowRoots", []):
                stack.append((shadow, own, made or shadow["shadowRootType"] == "user-agent"))
            if "contentDocument" in node:
                stack.append((node["contentDocument"], own, made))


class Tree:
    """The page as Chromium presents it to assistive technology."""

    def __init__(self, page: Page) -> None:
        """Of a page as it is when `read` is called."""
        self._page = page
        self.processes: list[Process] = []
        self.named: dict[Key, tuple[str, str]] = {}
        """Role and name of every node that is not ignored."""
        self.operable: list[Operable] = []
        self.sights: dict[Key, Sight] = {}

    async def read(self) -> None:
        """Read all frames."""
        for target in targets(self._page):
            try:
                session = await self._page.context.new_cdp_session(target)
            except PlaywrightError:
                continue  # A frame in its parent's process is read with its parent.
            held = await send(session, "Page.getFrameTree")
            process = Process(len(self.processes), session, tuple(_frame_ids(held["frameTree"])))
            document = await send(session, "DOM.getDocument", depth=-1, pierce=True)
            process.take(document["root"])
            self.processes.append(process)
        wanted: list[tuple[Key, str, str]] = []
        for process in self.processes:
            for frame in process.frames:
                answer = await send(process.session, "Accessibility.getFullAXTree", frameId=frame)
                wanted += self._taken(process, answer["nodes"])
        await self.look_at(key for key, _, _ in wanted)
        await self.look_at(self._owners.values())
        for key, role, name in wanted:
            sight = self.sights.get(key)
            if sight is not None and not sight.unseen and not self.hidden_with_frame(key):
                self.operable.append(Operable(key, role, name, sight.html))

    def _taken(self, process: Process, nodes: Sequence[dict[str, Any]]) -> Iterator[tuple[Key, str, str]]:
        for node in nodes:
            own = node.get("backendDOMNodeId")
            if own is None or node.get("ignored") or own in process.browser_made:
                continue
            role: str = node.get("role", {}).get("value", "")
            name: str = node.get("name", {}).get("value", "")
            element = process.nodes.get(own, {})
            if element.get("nodeType") != ELEMENT:
                continue
            self.named[process.number, own] = (role, name)
            focusable = any(
                one["name"] == "focusable" and one["value"].get("value") for one in node.get("properties", [])
            )
            if (
                role in ROLES
                or (role in IF_FOCUSABLE and focusable)
                or (element["nodeName"] in VALUE_TAGS and role in OWN_ROLES)
            ):
                yield (process.number, own), OWN_ROLES.get(role, role), name

    async def look_at(self, keys: Iterable[Key]) -> None:
        """Ask the page whether these elements can be seen."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self.sights]
        for process in self.processes:
            of_frames: dict[int, list[int]] = {}
            for number, own in wanted:
                if number == process.number:
                    of_frames.setdefault(self._document(process, own), []).append(own)
            for group in of_frames.values():
                for start in range(0, len(group), AT_ONCE):
                    await self._look(process, group[start : start + AT_ONCE])

    async def _look(self, process: Process, group: list[int]) -> None:
        async def resolve(own: int) -> str | None:
            try:
                answer = await send(process.session, "DOM.resolveNode", backendNodeId=own)
            except PlaywrightError:
                return None  # It has left the page.
            return answer["object"].get("objectId")

        ids = await asyncio.gather(*map(resolve, group))
        there = [(own, found) for own, found in zip(group, ids, strict=True) if found]
        if not there:
            return
        answer = await send(
            process.session,
            "Runtime.callFunctionOn",
            functionDeclaration=_SIGHT,
            objectId=there[0][1],
            arguments=[{"objectId": found} for _, found in there],
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        for (own, _), sight in zip(there, answer["result"]["value"], strict=True):
            self.sights[process.number, own] = Sight(**sight)

    @cached_property
    def _owners(self) -> dict[str, Key]:
        """The element of every frame, by the frame's id."""
        return {
            node["frameId"]: (process.number, own)
            for process in self.processes
            for own, node in process.nodes.items()
            if "frameId" in node and node["nodeName"] in ("IFRAME", "FRAME", "OBJECT", "EMBED")
        }

    def _document(self, process: Process, own: int) -> int:
        # What has come since the tree was read is in none.
        while (parent := process.parents.get(own, 0)) and process.nodes[own]["nodeType"] != DOCUMENT:
            own = parent
        return own

    def hidden_with_frame(self, key: Key) -> str:
        """Why the frame that an element is in, or one around that, cannot be seen; "" where it can."""
        process = self.processes[key[0]]
        document = self._document(process, key[1])
        parent = process.parents.get(document, 0)
        owner = (key[0], parent) if parent else self._owners.get(process.frames[0])
        if owner is None:
            return ""
        sight = self.sights.get(owner)
        return "frame" if sight is not None and sight.unseen else self.hidden_with_frame(owner)

    def above(self, key: Key) -> Iterator[Key]:
        """The elements around one, the nearest first, within its process."""
        process = self.processes[key[0]]
        own = process.parents.get(key[1], 0)
        while own:
            yield (key[0], own)
            own = process.parents[own]

    def label_of(self, label: Key) -> Key | None:
        """The form control that a label is for."""
        process = self.processes[label[0]]
        node = process.nodes.get(label[1], {})
        if node.get("nodeName") != "LABEL":
            return None
        wanted = _attribute(node, "for")
        for own, other in process.nodes.items():
            if other["nodeName"] not in VALUE_TAGS:
                continue
            if wanted and _attribute(other, "id") == wanted:
                return (label[0], own)
            if not wanted and label in self.above((label[0], own)):
                return (label[0], own)
        return None

    async def keys_of_marked(self, name: str) -> dict[int, Key]:
        """The elements that a Map of this name holds in the frames' own worlds, by their numbers."""
        found: dict[int, Key] = {}
        for process in self.processes:
            contexts: list[int] = []

            def created(event: dict[str, Any], into: list[int] = contexts) -> None:
                if event["context"]["auxData"].get("isDefault"):
                    into.append(event["context"]["id"])

            process.session.on("Runtime.executionContextCreated", created)
            await send(process.session, "Runtime.enable")
            for context in contexts:
                found |= await _marked(process, context, name)
            process.session.remove_listener("Runtime.executionContextCreated", created)
            await send(process.session, "Runtime.disable")
        return found

    async def close(self) -> None:
        """Let go of the page."""
        for process in self.processes:
            await process.session.detach()


async def _marked(process: Process, context: int, name: str) -> dict[int, Key]:
    answer = await send(
        process.session,
        "Runtime.evaluate",
        expression=f"[...(globalThis.{name} ?? [])].flat()",
        contextId=context,
    )
    listed = await send(
        process.session, "Runtime.getProperties", objectId=answer["result"]["objectId"], ownProperties=True
    )
    values = [one["value"] for one in listed["result"] if one["name"].isdigit()]

    async def key(value: dict[str, Any]) -> Key:
        node = await send(process.session, "DOM.describeNode", objectId=value["objectId"])
        return process.number, node["node"]["backendNodeId"]

    keys = await asyncio.gather(*map(key, values[1::2]))
    return {int(number["value"]): own for number, own in zip(values[::2], keys, strict=True)}


def _frame_ids(tree: dict[str, Any]) -> Iterator[str]:
    yield tree["frame"]["id"]
    for child in tree.get("childFrames", []):
        yield from _frame_ids(child)


def _attribute(node: dict[str, Any], name: str) -> str:
    listed: list[str] = node.get("attributes", [])
    return dict(zip(listed[::2], listed[1::2], strict=True)).get(name, "")
