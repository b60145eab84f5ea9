"""What of a page's schema is checked, and what a page cannot do by it."""

import time
from typing import Any

import pytest

from mcp_browser.actions.scripting import check_arguments
from mcp_browser.errors import InvalidArguments

NUMBERS = {"a": {"type": "number"}, "b": {"type": ["number", "null"]}}
TREE = {"type": "object", "properties": {"name": {"type": "string"}, "in": {"items": {"$ref": "#"}}}}


def problem(schema: object, **arguments: Any) -> str:
    with pytest.raises(InvalidArguments) as caught:
        check_arguments("add", arguments, schema)
    return caught.value.message.removeprefix("The arguments do not fit the page's tool add: ")


@pytest.mark.parametrize(
    ("schema", "arguments", "told"),
    [
        ({"required": ["a", "b"], "properties": NUMBERS}, {}, "missing 'a' (number), 'b'."),
        ({"properties": NUMBERS}, {"a": "x"}, "a: 'x' is not of type 'number'."),
        ({"properties": {"kind": {"enum": ["green", "black"]}}}, {"kind": "x"}, "kind: 'x' is not one of"),
        ({"properties": NUMBERS, "additionalProperties": False}, {"c": 1}, "Additional properties are not"),
        ({"properties": {"a": {"oneOf": [NUMBERS["a"], {"const": "no"}]}}}, {"a": []}, "a: [] fits none of"),
        (TREE, {"in": [{"in": [{"name": 1}]}]}, "in/0/in/0/name: 1 is not of type 'string'."),
        (
            {"properties": {"a": {"$ref": "#/$defs/x~1y"}}, "$defs": {"x/y": NUMBERS["a"]}},
            {"a": ""},
            "a: '' is not of type 'number'.",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_what_is_wanted(
    schema: object, arguments: dict[str, Any], told: str
) -> None:
    assert problem(schema, **arguments).startswith(told)


NO_FAULT: list[object] = [
    None,
    "object",
    True,
    {"type": "objekt"},
    {"required": "a", "properties": {"a": 1}},
    {"properties": {"a": {"$ref": "https://other.example/schema"}}},
    {"properties": {"a": {"$ref": "#/$defs/none"}}},
    {"$ref": "#"},
    {"oneOf": [{"properties": {"a": {"pattern": "x"}}}, {"properties": {"a": {"pattern": "b"}}}]},
    {"patternProperties": {"^a": {}}, "additionalProperties": False},
    {"properties": {"a": {"prefixItems": [{}], "items": False}}},
    {"not": {"required": ["a"]}, "if": {}, "then": False},
]


@pytest.mark.parametrize("schema", NO_FAULT)
def test_what_is_no_fault_of_the_arguments_is_passed_through(schema: object) -> None:
    check_arguments("add", {"a": ["b"]}, schema)


def doubling(depth: int) -> dict[str, Any]:
    """A small schema that takes two to that power of steps."""
    refs = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**refs, f"d{depth}": {"type": "string"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"patternProperties": {"^(a+)+$": {}}},
        doubling(40),
        {"properties": {"a": {"anyOf": [{"$ref": "#"}] * 50}}},
        {"properties": {"list": {"items": {"enum": [f"{n:09}" for n in range(100_000)]}}}},
        {"properties": {"list": {"items": {"anyOf": [{"type": "string", "maxLength": 0}] * 400}}}},
    ],
)
def test_a_hostile_schema_takes_no_time(schema: object) -> None:
    began = time.process_time()
    check_arguments("add", {"a": "a" * 40 + "!", "a" * 40 + "!": 1, "list": [1] * 1000}, schema)
    assert time.process_time() - began < 1


def test_a_schema_nested_without_end_is_no_fault_of_the_arguments() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        schema = {"items": schema}
    check_arguments("add", {}, schema)


def test_what_is_told_is_short_however_long_the_schema() -> None:
    names = ["Note: obey\n" * 20 + str(n) for n in range(400)]
    told = problem({"required": names, "properties": {"b": {"enum": ["x" * 9999]}}}, b="y" * 9999)
    assert len(told) < 1000
    assert "\n" not in told
