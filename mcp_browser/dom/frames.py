"""The frames of a page: which there are, where they stand, and how to ask all of them."""

import contextlib
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_browser.dom.cdp import extra_seconds, within
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.models import DomChange, SettleState
from mcp_browser.dom.references import DEPTH, FAR, ID, KIND, NAME, PARTS, ROLE, STATES
from mcp_browser.dom.worlds import World, Worlds

FRAME_SECONDS = 3.0
SILENT_SECONDS = 0.2  # How long a frame within is waited for; one that did not answer before, shorter


@dataclass(frozen=True, slots=True)
class Known:
    """A reading of one frame, by its number in the page script; 0 for none.

    `count` is how many lines it had. `stands` has each frame within, by the id of its element: the place of
    the element's line, that line's depth and its distance from the view. `loading`: it was not complete.
    """

    number: int = 0
    document: str = ""
    count: int = 0
    stands: Mapping[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])
    title: str = ""
    loading: bool = False


NOTHING = Known()

Answer = dict[str, Any]  # Of the page script


@dataclass(slots=True, eq=False)
class FrameState:
    """A frame: its reading reported last, its latest one, and the frames within by their elements' ids."""

    world: World
    reported: Known = NOTHING
    reported_within: Mapping[int, int] = field(default_factory=dict[int, int])
    read: Known = NOTHING
    children: dict[int, "FrameState"] = field(default_factory=dict[int, "FrameState"])
    document: str = ""  # The one that `children` and `unfound` are of
    # Left, top, right, bottom of what is seen of it and the id of what cuts it off, where not all is seen
    seen: Sequence[float] | None = None
    silent: bool = False  # Whether it did not answer when it was last asked: its script is busy
    unfound: set[int] = field(default_factory=set[int])  # Elements whose frames were not found in time

    @property
    def unmet(self) -> set[int]:
        """The elements whose frames may still be found."""
        return set(self.read.stands) - set(self.children) - self.unfound

    def enter(self, document: str) -> None:
        """Forget the frames within if they were another document's."""
        if document != self.document:
            self.children, self.unfound, self.document = {}, set(), document

    def why_empty(self, owner: int) -> str:
        """Why nothing is to be read of what stands in an element; "" where it was read, or is no frame."""
        child = self.children.get(owner)
        if child is not None and child.silent:
            return "not answering"
        is_empty = owner in self.read.stands and (child is None or not child.read.count)
        return "loading" if owner in self.unfound or (is_empty and self.read.loading) else ""

    def deadline(self) -> float:
        """How long an answer is waited for, in seconds, where the page goes on without it."""
        return (SILENT_SECONDS if self.silent else FRAME_SECONDS) + extra_seconds(self.world.elements)

    def deadline_within(self) -> float:
        """The same for the frame and all within it."""
        return max([self.deadline(), *(child.deadline_within() for child in self.children.values())])


@dataclass(slots=True, eq=False)
class Reading:
    """What one frame has answered, and the frames within it."""

    state: FrameState
    answer: Answer
    within: dict[int, "Reading"] = field(default_factory=dict[int, "Reading"])

    @property
    def total(self) -> int:
        return int(self.answer["count"]) + sum(inner.total for inner in self.within.values())

    @property
    def placed(self) -> list[tuple[int, "Reading"]]:
        """The frames within in reading order, each with the place of the line that it stands at."""
        placed = [(self.state.read.stands[owner][0], inner) for owner, inner in self.within.items()]
        return sorted(placed, key=lambda one: one[0])


@dataclass(slots=True)
class Shown:
    """A line and where it comes from: its place among all lines, its distance from the view."""

    line: list[Any]
    frame: FrameState
    place: int
    depth: int
    far: float


def known(answer: Answer) -> Known:
    """What is kept of an answer."""
    stands = {owner: (place, depth, far) for owner, place, depth, far in answer["frames"]}
    loading = answer.get("loading", False)
    return Known(answer["number"], answer["doc"], answer["count"], stands, answer["title"], loading)


def all_readings(reading: Reading) -> Iterator[Reading]:
    """A reading and all within it."""
    yield reading
    for inner in reading.within.values():
        yield from all_readings(inner)


def settled(states: Sequence[Answer]) -> SettleState:
    """What frames together say of their rest, by what the page script has sent of each."""
    return SettleState(
        waited=max((state["waited"] / 1000 for state in states), default=0.0),
        unanswered=sum(state["unanswered"] for state in states),
    )


