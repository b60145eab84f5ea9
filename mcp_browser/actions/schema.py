"""The JSON schema of a parameter model, as short as it can be without saying less."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

_NOISE = ("title", "$defs")


def tool_schema(model: type[BaseModel]) -> Schema:
    """The closed JSON schema that clients and models are shown for a parameter model.

    Compared with Pydantic's own: no titles; definitions stand where they are used (save recursive ones);
    `Optional[int]` is an integer that is not required; defaults that say nothing (`null`, `false`) are left
    out; objects are closed, so that a client can tell a wrong argument before it is sent.
    """
    full = model.model_json_schema()
    definitions = cast("dict[str, Schema]", full.get("$defs", {}))
    kept: dict[str, Schema] = {}
    schema = _shape(full, definitions, (), kept)
    schema.setdefault("properties", {})
    if kept:
        schema["$defs"] = kept
    return schema


def _shape(
    schema: Schema, definitions: Mapping[str, Schema], inside: tuple[str, ...], kept: dict[str, Schema]
) -> Schema:
    """One schema and everything below it; `inside` names the definitions that it stands in."""

    def below(part: Schema) -> Schema:
        return _shape(part, definitions, inside, kept)

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
        if key in _NOISE or (key == "default" and (value is None or value is False)):
            continue
        match key, value:
            case "anyOf", [*choices]:
                choices = [choice for choice in cast("list[Schema]", choices) if choice.get("type") != "null"]
                if len(choices) == 1:
                    shaped |= {name: part for name, part in below(choices[0]).items() if name not in schema}
                else:
                    shaped[key] = [below(choice) for choice in choices]
            case "properties", {**properties}:
                shaped[key] = {
                    name: below(part) for name, part in cast("dict[str, Schema]", properties).items()
                }
            case (("items" | "additionalProperties"), {**part}):
                shaped[key] = below(cast("Schema", part))
            case (("oneOf" | "allOf" | "prefixItems"), [*parts]):
                shaped[key] = [below(part) for part in cast("list[Schema]", parts)]
            case _:
                shaped[key] = value
    if shaped.get("type") == "object" and "properties" in shaped:
        shaped.setdefault("additionalProperties", False)
    return shaped
