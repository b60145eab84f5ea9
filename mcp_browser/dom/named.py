"""Elements by what a line of a snapshot shows: `button "Save"`, `option "Rome" #2 in dialog "Filter"`."""

import re
from collections.abc import Sequence
from typing import Self

from mcp_browser.dom.models import DomNode, Frozen

MOST_NEAR = 5
FORM = (
    'an index, or role and name as a snapshot shows them: button "Save", button "Save" #2 in dialog "Filter"'
)

_NAMED = re.compile(
    r'(?:\*?\[\d+\] )?(?P<role>[a-z][\w-]*) "(?P<name>(?:[^"\\]|\\.)*)"'
    r"(?: #(?P<nth>[1-9]\d*))?(?: in (?P<place>.+))?"
)
_INDEX = re.compile(r"\*?\[(\d+)\]")


class ElementName(str):
    """An element by role and name, `nth` of several; `place` is the element that it is in, or its index."""

    role: str
    name: str
    nth: int | None
    place: "ElementName | int | None"

    @classmethod
    def parse(cls, text: str) -> "Self | int":
        """The reference that a text is; an index may stand in brackets.

        Raises:
            ValueError: it is none.
        """
        text = text.strip()
        if index := _INDEX.fullmatch(text):
            return int(index[1])
        if (parts := _NAMED.fullmatch(text)) is None:
            raise ValueError(f"give {FORM}")
        made = cls(text)
        made.role, made.name = parts["role"], _tidy(re.sub(r"\\(.)", _unescaped, parts["name"]))
        made.nth = int(parts["nth"]) if parts["nth"] else None
        made.place = cls.parse(parts["place"]) if parts["place"] else None
        return made


class Alike(Frozen):
    """The elements of a role and name, in the page's order."""

    nodes: tuple[DomNode, ...] = ()

    def of(self, name: ElementName) -> tuple[list[DomNode], list[DomNode]]:
        """Those that are meant, and of these those that can be operated."""
        same = [node for node in self.nodes if _tidy(node.name) == name.name]
        same = same or [node for node in self.nodes if _tidy(node.name).casefold() == name.name.casefold()]
        if name.nth is not None:
            same = same[name.nth - 1 : name.nth]
        return same, [node for node in same if not any(map(_is_in_the_way, node.states))]


def listed(nodes: Sequence[DomNode]) -> str:
    """Elements as lines have them, the first few."""
    return ", ".join(str(node.model_copy(update={"depth": 0, "is_new": False})) for node in nodes[:MOST_NEAR])


def _is_in_the_way(state: str) -> bool:
    return state == "disabled" or state.startswith("covered")


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] in "nr" else escape[1]
