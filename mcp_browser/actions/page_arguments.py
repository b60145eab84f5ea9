"""Check arguments against the schema of a page's own tool, which may be wrong or hostile."""

import json
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from mcp_browser.errors import InvalidArguments
from mcp_browser.text import one_line

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MOST_PARTS = 500  # Of a schema, its definitions counted at each use; later parts accept anything
MOST_FOLLOWED = 4  # References within one another
MOST_WORK = 1_000_000  # Values in the arguments by characters of the schema
MOST_PROBLEMS = 4
LONGEST_PROBLEM = 200

_PLAIN = frozenset(
    "type const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems "
    "maxItems".split()
)
_LISTED = frozenset({"enum", "required"})
_ALTERNATIVES = frozenset({"allOf", "anyOf", "oneOf"})

_Schema = dict[str, Any]


def check_arguments(tool: str, arguments: Mapping[str, Any], schema: object) -> None:
    """Raise InvalidArguments, which names them, if arguments do not fit.

    A schema that is wrong, or too large to check, accepts everything.
    """
    try:
        checkable = _Checkable(schema).schema
        if _values(arguments) * len(json.dumps(checkable)) > MOST_WORK:
            return
        Draft202012Validator.check_schema(checkable)
        validator = cast("Validator", Draft202012Validator(checkable))
        errors = islice(validator.iter_errors(arguments), MOST_PROBLEMS)
        problems = [one_line(problem, LONGEST_PROBLEM) for problem in map(_explain, errors)]
    except (SchemaError, RecursionError):
        return
    if problems:
        raise InvalidArguments(
            f"The arguments do not fit the page's tool {tool}: {'; '.join(dict.fromkeys(problems))}.",
            hint="list_page_tools has its schema.",
        )


def _explain(error: ValidationError) -> str:
    """The error's message, with the argument that it is about."""
    wanted = cast("Any", error.validator_value)
    match error.validator:
        case "required":
            kinds: _Schema = cast("_Schema", error.schema).get("properties", {})
            missing = [name for name in wanted if name not in cast("_Schema", error.instance)]
            said = f"missing {', '.join(f'{name!r}{_kind(kinds.get(name))}' for name in missing)}"
        case "anyOf":
            said = f"{error.instance!r} fits none of {json.dumps(wanted)}"
        case _:
            said = error.message
    where = "/".join(map(str, error.absolute_path))
    return f"{where}: {said}" if where else said


def _kind(schema: Any) -> str:
    kind = cast("_Schema", schema).get("type") if isinstance(schema, dict) else None
    return f" ({kind})" if isinstance(kind, str) else ""


def _values(value: Any) -> int:
    """How many values there are in one."""
    match value:
        case dict():
            return 1 + sum(map(_values, cast("_Schema", value).values()))
        case list():
            return 1 + sum(map(_values, cast("list[Any]", value)))
        case _:
            return 1


class _Checkable:
    """The part of a schema that can be checked in bounded time.

    It only accepts more than the whole: it leaves out patterns, which may backtrack without end, negations,
    and references to other schemas.
    """

    def __init__(self, schema: object) -> None:
        self._whole = schema
        self._parts = 0
        self.schema = self._of(schema, 0)

    def _of(self, schema: Any, followed: int) -> _Schema | bool:
        self._parts += 1
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or self._parts > MOST_PARTS or followed > MOST_FOLLOWED:
            return {}
        part = cast("_Schema", schema)
        if "$ref" in part:
            return self._of(self._found(part["$ref"]), followed + 1)
        kept: _Schema = {}
        for key, value in part.items():
            if key in _PLAIN:
                kept[key] = value
            elif key in _LISTED and isinstance(value, list):
                self._parts += len(cast("list[Any]", value))
                if self._parts <= MOST_PARTS:
                    kept[key] = value
            elif key in _ALTERNATIVES and isinstance(value, list):
                # With less asked for, more than one may fit.
                name = "anyOf" if key == "oneOf" and "anyOf" not in part else key
                if name != "oneOf":
                    kept[name] = [self._of(one, followed) for one in cast("list[Any]", value)]
            elif key == "properties" and isinstance(value, dict):
                named = cast("_Schema", value)
                kept[key] = {name: self._of(one, followed) for name, one in named.items()}
            elif (key == "additionalProperties" and "patternProperties" not in part) or (
                key == "items" and "prefixItems" not in part
            ):
                kept[key] = self._of(value, followed)
        return kept

    def _found(self, reference: Any) -> Any:
        """The part of the schema that a reference names."""
        start, *path = reference.split("/") if isinstance(reference, str) else [""]
        found = self._whole if start == "#" else None
        for name in path:
            key = unquote(name).replace("~1", "/").replace("~0", "~")
            found = cast("_Schema", found).get(key) if isinstance(found, dict) else None
        return found
