"""The tools of other servers with what stands for each here, as tables; from counterparts.toml."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_DATA: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("counterparts.toml").read_text("utf-8")
)
_OURS = re.compile(r"\{(\w+)\}")
_SPAN = re.compile(r"`([^`]+)`")
_FLAG = re.compile(r"--[a-z][a-z-]+")

DEFAULT_GROUPS = ("core", "agent")
"""Whose tools are offered without being asked for; of the agent's, only run_task is named."""


class WrongCounterpartError(SystemExit):
    """What counterparts.toml names does not exist here, or a reason is missing."""


def their_tools(server: str) -> list[str]:
    """The names of all tools of a server, in the order of its tables."""
    return [name for row in _rows(server) for name in row["theirs"].split()]


def counterpart_tables(
    server: str, groups: Mapping[str, Sequence[str]], schemas: Mapping[str, Any], flags: Sequence[str]
) -> str:
    """The tables for those who come from a server.

    Args:
        server: its name in counterparts.toml.
        groups: the names of our tools by their groups.
        schemas: the arguments of each of them, as a JSON schema.
        flags: our settings.

    Raises:
        WrongCounterpartError: a tool, an argument or a flag is named that there is not; one of theirs is
            there twice, or has neither a counterpart nor a reason.
    """
    names = their_tools(server)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise WrongCounterpartError(f"{server}: {', '.join(twice)} is there twice.")
    group_of = {name: group for group, members in groups.items() for name in members}
    for row in _rows(server):
        _check(server, row, group_of, schemas, flags)
    parts = [_table(server, section, group_of) for section in _DATA[server]]
    return "\n" + "\n\n".join(parts) + "\n\n"


def _rows(server: str) -> Iterator[dict[str, str]]:
    for section in _DATA[server]:
        yield from section["rows"]


def _check(
    server: str,
    row: Mapping[str, str],
    group_of: Mapping[str, str],
    schemas: Mapping[str, Any],
    flags: Sequence[str],
) -> None:
    here, differs = row.get("here", ""), row.get("differs", "")
    ours = _OURS.findall(here)
    arguments = {name for tool in ours for name in schemas.get(tool, {}).get("properties", {})}
    every = {name for schema in schemas.values() for name in schema.get("properties", {})}
    known = {"mcp-browser doctor", *group_of, *group_of.values()}
    wrong = [name for name in ours if name not in group_of]
    wrong += [
        span for span in _SPAN.findall(here) if span not in known and span.split(":")[0] not in arguments
    ]
    wrong += [
        span
        for span in _SPAN.findall(differs)
        if re.fullmatch(r"[a-z]+(_[a-z]+)+", span) and span not in known and span not in every
    ]
    wrong += [flag for flag in _FLAG.findall(here + differs) if flag not in flags]
    if wrong:
        raise WrongCounterpartError(f"{server}, {row['theirs']}: there is no {', '.join(wrong)} here.")
    if not here and not differs:
        raise WrongCounterpartError(f"{server}, {row['theirs']}: neither a counterpart nor a reason.")


def _table(server: str, section: Mapping[str, Any], group_of: Mapping[str, str]) -> str:
    lines = [f"### {section['section']}", ""]
    if "intro" in section:
        lines += [section["intro"], ""]
    lines += [f"| {server} | Here | What differs |", "|---|---|---|"]
    for row in section["rows"]:
        theirs = ", ".join(f"`{name}`" for name in row["theirs"].split())
        here = _with_groups(row.get("here", "none"), group_of)
        lines.append(f"| {theirs} | {here} | {row.get('differs', '')} |".replace("|  |", "| |"))
    return "\n".join(lines)


def _with_groups(here: str, group_of: Mapping[str, str]) -> str:
    """The cell of a tool; a group is named after the last of its tools."""
    names = _OURS.findall(here)
    last = {group_of[name]: name for name in names if group_of[name] not in DEFAULT_GROUPS}

    def with_group(found: re.Match[str]) -> str:
        name = found[1]
        return f"`{name}`" + (f" (group `{group_of[name]}`)" if last.get(group_of[name]) == name else "")

    return _OURS.sub(with_group, here)
