"""What is listed or found of what a person could operate, what is there wrongly, and what is there twice.

An element that is listed stands for a node of the tree
* if it is that node's own element;
* if it is the label of a form control and is listed with that control's role;
* if one is within the other, nothing else that can be operated is in the outer one, both are called the same,
  and they are worked alike: the same role, or both take a click and no more, or both take text. A node
  without a name needs none of the same in what is within it, nor around it if it takes more than a click.
A node is folded into a line if `find_elements` with its role, its name, or both gives an index for it in one
call. What is listed with the state `inert` or `disabled` is not listed as operable.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.wholeness.tree import Key, Operable, Tree

CLICKED = frozenset(
    "button link clickable menuitem tab treeitem gridcell columnheader disclosure generic".split()
)
TYPED = frozenset("textbox searchbox combobox spinbutton".split())


@dataclass(frozen=True)
class Line:
    """An element as a server lists or finds it."""

    role: str
    name: str
    inert: bool = False
    """Whether it is shown as unusable."""


@dataclass(frozen=True)
class Fault:
    """A node that is missing, or a line that is wrong; `kind` says which."""

    page: str
    kind: str
    role: str
    name: str
    html: str = ""
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a list of them."""
        return {key: value for key, value in asdict(self).items() if value or key in ("role", "name")}


@dataclass
class Verdict:
    """One page: how many nodes a person could operate, and how they are listed."""

    page: str
    operable: int = 0
    listed: int = 0
    found: int = 0
    """Not listed, and found by one search."""
    characters: int = 0
    their_listed: int = 0
    their_characters: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])

    def count(self, kind: str) -> int:
        """The faults of a kind."""
        return sum(fault.kind == kind for fault in self.faults)


class Standing:
    """Which elements stand for which nodes of the tree."""

    def __init__(self, tree: Tree, lines: Mapping[int, Line], keys: Mapping[int, Key]) -> None:
        """With everything that was listed or found, by its index."""
        self._tree = tree
        self._operable = {node.key: node for node in tree.operable}
        self._inside: dict[Key, set[Key]] = {}
        for node in tree.operable:
            for outer in tree.above(node.key):
                self._inside.setdefault(outer, set()).add(node.key)
        self._lines = lines
        self._keys = keys
        self._by_key: dict[Key, list[int]] = {}
        for index, key in keys.items():
            self._by_key.setdefault(key, []).append(index)
            if (control := tree.label_of(key)) is not None:
                self._by_key.setdefault(control, []).append(index)

    def stands(self, node: Operable) -> Iterator[int]:
        """The indexes of what stands for a node."""
        for index in self._by_key.get(node.key, ()):
            if self._keys[index] == node.key or self._lines[index].role == node.role:
                yield index
        for outer in self._tree.above(node.key):
            inside = self._inside.get(outer, set())
            if self._others(inside, node.key):
                break
            for index in self._by_key.get(outer, ()):
                line = self._lines[index]
                needs_name = bool(node.name) or node.role in CLICKED
                if self._keys[index] == outer and _alike(node, line) and _same(node, line, needs_name):
                    yield index
        inside = self._inside.get(node.key, set())
        for index, key in self._keys.items():
            if key == node.key or node.key not in self._tree.above(key):
                continue
            line = self._lines[index]
            if not self._others(inside, key) and _alike(node, line) and _same(node, line, bool(node.name)):
                yield index

    def without(self) -> list[Operable]:
        """The nodes that nothing stands for."""
        return [node for node in self._operable.values() if not any(self.stands(node))]

    def _others(self, inside: Iterable[Key], one: Key) -> bool:
        """Whether there is anything but this one, what is within it and what it is within."""
        around = set(self._tree.above(one))
        return any(
            other != one and other not in around and one not in self._tree.above(other) for other in inside
        )

    def counted(self) -> Counter[str]:
        """How many controls of each role there are: one where a node only wraps another like it."""
        counts: Counter[str] = Counter()
        for node in self._operable.values():
            inner = [self._operable[key] for key in self._inside.get(node.key, ())]
            twins = [other for other in inner if other.role == node.role and _same(node, other, needed=True)]
            if not any(not self._others(self._inside[node.key], twin.key) for twin in twins):
                counts[node.role] += 1
        return counts


async def judge(
    page: str, tree: Tree, listed: Mapping[int, Line], found: Mapping[int, Line], keys: Mapping[int, Key]
) -> Verdict:
    """Judge what is listed of a page; `found` holds the results of searches, too."""
    verdict = Verdict(page, operable=len(tree.operable))
    standing = Standing(tree, {**found, **listed}, keys)
    for node in tree.operable:
        indexes = list(standing.stands(node))
        if any(index in listed for index in indexes):
            verdict.listed += 1
        elif indexes:
            verdict.found += 1
        else:
            verdict.faults.append(Fault(page, "missing", node.role, node.name, node.html))
    await tree.look_at(keys.values())
    verdict.faults += wrong(page, tree, listed, keys)
    verdict.faults += twice(page, tree, listed, keys)
    return verdict


def wrong(page: str, tree: Tree, listed: Mapping[int, Line], keys: Mapping[int, Key]) -> Iterator[Fault]:
    """What is listed as operable and is hidden."""
    for index, line in listed.items():
        key = keys.get(index)
        sight = tree.sights.get(key) if key is not None else None
        if key is None or sight is None or line.inert:
            continue
        if why := sight.hidden or tree.hidden_with_frame(key):
            yield Fault(page, "hidden", line.role, line.name, sight.html, why)


def twice(page: str, tree: Tree, listed: Mapping[int, Line], keys: Mapping[int, Key]) -> Iterator[Fault]:
    """What is listed under two indexes: one element, or one within another that is called the same."""
    by_key: dict[Key, list[int]] = {}
    for index in listed:
        if index in keys:
            by_key.setdefault(keys[index], []).append(index)
    for key, indexes in by_key.items():
        line = listed[indexes[0]]
        html = tree.sights[key].html if key in tree.sights else ""
        if len(indexes) > 1:
            yield Fault(page, "twice", line.role, line.name, html, "two indexes")
        outer = [tree.label_of(key), *tree.above(key)]
        for other in (one for key_of in outer if key_of is not None for one in by_key.get(key_of, ())):
            if line.name and (listed[other].role, listed[other].name) == (line.role, line.name):
                yield Fault(page, "twice", line.role, line.name, html, "within its like")


def shortfalls(page: str, standing: Counter[str], totals: Mapping[str, int]) -> Iterator[Fault]:
    """The roles of which a search finds fewer than the tree has."""
    for role, wanted in sorted(standing.items()):
        if totals[role] < wanted:
            yield Fault(page, "role", role, "", why=f"{totals[role]} found of {wanted}")


def _alike(node: Operable, line: Line) -> bool:
    roles = {node.role, line.role}
    return len(roles) == 1 or roles <= CLICKED or roles <= TYPED


def _same(node: Operable, other: Line | Operable, needed: bool) -> bool:
    """Whether both are called the same, white space and, beside letters, other signs apart."""
    one, two = ("".join(name.split()).casefold() for name in (node.name, other.name))
    letters = re.sub(r"\W", "", one)
    return not needed or one == two or (letters != "" and letters == re.sub(r"\W", "", two))
