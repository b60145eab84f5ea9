"""What a snapshot leaves out: on which side of what is seen it lies, and what is to be scrolled to see it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import urljoin, urlsplit

from mcp_browser.dom.frames import Reading, Shown
from mcp_browser.dom.models import DomNode, Gap, GapSide
from mcp_browser.dom.references import DEPTH, ID, KIND, NAME, ROLE, STATES, TARGET, WHOLE, References

MOST_PIECES = 3  # So many sides are named where lines are left out one after the other

_SIDES: dict[tuple[bool, int], GapSide] = {
    (False, -1): "above",
    (False, 1): "below",
    (True, -1): "left",
    (True, 1): "right",
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines one after the other on the same side of what is seen: -1 before it, 1 behind it, 0 in it.

    `port` is the id of the element that scrolls, 0 for the whole page of the frame.
    """

    lines: int
    sign: int = 0
    port: int = 0
    reading: Reading | None = None

    def is_like(self, other: "Stretch") -> bool:
        """Whether both lie on the same side of the same thing."""
        return (self.sign, self.port) == (other.sign, other.port) and self.reading is other.reading


def stretches(reading: Reading, cut: tuple[Reading, int] | None = None) -> Iterator[Stretch]:
    """All lines of a reading and of those within it, in reading order, by where they lie.

    `cut` is what cuts the frame off where not all of it is seen: a reading around it and the port there.
    """
    answer = reading.answer
    runs: list[tuple[int, int, int]] = [*answer["runs"], (answer["count"], 0, 0)]
    stands = reading.state.read.stands
    within = sorted((stands[owner][0], owner) for owner in reading.within)
    for (place, port, sign), (end, _, _) in pairwise(runs):
        by, through = cut if cut and not port else (reading, port)
        own = Stretch(0, sign, through if sign else 0, by if sign else None)
        begin = place
        while within and within[0][0] < end:
            stand, owner = within.pop(0)
            yield replace(own, lines=stand + 1 - begin)
            begin = stand + 1
            inner = reading.within[owner]
            # What stands in a frame that is out of view is where that is.
            yield from (
                [replace(own, lines=inner.total)] if sign else stretches(inner, _cut(inner, reading, cut))
            )
        yield replace(own, lines=end - begin)


def _cut(inner: Reading, reading: Reading, cut: tuple[Reading, int] | None) -> tuple[Reading, int] | None:
    """What cuts off a frame within a reading that may be cut off itself."""
    if inner.state.seen is None:
        return None
    port = int(inner.state.seen[-1])
    return cut if cut and not port else (reading, port)


class Omissions:
    """Goes through the lines of a reading once, and says of those left out where they lie."""

    def __init__(self, reading: Reading, references: References) -> None:
        """Begin before the first line."""
        self._rest: Iterator[Stretch] = stretches(reading)
        self._next: Stretch = Stretch(0)
        self._references = references
        self._place = 0
        self._is_counted = False  # Whether another line counts what comes before the next place

    def skip_to(self, place: int) -> list[Stretch]:
        """The lines before that place, those alike together."""
        taken: list[Stretch] = []
        while self._place < place:
            if self._next.lines == 0:
                self._next = next(self._rest)
                continue
            lines = min(self._next.lines, place - self._place)
            piece = replace(self._next, lines=lines)
            if taken and taken[-1].is_like(piece):
                taken[-1] = replace(piece, lines=taken[-1].lines + lines)
            else:
                taken.append(piece)
            self._next = replace(self._next, lines=self._next.lines - lines)
            self._place += lines
        return taken

    def stand_for(self, place: int, node: DomNode) -> bool:
        """The node stands for the lines from that place on; False where another node counts them."""
        self.skip_to(place + node.lines)
        # With what stands in frames among them.
        self._is_counted = node.kind == "fold" and (node.role == "behind" or node.name == "")
        return node.kind != "fold" or node.name != ""

    def leave_out(self, place: int, *, at: int) -> Iterator[Gap]:
        """The lines before that place as gaps before the node number `at`."""
        pieces = self.skip_to(place)
        if self._is_counted:
            return
        if len(pieces) > MOST_PIECES:
            pieces = [Stretch(sum(piece.lines for piece in pieces))]
        for piece in pieces:
            if piece.reading is None:
                yield Gap(at=at, lines=piece.lines)
            else:
                yield self._gap(piece, piece.reading, at)

    def _gap(self, piece: Stretch, reading: Reading, at: int) -> Gap:
        frame = reading.state
        index: int | None = None
        if piece.port:
            before, behind, across = reading.answer["ports"][str(piece.port)]
            index = self._references.index(piece.port, frame.world, frame.read.document)
        else:
            _, y, _, seen, _, height = reading.answer["view"]
            before, behind, across = y / max(1, seen), (height - y - seen) / max(1, seen), False
        screens = max(0.0, before if piece.sign < 0 else behind)
        return Gap(
            at=at, lines=piece.lines, where=_SIDES[bool(across), piece.sign], screens=screens, index=index
        )


