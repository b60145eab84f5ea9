"""Put an entry into a client's TOML or JSON file, where nothing else of it changes.

What is written is parsed and compared with what was there plus the entry. tomlkit keeps the comments of TOML.
JSON with comments, which no library keeps, is not changed.
"""

import contextlib
import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError


def parsed(text: str, *, toml: bool) -> dict[str, Any]:
    """Return the content of a client's file, which may be empty; ValueError: it is no TOML or JSON object."""
    content: Any = tomllib.loads(text) if toml else json.loads(text.strip() or "{}")
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
    for change in (_appended, _updated) if toml else (_rewritten,):
        # tomlkit cannot change each way of writing, and not always says so by an error of its own.
        with contextlib.suppress(ValueError, LookupError, TOMLKitError):
            changed = change(text.replace("\r\n", "\n"), path, wanted)
            changed.encode()
            if _exact(parsed(changed, toml=toml)) == _exact(wanted):
                return changed.replace("\n", "\r\n") if "\r\n" in text else changed
    return None


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


def _rewritten(text: str, _path: Sequence[str], wanted: dict[str, Any]) -> str:
    """In the file's own indentation: that of the first line that has any."""
    found = re.search(r"^[ \t]+", text, re.MULTILINE)
    return json.dumps(wanted, indent=found[0] if found else "  ", ensure_ascii=False) + "\n"
