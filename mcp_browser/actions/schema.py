"""The JSON schema of a parameter model, as short as possible."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]


def tool_schema(model: type[BaseModel]) -> Schema:
    """The closed JSON schema that clients and models are shown for a parameter model.

    Compared with Pydantic's own: no titles and no docstrings of models; definitions are inlined (except
    recursive ones); `Optional[int]` is an integer that is not required; empty defaults (`null`, `[]`) are
    left out, but not `false`, since small models set a flag without a default to true; objects are closed, so
    that a client can detect a wrong argument before it sends it.
    """
    full = model.model_json_schema()
    full.pop("description", None)
    definitions = {
        # A model's docstring is for its programmers; what its reader needs stands at the field.
        name: {key: value for key, value in definition.items() if key != "description"}
        for name, definition in cast("dict[str, Schema]", full.get("$defs", {})).items()
    }
    kept: dict[str, Schema] = {}
    schema = _shape(full, definitions, (), kept)
    schema.setdefault("properties", {})
    if kept:
        schema["$defs"] = kept
    return schema


def _shape(
    schema: Schema, definitions: Mapping[str, Schema], inside: tuple[str, ...], kept: dict[str, Schema]
) -> Schema:
    def below(part: Schema) -> Schema:
        return _shape(part, definitions, inside, kept)

    schema = _without_null(schema)
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if name in inside:
            if name not in kept:
                kept[name] = {}
                kept[name] = _shape(definitions[name], definitions, (*inside, name), kept)
            return {"$ref": schema["$ref"], **below(rest)}
        return _shape({**definitions[name], **rest}, definitions, (*inside, name), kept)

    shaped: Schema = {}
    for key, value in schema.items():
        match key, value:
            case (("title" | "$defs" | "discriminator"), _):
                pass  # A discriminator refers to definitions, and says nothing that `const` does not.
            case ("default", None | []) | ("additionalProperties", True):
                pass
            case "properties", {**properties}:
                named = cast("dict[str, Schema]", properties)
                shaped[key] = {name: below(part) for name, part in named.items()}
            case (("items" | "additionalProperties"), {**part}):
                shaped[key] = below(cast("Schema", part))
            case (("anyOf" | "oneOf" | "allOf" | "prefixItems"), [*parts]):
                shaped[key] = [below(part) for part in cast("list[Schema]", parts)]
            case _:
                shaped[key] = value
    if shaped.get("type") == "object" and "properties" in shaped:
        shaped.setdefault("additionalProperties", False)
    return shaped


def _without_null(schema: Schema) -> Schema:
    if "anyOf" not in schema:
        return schema
    choices = [choice for choice in cast("list[Schema]", schema["anyOf"]) if choice.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}
