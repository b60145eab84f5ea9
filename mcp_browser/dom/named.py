"""Elements by what a line of a snapshot shows: `button "Save"`, `option "Rome" #2 in dialog "Filter"`."""

import re
from collections.abc import Sequence

from mcp_browser.dom.models import DomNode

_NAMED = re.compile(
    r'(?:\*?\[\d+\] )?(?P<role>[a-z][\w-]*) "(?P<name>(?:[^"\\]|\\.)*)"'
    r"(?: #(?P<nth>[1-9]\d*))?(?: in (?P<place>.+))?"
)


class ElementName(str):
    """An element by role and name, `nth` of several; `place` is the element that it is in, or its index."""

    role: str
    name: str
    nth: int | None
    place: "ElementName | int | None"

    @classmethod
    def parse(cls, text: str) -> "ElementName | int":
        """The reference that a text is; an index may stand in brackets.

        Raises:
            ValueError: it is none.
        """
        if index := re.fullmatch(r"\*?\[(\d+)\]", text.strip()):
            return int(index[1])
        if (parts := _NAMED.fullmatch(text.strip())) is None:
            raise ValueError('give an index, or role and name as a snapshot shows them: button "Save"')
        made = cls(text.strip())
        made.role, made.name = parts["role"], _tidy(re.sub(r"\\(.)", _unescaped, parts["name"]))
        made.nth = int(parts["nth"]) if parts["nth"] else None
        made.place = cls.parse(parts["place"]) if parts["place"] else None
        return made

    def of(self, nodes: Sequence[DomNode]) -> list[DomNode]:
        """Those of these elements that are meant, in their order."""
        same = [node for node in nodes if _tidy(node.name) == self.name]
        same = same or [node for node in nodes if _tidy(node.name).casefold() == self.name.casefold()]
        return same if self.nth is None else same[self.nth - 1 : self.nth]


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] in "nr" else escape[1]