def shown_lines(reading: Reading, base: int, depth: int, far: float) -> Iterator[Shown]:
    """The lines that a reading and those within it have sent, in reading order."""
    answer = reading.answer
    places = answer["places"] or range(len(answer["lines"]))
    before = base
    pending = reading.placed
    for place, line in zip(places, answer["lines"], strict=True):
        while pending and pending[0][0] < place:
            before += pending.pop(0)[1].total
        # What is above counts for more than what is below.
        own_far = max(line[FAR], line[FAR] * -1.5, far)
        yield Shown(line, reading.state, before + place, depth, own_far)
        if pending and pending[0][0] == place and line[KIND] != "fold":
            inner_depth = depth + line[DEPTH] + 1
            yield from shown_lines(pending[0][1], before + place + 1, inner_depth, own_far)


def part_of(shown: list[Shown], room: int, part: int) -> list[Shown]:
    """Part number `part` of the lines: the first has the nearest that there is room for, and so on."""
    used = 0
    number = 1
    chosen: list[Shown] = []
    for item in sorted(shown, key=lambda item: (item.far, item.place)):
        cost = item.depth * 2 + _cost(item.line)
        if used + cost > room and used:
            number += 1
            used = 0
            if number > part:
                break
        used += cost
        if number == part:
            chosen.append(item)
    return sorted(chosen, key=lambda item: item.place)


def _cost(line: list[Any]) -> int:
    """Characters of a line, about as the page script counts them."""
    states = sum(len(state) + 1 for state in line[STATES])
    return (
        line[DEPTH] * 2
        + len(line[NAME])
        + (len(line[ROLE]) + 9 if line[ROLE] else 1)
        + 1
        + states
        + sum(_cost(part) for part in line[PARTS:] and line[PARTS])
    )


Placing = Callable[[int], int]


def frames_in(
    reading: Reading, at: int = 0, was: int = 0, depth: int = 0
) -> Iterator[tuple[Reading, Placing, Placing, int]]:
    """Each frame, two functions from a line's place in it (now, before) to that among all, and its depth."""
    frame = reading.state
    now = [(place, inner.total) for place, inner in reading.placed]
    then = [(stand[0], frame.reported_within.get(o, 0)) for o, stand in frame.reported.stands.items()]
    place_now, place_then = placing(at, now), placing(was, then)
    yield reading, place_now, place_then, depth
    for owner, child in reading.within.items():
        place, own_depth, _ = frame.read.stands[owner]
        old = frame.reported.stands.get(owner)
        yield from frames_in(
            child, place_now(place) + 1, place_then(old[0]) + 1 if old else 0, depth + own_depth + 1
        )


def placing(base: int, sizes: list[tuple[int, int]]) -> Placing:
    """From a line's place in its frame to its place among all, given where frames stand and their sizes."""
    return lambda place: base + place + sum(size for stand, size in sizes if stand < place)


MOST_NESTED_FRAMES = 6

Way = list[tuple[FrameState, int]]  # The outermost frame first, each with its element to step into


@dataclass(frozen=True, slots=True)
class Missed:
    """A frame that was not asked or gave no answer: the one around it, its element there, and why."""

    parent: FrameState
    owner: int
    why: str


