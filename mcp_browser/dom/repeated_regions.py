"""What is the same on one page of a site after the other: told in short where it has been told before.

A link in such a part keeps its index: it goes where it went, whatever page it is on. Of anything else nobody
can know that (a button "Delete" is there for its page), so that it gets an index of its own and a line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from mcp_browser.dom.frame_tree import Shown
from mcp_browser.dom.references import DEPTH, ID, KIND, NAME, ROLE, STATES, TARGET, WHOLE

REPEATED_ROLES = frozenset({"banner", "navigation", "complementary", "contentinfo", "menubar", "search"})
LEAST_LINES = 6  # Shorter parts are told again
_REFERENCE = re.compile("\ue000\\d+\ue001")


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line within a part of a page that was told, and the index that it had."""

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
    """What is as it was: the places of the lines that say so, of those not told again, and kept indexes."""

    heads: frozenset[int] = frozenset()
    untold: frozenset[int] = frozenset()
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
    """The parts of a page that are as they were on the one told before it."""
    if not seen.parts or urlsplit(seen.url)[:2] != urlsplit(url)[:2]:
        return Repeated()
    rest = list(seen.parts)
    heads: set[int] = set()
    untold: set[int] = set()
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
            untold |= same
            kept += stay
    return Repeated(frozenset(heads), frozenset(untold), tuple(kept))


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
    """Where a link goes, whole; "" where that is not known, as of an address told in short."""
    told = next((state for state in line[STATES] if state.startswith(TARGET)), "").removeprefix(TARGET)
    told, _, whole = told.partition(WHOLE)
    if whole:
        return whole
    if not told or "…" in told or told.startswith("#"):
        return ""
    # An address of another site is told without its scheme: it counts as one that is relative to the page.
    return urljoin(url, told)


def _states(line: list[Any]) -> tuple[str, ...]:
    return tuple(state for state in line[STATES] if state != "focused" and not state.startswith(TARGET))
