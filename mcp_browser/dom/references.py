"""Which index stands for which element: unique in the tab, for the element's life, never used again."""

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, Literal

from mcp_browser.dom.models import DomNode, NodeKind
from mcp_browser.dom.worlds import World
from mcp_browser.errors import NotFound, StaleElement
from mcp_browser.privacy.hiding import SessionAddresses
from mcp_browser.text import counted

_REFERENCE = re.compile("\ue000(\\d+)\ue001")

# Places in a line as the page script sends it; the last only of a row with elements in it
KIND, DEPTH, ID, ROLE, NAME, STATES, IS_NEW, FAR, PARTS = range(9)
TARGET = "→ "  # How the state begins that says where a link goes
WHOLE = "\ue004"  # What stands between an address that may have a secret in it and the whole of it
LONGEST_TARGET = 84

LONGEST_QUOTE = 60  # How much of a line that went is repeated where it stands for others, characters
MOST_REMEMBERED = 2_000  # How many indexes are kept of documents that are gone, beside those of the last one

LineUse = Literal["report", "target", "past"]
"""Of a reported line what can be acted on has an index, a target always, a past line one that was shown."""


@dataclass(slots=True)
class ElementRef:
    """What an index stands for: an element of a document, and how it was last described."""

    index: int
    world: World
    document: str
    id: int
    kind: NodeKind = "interactive"
    role: str = "element"
    name: str = ""

    @property
    def node(self) -> DomNode:
        """The element as it was last described, without its states."""
        return DomNode(kind=self.kind, index=self.index, role=self.role, name=self.name)