class Frames:
    """The frames of one page."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self._main: FrameState | None = None

    async def main(self) -> FrameState:
        """The main frame."""
        if self._main is None:
            self._main = FrameState(world=await self.worlds.main())
        return self._main

    async def each(
        self,
        method: str,
        *args: Any,
        missed: list[Missed] | None = None,
        first: tuple[FrameState, Answer] | None = None,
    ) -> AsyncIterator[tuple[FrameState, Answer]]:
        """The answers of all frames that can be seen, each frame before those within it.

        Frames that gave none are added to `missed`. `first` is a frame that has answered: those within it
        are asked. Raises FrameGone: the page goes to other addresses while it is asked.
        """
        missed = [] if missed is None else missed
        if first is None:
            main = await self.main()
            first = main, await main.world.run(method, *args)
            main.silent = False
        yield first
        frame, answer = first
        stands = stands_of(answer)
        await self.meet(frame, stands)
        rest = [(frame, owner, 1) for owner in stands]
        while rest:
            parent, owner, depth = rest.pop(0)
            if depth > MOST_NESTED_FRAMES:
                missed.append(Missed(parent, owner, "is nested too deep"))
                continue
            try:
                frame, answer = await self._ask_within(parent, owner, method, args)
            except (FrameGone, TimeoutError) as error:
                is_gone = isinstance(error, FrameGone)
                why = "is still loading" if is_gone else "does not answer: its script is busy"
                missed.append(Missed(parent, owner, why))
                continue
            yield frame, answer
            stands = stands_of(answer)
            if stands and depth < MOST_NESTED_FRAMES:
                with contextlib.suppress(FrameGone):
                    await self.meet(frame, stands)
            rest[:0] = [(frame, inner, depth + 1) for inner in stands]

    async def _ask_within(
        self, parent: FrameState, owner: int, method: str, args: tuple[Any, ...]
    ) -> tuple[FrameState, Answer]:
        """The frame that stands in an element, and its answer; one in another process is met anew."""
        for _ in range(2):
            frame = await self.child(parent, owner)
            if frame is None:
                break
            try:
                answer: Answer = await within(frame.world.run(method, *args), frame.deadline)
            except TimeoutError:
                frame.silent = True
                raise
            except FrameGone:
                parent.children.pop(owner, None)
                continue
            frame.silent = False
            return frame, answer
        raise FrameGone

    async def inward(
        self, method: str, *args: Any, point: tuple[float, ...] = ()
    ) -> AsyncIterator[tuple[FrameState, Answer]]:
        """Ask each frame, from the main one inward to the one that has the keyboard or holds a point.

        Each says by `frame` whether it leads on, and by `node` where to; the last, too, where the frame there
        cannot be asked. `point`, in CSS pixels of each frame in turn, comes first among the arguments.
        """
        frame = await self.main()
        for _ in range(MOST_NESTED_FRAMES):
            answer = await frame.world.run(method, *point, *args)
            yield frame, answer
            inner = await self.child(frame, answer["node"][ID]) if answer.get("frame") else None
            if inner is None:
                return
            if point:
                at = await frame.world.run("framePoint", answer["node"][ID], 0, 0, "read")
                if "problem" in at:
                    return
                x, y = point
                point = ((x - at["x"]) / at["scale"], (y - at["y"]) / at["scale"])
            frame = inner

    async def read_part(self, world: World, answer: Answer, *how: Any) -> Reading:
        """What a part of a page was read as, with all of the frames that stand in it."""
        reading = Reading(FrameState(world=world, read=known(answer)), answer)
        frame = self.of(world)
        for owner in stands_of(answer):
            with contextlib.suppress(FrameGone, TimeoutError):
                child, inner = await self._ask_within(frame, owner, "part", (0, *how))
                reading.within[owner] = await self.read_part(child.world, inner, *how)
        return reading

    async def meet(self, frame: FrameState, ids: Sequence[int]) -> None:
        """Find the worlds of frames that have not been met yet."""
        unknown = [owner for owner in ids if owner not in frame.children]
        if not unknown:
            return
        for owner, world in (await self.worlds.within(frame.world, unknown)).items():
            frame.children[owner] = FrameState(world=world)

    async def child(self, frame: FrameState, owner: int) -> FrameState | None:
        """The frame that stands in an element of another; None where it cannot be found."""
        await self.meet(frame, [owner])
        return frame.children.get(owner)

    def known(self) -> Iterator[tuple[FrameState, Way]]:
        """The frames met so far, each with the frames around it and the elements one enters them by."""
        rest: list[tuple[FrameState, Way]] = []
        if self._main is not None:
            rest.append((self._main, []))
        while rest:
            frame, way = rest.pop()
            yield frame, way
            rest += [(child, [*way, (frame, owner)]) for owner, child in frame.children.items()]

    def of(self, world: World) -> FrameState:
        """The frame of a world; one of which nothing is known where it has not been met."""
        return next((frame for frame, _ in self.known() if frame.world is world), FrameState(world))

    def way_to(self, world: World) -> Way:
        """The way to a world that has been met."""
        return next((way for frame, way in self.known() if frame.world is world), Way())

    async def place(self, way: Way, x: float = 0, y: float = 0) -> tuple[float, float, float] | None:
        """A point of the frame at the end of a way as one of the page, and its scale; None: it is hidden."""
        scale = 1.0
        for parent, owner in reversed(way):
            at = await parent.world.run("framePoint", owner, x, y, "read")
            if "problem" in at:
                return None
            x, y, scale = at["x"], at["y"], scale * at["scale"]
        return x, y, scale

    async def paths_to(self, world: World) -> tuple[str, ...]:
        """The CSS paths of the frames around a world, from the outermost on."""
        around = [await parent.world.run("record", owner) for parent, owner in self.way_to(world)]
        return tuple(answer.get("path", "") for answer in around)


def stands_of(answer: Answer) -> list[int]:
    """The elements that an answer says frames stand in."""
    return [owner for owner, *_ in answer.get("frames", [])]


def insert_within(changes: list[DomChange], inner: list[DomChange]) -> None:
    """Put the changes within a frame before the first one of what comes behind it."""
    first = next((change.at for change in inner if change.at is not None), math.inf)
    behind = (i for i, change in enumerate(changes) if change.at is not None and change.at > first)
    place = next(behind, len(changes))
    changes[place:place] = inner
