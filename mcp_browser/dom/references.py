"""Which index stands for which element: unique in the tab, for the element's life, never used again."""

import re
from dataclasses import dataclass
from typing import Any

from mcp_browser.dom.models import DomNode
from mcp_browser.dom.worlds import World
from mcp_browser.errors import NotFound

_REFERENCE = re.compile("\ue000(\\d+)\ue001")

KIND, DEPTH, ID, ROLE, NAME, STATES, IS_NEW, FAR = range(8)
"""Places in a line as the page script sends it."""


@dataclass(slots=True)
class ElementRef:
    """What an index stands for: an element of a document, and how it was last described."""

    index: int
    world: World
    document: str
    id: int
    node: DomNode


class References:
    """The indexes of one tab."""

    def __init__(self) -> None:
        self._by_index: dict[int, ElementRef] = {}
        self._by_element: dict[tuple[str, int], int] = {}
        self._next = 1

    def __getitem__(self, index: int) -> ElementRef:
        """What an index stands for.

        Raises:
            NotFound: it was never given.
        """
        known = self._by_index.get(index)
        if known is None:
            raise NotFound(
                f"There is no element [{index}]: no snapshot of this tab has shown that index.",
                hint="Take an index from the latest snapshot, or look with get_state.",
            )
        return known

    def node(self, line: list[Any], world: World, document: str, *, depth: int = 0) -> DomNode:
        """A line of the page script as a node, with an index where it can be acted on."""
        kind, role = line[KIND], line[ROLE]
        name, states = line[NAME], line[STATES]
        if "\ue000" in name:
            name = self._with_indexes(name, world, document)
        if states and any("\ue000" in state for state in states):
            states = [self._with_indexes(state, world, document) for state in states]
        if kind == "fold":
            index = self.index(line[ID], world, document)
            return DomNode.model_construct(
                kind=kind, depth=line[DEPTH] + depth, index=index, role=role, name=name, lines=int(states[0])
            )
        index = None
        if kind in ("interactive", "region"):
            index = self.index(line[ID], world, document)
        node = DomNode.model_construct(
            kind=kind,
            depth=line[DEPTH] + depth,
            index=index,
            role=role,
            name=name,
            states=tuple(states),
            is_new=bool(line[IS_NEW]),
        )
        if index is not None:
            self._by_index[index].node = node
        return node

    def shown(self, line: list[Any], world: World, document: str) -> DomNode:
        """A line that is no interactive one, yet is to be acted on: found text, a covering box."""
        node = self.node(line, world, document)
        if node.index is None:
            node = node.model_copy(update={"index": self.index(line[ID], world, document)})
            assert node.index is not None
            self._by_index[node.index].node = node
        return node

    def old(self, line: list[Any], world: World, document: str) -> DomNode:
        """A line as it was; it has an index only if that has been shown."""
        index = self._by_element.get((document, line[ID]))
        return DomNode.model_construct(
            kind=line[KIND],
            depth=line[DEPTH],
            index=index if line[KIND] in ("interactive", "region") else None,
            role=line[ROLE],
            name=self._with_indexes(line[NAME], world, document),
            states=tuple(self._with_indexes(state, world, document) for state in line[STATES]),
            is_new=False,
        )

    def index(self, element_id: int, world: World, document: str) -> int:
        """The index of an element; the next free one where it has none."""
        key = (document, element_id)
        index = self._by_element.get(key)
        if index is None:
            index = self._next
            self._next += 1
            self._by_element[key] = index
            unseen = DomNode.model_construct(
                kind="interactive", depth=0, index=index, role="element", name="", states=(), is_new=False
            )
            self._by_index[index] = ElementRef(index, world, document, element_id, unseen)
        else:
            self._by_index[index].world = world
        return index

    def known(self, element_id: int, document: str) -> int | None:
        """The index of an element, if it has one."""
        return self._by_element.get((document, element_id))

    def _with_indexes(self, text: str, world: World, document: str) -> str:
        return _REFERENCE.sub(lambda match: f"[{self.index(int(match[1]), world, document)}]", text)
