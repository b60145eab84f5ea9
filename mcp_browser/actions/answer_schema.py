"""The JSON schema of a task's answer; it must be self-contained, since nothing is fetched."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from mcp_browser.errors import InvalidArguments

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = dict[str, Any]

MOST_PARTS = 2_000  # How many schemas there may be within one, its definitions counted wherever they are used
MOST_PROBLEMS = 4

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_DATA = frozenset({"const", "enum", "default", "examples", "required"})
_HOUSEKEEPING = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"})
_WORDS = frozenset({"title", "description", "default", "examples", "deprecated"})


class AnswerSchema:
    """A schema for the data of an answer."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Check the schema; raises InvalidArguments if it is none, is too large, or refers to another one."""
        content = dict(schema)
        kind: type[Validator] = validator_for(content)
        try:
            kind.check_schema(content)
            # An empty registry: the default one opens the addresses that a schema names.
            self._validator = kind(content, registry=Registry())
            # These are generic in a type of schemas that they leave open.
            resource = cast("Any", Resource).from_contents(content, default_specification=DRAFT202012)
            resolver = cast("Any", Registry)().resolver_with_root(resource)
            self._parts = 0
            self.shown: Schema = self._inlined(content, resolver, (id(content),))
        except SchemaError as error:
            raise InvalidArguments(f"output_schema is not a JSON schema: {error.message}.") from error
        except Unresolvable as error:
            raise InvalidArguments(
                f"output_schema refers to {error.ref!r}, which is not in it.",
                hint="Put all that it needs into its $defs.",
            ) from error
        except RecursionError as error:
            raise InvalidArguments("output_schema is nested too deeply.") from error

    def problems(self, data: Any) -> list[str]:
        """The first few places where data does not fit, with the reason."""
        found = [
            f"{'/'.join(map(str, error.absolute_path)) or 'data'}: {error.message}"
            for error in self._validator.iter_errors(data)
        ]
        return found[:MOST_PROBLEMS]

    def _inlined(self, schema: Any, resolver: Any, inside: tuple[int, ...]) -> Any:
        """A schema with its references replaced by their definitions; a recursive one is only named."""
        if isinstance(schema, list):
            return [self._inlined(below, resolver, inside) for below in cast("list[Any]", schema)]
        if not isinstance(schema, dict):
            return schema
        self._parts += 1
        if self._parts > MOST_PARTS:
            counted = "its definitions counted wherever they are used"
            raise InvalidArguments(f"output_schema is too large: more than {MOST_PARTS} parts, {counted}.")
        part = cast("Schema", schema)
        own: Schema = {}
        for key, value in part.items():
            if key in _HOUSEKEEPING or (key in _REFERENCES and isinstance(value, str)):
                continue
            if key in _SCHEMAS_BY_NAME and isinstance(value, dict):
                named = cast("Schema", value)
                own[key] = {name: self._inlined(below, resolver, inside) for name, below in named.items()}
            else:
                own[key] = value if key in _DATA else self._inlined(value, resolver, inside)
        for key in _REFERENCES:
            if isinstance(part.get(key), str):
                own = self._with_definition(part[key], own, resolver, inside)
        return own

    def _with_definition(self, reference: str, own: Schema, resolver: Any, inside: tuple[int, ...]) -> Schema:
        found = resolver.lookup(reference)
        definition: Any = found.contents
        if id(definition) in inside:
            kind = definition.get("type")
            again: Schema = {"description": f"again like {reference.rpartition('/')[2] or 'the whole'}"}
            return {**again, **({"type": kind} if kind else {}), **own}
        there = self._inlined(definition, found.resolver, (*inside, id(definition)))
        if not isinstance(there, dict):
            return own
        shown = cast("Schema", there)
        if (shown.keys() & own.keys()) - _WORDS:
            return {"allOf": [shown, own]}
        return {**shown, **own}
