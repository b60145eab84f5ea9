"""The JSON schema of a parameter model, as short as possible."""

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

    def shape(schema: Schema, inside: tuple[str, ...] = ()) -> Schema:
        choices = [one for one in cast("list[Schema]", schema.get("anyOf", [])) if one.get("type") != "null"]
        if choices:
            rest = {key: value for key, value in schema.items() if key != "anyOf"}
            schema = {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}
        if "$ref" in schema:
            name = str(schema["$ref"]).rpartition("/")[2]
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            if name not in inside:
                return shape({**definitions[name], **rest}, (*inside, name))
            if name not in kept:
                kept[name] = {}
                kept[name] = shape(definitions[name], (*inside, name))
            return {"$ref": schema["$ref"], **shape(rest, inside)}

        shaped: Schema = {}
        for key, value in schema.items():
            match key, value:
                case (("title" | "$defs" | "discriminator"), _):
                    pass  # A discriminator refers to definitions, and says nothing that `const` does not.
                case ("default", None | []) | ("additionalProperties", True):
                    pass
                case "properties", {**properties}:
                    named = cast("dict[str, Schema]", properties)
                    shaped[key] = {name: shape(part, inside) for name, part in named.items()}
                case (("items" | "additionalProperties"), {**part}):
                    shaped[key] = shape(cast("Schema", part), inside)
                case (("anyOf" | "oneOf" | "allOf" | "prefixItems"), [*parts]):
                    shaped[key] = [shape(part, inside) for part in cast("list[Schema]", parts)]
                case _:
                    shaped[key] = value
        if shaped.get("type") == "object" and "properties" in shaped:
            shaped.setdefault("additionalProperties", False)
        return shaped

    schema = shape(full)
    schema.setdefault("properties", {})
    return {**schema, "$defs": kept} if kept else schema
