"""What the page of one tab shows, and its elements: the page script's counterpart."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from mcp_browser.dom.models import (
    Box,
    DomChange,
    DomChanges,
    DomNode,
    DomSnapshot,
    ElementQuery,
    FoundElements,
    FoundText,
    ReadyElement,
    Scroll,
    Scrolled,
    SettleState,
)
from mcp_browser.dom.problems import not_actionable
from mcp_browser.dom.references import DEPTH, FAR, ID, KIND, NAME, ROLE, STATES, ElementRef, References
from mcp_browser.dom.scripts import send_script
from mcp_browser.dom.worlds import (
    WORLD_NAME,
    FrameGone,
    IsolatedWorld,
    IsolatedWorlds,
    MainWorld,
    MainWorlds,
    World,
    Worlds,
    handle_of,
)
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound, StaleElement

Purpose = Literal["click", "hover", "fill", "select", "check", "drag", "upload", "read"]

CHARACTERS_A_TOKEN = 4
FRAME_SECONDS = 3.0
SILENT_SECONDS = 0.2
MOST_NESTED_FRAMES = 6
FURTHEST_SCROLL = 1e7
CONTEXT_LINES = 5


@dataclass(frozen=True, slots=True)
class Known:
    """A reading of one frame, by its number in the page script; 0 for none.

    `count` is how many lines it had. `stands` tells of each frame within, by the id of its element: the place
    of the element's line, that line's depth and its distance from the view.
    """

    number: int = 0
    document: str = ""
    count: int = 0
    stands: Mapping[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])


NOTHING = Known()


@dataclass(slots=True, eq=False)
class FrameState:
    """A frame: what was last told of it, what was last read, and the frames within by their elements' ids."""

    world: World
    told: Known = NOTHING
    read: Known = NOTHING
    children: dict[int, "FrameState"] = field(default_factory=dict[int, "FrameState"])
    silent: bool = False
    """Whether it did not answer when it was last asked: its script is busy, in a process of its own."""

    @property
    def patience(self) -> float:
        """How long an answer is waited for, in seconds, where the page goes on without it."""
        return SILENT_SECONDS if self.silent else FRAME_SECONDS


@dataclass(slots=True)
class Reading:
    """What one frame has answered, and the frames within it."""

    state: FrameState
    answer: dict[str, Any]
    within: dict[int, "Reading"] = field(default_factory=dict[int, "Reading"])

    @property
    def total(self) -> int:
        """How many lines there are, with those of the frames within."""
        return int(self.answer["count"]) + sum(inner.total for inner in self.within.values())


@dataclass(slots=True)
class Shown:
    """A line and where it comes from: its place among all lines, its distance from the view."""

    line: list[Any]
    frame: FrameState
    place: int
    depth: int
    far: float