class References:
    """The indexes of one tab."""

    def __init__(self, addresses: SessionAddresses) -> None:
        """No element is known yet; `addresses` redacts those in lines."""
        self._addresses = addresses
        self._by_index: dict[int, ElementRef] = {}
        self.documents: dict[str, dict[int, int]] = {}  # Indexes by elements' ids; the oldest first
        self._next = 1

    def __getitem__(self, index: int) -> ElementRef:
        """What an index stands for; raises NotFound, StaleElement where its document was left long ago."""
        known = self._by_index.get(index)
        if known is None and 0 < index < self._next:
            raise StaleElement(
                f"The element [{index}] is gone: it was on a page that was left long ago.",
                hint="Look with get_state what is there now.",
            )
        if known is None:
            raise NotFound(
                f"There is no element [{index}]: no snapshot of this tab has shown that index.",
                hint="Take an index from the latest snapshot, or look with get_state.",
            )
        return known

    def forget_documents(self, *, living: Container[str]) -> None:
        """Let go of documents that are gone, save the last one and what else there is room for."""
        gone = [document for document in self.documents if document not in living]
        room = MOST_REMEMBERED
        for document in reversed(gone[:-1]):
            room -= len(self.documents[document])
            if room < 0:
                for index in self.documents.pop(document).values():
                    del self._by_index[index]

    def node(
        self, line: list[Any], world: World, document: str, *, depth: int = 0, use: LineUse = "report"
    ) -> DomNode:
        """A line of the page script as a node; `use` says whether it has an index."""
        kind, name, states = line[KIND], line[NAME], line[STATES]
        old = use == "past"
        is_fold = kind == "fold" and not old
        part_use: LineUse = "past" if old else "report"
        parts = tuple(self.node(part, world, document, use=part_use) for part in line[PARTS:] and line[PARTS])
        if "\ue000" in name:
            name = self._with_indexes(_with_parts(name, line, parts), world, document)
        if states:
            states = [self._state(state, world, document) for state in states]
        index = None
        if old:
            index = self.known(line[ID], document) if kind in ("interactive", "region") else None
        elif use == "target" or kind in ("interactive", "region", "fold"):
            index = self.index(line[ID], world, document)
        node = DomNode.model_construct(
            kind=kind,
            depth=line[DEPTH] + depth,
            index=index,
            role=line[ROLE],
            name=self._addresses.redact(name),
            states=() if is_fold else tuple(states),
            is_new=bool(line[IS_NEW]) and not old,
            lines=int(states[0]) if is_fold else 1,
            parts=parts,
        )
        if index is not None and not old and not is_fold:
            ref = self._by_index[index]
            ref.kind, ref.role, ref.name = node.kind, node.role, node.name
        return node

    def shown(self, line: list[Any], world: World, document: str) -> DomNode:
        """A line that is to be acted on even if it is no interactive one: found text, a covering box."""
        return self.node(line, world, document, use="target")

    def gone(self, change: list[Any], world: World, document: str, depth: int) -> DomNode:
        """A line that went, as the page script sends it; where it stands for several, with what they were.

        Either all of them stood in the first, or they stood side by side up to the last.
        """
        _, line, last, _, negative, elements = change
        count = -negative
        node = self.node(line, world, document, depth=depth, use="past")
        if count <= 1:
            return node
        if last is None:
            # The one that holds the others is no element among them.
            inner = len(elements) - (node.kind == "interactive")
            held = counted(inner, "element") if inner else counted(count - 1, "line")
            return node.model_copy(update={"states": (f"with {held}",), "lines": count})
        begin, end = (_short(one) for one in (node, self.node(last, world, document, use="past")))
        return DomNode(
            kind="text", depth=node.depth, name=f"{count} lines, from {begin} to {end}", lines=count
        )

    def index(self, element_id: int, world: World, document: str) -> int:
        """The index of an element; the next free one where it has none."""
        of_document = self.documents.setdefault(document, {})
        index = of_document.get(element_id)
        if index is None:
            index = of_document[element_id] = self._next
            self._next += 1
            self._by_index[index] = ElementRef(index, world, document, element_id)
        self._by_index[index].world = world
        return index

    def keep(self, index: int, element_id: int, world: World, document: str) -> None:
        """Let an index go on to stand for what is the same on the page that followed."""
        ref = self._by_index.get(index)
        of_document = self.documents.setdefault(document, {})
        if ref is None or element_id in of_document:
            return
        self.documents.get(ref.document, {}).pop(ref.id, None)
        of_document[element_id] = index
        self._by_index[index] = replace(ref, world=world, document=document, id=element_id)

    def known(self, element_id: int, document: str) -> int | None:
        """The index of an element, if it has one."""
        return self.documents.get(document, {}).get(element_id)

    def _state(self, state: str, world: World, document: str) -> str:
        """A state with indexes, and without secrets in addresses."""
        if not state.startswith(TARGET):
            if "\ue000" in state:
                state = self._with_indexes(state, world, document)
            return self._addresses.redact(state)
        target, _, whole = state.partition(WHOLE)
        shown = self._addresses.redact(target)
        if shown != target and whole:
            self._addresses.keep(whole)
        longest = LONGEST_TARGET + len(TARGET)
        return shown if len(shown) <= longest else f"{shown[: longest - 30]}…{shown[-28:]}"

    def _with_indexes(self, text: str, world: World, document: str) -> str:
        return _REFERENCE.sub(lambda match: f"[{self.index(int(match[1]), world, document)}]", text)


def _short(node: DomNode) -> str:
    """A line that went, in a few words."""
    name = node.name if len(node.name) <= LONGEST_QUOTE else f"{node.name[:LONGEST_QUOTE]}…"
    index = f" (was [{node.index}])" if node.index is not None else ""
    return f"{node.model_copy(update={'index': None, 'states': (), 'name': name})}{index}"


def _with_parts(name: str, line: list[Any], parts: tuple[DomNode, ...]) -> str:
    """A row's text with the elements in it written out."""
    if not parts:
        return name
    inline = {str(part[ID]): node.inline for part, node in zip(line[PARTS], parts, strict=True)}
    return _REFERENCE.sub(lambda match: inline.get(match[1], match[0]), name)
