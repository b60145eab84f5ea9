"""Schemas that clients see: closed, short, right; the form of an answer, which is never fetched."""

import json
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from mcp_browser.actions import default_registry
from mcp_browser.actions.agent import agent_actions
from mcp_browser.actions.answer_schema import AnswerSchema
from mcp_browser.actions.registry import ActionParams
from mcp_browser.actions.schema import tool_schema
from mcp_browser.errors import InvalidArguments
from tests.support.site import Site


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


class Shape(BaseModel):
    points: list[Point]
    best: Point


def shown_of(schema: dict[str, Any]) -> dict[str, Any]:
    """What a model is shown of `data`."""
    params = agent_actions(schema)["done"].param_model
    return tool_schema(params)["properties"]["data"]


def test_a_model_within_a_model_is_shown_where_it_stands() -> None:
    shown = shown_of(Shape.model_json_schema())
    assert shown["properties"]["best"]["properties"]["x"] == {"type": "integer"}
    assert shown["properties"]["points"]["items"]["required"] == ["x"]
    assert "$" not in str(shown)


def test_what_is_asked_for_is_checked_with_its_definitions() -> None:
    form, point = AnswerSchema(Shape.model_json_schema()), {"x": 1}
    assert form.problems({"points": [point], "best": point}) == []
    (problem,) = form.problems({"points": [{"x": "y"}], "best": point})
    assert problem.startswith("points/0/x")


def test_what_stands_within_itself_is_told_by_its_name_and_checked_all_the_way() -> None:
    schema = Tree.model_json_schema()
    assert "again like Tree" in str(shown_of(schema))
    leaf = {"name": 1}
    (problem,) = AnswerSchema(schema).problems({"name": "a", "children": [{"name": "b", "children": [leaf]}]})
    assert problem.startswith("children/0/children/0/name")


def test_what_stands_beside_a_reference_counts_too() -> None:
    schema = {
        "$defs": {"word": {"type": "string", "title": "Word"}},
        "properties": {
            "$ref": {"$ref": "#/$defs/word", "description": "one"},
            "long": {"$ref": "#/$defs/word", "minLength": 3},
            "both": {"$ref": "#/$defs/word", "type": ["string", "null"]},
            "kind": {"const": {"$ref": "#/nothing"}},
        },
    }
    shown = AnswerSchema(schema).shown["properties"]
    assert shown["$ref"] == {"type": "string", "title": "Word", "description": "one"}
    assert shown["long"] == {"type": "string", "title": "Word", "minLength": 3}
    assert shown["both"] == {"allOf": [{"type": "string", "title": "Word"}, {"type": ["string", "null"]}]}
    assert shown["kind"] == {"const": {"$ref": "#/nothing"}}


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_nothing_is_fetched_from_elsewhere(site: Site, keyword: str) -> None:
    address = site.publish(b'{"type": "string"}', content_type="application/json")
    before = list(site.requests)
    with pytest.raises(InvalidArguments, match="which is not in it"):
        AnswerSchema({"type": "object", "properties": {"a": {keyword: address}}})
    assert site.requests == before


def test_a_schema_that_cannot_be_used_is_refused_at_once() -> None:
    with pytest.raises(InvalidArguments, match="not in it"):
        agent_actions({"properties": {"a": {"$ref": "#/$defs/none"}}})
    with pytest.raises(InvalidArguments, match="not a JSON schema"):
        agent_actions({"type": "nothing"})
    doubled = {
        f"d{i}": {"properties": {key: {"$ref": f"#/$defs/d{i + 1}"} for key in "ab"}} for i in range(40)
    }
    with pytest.raises(InvalidArguments, match="too large"):
        AnswerSchema({"$defs": {**doubled, "d40": {}}, "$ref": "#/$defs/d0"})