class DomService:
    """Reads the page of one tab and finds, describes and prepares its elements.

    Nothing here may be called twice at the same time.
    """

    def __init__(self, page: Page, *, channel: str, budget: int, changes_budget: int) -> None:
        """Serve a page.

        Args:
            page: Playwright's page.
            channel: the random name that the hook in the page's own world was given; "" for none.
            budget: longest snapshot, in tokens.
            changes_budget: longest account of changes, in tokens.
        """
        self._page = page
        self._channel = channel
        self._budget = budget
        self._changes_budget = changes_budget
        self._worlds: Worlds | None = None
        self._main: FrameState | None = None
        self._references = References()

    # Looking ------------------------------------------------------------------------------------------------

    async def snapshot(
        self, *, region: int | None = None, part: int = 1, budget: int | None = None
    ) -> DomSnapshot:
        """The page, or what is in one element, cut to a budget; of the page it remembers that it was told.

        Args:
            region: index of the element to look into.
            part: 1 for what is in and near the view, 2 for what comes next, and so on.
            budget: longest snapshot in tokens, instead of the one in force.

        Raises:
            InvalidArguments: there is no such part.
            StaleElement: the region is gone.
        """
        budget = budget or self._budget
        if region is not None:
            ref = self.resolve(region)
            answer = await self._ask(ref, "part", ref.id, budget * CHARACTERS_A_TOKEN * part)
            frame = FrameState(world=ref.world, read=_known(answer))
            return self._as_snapshot(Reading(frame, answer), budget, part)
        self._confirm()
        reading = await self._observe(whole=True, room=budget * part)
        self._confirm()
        return self._as_snapshot(reading, budget, part)

    async def changes(self) -> DomChanges | DomSnapshot:
        """What became of the page since it was last told; the snapshot where it is new or that is shorter."""
        _, told = await self.settle_and_changes(limit=0)
        return told

    async def settle_and_changes(
        self, *, limit: float, again: bool = False
    ) -> tuple[SettleState, DomChanges | DomSnapshot]:
        """Wait for the page to come to rest, then tell what has changed, in one evaluation a frame.

        Args:
            limit: longest wait in seconds; 0 for none.
            again: what the last call gave was thrown away, so compare with what was told before it.
        """
        if not again:
            self._confirm()
        reading = await self._observe(whole=False, room=self._budget, settle=limit)
        state = _settled(reading)
        changes = None if "lines" in reading.answer else self._as_changes(reading)
        if changes is not None:
            return state, changes
        if any("lines" not in inner.answer for inner in _all(reading)):
            reading = await self._observe(whole=True, room=self._budget)
        return state, self._as_snapshot(reading, self._budget, 1)

    async def settle(self, *, limit: float) -> SettleState:
        """Wait until the page has done what the last input started, `limit` seconds at most.

        Knows of frames drawn, mutations, transitions and short timers; not of requests and navigations.
        """
        main = await self._main_frame()
        return _state(await main.world.run("settle", limit * 1000))

    async def find(self, query: ElementQuery, *, limit: int) -> FoundElements:
        """Search the whole page, what is out of view and in frames included.

        Raises:
            InvalidArguments: the pattern is no regular expression.
        """
        found: list[DomNode] = []
        total = 0
        async for frame, answer in self._each("find", query.model_dump(), limit):
            if answer.get("problem") == "pattern":
                raise InvalidArguments(
                    f"{query.pattern!r} is not a regular expression: {answer['message']}.",
                    hint="Escape ( ) [ ] { } . * + ? with a backslash, or use text.",
                )
            total += answer["total"]
            for line in answer["found"][: limit - len(found)]:
                found.append(self._references.shown(line, frame.world, answer["doc"]))
        return FoundElements(nodes=tuple(found), total=total)

    async def has_text(self, text: str) -> bool:
        """Whether a text can be read anywhere on the page."""
        return (await self.find(ElementQuery(text=text), limit=0)).total > 0

    async def boxes(self) -> list[Box]:
        """Where the elements that have an index are in the view."""
        boxes: list[Box] = []
        main = await self._main_frame()
        await self._boxes(main, 0.0, 0.0, 1.0, boxes)
        return boxes

    # One element --------------------------------------------------------------------------------------------

    def resolve(self, index: int) -> ElementRef:
        """What an index stands for, without asking the page.

        Raises:
            NotFound: it was never given.
        """
        return self._references[index]

    async def describe(self, index: int) -> DomNode:
        """An element as it is now.

        Raises:
            StaleElement: it is gone; the message names the nearest match.
            NotFound: the index was never given.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "describe", ref.id)
        return self._references.shown(answer["node"], ref.world, ref.document)

    async def ready(self, index: int, *, for_: Purpose, force: bool = False) -> ReadyElement:
        """Make an element ready for an action: in view, at rest, enabled, reached by the mouse.

        What may pass is waited for, a second at most.

        Args:
            index: the element.
            for_: what is to be done with it.
            force: act on it whatever covers or disables it.

        Raises:
            StaleElement: it is gone; the message names the nearest match.
            NotActionable: it cannot take the action; the message says why.
            NotFound: the index was never given.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "ready", ref.id, for_, force)
        node = self._references.shown(answer["node"], ref.world, ref.document)
        if "problem" in answer:
            cover = answer.get("by")
            by = self._references.shown(cover, ref.world, ref.document) if cover else None
            raise not_actionable(node, answer, for_, by)
        x, y = await self._in_page(ref.world, answer["x"], answer["y"], node, for_)
        return ReadyElement(
            node=node,
            tag=answer["tag"],
            type=answer["type"],
            kind=answer["kind"],
            x=x,
            y=y,
            width=answer["width"],
            height=answer["height"],
            checked=answer["checked"],
            multiple=answer["multiple"],
            focused=answer["focused"],
        )

    async def call(self, index: int, function: str, *args: JsonValue) -> Any:
        """Run a helper of the page script on an element: focus, setValue, selectText, options, text, …

        Raises:
            StaleElement: the element is gone.
        """
        ref = self.resolve(index)
        answer = await self._ask(ref, "call", ref.id, function, args)
        value = answer["value"]
        if function == "options":
            for option in value:
                if "id" in option:
                    option["index"] = self._references.index(option.pop("id"), ref.world, ref.document)
        return value

    async def handle(self, index: int) -> ElementHandle:
        """Playwright's handle of an element.

        Raises:
            StaleElement: it is gone.
        """
        ref = self.resolve(index)
        await self._ask(ref, "describe", ref.id)
        try:
            return await handle_of(ref.world, ref.id)
        except (FrameGone, PlaywrightError) as error:
            raise await self._stale(ref) from error

    async def index_of(self, handle: ElementHandle) -> DomNode:
        """The node of an element that Playwright has a handle of; it has an index.

        Raises:
            NotFound: the element is not on the page any more.
        """
        frame = await handle.owner_frame()
        async for state, _ in self._each("stands"):
            if await state.world.frame() != frame:
                continue
            if isinstance(state.world, MainWorld):
                door = await state.world.door()
                element_id = await door.evaluate("(door, element) => door.idOf(element)", handle)
                answer = await state.world.run("describe", element_id)
                document = await state.world.run("doc")
            else:
                name = f"{WORLD_NAME}-{id(handle)}"
                await state.world.run("expect", name)
                await handle.evaluate(send_script(), name)
                answer = await state.world.run("caught")
                document = answer.get("doc", "")
            if "problem" not in answer:
                return self._references.shown(answer["node"], state.world, document)
        raise NotFound("The element is not on the page any more.", hint="Look with get_state.")

    async def at_point(self, x: float, y: float) -> DomNode | None:
        """The element at a point of the view (CSS pixels), the innermost one that can be acted on."""
        frame = await self._main_frame()
        node: DomNode | None = None
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run("atPoint", x, y)
            if answer["node"] is None:
                return node
            node = self._references.shown(answer["node"], frame.world, answer["doc"])
            inner = frame.children.get(answer["node"][ID]) if answer["frame"] else None
            if inner is None:
                return node
            origin = await frame.world.run("framePoint", answer["node"][ID], 0, 0, "read")
            x, y = x - origin["x"], y - origin["y"]
            frame = inner
        return node

    # The page -----------------------------------------------------------------------------------------------

    async def html(self, index: int | None = None, *, readable: bool = False) -> str:
        """HTML of the page or of an element, with shadow trees and frames written out in their places.

        Args:
            index: the element; None for the page.
            readable: leave out scripts, styles and what is hidden.
        """
        if index is None:
            main = await self._main_frame()
            return await self._html(main.world, None, readable, MOST_NESTED_FRAMES)
        ref = self.resolve(index)
        await self._ask(ref, "describe", ref.id)
        return await self._html(ref.world, ref.id, readable, MOST_NESTED_FRAMES)

    async def scroll(self, *, x: float = 0, y: float = 0, index: int | None = None) -> Scrolled:
        """Scroll by `x` and `y` times what is seen; infinity goes to the end.

        Scrolls the page (or what fills it), or with an index the nearest thing around that element that can
        scroll.

        Raises:
            StaleElement: the element is gone.
        """
        x, y = (max(-FURTHEST_SCROLL, min(FURTHEST_SCROLL, by)) for by in (x, y))
        if index is None:
            world = (await self._main_frame()).world
            document = ""
            answer = await world.run("scroll", None, x, y)
        else:
            ref = self.resolve(index)
            world, document = ref.world, ref.document
            answer = await self._ask(ref, "scroll", ref.id, x, y)
        if "problem" in answer:
            raise NotActionable("There is nothing to scroll.", hint="Look with get_state.")
        within = answer["within"]
        return Scrolled(
            node=self._references.shown(within, world, document or answer["doc"]) if within else None,
            moved_x=answer["moved"][0],
            moved_y=answer["moved"][1],
            left=answer["position"][0],
            top=answer["position"][1],
            view_width=answer["seen"][0],
            view_height=answer["seen"][1],
            width=answer["size"][0],
            height=answer["size"][1],
        )

    async def scroll_to_text(self, text: str, *, nth: int = 1) -> FoundText:
        """Bring the nth line that holds a text into view.

        Raises:
            NotFound: there is no such line.
        """
        matches = 0
        found: FoundText | None = None
        async for frame, answer in self._each("scrollToText", text, nth):
            matches += answer["matches"]
            if found is None and matches >= nth and answer["node"] is None:
                # Counted from the first frame on, the match is in this one.
                before = matches - answer["matches"]
                answer = await frame.world.run("scrollToText", text, nth - before)  # noqa: PLW2901
            if found is None and matches >= nth and answer["node"] is not None:
                node, *lines = (
                    self._references.node(line, frame.world, answer["doc"])
                    for line in [answer["node"], *answer["context"]]
                )
                found = FoundText(node=node, context="\n".join(map(str, lines)), count=matches)
                await self._show_frame(frame)
        if found is None:
            hint = "Content that loads while scrolling may come with scroll; find_elements takes patterns."
            if matches:
                raise NotFound(
                    f"The text {text!r} is on the page only {matches} times, not {nth}.", hint=hint
                )
            raise NotFound(f"The text {text!r} is not on {self._page.url}.", hint=hint)
        return found.model_copy(update={"count": matches})

    # Within -------------------------------------------------------------------------------------------------

    async def _main_frame(self) -> FrameState:
        if self._main is None:
            self._main = FrameState(world=await (await self._all_worlds()).main())
        return self._main

    async def _all_worlds(self) -> Worlds:
        if self._worlds is None:
            browser = self._page.context.browser
            isolated = browser is None or browser.browser_type.name == "chromium"
            self._worlds = (IsolatedWorlds if isolated else MainWorlds)(self._page, self._channel)
        return self._worlds

    async def _ask(self, ref: ElementRef, method: str, *args: Any) -> dict[str, Any]:
        """Ask about an element; the answer is sure to be about that very one."""
        try:
            answer = await ref.world.run("ofDocument", ref.document, method, args)
        except FrameGone as error:
            raise await self._stale(ref) from error
        if answer.get("problem") == "stale":
            raise await self._stale(ref)
        return answer

    async def _stale(self, ref: ElementRef) -> StaleElement:
        """The error for an element that is gone; it names what is most like it now."""
        what = ref.node.model_copy(update={"states": (), "is_new": False, "depth": 0})
        nearest: DomNode | None = None
        best = 0
        async for frame, answer in self._each("nearest", ref.node.role, ref.node.name):
            if answer["node"] is not None and answer["score"] > best:
                best = answer["score"]
                nearest = self._references.shown(answer["node"], frame.world, answer["doc"])
        hint = "Look with get_state what is there now."
        if nearest is not None:
            hint = f"The nearest match now is {nearest.model_copy(update={'depth': 0})}."
        return StaleElement(f"The element {what} is gone from the page.", hint=hint)

    async def _each(self, method: str, *args: Any) -> AsyncIterator[tuple[FrameState, dict[str, Any]]]:
        """The answers of all frames that can be seen, each frame before those within it."""
        rest = [await self._main_frame()]
        depth = {id(rest[0]): 0}
        while rest:
            frame = rest.pop(0)
            try:
                if frame is self._main:
                    answer = await frame.world.run(method, *args)
                else:
                    async with asyncio.timeout(frame.patience):
                        answer = await frame.world.run(method, *args)
                frame.silent = False
                yield frame, answer
                stands = [owner for owner, *_ in answer.get("frames", [])]
                if stands and depth[id(frame)] < MOST_NESTED_FRAMES:
                    await self._meet(frame, stands)
            except FrameGone:
                continue
            except TimeoutError:
                frame.silent = True
                continue
            within = [frame.children[owner] for owner in stands if owner in frame.children]
            depth |= {id(child): depth[id(frame)] + 1 for child in within}
            rest[:0] = within

    async def _meet(self, frame: FrameState, ids: Sequence[int]) -> None:
        """Find the worlds of frames that have not been met yet."""
        unknown = [owner for owner in ids if owner not in frame.children]
        if not unknown:
            return
        worlds = await self._all_worlds()
        for owner, world in (await worlds.within(frame.world, unknown)).items():
            frame.children[owner] = FrameState(world=world)

    async def _in_page(
        self, world: World, x: float, y: float, node: DomNode, for_: Purpose
    ) -> tuple[float, float]:
        """A point of a frame as a point of the page; brings the frame into view and checks what covers it."""
        for parent, owner in reversed(self._way_to(world)):
            answer = await parent.world.run("framePoint", owner, x, y, for_)
            if answer.get("problem") == "covered":
                by = self._references.shown(answer["by"], parent.world, answer["doc"])
                raise not_actionable(node, answer, for_, by)
            if "problem" in answer:
                raise NotActionable(f"The frame of {node} is gone.", hint="Look with get_state.")
            x, y = answer["x"], answer["y"]
        return x, y

    def _known_frames(self) -> Iterator[tuple[FrameState, list[tuple[FrameState, int]]]]:
        """The frames met so far, each with the frames around it and the elements one enters them by."""
        rest: list[tuple[FrameState, list[tuple[FrameState, int]]]] = []
        if self._main is not None:
            rest.append((self._main, []))
        while rest:
            frame, way = rest.pop()
            yield frame, way
            rest += [(child, [*way, (frame, owner)]) for owner, child in frame.children.items()]

    def _way_to(self, world: World) -> list[tuple[FrameState, int]]:
        return next((way for frame, way in self._known_frames() if frame.world is world), [])

    async def _show_frame(self, frame: FrameState) -> None:
        for parent, owner in reversed(self._way_to(frame.world)):
            await parent.world.run("call", owner, "scrollIntoView", [])

    async def _boxes(self, frame: FrameState, x: float, y: float, scale: float, into: list[Box]) -> None:
        try:
            answer = await frame.world.run("boxes")
        except FrameGone:
            return
        for element_id, left, top, width, height in answer["boxes"]:
            index = self._references.known(element_id, answer["doc"])
            if index is not None:
                into.append(
                    Box(
                        index=index,
                        x=x + left * scale,
                        y=y + top * scale,
                        width=width * scale,
                        height=height * scale,
                    )
                )
        for owner, child in frame.children.items():
            if owner not in frame.read.stands:
                continue
            at = await frame.world.run("framePoint", owner, 0, 0, "read")
            if "problem" not in at:
                await self._boxes(child, x + at["x"] * scale, y + at["y"] * scale, scale * at["scale"], into)

    async def _html(self, world: World, element_id: int | None, readable: bool, deep: int) -> str:
        answer = await world.run("html", element_id, readable)
        text: str = answer["html"]
        if not answer["frames"] or deep == 0:
            return text
        state = next((frame for frame, _ in self._known_frames() if frame.world is world), None)
        if state is not None:
            await self._meet(state, answer["frames"])
        for owner in answer["frames"]:
            child = state.children.get(owner) if state else None
            try:
                inner = await self._html(child.world, None, readable, deep - 1) if child else ""
            except FrameGone:
                inner = ""
            text = text.replace(f"\ue000{owner}\ue001", inner)
        return text

    # Observations -------------------------------------------------------------------------------------------

    async def _observe(self, *, whole: bool, room: int, settle: float = 0.0) -> Reading:
        """Read all frames at once; those that are new are read after the ones they stand in."""
        wish = {
            "whole": whole,
            "budget": room * CHARACTERS_A_TOKEN,
            "changes": self._changes_budget * CHARACTERS_A_TOKEN,
        }
        return await self._read(await self._main_frame(), wish, settle, 0)

    async def _read(self, frame: FrameState, wish: dict[str, Any], settle: float, deep: int) -> Reading:
        met = [child for owner, child in frame.children.items() if owner in frame.read.stands]
        answer, *inner = await asyncio.gather(
            self._ask_frame(frame, wish, settle, deep),
            *(self._try_read(child, wish, settle, deep + 1) for child in met),
        )
        if answer["doc"] != frame.read.document:
            frame.children = {}
            inner = []
        read = {id(child): reading for child, reading in zip(met, inner, strict=False)}
        frame.read = _known(answer)
        reading = Reading(frame, answer)
        if not frame.read.stands or deep >= MOST_NESTED_FRAMES:
            return reading
        for owner, child in list(frame.children.items()):
            if read.get(id(child), frame) is None and not child.silent:
                # The frame's document is in another process now, or was lost on the way.
                del frame.children[owner]
        await self._meet(frame, list(frame.read.stands))
        late = [
            child
            for owner, child in frame.children.items()
            if owner in frame.read.stands and id(child) not in read
        ]
        for child, given in zip(
            late,
            await asyncio.gather(*(self._try_read(child, wish, 0.0, deep + 1) for child in late)),
            strict=True,
        ):
            read[id(child)] = given
        for owner, child in frame.children.items():
            given = read.get(id(child))
            if owner in frame.read.stands and given is not None:
                reading.within[owner] = given
        return reading

    async def _try_read(
        self, frame: FrameState, wish: dict[str, Any], settle: float, deep: int
    ) -> Reading | None:
        try:
            async with asyncio.timeout(settle + frame.patience):
                reading = await self._read(frame, wish, settle, deep)
        except FrameGone:
            return None
        except TimeoutError:
            frame.silent = True
            return None
        frame.silent = False
        return reading

    async def _ask_frame(
        self, frame: FrameState, wish: dict[str, Any], settle: float, deep: int
    ) -> dict[str, Any]:
        wish = {**wish, "base": frame.told.number, "of": frame.told.document, "strict": deep > 0}
        if settle > 0:
            answer = await frame.world.run("settleAndObserve", settle * 1000, wish)
        else:
            answer = await frame.world.run("observe", wish)
        hosts = answer.get("hosts")
        if hosts and isinstance(frame.world, IsolatedWorld) and await frame.world.open_hosts(hosts):
            return {**await frame.world.run("observe", wish), "state": answer.get("state", _QUIET)}
        return answer

    def _confirm(self) -> None:
        """What was last read has been told."""
        for frame, _ in self._known_frames():
            frame.told = frame.read

    def _as_snapshot(self, reading: Reading, budget: int, part: int) -> DomSnapshot:
        """The lines of all frames in their places, the part of them that is asked for.

        Raises:
            InvalidArguments: there is no such part.
        """
        shown = list(_shown(reading, 0, 0, 0))
        room = budget * CHARACTERS_A_TOKEN
        cost = sum(float(inner.answer["cost"]) for inner in _all(reading))
        parts = 1
        if cost > room:
            parts = math.ceil(cost / room)
            shown = _part(shown, room, part)
        elif part > 1:
            shown = []
        if not shown and part > 1:
            raise InvalidArguments(f"There is no part {part}: the page has {parts}.")
        nodes = tuple(self._node(item) for item in shown)
        first = shown[0].place if shown else 0
        x, y, view_width, view_height, width, height = reading.answer["view"]
        return DomSnapshot(
            url=reading.answer["url"],
            title=reading.answer["title"],
            nodes=nodes,
            scroll=Scroll(
                x=x,
                y=y,
                viewport_width=view_width,
                viewport_height=view_height,
                page_width=width,
                page_height=height,
            ),
            above=first,
            below=reading.total - first - len(nodes),
            part=part,
            parts=max(parts, part),
        )

    def _as_changes(self, reading: Reading) -> DomChanges | None:
        """The changes of all frames; None where they cannot be told and the snapshot has to be."""
        changes: list[DomChange] = []
        omitted = 0
        room = self._changes_budget * CHARACTERS_A_TOKEN
        for inner, at, was, depth in _frames_in(reading):
            frame = inner.state
            gone = [owner for owner in frame.told.stands if owner not in inner.within]
            if gone or (frame.told.number and "lines" in inner.answer):
                # Of lines that went with their document nobody can tell any more what they were.
                return None
            if "lines" in inner.answer:
                for item in _shown(Reading(frame, inner.answer), 0, 0, 0):
                    node = self._node(item).model_copy(update={"is_new": item.line[KIND] == "interactive"})
                    node = node.model_copy(update={"depth": node.depth + depth})
                    changes.append(DomChange(op="added", node=node, at=at(item.place)))
                omitted += int(inner.answer["count"]) - len(inner.answer["lines"])
                continue
            omitted += inner.answer["omitted"]
            for op, line, before, old, new in inner.answer["changes"]:
                node = (
                    self._references.old(line, frame.world, frame.told.document)
                    if op == "removed"
                    else self._references.node(line, frame.world, frame.read.document)
                )
                if depth:
                    node = node.model_copy(update={"depth": node.depth + depth})
                changes.append(
                    DomChange(
                        op=op,
                        node=node,
                        before=self._references.old(before, frame.world, frame.told.document)
                        if before
                        else None,
                        was=was(old) if old >= 0 else None,
                        at=at(new) if new >= 0 else None,
                    )
                )
        kept: list[DomChange] = []
        for change in changes:
            room -= len(str(change.node)) + 1 if change.op != "replaced" else 14
            if room < 0:
                break
            kept.append(change)
        return DomChanges(changes=tuple(kept), omitted=omitted + len(changes) - len(kept))

    def _node(self, item: Shown) -> DomNode:
        node = self._references.node(item.line, item.frame.world, item.frame.read.document, depth=item.depth)
        within = item.frame.children.get(item.line[ID])
        if within is None or not within.silent:
            return node
        return node.model_copy(update={"states": (*node.states, "not answering")})


