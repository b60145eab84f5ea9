"""What a snapshot leaves out: on which side of what is seen it lies, and what is to be scrolled to see it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise, repeat, starmap
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

Side = tuple[int, int, Reading | None]
"""Where a line lies: -1 before what is seen, 1 behind it, 0 in it; the id of the element that scrolls, 0 for
the whole page of the frame; and the reading of that frame.
"""
SEEN: Side = (0, 0, None)


def sides(reading: Reading, cut: tuple[Reading, int] | None = None) -> Iterator[tuple[Side, int]]:
    """Where the lines of a reading and of those within it lie, in reading order, and how many lie there.

    `cut` is what cuts the frame off where not all of it is seen: a reading around it and the port there.
    """
    answer = reading.answer
    runs: list[tuple[int, int, int]] = [*answer["runs"], (answer["count"], 0, 0)]
    within = reading.placed
    for (place, port, sign), (end, _, _) in pairwise(runs):
        by, through = cut if cut and not port else (reading, port)
        side = (sign, through, by) if sign else SEEN
        begin = place
        while within and within[0][0] < end:
            stand, inner = within.pop(0)
            yield side, stand + 1 - begin
            begin = stand + 1
            # What stands in a frame that is out of view is where that is.
            yield from [(side, inner.total)] if sign else sides(inner, _cut(inner, reading, cut))
        yield side, end - begin


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
        self._sides: list[Side] = list(chain.from_iterable(starmap(repeat, sides(reading))))
        self._references = references
        self._place = 0
        self._is_counted = False  # Whether another line counts what comes before the next place

    def stand_for(self, place: int, node: DomNode) -> bool:
        """The node stands for the lines from that place on; False where another node counts them."""
        self._place = max(self._place, place + node.lines)
        # With what stands in frames among them.
        self._is_counted = node.kind == "fold" and (node.role == "behind" or node.name == "")
        return node.kind != "fold" or node.name != ""

    def leave_out(self, place: int, *, at: int) -> Iterator[Gap]:
        """The lines before that place as gaps before the node number `at`."""
        begin, self._place = self._place, max(self._place, place)
        if self._is_counted:
            return
        pieces = [(side, len(list(alike))) for side, alike in groupby(self._sides[begin:place])]
        if len(pieces) > MOST_PIECES:
            pieces = [(SEEN, place - begin)]
        for (sign, port, reading), lines in pieces:
            if reading is None:
                yield Gap(at=at, lines=lines)
                continue
            index: int | None = None
            if port:
                before, behind, across = reading.answer["ports"][str(port)]
                index = self._references.index(port, reading.state.world, reading.state.read.document)
            else:
                _, y, _, seen, _, height = reading.answer["view"]
                before, behind, across = y / max(1, seen), (height - y - seen) / max(1, seen), False
            screens = max(0.0, before if sign < 0 else behind)
            yield Gap(at=at, lines=lines, where=_SIDES[bool(across), sign], screens=screens, index=index)


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
    """The parts of a page that others of its site may have as well."""

    document: str = ""
    url: str = ""
    parts: tuple[tuple[SeenLine, ...], ...] = ()


@dataclass(slots=True)
class Repeated:
    """What is as it was: the places of the lines that say so, of those left out, and kept indexes."""

    heads: set[int] = field(default_factory=set[int])
    left_out: set[int] = field(default_factory=set[int])
    kept: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # Elements' ids and indexes


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


def seen_parts(reading: Reading, shown: Sequence[Shown], nodes: Sequence[DomNode]) -> SeenParts:
    """The parts of a page as they are kept for the next one; `nodes` are the lines `shown`."""
    url: str = reading.answer["url"]
    indexes = {item.place: node.index for item, node in zip(shown, nodes, strict=True)}
    parts = tuple(
        tuple(
            SeenLine(_sign(item, part[0]), _target(item.line, url), _states(item.line), indexes[item.place])
            for item in part
        )
        for part in parts_of(shown)
        if part[0].frame is reading.state
    )
    return SeenParts(reading.answer["doc"], url, parts)


def repeated_parts(reading: Reading, shown: Sequence[Shown], seen: SeenParts) -> Repeated:
    """The parts of a page that are as they were on the one reported before it."""
    repeated = Repeated()
    url: str = reading.answer["url"]
    is_of_site = urlsplit(seen.url)[:2] == urlsplit(url)[:2]
    if not seen.parts or not is_of_site or seen.document == reading.answer["doc"]:
        return repeated
    rest = list(seen.parts)
    for part in parts_of(shown):
        head = part[0]
        signs = [_sign(item, head) for item in part]
        known = next((one for one in rest if [line.sign for line in one] == signs), None)
        if known is None:
            continue
        rest.remove(known)
        same: set[int] = set()
        stay: list[tuple[int, int]] = []
        for item, line in zip(part, known, strict=True):
            is_link = item.line[ROLE] == "link" and "" != line.target == _target(item.line, url)
            if line.index is not None and (item is head or is_link):
                stay.append((item.line[ID], line.index))
            stays = is_link or item.line[KIND] != "interactive"
            if item is not head and stays and _states(item.line) == line.states:
                same.add(item.place)
        if len(same) >= LEAST_LINES:
            repeated.heads.add(head.place)
            repeated.left_out |= same
            repeated.kept += stay
    return repeated


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
