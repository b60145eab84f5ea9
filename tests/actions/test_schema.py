"""Schemas that clients see: closed, short, right."""

import json
from typing import Any, Literal, Optional

from pydantic import BaseModel, Field

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import ActionParams
from mcp_browser.actions.schema import tool_schema


class Point(ActionParams):
    """Where."""

    x: int
    y: int = 0


class Everything(ActionParams):
    """Of all kinds."""

    title: str
    count: int | None = None
    mode: Literal["a", "b"] = "a"
    flag: bool = False
    on: bool = True
    points: tuple[Point, ...] = ()
    best: Point | None = Field(None, description="the best one")
    either: int | str | None = None
    labels: dict[str, Point] = Field(default_factory=dict)


class Tree(BaseModel):
    name: str
    children: list["Tree"] = []
    parent: Optional["Tree"] = None


POINT: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
    "additionalProperties": False,
}


def test_a_schema_has_no_noise_and_keeps_what_counts() -> None:
    schema = tool_schema(Everything)
    assert schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "count": {"type": "integer"},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "flag": {"type": "boolean", "default": False},
            "on": {"type": "boolean", "default": True},
            "points": {"type": "array", "items": POINT},
            "best": POINT | {"description": "the best one"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "labels": {"type": "object", "additionalProperties": POINT},
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def test_a_recursive_model_keeps_its_definition_and_an_empty_one_is_closed() -> None:
    schema = tool_schema(Tree)
    assert "#/$defs/Tree" in json.dumps(schema)
    assert schema["$defs"]["Tree"]["properties"]["name"] == {"type": "string"}
    assert tool_schema(ActionParams) == {"type": "object", "properties": {}, "additionalProperties": False}


GROUPS = frozenset(
    "audit browser_action core console emulation extraction files mouse network page_tools recording "
    "scripting storage testing".split()
)


def test_every_action_has_a_short_description_and_a_closed_schema() -> None:
    for action in default_registry():
        assert action.group in GROUPS
        assert 10 <= len(action.description) <= 120, action.name
        assert action.description.endswith(".")
        assert tool_schema(action.param_model)["additionalProperties"] is False


class Card(BaseModel):
    kind: Literal["card"]


class Cash(BaseModel):
    kind: Literal["cash"]


class Paid(ActionParams):
    by: Card | Cash = Field(discriminator="kind")


def test_a_union_refers_to_no_definition_that_is_inlined() -> None:
    assert "#/$defs" not in json.dumps(tool_schema(Paid))