_QUIET = {"quiet": True, "timers": 0, "animations": False, "mutations": False, "waited": 0}


def _known(answer: dict[str, Any]) -> Known:
    stands = {owner: (place, depth, far) for owner, place, depth, far in answer["frames"]}
    return Known(number=answer["number"], document=answer["doc"], count=answer["count"], stands=stands)


def _all(reading: Reading) -> Iterator[Reading]:
    yield reading
    for inner in reading.within.values():
        yield from _all(inner)


def _state(state: dict[str, Any]) -> SettleState:
    return SettleState.model_validate({**state, "waited": state["waited"] / 1000})


def _settled(reading: Reading) -> SettleState:
    """What all frames together say of their rest."""
    states = [_state(inner.answer["state"]) for inner in _all(reading) if "state" in inner.answer]
    return SettleState(
        quiet=all(state.quiet for state in states),
        timers=sum(state.timers for state in states),
        animations=any(state.animations for state in states),
        mutations=any(state.mutations for state in states),
        waited=max((state.waited for state in states), default=0.0),
    )


def _shown(reading: Reading, base: int, depth: int, far: float) -> Iterator[Shown]:
    """The lines that a reading and those within it have sent, in reading order."""
    answer = reading.answer
    places = answer["places"] or range(len(answer["lines"]))
    before = base
    within = sorted((stand[0], owner) for owner, stand in reading.state.read.stands.items())
    pending = [(place, owner) for place, owner in within if owner in reading.within]
    for place, line in zip(places, answer["lines"], strict=True):
        while pending and pending[0][0] < place:
            before += reading.within[pending.pop(0)[1]].total
        own_far = max(_distance(line[FAR]), far)
        yield Shown(line, reading.state, before + place, depth, own_far)
        if pending and pending[0][0] == place:
            owner = pending[0][1]
            yield from _shown(reading.within[owner], before + place + 1, depth + line[DEPTH] + 1, own_far)


