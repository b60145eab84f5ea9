"""What a page as a whole is asked: searched, scrolled, written out as HTML, measured, audited."""

import asyncio
import contextlib
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import within
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.elements import PageElements
from mcp_browser.dom.frames import MOST_NESTED_FRAMES, Answer, FrameState, Missed, settled, stands_of
from mcp_browser.dom.models import (
    AccessibilityAudit,
    AnswerReading,
    Box,
    DomNode,
    ElementQuery,
    FoundElements,
    Scrolled,
    SettleState,
)
from mcp_browser.dom.references import ID, KIND, NAME, ROLE, STATES
from mcp_browser.dom.worlds import World
from mcp_browser.errors import ActionError, InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.privacy.pictures import Cover, Covers
from mcp_browser.text import one_line, quoted

FURTHEST_SCROLL = 1e7
MOST_LOOKS = 8  # How often a document is looked at for closed shadow roots; each look finds some of them


class DomService(PageElements):
    """The page of one tab: the page script's counterpart."""

    async def answers_read(self) -> dict[str, AnswerReading]:
        """How the page and its frames read the answers to their requests, by URL without its query."""
        read: dict[str, AnswerReading] = {}
        async for _, answer in self._frames.each("answersRead"):
            read |= dict(answer["answers"])
        return read

    async def is_awaiting(self) -> bool:
        """Whether the page shows nothing in its main part yet, or a sign that something is on its way."""
        return bool(await (await self._frames.main()).world.run("isAwaiting"))

    async def settle(self, *, limit: float, index: int = 0) -> SettleState:
        """Wait until the page, or an element's frame, has done what the last input started.

        Knows of frames drawn, mutations, transitions and short timers; not of requests and navigations.
        """
        if index:
            return settled([await self.resolve(index).world.run("settle", limit * 1000)])
        main = await self._frames.main()
        inner = (frame for frame, _ in self._frames.known() if frame is not main and not frame.silent)
        runs = [within(one.world.run("settle", limit * 1000), lambda: limit + self.deadline) for one in inner]
        answer, *_ = await asyncio.gather(
            main.world.run("settle", limit * 1000), *runs, return_exceptions=True
        )
        if isinstance(answer, BaseException):
            raise answer
        return settled([answer])

    async def find(self, query: ElementQuery, *, limit: int) -> FoundElements:
        """Search the whole page, what is out of view and in frames included.

        Raises InvalidArguments: the pattern is no regular expression; FrameGone: the page goes elsewhere.
        """
        found: list[DomNode] = []
        missed: list[Missed] = []
        total = 0
        roles: set[str] = set()
        self._searched = time.monotonic()
        async for frame, answer in self._frames.each("find", query.model_dump(), limit, missed=missed):
            if answer.get("problem") == "pattern":
                raise InvalidArguments(
                    f"{query.pattern!r} is not a regular expression: {answer['message']}.",
                    hint="Escape ( ) [ ] { } . * + ? with a backslash, or use text.",
                )
            total += answer["total"]
            roles.update(answer["roles"])
            lines = answer["found"][: limit - len(found)]
            places = await self._distinguish(frame, lines)
            for line in lines:
                node = self._references.shown(line, frame.world, answer["doc"])
                if place := places.get(str(line[ID])):
                    node = node.model_copy(update={"states": (*node.states, f"in={place}")})
                found.append(node)
        missed_frames = await self._described(missed)
        return FoundElements(
            nodes=tuple(found), total=total, roles=tuple(sorted(roles)), missed=missed_frames
        )

    async def alike(self, query: ElementQuery, place: int | None, *, limit: int) -> list[DomNode]:
        """The first elements that match a query, on the whole page or within the element of an index.

        Frames that do not answer are left out. Raises StaleElement; FrameGone: the page goes elsewhere.
        """
        asked, first = ("find", query.model_dump(), limit), None
        if place is not None:
            ref = self.resolve(place)
            first = self._frames.of(ref.world), await self._ask(ref, *asked, ref.id)
        return [
            self._references.shown(line, frame.world, answer["doc"])
            async for frame, answer in self._frames.each(*asked, 0, first=first)
            for line in answer["found"]
        ]

    async def partly_drawn(self) -> list[tuple[World, int, float]]:
        """The lists that draw only rows which are seen: world and id, and the part of its length it is at."""
        asked = self._frames.each("partlyDrawn")
        return [(frame.world, *one) async for frame, answer in asked for one in answer["lists"]]

    async def has_text(self, text: str) -> bool | None:
        """Whether a text can be read anywhere on the page; None where a frame gave no answer."""
        found = await self.find(ElementQuery(text=text), limit=0)
        return found.total > 0 or (None if found.missed else False)

    async def _distinguish(self, frame: FrameState, lines: Sequence[list[Any]]) -> dict[str, str]:
        """Where those stand that have the same role and name, or hint, by their ids."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for line in lines:
            if line[KIND] == "interactive" and not any(state.startswith("in=") for state in line[STATES]):
                hints = tuple(state for state in line[STATES] if state.startswith("hint="))
                alike.setdefault((line[ROLE], line[NAME], hints), []).append(line[ID])
        groups = [ids for ids in alike.values() if len(ids) > 1]
        try:
            places: dict[str, str] = await frame.world.run("placesOf", groups) if groups else {}
        except FrameGone:
            return {}
        return places

    async def _described(self, missed: Sequence[Missed]) -> tuple[str, ...]:
        """What kept frames from being searched, as `[4] iframe "Chat" is still loading`."""
        lines: list[str] = []
        for frame in missed:
            world = frame.parent.world
            answer = await world.run("describe", frame.owner)
            if "problem" not in answer:
                node = self._references.shown(answer["node"], world, await world.run("doc"))
                lines.append(f"[{node.index}] {node.role} {quoted(node.name)} {frame.why}")
        return tuple(lines)

    async def boxes(self) -> list[Box]:
        """Where the elements that have an index are in the view."""
        boxes: list[Box] = []
        for frame, way in [*self._frames.known()]:
            with contextlib.suppress(FrameGone):
                answer = await frame.world.run("boxes")
                if (place := await self._frames.place(way)) is None:
                    continue
                x, y, scale = place
                for element_id, left, top, *size in answer["boxes"]:
                    index = self._references.known(element_id, answer["doc"])
                    if index is not None:
                        width, height = (side * scale for side in size)
                        at = {"x": x + left * scale, "y": y + top * scale, "width": width, "height": height}
                        boxes.append(Box(index=index, **at))
        return boxes

    async def covers(self, values: Sequence[str], *, fields: bool = False) -> Covers:
        """The boxes of what shows one of these texts: what to cover on a picture of the page.

        `fields`: also of what secret fields hold. A silent frame is one box. May be called while others are.
        """
        main = await self._frames.main()
        ask = partial(_covers_in, values=list(values), fields=fields)
        answer = await ask(main.world)
        boxes = await self._cover_boxes(ask, main, answer, (0.0, 0.0, 1.0, False), MOST_NESTED_FRAMES)
        return Covers.model_validate({**answer, "boxes": boxes, "document": answer["doc"]})

    async def _cover_boxes(
        self,
        ask: Callable[[World], Awaitable[Answer]],
        frame: FrameState,
        answer: Answer,
        place: tuple[float, float, float, bool],
        depth: int,
    ) -> list[Cover]:
        """The boxes in a frame that has answered, and in those within it."""
        left, top, scale, pinned = place

        def cover(x: float, y: float, width: float, height: float, *, fixed: bool) -> Cover:
            return Cover(
                x=left + x * scale,
                y=top + y * scale,
                width=width * scale,
                height=height * scale,
                # What is fixed in a frame goes where the frame goes.
                pinned=fixed if frame.world.is_main else pinned,
            )

        async def ask_within(child: FrameState | None) -> Answer | None:
            if child is None or depth <= 0:
                return None
            try:
                return await within(ask(child.world), child.deadline)
            except (TimeoutError, FrameGone, ActionError, PlaywrightError):
                child.silent = True
                return None

        found = [cover(*box, fixed=fixed) for *box, fixed in answer["boxes"]]
        owners = stands_of(answer)
        await self._frames.meet(frame, owners)
        children = [frame.children.get(owner) for owner in owners]
        answers = await asyncio.gather(*map(ask_within, children))
        for (owner, *box, is_frame), child, inner in zip(answer["frames"], children, answers, strict=True):
            if inner is not None and not inner["boxes"] and not inner["frames"]:
                continue
            at = await frame.world.run("framePoint", owner, 0, 0, "read")
            if child is None or inner is None or "problem" in at:
                if is_frame or child is not None:
                    found.append(cover(*box, fixed=False))
                continue
            place = (left + at["x"] * scale, top + at["y"] * scale, scale * at["scale"], pinned)
            found += await self._cover_boxes(ask, child, inner, place, depth - 1)
        return found

    async def vitals(self) -> Answer:
        """What the browser has measured of the main frame's document, as dom/page/vitals.js gives it.

        In the place of each line of an element, `node`, stands the element, with an index, or None.
        """
        main = await self._frames.main()
        answer = await main.world.run("vitals")

        def shown(line: list[Any] | None) -> DomNode | None:
            return self._references.shown(line, main.world, answer["doc"]) if line else None

        for part in (answer["lcp"], *answer["interactions"]):
            if part is not None:
                part["node"] = shown(part["node"])
        for shift in answer["shifts"]:
            shift["nodes"] = [shown(line) for line in shift["nodes"]]
        return answer

    async def secret_values(self) -> frozenset[str]:
        """What the page's password fields hold, and others whose values are never shown."""
        values: set[str] = set()
        async for _, answer in self._frames.each("secretValues"):
            values |= set(answer["values"])
        return frozenset(values)

    async def audit_accessibility(
        self, axe: str, *, tags: Sequence[str], index: int | None = None, most: int
    ) -> AccessibilityAudit:
        """What axe-core finds wrong with the page and its frames, or with an element.

        `axe` is its source, `tags` are those of its rules; of a rule `most` elements are named at most.
        Raises StaleElement: the element is gone; FrameGone: the page goes to other addresses meanwhile.
        """
        audit, first = AccessibilityAudit(), None
        method, missed = "auditAccessibility", list[Missed]()
        if index is not None:
            ref = self.resolve(index)
            await ref.world.add("axe", axe)
            first = self._frames.of(ref.world), await self._ask(ref, method, ref.id, tags, most)
        else:
            async for frame, _ in self._frames.each("stands"):
                await frame.world.add("axe", axe)
        async for frame, answer in self._frames.each(method, 0, tags, most, missed=missed, first=first):
            audit.add(answer, lambda line: self._references.shown(line, frame.world, answer["doc"]))  # noqa: B023 (called at once)
        audit.missed = await self._described(missed)
        return audit

    async def html(self, index: int | None = None, *, readable: bool = False, detailed: bool = False) -> str:
        """HTML of the page or of an element, with shadow trees and frames written out in their places.

        `readable`: without scripts, styles and what is hidden. `detailed`: of the readable HTML, keep classes
        and roles, and what the page says to machines about its content: metadata, and data of schema.org.
        """
        world, ref = await self._standing(index)
        return await self._html(world, ref.id if ref else None, (readable, detailed), MOST_NESTED_FRAMES)

    async def pdf(self, index: int | None = None, *, most: int) -> bytes | None:
        """The PDF that the page, or the frame at an index, shows; None where it shows none.

        Raises NotActionable: it cannot be had again, or has more than `most` bytes.
        """
        world, ref = await self._standing(index)
        if ref is not None:
            child = await self._frames.child(self._frames.of(world), ref.id)
            if child is None:
                return None
            world = child.world
        answer = await world.run("pdf", most)
        if "size" in answer:
            raise NotActionable(
                f"The PDF has {answer['size']:,} bytes; {most:,} can be read.", hint="Look with screenshot."
            )
        if "failed" in answer:
            raise NotActionable(
                f"The PDF cannot be read: {one_line(str(answer['failed']))}.",
                hint="Save it with its button Download, then use read_file; or look with screenshot.",
            )
        return b64decode(answer["pdf"]) if answer["pdf"] is not None else None

    async def scroll(self, *, x: float = 0, y: float = 0, index: int | None = None) -> Scrolled:
        """Scroll by `x` and `y` times what is seen; infinity goes to the end.

        Scrolls the page (or what fills it), or what scrolls around the element of an index; or StaleElement.
        """
        x, y = (max(-FURTHEST_SCROLL, min(FURTHEST_SCROLL, by)) for by in (x, y))
        if index is None:
            world = (await self._frames.main()).world
            answer = await world.run("scroll", None, x, y)
        else:
            ref = self.resolve(index)
            world, answer = ref.world, await self._ask(ref, "scroll", ref.id, x, y)
        if "problem" in answer:
            raise NotActionable("There is nothing to scroll.", hint="Look with get_state.")
        within = answer["within"]
        node = self._references.shown(within, world, answer["doc"]) if within else None
        return Scrolled.model_validate({**answer, "node": node})

    async def scrolled_part(self) -> tuple[DomNode, float, float] | None:
        """The part that scrolls instead of the page, and how many of its screens are before and after what
        is seen; None where the page scrolls itself, or nothing does.
        """
        world = (await self._frames.main()).world
        answer = await world.run("scrolledPart")
        if answer["node"] is None:
            return None
        node = self._references.shown(answer["node"], world, answer["doc"])
        return node, answer["before"], answer["behind"]

    async def scroll_to_text(self, text: str, *, nth: int = 1) -> tuple[str, int]:
        """Scroll the nth line that holds a text into view. Raises NotFound: there is no such line.

        Return the lines around it, and how many lines hold the text.
        """
        matches = 0
        found: str | None = None
        missed: list[Missed] = []
        async for frame, answer in self._frames.each("scrollToText", text, nth, missed=missed):
            matches += answer["matches"]
            if found is None and matches >= nth and answer["node"] is None:
                # Counted from the first frame on, the match is in this one.
                before = matches - answer["matches"]
                answer = await frame.world.run("scrollToText", text, nth - before)  # noqa: PLW2901
            if found is None and matches >= nth and answer["node"] is not None:
                _, *lines = (
                    self._references.node(line, frame.world, answer["doc"])
                    for line in [answer["node"], *answer["context"]]
                )
                found = "\n".join(map(str, lines))
                for parent, owner in reversed(self._frames.way_to(frame.world)):
                    await parent.world.run("call", owner, "scrollIntoView", [])
        if found is None:
            hint = "Content that loads while scrolling may come with scroll; find_elements takes patterns."
            if missed:
                unsearched = "; ".join(await self._described(missed))
                raise NotFound(
                    f"The text {text!r} is not in what could be searched; not searched: {unsearched}.",
                    hint="Wait with wait_for, then try again.",
                )
            if matches:
                raise NotFound(
                    f"The text {text!r} is on the page only {matches} times, not {nth}.", hint=hint
                )
            raise NotFound(f"The text {text!r} is not on {cut_address(self._page.url)}.", hint=hint)
        return found, matches

    async def _html(self, world: World, element_id: int | None, how: tuple[bool, bool], deep: int) -> str:
        answer = await world.run("html", element_id, *how)
        text: str = answer["html"]
        if not answer["frames"] or deep == 0:
            return text
        frame = self._frames.of(world)
        await self._frames.meet(frame, answer["frames"])
        for owner in answer["frames"]:
            child = frame.children.get(owner)
            try:
                inner = await self._html(child.world, None, how, deep - 1) if child else ""
            except FrameGone:
                inner = ""
            text = text.replace(f"\ue000{owner}\ue001", inner)
        return text


async def _covers_in(world: World, *, values: list[str], fields: bool) -> Answer:
    """What one document answers, closed shadow roots that came with its HTML included."""
    answer: Answer = {}
    for _ in range(MOST_LOOKS):
        answer = await world.run("covers", values, fields)
        if not answer["hosts"]:
            break
        await world.open_hosts(answer["hosts"])
    return answer
