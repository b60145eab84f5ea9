"""The elements of one page: described, made ready for input, and asked."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cached_property
from mimetypes import guess_type
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, ElementHandle
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.identities import LEVELS, ElementRecord, Located, element_record
from mcp_browser.dom.keys import InputTargets, KeyPlace, key_place, keyboard_unknown
from mcp_browser.dom.models import DomNode, PointHit, ReadyElement, WindowState
from mcp_browser.dom.person import PersonReports
from mcp_browser.dom.reading import PageReader
from mcp_browser.dom.worlds import World, answers, break_off
from mcp_browser.errors import NotActionable, NotFound

Purpose = Literal["click", "hover", "fill", "select", "check", "drag", "upload", "read"]

_TAKES = {
    "fill": "be typed into",
    "select": "be chosen from",
    "check": "be checked",
    "upload": "take files",
    "drag": "be dragged",
    "hover": "be hovered over",
    "click": "be clicked",
    "read": "be read",
}

_PROBLEMS = {
    "disabled": ("is disabled.", "Something else may have to be done first to enable it."),
    "barred": (
        "is shown as disabled, by its cursor or its class.",
        "Something else may have to be done first to enable it; click_element with force clicks it anyway.",
    ),
    "readonly": ("is read-only.", "It may be set by another control beside it."),
    "inert": ("is inert: the page has switched this part off.", "Close the dialog."),
    "no-size": ("has no size, so nothing of it can be seen or hit.", "Look with get_state what is shown."),
    "moving": ("does not stop moving.", "Wait with wait_for, then try again."),
    "no-pointer": (
        "lets the mouse through (pointer-events: none).",
        "It may be disabled; look with get_state what else there is.",
    ),
    "clipped": (
        "is cut off by the box it is in, so no point of it can be hit.",
        "Scroll inside that box with scroll and this index.",
    ),
    "off-screen": (
        "lies outside of what scrolling can reach.",
        "A menu or panel may have to be opened first.",
    ),
    "not-editable": (
        "is not a text field.",
        "For other controls there are click_element, select_option and set_checked.",
    ),
    "option": ("is an option of a native select.", "Use select_option on the select."),
    "not-file": ("is not a file input.", "Give the index of the file input or its button."),
}


class PageElements(PageReader):
    """The elements of one page by their indexes, by points of the view, and by the keyboard's focus."""

    @cached_property
    def targets(self) -> InputTargets:
        """What takes keys and points of the view."""
        return InputTargets(self._frames, self._ask)

    @cached_property
    def person(self) -> PersonReports:
        """What a person does on the page."""
        return PersonReports(self._frames, self._references)

    async def describe(self, index: int) -> DomNode:
        """An element as it is now; raises StaleElement, which names the nearest match, NotFound."""
        ref = self.resolve(index)
        answer = await self._ask(ref, "describe", ref.id)
        return self._references.shown(answer["node"], ref.world, ref.document)

    async def ready(self, index: int, *, for_: Purpose, force: bool = False) -> ReadyElement:
        """Make an element ready for an action: in view, at rest, enabled, reached by the mouse.

        What may pass is waited for, a second at most. `force`: whatever covers or disables it. Raises
        StaleElement, with the nearest match; NotActionable, with the reason; NotFound: no such index.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "ready", ref.id, for_, force)
        node = self._references.shown(answer["node"], ref.world, ref.document)
        if "problem" in answer:
            raise self._refusal(node, answer, for_, ref.world, ref.document)
        x, y = answer["x"], answer["y"]
        if not ref.world.is_main:
            x, y = await self._in_page(ref.world, x, y, node, for_)
        return ReadyElement.model_validate({**answer, "node": node, "x": x, "y": y})

    async def call(self, index: int, function: str, *args: JsonValue) -> Any:
        """Run a helper of the page script on an element: focus, setValue, value, …; raises StaleElement."""
        ref = self.resolve(index)
        answer = await self._ask(ref, "call", ref.id, function, args)
        value = answer["value"]
        if function in ("options", "searchField", "innerField"):
            for option in value:
                if "id" in option:
                    option["index"] = self._references.index(option.pop("id"), ref.world, ref.document)
        return value

    async def record(self, index: int) -> ElementRecord:
        """What the element of an index can be found again by; raises NotFound, StaleElement."""
        ref = self.resolve(index)
        answer = await self._ask(ref, "record", ref.id)
        x, y, width, height = answer["box"]
        place = await self._frames.place(self._frames.way_to(ref.world), x, y)
        x, y, scale = place or (x, y, 1.0)
        paths = await self._frames.paths_to(ref.world)
        return element_record(index, {**answer, "box": (x, y, width * scale, height * scale)}, paths)

    async def locate(self, record: ElementRecord) -> Located:
        """The element of a record, first in its own frame. Raises NotFound: none, or several alike."""
        wanted = record.model_dump(
            include={"role", "name", "tag", "attributes", "text", "context", "twins", "path"}
        )
        found: list[tuple[tuple[bool, int], World, dict[str, Any]]] = []
        main = await self._frames.main()
        async for frame, answer in self._frames.each("locate", wanted):
            if answer["level"] == "none":
                continue
            is_own = frame is main
            if record.frame is not None:
                is_own = not is_own and urlsplit(record.frame)[:3] == urlsplit(str(answer["url"]))[:3]
            found.append(((not is_own, LEVELS.index(answer["level"])), frame.world, answer))
        if not found:
            raise NotFound(f"Nothing on the page is like {record}.")
        rank = min(rank for rank, *_ in found)
        best = [(world, answer) for its_rank, world, answer in found if its_rank == rank]
        count = sum(answer["count"] for _, answer in best)
        if count > 1:
            raise NotFound(f"{count} elements fit {record} equally well, and nothing tells them apart.")
        ((world, answer), *_) = best
        node = self._references.shown(answer["node"], world, answer["doc"])
        return Located(level=LEVELS[rank[1]], node=node)

    async def window(self) -> WindowState:
        """Return the size of the view and whether it is shown."""
        return WindowState.model_validate(await (await self._frames.main()).world.run("window"))

    async def in_page(self, index: int | None) -> tuple[CDPSession, str | None]:
        """The CDP session of an element's frame (None: the main one), and its object in the page's world."""
        world, ref = await self._standing(index)
        if ref is None:
            return world.session, None
        try:
            return world.session, await world.object_in_page(ref.id)
        except (KeyError, PlaywrightError) as error:
            raise await self._stale(ref) from error

    async def set_files(self, index: int, paths: Sequence[Path], *, by_content: bool) -> None:
        """Give files to a file input; `by_content` where paths cannot be read. Raises StaleElement."""
        ref = self.resolve(index)
        target = (await self._ask(ref, "ready", ref.id, "upload", False)).get("target", ref.id)
        if by_content:
            files = [
                (path.name, guess_type(path.name)[0] or "", b64encode(path.read_bytes()).decode())
                for path in paths
            ]
            await self._ask(ref, "call", target, "setFiles", [files])
            return
        try:
            found = await ref.world.object(target)
            files = [str(path) for path in paths]
            await send(ref.world.session, "DOM.setFileInputFiles", objectId=found, files=files)
        except (KeyError, PlaywrightError) as error:
            raise await self._stale(ref) from error

    async def nodes_of(
        self, handles: Sequence[ElementHandle], *, most: int | None = None
    ) -> list[DomNode | None]:
        """Return the nodes, with indexes, of the first `most` elements that Playwright has found.

        None stands for one that is gone. The handles are disposed of: Playwright keeps thousands of them.

        Playwright dispatches an event of a random name to each, which the page script listens for. A page
        that interferes has another of its own elements returned, described as what that is.
        """
        name = token_hex(12)
        nodes: list[DomNode | None] = [None] * len(handles[:most])
        try:
            worlds = [frame.world async for frame, _ in self._frames.each("listenFor", name, len(nodes))]
            for number, handle in enumerate(handles[:most]):
                await handle.dispatch_event(f"{name}{number}")
            for world in worlds:
                with contextlib.suppress(FrameGone):
                    answer = await world.run("heard")
                    for number, line in answer["found"]:
                        nodes[number] = self._references.shown(line, world, answer["doc"])
        finally:
            await asyncio.gather(*(handle.dispose() for handle in handles), return_exceptions=True)
        return nodes

    async def at_point(self, x: float, y: float) -> PointHit | None:
        """The innermost control at a point of the view (CSS pixels), in frames too, or what is seen there."""
        hit: PointHit | None = None
        async for frame, answer in self._frames.inward("atPoint", point=(x, y)):
            if answer["node"] is not None:
                node = self._references.shown(answer["node"], frame.world, answer["doc"])
                hit = PointHit(node=node, actable=answer["actable"])
        return hit

    async def focused(self) -> DomNode | None:
        """The element that has the keyboard, in frames too; None where none has."""
        node: DomNode | None = None
        async for frame, answer in self._frames.inward("focused"):
            if answer["node"] is not None:
                node = self._references.shown(answer["node"], frame.world, answer["doc"])
        return node

    async def typed_at(self, index: int | None = None) -> KeyPlace:
        """What gets typed text: an element, or what has the keyboard; raises NotActionable, StaleElement."""
        if index is not None:
            ref = self.resolve(index)
            return key_place(ref.world, await self._ask(ref, "keyPlaceOf", ref.id))
        _, place = await self.targets.of_keys(enter=False)
        if place is None:
            raise keyboard_unknown()
        return place

    async def use_clipboard(
        self, command: str, key: Mapping[str, Any], data: Mapping[str, str]
    ) -> dict[str, str] | None:
        """Copy, cut or paste (`command`) where the keyboard is, without the browser's own clipboard.

        `key` has the fields of the key's events, `data` what is pasted, by MIME types. Return what was
        copied, by MIME types; None for nothing. Raises NotActionable: the frame there cannot be asked.
        """
        *_, (frame, answer) = [given async for given in self._frames.inward("focused")]
        if answer["frame"]:
            raise keyboard_unknown()
        return await frame.world.run("useClipboard", command, key, data)

    async def break_off(self, index: int | None = None) -> bool:
        """Stop the script that keeps the page busy, or the frame of an element; False where none does."""
        world = (await self._frames.main()).world if index is None else self.resolve(index).world
        if await answers(world.session):
            return False
        await break_off(world.session)
        return True

    async def pressed(self, x: float, y: float) -> None:
        """Let the page get ready for the release of the mouse's button, which went down at this point."""
        await (await self._frames.main()).world.run("pressed", x, y)

    async def _in_page(
        self, world: World, x: float, y: float, node: DomNode, for_: Purpose
    ) -> tuple[float, float]:
        """A point of a frame as one of the page; scrolls the frame into view and checks what covers it."""
        if not (way := self._frames.way_to(world)):
            raise self._refusal(node, {"problem": "hidden", "how": "its frame is not shown"}, for_, world, "")
        for parent, owner in reversed(way):
            answer = await parent.world.run("framePoint", owner, x, y, for_)
            if answer.get("problem") in ("covered", "hidden"):
                raise self._refusal(node, answer, for_, parent.world, answer.get("doc", ""))
            if "problem" in answer:
                raise NotActionable(f"The frame of {node} is gone.", hint="Look with get_state.")
            x, y = answer["x"], answer["y"]
        return x, y

    def _refusal(
        self, node: DomNode, answer: dict[str, Any], for_: Purpose, world: World, document: str
    ) -> NotActionable:
        """The error for a problem that the page script has named in an answer."""
        what = _plain(node)
        match answer["problem"]:
            case "covered":
                # What covers it, and the button by which that may be closed.
                by, close = (
                    line and _plain(self._references.shown(line, world, document))
                    for line in (answer.get("by"), answer.get("close"))
                )
                said = f"{what} cannot {_TAKES[for_]}: it is covered by {by or 'another element'}."
                hint = "Close or answer what covers it first."
                if close is not None:
                    hint = f"Close it first: click {close}."
                elif answer.get("layer"):
                    hint = 'Answer it, or close it with send_keys "Escape" or a click beside it.'
            case "hidden":
                said = f"{what} is hidden ({answer['how']})."
                hint = "It may show after another action; look with get_state."
            case "not-editable" if node.role in ("slider", "spinbutton"):
                said = f"{what} takes no text: it is no native control."
                hint = (
                    "Press keys on it: send_keys with its index and ArrowRight, ArrowLeft, Home or End. "
                    "Or drag its handle with drag_element."
                )
            case problem:
                said, hint = _PROBLEMS[problem]
                said = f"{what} {said}"
        return NotActionable(said, hint=hint)


def _plain(node: DomNode) -> DomNode:
    return node.model_copy(update={"states": (), "is_new": False, "depth": 0})