def _distance(far: int) -> float:
    """How far a line counts as being; what is above counts for more than what is below."""
    return -far * 1.5 if far < 0 else far


def _part(shown: list[Shown], room: int, part: int) -> list[Shown]:
    """Part number `part` of the lines: the first has the nearest that there is room for, and so on."""
    used = 0
    number = 1
    chosen: list[Shown] = []
    for item in sorted(shown, key=lambda item: (item.far, item.place)):
        cost = _cost(item)
        if used + cost > room and used:
            number += 1
            used = 0
            if number > part:
                break
        used += cost
        if number == part:
            chosen.append(item)
    return sorted(chosen, key=lambda item: item.place)


def _cost(item: Shown) -> int:
    """Characters of a line, about as the page script counts them."""
    line = item.line
    states = sum(len(state) + 1 for state in line[STATES])
    return (
        (line[DEPTH] + item.depth) * 2
        + len(line[NAME])
        + (len(line[ROLE]) + 9 if line[ROLE] else 1)
        + 1
        + states
    )


Placing = Callable[[int], int]


def _frames_in(reading: Reading) -> Iterator[tuple[Reading, Placing, Placing, int]]:
    """Each frame with two functions, from a line's place in it now (before) to its place among all lines.

    And how deep its lines are indented.
    """

    def visit(
        inner: Reading, at: int, was: int, depth: int
    ) -> Iterator[tuple[Reading, Placing, Placing, int]]:
        frame = inner.state
        now = sorted(
            (stand[0], inner.within[o].total) for o, stand in frame.read.stands.items() if o in inner.within
        )
        then = sorted(
            (stand[0], _told_total(frame.children[o]))
            for o, stand in frame.told.stands.items()
            if o in frame.children
        )
        place_now, place_then = _placing(at, now), _placing(was, then)
        yield inner, place_now, place_then, depth
        for owner, child in inner.within.items():
            place, own_depth, _ = frame.read.stands[owner]
            old = frame.told.stands.get(owner)
            yield from visit(
                child, place_now(place) + 1, place_then(old[0]) + 1 if old else 0, depth + own_depth + 1
            )

    return visit(reading, 0, 0, 0)


def _placing(base: int, sizes: list[tuple[int, int]]) -> Placing:
    return lambda place: base + place + sum(size for stand, size in sizes if stand < place)


def _told_total(frame: FrameState) -> int:
    return frame.told.count + sum(
        _told_total(frame.children[owner]) for owner in frame.told.stands if owner in frame.children
    )