REPEATED_ROLES = frozenset({"banner", "navigation", "complementary", "contentinfo", "menubar", "search"})
LEAST_LINES = 6  # Shorter parts are listed again
_REFERENCE = re.compile("\ue000\\d+\ue001")


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line within a part of a page that was reported, and the index that it had."""

    sign: tuple[Any, ...]
    target: str
    states: tuple[str, ...]
    index: int | None


@dataclass(frozen=True, slots=True)
class SeenParts:
    """The parts of a page that others of its site may have as well, by role and name."""

    document: str = ""
    url: str = ""
    parts: tuple[tuple[str, str, tuple[SeenLine, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Repeated:
    """What is as it was: the places of the lines that say so, of those left out, and kept indexes."""

    heads: frozenset[int] = frozenset()
    left_out: frozenset[int] = frozenset()
    kept: tuple[tuple[int, int], ...] = ()  # An element's id, and the index it keeps


def parts_of(shown: Sequence[Shown]) -> list[list[Shown]]:
    """The parts that may be familiar, the outermost: each its line and all those within, none left out."""
    parts: list[list[Shown]] = []
    at = 0
    while at < len(shown):
        head = shown[at]
        end = at + 1
        while end < len(shown) and _deep(shown[end]) > _deep(head):
            end += 1
        if head.line[KIND] != "region" or head.line[ROLE] not in REPEATED_ROLES:
            at += 1
            continue
        part = list(shown[at:end])
        whole = all(item.line[KIND] != "fold" and item.frame is head.frame for item in part)
        if whole and part[-1].place - head.place == len(part) - 1 and len(part) > LEAST_LINES:
            parts.append(part)
        at = end
    return parts


def seen_line(item: Shown, head: Shown, url: str, index: int | None) -> SeenLine:
    """A line as it is kept for the next page."""
    return SeenLine(_sign(item, head), _target(item.line, url), _states(item.line), index)


def repeated_parts(shown: Sequence[Shown], seen: SeenParts, url: str) -> Repeated:
    """The parts of a page that are as they were on the one reported before it."""
    if not seen.parts or urlsplit(seen.url)[:2] != urlsplit(url)[:2]:
        return Repeated()
    rest = list(seen.parts)
    heads: set[int] = set()
    left_out: set[int] = set()
    kept: list[tuple[int, int]] = []
    for part in parts_of(shown):
        head = part[0]
        known = next((one for one in rest if _fits(part, one)), None)
        if known is None:
            continue
        rest.remove(known)
        same: set[int] = set()
        stay: list[tuple[int, int]] = []
        for item, line in zip(part, known[2], strict=True):
            is_link = (
                item.line[ROLE] == "link" and line.target != "" and line.target == _target(item.line, url)
            )
            if line.index is not None and (item is head or is_link):
                stay.append((item.line[ID], line.index))
            stays = is_link or item.line[KIND] != "interactive"
            if item is not head and stays and _states(item.line) == line.states:
                same.add(item.place)
        if len(same) >= LEAST_LINES:
            heads.add(head.place)
            left_out |= same
            kept += stay
    return Repeated(frozenset(heads), frozenset(left_out), tuple(kept))


def _fits(part: Sequence[Shown], known: tuple[str, str, tuple[SeenLine, ...]]) -> bool:
    head = part[0]
    role, name, lines = known
    if (role, name) != (head.line[ROLE], head.line[NAME]) or len(lines) != len(part):
        return False
    return all(_sign(item, head) == line.sign for item, line in zip(part, lines, strict=True))


def _deep(item: Shown) -> int:
    return int(item.line[DEPTH]) + item.depth


def _sign(item: Shown, head: Shown) -> tuple[Any, ...]:
    line = item.line
    return (line[KIND], line[ROLE], _REFERENCE.sub("[]", line[NAME]), line[DEPTH] - head.line[DEPTH])


def _target(line: list[Any], url: str) -> str:
    """Where a link goes, whole; "" where that is not known, as of a shortened address."""
    shown = next((state for state in line[STATES] if state.startswith(TARGET)), "").removeprefix(TARGET)
    shown, _, whole = shown.partition(WHOLE)
    if whole:
        return whole
    if not shown or "…" in shown or shown.startswith("#"):
        return ""
    # An address of another site is shown without its scheme: it counts as one that is relative to the page.
    return urljoin(url, shown)


def _states(line: list[Any]) -> tuple[str, ...]:
    return tuple(state for state in line[STATES] if state != "focused" and not state.startswith(TARGET))
