"""Put an entry into a client's TOML or JSON file, where nothing else of it changes.

What is written is parsed and compared with what was there plus the entry. Comments stay.
"""

import contextlib
import json
import operator
import re
import tomllib
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

# Without possessive groups: before 3.11.5 Python matches those wrongly.
_COMMENT = r"//[^\n]*(?:\n|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_PARTS = re.compile(rf'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|{_COMMENT}|,(?=(?:\s|{_COMMENT})*[}}\]])', re.DOTALL)
_Change = Callable[[str, Sequence[str], dict[str, Any]], str]
_END_OF_LINE = re.compile(r"[ \t]*(?://[^\n]*)?(?=\n)")


def parsed(text: str, *, toml: bool) -> dict[str, Any]:
    """Return the content of a client's file; JSON may have comments and trailing commas, or be empty.

    Raises ValueError: it is no TOML, or no JSON object.
    """
    if toml:
        return tomllib.loads(text)
    content: Any = json.loads(_plain(text)) if text.strip() else {}
    if not isinstance(content, dict):
        raise ValueError("it holds no JSON object")
    return cast("dict[str, Any]", content)


def with_entry(text: str, path: Sequence[str], entry: dict[str, Any], *, toml: bool) -> str | None:
    """Return the text with the entry at a path of keys; None where it cannot be put there alone.

    Raises ValueError: it is no TOML, or no JSON object, or what stands on the path is none.
    """
    wanted = parsed(text, toml=toml)
    tables = [wanted]
    for key in path:
        inner: Any = tables[-1].setdefault(key, {})
        if not isinstance(inner, dict):
            raise ValueError(f'its "{key}" is no {"table" if toml else "object"}')
        tables.append(cast("dict[str, Any]", inner))
    tables[-2][path[-1]] = entry
    changes: tuple[_Change, ...] = (_appended, _updated) if toml else (_inserted, _rewritten)
    for change in changes:
        # tomlkit cannot change each way of writing, and not always says so by an error of its own.
        with contextlib.suppress(ValueError, LookupError, TOMLKitError):
            changed = _with_ends(text, change(text.replace("\r\n", "\n"), path, wanted))
            changed.encode()
            if _exact(parsed(changed, toml=toml)) == _exact(wanted):
                return changed
    return None


def _with_ends(before: str, after: str) -> str:
    """Return the text after a change with the ends of lines as they were, and in new lines as in most."""
    lines, new = re.split(r"(?<=\n)", before), re.split(r"(?<=\n)", after)
    plain = [line.replace("\r\n", "\n") for line in lines]
    head = _same(plain, new)
    tail = _same(plain[head:][::-1], new[head:][::-1])
    end = "\r\n" if 2 * before.count("\r\n") > before.count("\n") else "\n"
    middle = [line.replace("\n", end) for line in new[head : len(new) - tail]]
    return "".join((*lines[:head], *middle, *lines[len(lines) - tail :]))


def _same(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines are the same at the start."""
    return sum(takewhile(bool, map(operator.eq, some, others)))


def nested(path: Sequence[str], value: object) -> Any:
    """Return a value as the only one at a path of keys."""
    for key in reversed(path):
        value = {key: value}
    return value


def _at(content: Any, path: Sequence[str]) -> Any:
    for key in path:
        content = content[key]
    return content


def _exact(content: object) -> str:
    """Return a text that differs wherever two contents do: 1, 1.0 and true are equal to Python."""
    return json.dumps(content, sort_keys=True, default=repr)


def _appended(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    return (f"{text.rstrip()}\n\n" if text.strip() else "") + tomlkit.dumps(nested(path, _at(wanted, path)))


def _updated(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    """What stays keeps its place and its comment."""
    document = tomlkit.parse(text)
    tables, entry = _at(document, path[:-1]), _at(wanted, path)
    table: Any = tables.setdefault(path[-1], entry)
    for key in table.keys() - entry.keys():
        del table[key]
    for key, value in entry.items():
        if table.get(key) != value:
            table[key] = value
    return tomlkit.dumps(document)


def _inserted(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    """Before the other members of the innermost object of the path that is there."""
    text = text if text.strip() else "{}\n"
    plain = _plain(text)
    begin, depth = plain.index("{") + 1, 0
    while depth < len(path) - 1 and (
        found := re.compile(rf"{re.escape(json.dumps(path[depth]))}\s*:\s*{{").search(plain, begin)
    ):
        begin, depth = found.end(), depth + 1
    line = text[text.rfind("\n", 0, begin) + 1 :]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    member = json.dumps(nested(path[depth:], _at(wanted, path)), indent=_unit(text), ensure_ascii=False)
    member = member[1:-2].replace("\n", f"\n{outer}")
    comma = "" if plain[begin:].lstrip().startswith("}") else ","
    place = _END_OF_LINE.match(text, begin)
    if place is not None:
        return text[: place.end()] + member + comma + text[place.end() :]
    return f"{text[:begin]}{member}{comma}\n{outer}{_unit(text) if comma else ''}{text[begin:].lstrip()}"


def _rewritten(text: str, path: Sequence[str], wanted: dict[str, Any]) -> str:
    if any(part.startswith("/") for part in _PARTS.findall(text)):
        raise ValueError("its comments would be lost")
    return json.dumps(wanted, indent=_unit(text), ensure_ascii=False, allow_nan=False) + "\n"


def _unit(text: str) -> str:
    """Return one step of indentation: that of the first line that has any."""
    found = re.search(r"^[ \t]+", text, re.MULTILINE)
    return found[0] if found else "  "


def _plain(text: str) -> str:
    """Return JSON text with comments and trailing commas as spaces, so that all else keeps its place."""

    def blank(part: re.Match[str]) -> str:
        return part[0] if part[0].startswith('"') else re.sub(r"\S", " ", part[0])

    return _PARTS.sub(blank, text)
