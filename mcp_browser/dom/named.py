"""Elements by what a line of a snapshot shows: `button "Save"`, `option "Rome" #2 in dialog "Filter"`."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, WithJsonSchema

from mcp_browser.dom.models import DomNode

_NAMED = re.compile(
    r'(?:\*?\[(?P<number>\d+)\] )?(?P<role>[a-z][\w-]*) "(?P<name>(?:[^"\\]|\\.)*)"'
    r"(?: #(?P<nth>[1-9]\d*))?(?: in (?P<place>.+))?"
)

# The keys that stand behind the name of a menu's entry: `Table... Alt + Shift + N`
_SHORTCUT = re.compile(
    r"\s+(?:(?:ctrl|control|alt|shift|cmd|command|option|meta|win|[⌘⌥⇧⌃])\s*[+-]?\s*)+\S{0,9}$|\s+f\d\d?$",
    re.IGNORECASE,
)


class ElementName(str):
    """An element by role and name, or hint where it has none; `nth` of several, or that of index `number`.

    `place` is the element that it is in, or its index.
    """

    number: int | None
    role: str
    name: str
    nth: int | None
    place: "ElementName | int | None"

    def of(self, nodes: Sequence[DomNode]) -> list[DomNode]:
        """Those of these elements that are meant, in their order."""
        same = [node for node in nodes if _tidy(node.name) == self.name]
        same = same or [node for node in nodes if _tidy(node.name).casefold() == self.name.casefold()]
        same = same or [
            node for node in nodes if _SHORTCUT.sub("", _tidy(node.name)).casefold() == self.name.casefold()
        ]
        # What has no name, or only an example for one, is called by its hint.
        hint = f'hint="{self.name}"'.casefold()
        same = same or [one for one in nodes if hint in map(str.casefold, one.states)]
        if self.role == "row" and self.name and not same:
            same = [one for one in nodes if self.name.casefold() in _cells(one.name)]
        return same if self.nth is None else same[self.nth - 1 : self.nth]


def reference(text: str) -> ElementName | int:
    """The name or the index that a text is; an index may stand in brackets. Raises ValueError: it is none."""
    if index := re.fullmatch(r"\*?\[(\d+)\]|(\d+)", text.strip()):
        return int(index[1] or index[2])
    if (parts := _NAMED.fullmatch(text.strip())) is None:
        raise ValueError('give an index, or role and name as a snapshot shows them: button "Save"')
    made = ElementName(text.strip())
    name = re.sub(r"\\(.)", lambda escape: "\n" if escape[1] in "nr" else escape[1], parts["name"])
    made.role, made.name = parts["role"], _tidy(name)
    made.number = int(parts["number"]) if parts["number"] else None
    made.nth = int(parts["nth"]) if parts["nth"] else None
    made.place = reference(parts["place"]) if parts["place"] else None
    return made


def _cells(row: str) -> list[str]:
    """The whole text of a row and that of each of its cells, without the indexes in it."""
    text = re.sub(r"\*?\[\d+\] ", "", row).casefold()
    return [_tidy(re.sub(r"\\([|[])", r"\1", part)) for part in (text, *re.split(r"(?<!\\)\|", text))]


def _tidy(text: str) -> str:
    return " ".join(text.split())


_INT = TypeAdapter(int).validate_python

if TYPE_CHECKING:  # What an action is given
    Index = int
    OptionalIndex = int | None
else:
    Index = Annotated[
        Any,
        BeforeValidator(lambda given: reference(given) if isinstance(given, str) else _INT(given)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ]
    OptionalIndex = Annotated[Index | None, BeforeValidator(lambda given: given or None)]
"""The index of an element, which need not be given where it is optional; or its name, instead of which the
action is given the index. Indexes begin at 1; models that fill in all give 0, or an empty text.
"""

_read: Callable[[object], object] = TypeAdapter(Index).validate_python


def index_of(given: object) -> int | None:
    """An index as an action reads it, also one written as "12" or "[12]"; None: it is a name, or nothing."""
    try:
        read = _read(given)
    except ValueError:
        return None
    return read if isinstance(read, int) else None
