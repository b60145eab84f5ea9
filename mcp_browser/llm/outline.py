"""A JSON schema in few words, for models that are not shown the schema itself.

    {"answer": text, "count"?: integer (how many), "tags"?: [text, …]}

A question mark stands after what may be left out.
"""

from collections.abc import Mapping
from typing import Any

_TYPES = {"string": "text", "boolean": "true or false", "null": "null"}


def outline(schema: Mapping[str, Any]) -> str:
    """The shape that a schema describes: names, types, choices and descriptions."""
    return _shape(schema, schema.get("$defs", {}))


def _shape(schema: Mapping[str, Any], named: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(reference)}:
            shape = _shape(named.get(reference.rpartition("/")[2], {}), named)
        case {"enum": [*choices]}:
            shape = " | ".join(map(_quoted, choices))
        case {"const": choice}:
            shape = _quoted(choice)
        case {"anyOf": [*several]} | {"oneOf": [*several]}:
            shape = " | ".join(dict.fromkeys(_shape(one, named) for one in several))
        case {"type": "array"}:
            shape = f"[{_shape(schema.get('items', {}), named)}, …]"
        case {"properties": {**fields}}:
            shape = _fields(fields, set(schema.get("required", ())), named)
        case {"type": [*kinds]}:
            shape = " | ".join(_shape({"type": kind}, named) for kind in kinds)
        case {"type": str(kind)}:
            shape = _TYPES.get(kind, kind)
        case _:
            shape = "anything"
    return shape


def _fields(fields: Mapping[str, Any], required: set[str], named: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, field in fields.items():
        words = f" ({field['description']})" if field.get("description") else ""
        parts.append(f'"{name}"{"" if name in required else "?"}: {_shape(field, named)}{words}')
    return "{" + ", ".join(parts) + "}"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
