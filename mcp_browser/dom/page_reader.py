"""Observations: the lines of all frames as one snapshot, and what has changed since the last one."""

import asyncio
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_browser.dom.deadlines import within
from mcp_browser.dom.frames import (
    MOST_NESTED_FRAMES,
    NOTHING,
    QUIET,
    Frames,
    FrameState,
    Placing,
    Reading,
    Shown,
    all_readings,
    frames_in,
    known,
    lines_told,
    part_of,
    shown_lines,
)
from mcp_browser.dom.models import DomChange, DomChanges, DomLook, DomNode, DomSnapshot, Gap, Scroll
from mcp_browser.dom.omissions import Omissions, Repeated, SeenParts, parts_of, repeated_parts, seen_line
from mcp_browser.dom.references import ID, KIND, NAME, ROLE, References
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import InvalidArguments
from mcp_browser.text import CHARACTERS_A_TOKEN

MEETINGS = 2  # A frame that was lost is met anew once
AS_BEFORE = "as before"  # What a part says that is as on the page before, links' indexes included


class PageReader:
    """Reads the frames of one page, and remembers which reading was told last."""

    def __init__(self, frames: Frames, references: References, *, changes_budget: int) -> None:
        """Read `frames`, with indexes from `references`; changes get `changes_budget` tokens."""
        self._frames = frames
        self._references = references
        self._changes_budget = changes_budget
        self._seen = SeenParts()
        self._seen_next = SeenParts()

    async def observe(  # noqa: PLR0913 (one keyword for each part of what is wished for)
        self,
        *,
        whole: bool,
        room: int,
        folded: bool = True,
        settle: float = 0.0,
        came: bool = False,
        searched: bool = False,
    ) -> Reading:
        """Read all frames at once; those that are new are read after the ones they stand in.

        With `settle`, each is first waited for, so many seconds at most; `came` as for `DomService`. With
        `searched`, those that were searched since are told as they were then.
        """
        wish = {
            "folded": folded,
            "whole": whole,
            "budget": room * CHARACTERS_A_TOKEN,
            "changes": self._changes_budget * CHARACTERS_A_TOKEN,
            "came": came,
            "searched": searched,
        }
        return await self._read(await self._frames.main(), wish, settle, 0)

    async def _read(self, frame: FrameState, wish: dict[str, Any], settle: float, deep: int) -> Reading:
        begun = time.monotonic()
        # What is seen of a frame that does not fit into the view is known once the page around it was read.
        met = [
            child
            for owner, child in frame.children.items()
            if owner in frame.read.stands and child.seen is None
        ]
        answer, inner = await asyncio.gather(
            self._ask_frame(frame, wish, settle, deep),
            asyncio.gather(*(self._try_read(child, wish, settle, deep + 1) for child in met)),
        )
        if answer["doc"] != frame.read.document:
            frame.children = {}
            inner = []
        read = {id(child): reading for child, reading in zip(met, inner, strict=False)}
        frame.read = known(answer)
        reading = Reading(frame, answer)
        if not frame.read.stands or deep >= MOST_NESTED_FRAMES:
            return reading
        for _ in range(MEETINGS):
            lost = [
                owner
                for owner, child in frame.children.items()
                if read.get(id(child), frame) is None and not child.silent
            ]
            for owner in lost:
                # The frame's document is in another process now, or was lost on the way.
                del frame.children[owner]
            late = await self._late(frame, read, answer["seen"])
            if not late:
                break
            left = max(0.0, settle - (time.monotonic() - begun))
            readings = await asyncio.gather(*(self._try_read(child, wish, left, deep + 1) for child in late))
            read |= {id(child): given for child, given in zip(late, readings, strict=True)}
            if all(given is not None or child.silent for child, given in zip(late, readings, strict=True)):
                break
        for owner, child in frame.children.items():
            given = read.get(id(child))
            if owner in frame.read.stands and given is not None:
                reading.within[owner] = given
        return reading

    async def _late(
        self, frame: FrameState, read: Mapping[int, Reading | None], seen: Mapping[str, Sequence[float]]
    ) -> list[FrameState]:
        """The frames within that are new, or of which another part is seen than they were read for."""
        await self._frames.meet(frame, list(frame.read.stands))
        late: list[FrameState] = []
        for owner, child in frame.children.items():
            part = seen.get(str(owner))
            if owner in frame.read.stands and (id(child) not in read or part != child.seen):
                late.append(child)
            child.seen = part
        return late

    async def _try_read(
        self, frame: FrameState, wish: dict[str, Any], settle: float, deep: int
    ) -> Reading | None:
        try:
            reading = await within(
                self._read(frame, wish, settle, deep), lambda: settle + frame.deadline_within
            )
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
        wish = {
            **wish,
            "base": frame.told.number,
            "of": frame.told.document,
            "strict": deep > 0,
            "seen": frame.seen,
        }
        if settle > 0:
            answer = await frame.world.run("settleAndObserve", settle * 1000, wish)
        else:
            answer = await frame.world.run("observe", wish)
        hosts = answer.get("hosts")
        if hosts and await frame.world.open_hosts(hosts):
            return {**await frame.world.run("observe", wish), "state": answer.get("state", QUIET)}
        return answer

    def confirm(self) -> None:
        """What was last read has been told."""
        self._seen = self._seen_next
        # Frames come before those within them, which are counted first.
        frames = [frame for frame, _ in self._frames.known()]
        self._references.forget_documents(living={frame.read.document for frame in frames})
        for frame in reversed(frames):
            for owner in frame.told.stands.keys() - frame.read.stands.keys():
                frame.children.pop(owner, None)
            # Of a frame that did not answer nothing was told, so that it is told whole once it does.
            frame.told = NOTHING if frame.silent else frame.read
            frame.told_within = {
                owner: lines_told(child)
                for owner, child in frame.children.items()
                if owner in frame.told.stands
            }

    def as_snapshot(self, reading: Reading, budget: int, part: int, *, familiar: bool = False) -> DomSnapshot:
        """The lines of all frames in their places, the part of them that is asked for.

        With `familiar`, what is as on the page told before this one is told in short. Where it does not
        count, nothing is remembered of it.

        Raises:
            InvalidArguments: there is no such part.
        """
        shown = list(shown_lines(reading, 0, 0, 0))
        room = budget * CHARACTERS_A_TOKEN
        cost = sum(float(inner.answer["cost"]) for inner in all_readings(reading))
        parts = 1
        if cost > room:
            parts = math.ceil(cost / room)
            shown = part_of(shown, room, part)
        elif part > 1:
            shown = []
        if not shown and part > 1:
            raise InvalidArguments(f"There is no part {part}: the page has {parts}.")
        same = self._repeated(reading, shown) if familiar else Repeated()
        nodes = [self._node(item) for item in shown]
        self._seen_next = self._seen_parts(reading, shown, nodes)
        rest = Omissions(reading, self._references)
        gaps: list[Gap] = []
        told: list[DomNode] = []
        for item, node in zip(shown, nodes, strict=True):
            gaps += rest.leave_out(item.place, at=len(told))
            rest.skip_to(item.place + node.lines)
            if item.place in same.heads:
                told.append(node.model_copy(update={"states": (*node.states, AS_BEFORE)}))
            elif item.place not in same.untold:
                told.append(node)
        gaps += rest.leave_out(reading.total, at=len(told))
        x, y, view_width, view_height, width, height = reading.answer["view"]
        return DomSnapshot(
            url=reading.answer["url"],
            title=reading.answer["title"],
            nodes=tuple(told),
            scroll=Scroll(
                x=x,
                y=y,
                viewport_width=view_width,
                viewport_height=view_height,
                page_width=width,
                page_height=height,
            ),
            gaps=tuple(gaps),
            part=part,
            parts=max(parts, part),
        )

    def _repeated(self, reading: Reading, shown: Sequence[Shown]) -> Repeated:
        """What is as it was on the page before, which indexes stay with what stands for the same there."""
        if self._seen.document == reading.answer["doc"]:
            return Repeated()
        same = repeated_parts(shown, self._seen, reading.answer["url"])
        for element_id, index in same.kept:
            self._references.keep(index, element_id, reading.state.world, reading.answer["doc"])
        return same

    def _seen_parts(self, reading: Reading, shown: Sequence[Shown], nodes: Sequence[DomNode]) -> SeenParts:
        url: str = reading.answer["url"]
        indexes = {item.place: node.index for item, node in zip(shown, nodes, strict=True)}
        parts = tuple(
            (
                part[0].line[ROLE],
                part[0].line[NAME],
                tuple(seen_line(item, part[0], url, indexes[item.place]) for item in part),
            )
            for part in parts_of(shown)
            if part[0].frame is reading.state
        )
        return SeenParts(reading.answer["doc"], url, parts)

    def as_changes(self, reading: Reading) -> DomChanges | None:
        """The changes of all frames; None where they cannot be told and the snapshot has to be."""
        changes: list[DomChange] = []
        omitted = 0
        room = self._changes_budget * CHARACTERS_A_TOKEN
        for inner, at, was, depth in frames_in(reading):
            frame = inner.state
            if "lines" in inner.answer:
                added = self._added(inner, at, depth)
                if sum(len(str(change.node)) + 1 for change in added) > room:
                    # What is in the frame is the page: it is to be read, not a beginning of it.
                    return None
                changes += added
                omitted += int(inner.answer["count"]) - sum(change.node.lines for change in added)
                continue
            if frame.told_within:
                changes += self._gone(inner, was, depth)
            omitted += inner.answer["omitted"]
            room = max(room, inner.answer["room"])
            for change in inner.answer["changes"]:
                op, line, before, old, new, within = change
                node = (
                    self._references.gone(change, frame.world, frame.told.document)
                    if op in ("removed", "unlisted")
                    else self._references.node(line, frame.world, frame.read.document)
                )
                if op == "moved" and node.role == "iframe":
                    # What is in the frame moves with it, unseen by any comparison of its lines.
                    return None
                if depth:
                    node = node.model_copy(update={"depth": node.depth + depth})
                changes.append(
                    DomChange(
                        op=op,
                        node=node,
                        before=self._references.old(before, frame.world, frame.told.document)
                        if before and op != "removed"
                        else None,
                        was=was(old) if old >= 0 else None,
                        at=at(new) if new >= 0 else None,
                        within=self._references.known_among(within, frame.told.document) if within else (),
                    )
                )
        kept: list[DomChange] = []
        for change in changes:
            room -= len(str(change.node)) + 1 if change.op != "replaced" else 14
            if room < 0:
                break
            kept.append(change)
        omitted += len(changes) - len(kept)
        looks = () if changes or omitted else tuple(self._looks(reading))
        others = sum(inner.answer.get("others", 0) for inner in all_readings(reading)) if looks else 0
        return DomChanges(changes=tuple(kept), omitted=omitted, looks=looks, other_looks=others)

    def _looks(self, reading: Reading) -> Iterator[DomLook]:
        for inner in all_readings(reading):
            for line, what in inner.answer.get("looks", ()):
                frame = inner.state
                yield DomLook(node=self._references.shown(line, frame.world, frame.read.document), what=what)

    def _added(self, inner: Reading, at: Placing, depth: int) -> list[DomChange]:
        changes: list[DomChange] = []
        for item in shown_lines(Reading(inner.state, inner.answer), 0, 0, 0):
            node = self._node(item).model_copy(update={"is_new": item.line[KIND] == "interactive"})
            node = node.model_copy(update={"depth": node.depth + depth})
            changes.append(DomChange(op="added", node=node, at=at(item.place)))
        return changes

    def _gone(self, inner: Reading, was: Placing, depth: int) -> Iterator[DomChange]:
        """What went with the documents that were in the frames within: nobody can tell its lines any more."""
        frame = inner.state
        for owner, count in frame.told_within.items():
            now = inner.within.get(owner)
            if count == 0 or (now is not None and "lines" not in now.answer):
                continue
            index = self._references.known(owner, frame.told.document)
            place, own_depth, _ = frame.told.stands[owner]
            where = f"[{index}]" if index is not None else "a frame"
            child = frame.children.get(owner)
            why = ", which does not answer now" if child is not None and child.silent else ""
            text = f"({count} line{'s' if count > 1 else ''} that stood in {where}{why})"
            node = DomNode(kind="text", depth=depth + own_depth + 1, name=text, lines=count)
            yield DomChange(op="removed", node=node, was=was(place) + 1)

    def _node(self, item: Shown) -> DomNode:
        node = self._references.node(item.line, item.frame.world, item.frame.read.document, depth=item.depth)
        within = item.frame.children.get(item.line[ID])
        if within is None or not within.silent:
            return node
        return node.model_copy(update={"states": (*node.states, "not answering")})
