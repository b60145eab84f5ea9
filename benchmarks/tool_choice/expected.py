"""What counts as right: a tool's name, and values or rules for its arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jsonschema import Draft202012Validator

NEUTRAL: Mapping[str, Any] = {
    **dict.fromkeys("double doubleClick submit append fullPage full_page new_tab modifiers force".split()),
    "button": "left",
}
"""Arguments that make another call of it, unless they are empty or have this value."""

Schemas = Mapping[str, Mapping[str, Any]]
"""Schemas of the tools' arguments by the tools' names."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An argument of which several values are right; `example` is one."""

    fits: Callable[[Any], bool]
    example: Any


@dataclass(frozen=True, slots=True)
class Expected:
    """A call that is right: each argument that is named fits, and none of the others changes what it does."""

    tool: str
    arguments: Mapping[str, Any]

    def example(self) -> dict[str, Any]:
        """The arguments of a call that is right."""
        return {
            name: value.example if isinstance(value, Rule) else value
            for name, value in self.arguments.items()
        }

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether these arguments are right."""
        others = {name: value for name, value in arguments.items() if name not in self.arguments}
        if any(value != NEUTRAL[name] for name, value in others.items() if name in NEUTRAL and value):
            return False
        if others.get("checked") is False:
            return False
        return all(
            name in arguments and _fits(value, arguments[name]) for name, value in self.arguments.items()
        )


def call(tool: str, **arguments: Any) -> Expected:
    """A call that is right."""
    return Expected(tool, arguments)


def text(*parts: str) -> Rule:
    """A text that holds these parts, in any case of letters."""
    return Rule(
        lambda given: isinstance(given, str) and all(part.casefold() in given.casefold() for part in parts),
        " ".join(parts),
    )


def address(url: str) -> Rule:
    """An address, with or without its scheme and the slash at its end."""
    return Rule(lambda given: isinstance(given, str) and _bare(given) == _bare(url), url)


def one_of(*values: Any) -> Rule:
    """One of these values."""
    return Rule(lambda given: any(_same(value, given) for value in values), values[0])


def number(low: float, high: float) -> Rule:
    """A number from `low` to `high`."""
    return Rule(lambda given: isinstance(given, int | float) and low <= given <= high, low)


def fields(example: Sequence[Mapping[str, Any]], *, by: str) -> Rule:
    """Entries of a form in any order: each has the `value` of the one that has the same `by`."""
    wanted = {str(entry[by]): str(entry["value"]).casefold() for entry in example}

    def fits(given: Any) -> bool:
        if not isinstance(given, list) or not all(
            isinstance(entry, dict) for entry in cast("list[Any]", given)
        ):
            return False
        entries = cast("list[dict[str, Any]]", given)
        return {str(entry.get(by)): str(entry.get("value")).casefold() for entry in entries} == wanted

    return Rule(fits, list(example))


def steps(*expected: Expected) -> Rule:
    """Entries of a list of actions, in order; one that is not there yet is an entry that names it."""

    def fits(given: Any) -> bool:
        entries = cast("list[Any]", given) if isinstance(given, list) else []
        return len(entries) == len(expected) and all(map(_is_step, expected, entries))

    return Rule(fits, [{one.tool: one.example()} for one in expected])


def _is_step(wanted: Expected, given: Any) -> bool:
    match given:
        case {**entry} if [*entry] == [wanted.tool] and isinstance(entry[wanted.tool], dict):
            return wanted.fits(cast("dict[str, Any]", entry[wanted.tool]))
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Score:
    """How a call was: the tool is right, and its arguments are, too. `why` says what was wrong."""

    tool: bool
    arguments: bool
    why: str = ""


def judge(tool: str, arguments: Any, expected: Sequence[Expected], schemas: Schemas) -> Score:
    """How a call was."""
    named = [one for one in expected if one.tool == tool]
    if not named:
        return Score(
            False, False, f"{tool} instead of {' or '.join(dict.fromkeys(one.tool for one in expected))}"
        )
    if not isinstance(arguments, dict):
        return Score(True, False, "the arguments are no object")
    given = cast("dict[str, Any]", arguments)
    if error := first_error(schemas[tool], given):
        return Score(True, False, error[:160])
    if not any(one.fits(given) for one in named):
        return Score(True, False, f"other arguments than {named[0].example()}")
    return Score(True, True)


def first_error(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Why a server would not take these arguments; "" where it would.

    Some list as required what they have a default for, and do without it.
    """
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if "default" not in properties[name]]
    validator: Any = Draft202012Validator({**schema, "required": required})
    return next((str(error.message) for error in validator.iter_errors(dict(arguments))), "")


def _fits(wanted: Any, given: Any) -> bool:
    return wanted.fits(given) if isinstance(wanted, Rule) else _same(wanted, given)


def _same(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted.strip().casefold() == given.strip().casefold()
    if isinstance(wanted, list) and isinstance(given, list):
        one, other = cast("list[Any]", wanted), cast("list[Any]", given)
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(isinstance(wanted, bool) == isinstance(given, bool) and wanted == given)


def _bare(url: str) -> str:
    return re.sub(r"^https?://(www\.)?", "", url.strip().casefold()).rstrip("/")
