"""Changes one member of a JSON file, which may have comments and trailing commas, and leaves all else.

No library on PyPI does this without a Node.js of its own; Python's own scanner finds where values end.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# Without possessive groups: before 3.11.5 Python matches those wrongly.
_COMMENT = r"//[^\n]*(?:\n|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_PARTS = re.compile(rf'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|{_COMMENT}|,(?=(?:\s|{_COMMENT})*[}}\]])', re.DOTALL)
_SPACES = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its key, its value, and where they stand."""

    key: str
    value: Any
    begin: int
    value_begin: int
    end: int


def parse(text: str) -> Any:
    """What the text says; an empty one is an empty object.

    Raises:
        ValueError: it is no JSON, not even with comments and trailing commas left out.
    """
    return json.loads(_plain(text)) if text.strip() else {}


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with the member at this path of keys set; objects on the way are made where they are missing.

    Raises:
        ValueError: the text is no JSON, or what stands on the way is no object.
    """
    if not text.strip():
        text = "{}\n"
    if not isinstance(parse(text), dict):
        raise ValueError("it holds no JSON object")
    plain = _plain(text)
    begin = _after_spaces(plain, 0)
    for depth, key in enumerate(path):
        members = list(_members(plain, begin))
        found = next((member for member in reversed(members) if member.key == key), None)
        rest = path[depth + 1 :]
        if found is None:
            for missing in reversed(rest):
                value = {missing: value}
            return _inserted(text, plain, begin, members, key, value)
        if not rest:
            indent = _indent_of(text, found.begin)
            return text[: found.value_begin] + _dumped(text, value, indent) + text[found.end :]
        if not isinstance(found.value, dict):
            raise ValueError(f'its "{key}" is no object')
        begin = found.value_begin
    raise AssertionError("a path has at least one key")


def _plain(text: str) -> str:
    """The text with comments and trailing commas as spaces, so that all else stays where it stands."""

    def blank(part: re.Match[str]) -> str:
        return part[0] if part[0].startswith('"') else re.sub(r"\S", " ", part[0])

    return _PARTS.sub(blank, text)


def _after_spaces(plain: str, place: int) -> int:
    found = _SPACES.match(plain, place)
    return found.end() if found else place


def _members(plain: str, begin: int) -> Iterator[_Member]:
    """The members of the object that begins there."""
    place = _after_spaces(plain, begin + 1)
    while plain[place] != "}":
        key, end = _DECODER.raw_decode(plain, place)
        value_begin = _after_spaces(plain, _after_spaces(plain, end) + 1)
        value, end = _DECODER.raw_decode(plain, value_begin)
        yield _Member(key, value, place, value_begin, end)
        place = _after_spaces(plain, end)
        if plain[place] == ",":
            place = _after_spaces(plain, place + 1)


def _inserted(  # noqa: PLR0913, PLR0917 - what is known of the place
    text: str, plain: str, begin: int, members: Sequence[_Member], key: str, value: Any
) -> str:
    """The text with a new last member in the object that begins there."""
    outer = _indent_of(text, begin)
    inner = _indent_of(text, members[-1].begin) if members else outer + _unit(text)
    if members and "\n" not in text[begin : members[0].begin]:
        inner = outer + _unit(text)
    end = members[-1].end if members else begin + 1
    close = plain.index("}", end) if not members else _after_spaces(plain, end)
    newline = _newline(text)
    # Comments, and a comma where there is a trailing one, stay before the new member.
    between = text[end:close].rstrip()
    has_comma = "," in _PARTS.sub(lambda part: part[0] if part[0] == "," else "", between)
    comma = "," if members and not has_comma else ""
    member = f"{json.dumps(key, ensure_ascii=False)}: {_dumped(text, value, inner)}"
    trailing = "," if has_comma else ""
    before = text[:end] + comma + between
    return f"{before}{newline}{inner}{member}{trailing}{newline}{outer}{text[close:]}"


def _dumped(text: str, value: Any, indent: str) -> str:
    """A value as it is written at this indentation, in the manner of the text."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """One step of indentation: that of the first line that has any."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_of(text: str, place: int) -> str:
    """The indentation of the line in which a place stands."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]
