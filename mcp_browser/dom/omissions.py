"""What a snapshot leaves out: on which side of what is seen it lies, and what is to be scrolled to see it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from mcp_browser.dom.frame_tree import Reading
from mcp_browser.dom.models import Gap, GapSide
from mcp_browser.dom.references import References

MOST_PIECES = 3  # So many sides are told apart where lines are left out one after the other

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

    def leave_out(self, place: int, *, at: int) -> Iterator[Gap]:
        """The lines before that place as gaps before the node number `at`."""
        pieces = self.skip_to(place)
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
