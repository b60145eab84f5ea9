"""A schema in few words."""

import json

import pytest

from mcp_browser.actions.agent import agent_actions
from mcp_browser.actions.catalog import default_registry
from mcp_browser.agent.prompting.style import AgentOutput, output_form
from mcp_browser.llm.providers import outline

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
WHY = {"type": "string", "description": "in short"}
FIELDS = {"at": {"$ref": "#/$defs/Point"}, "why": WHY}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"type": ["integer", "null"]}, "integer | null"),
        ({"enum": ["left", 2]}, '"left" | 2'),
        ({"const": "x"}, '"x"'),
        ({"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "string"}]}, "text | true or false"),
        ({"type": "array", "items": {"type": "number"}}, "[number, …]"),
        ({"type": "object", "properties": {}}, "{}"),
        ({}, "anything"),
        (
            {"$defs": {"Point": POINT}, "type": "object", "properties": FIELDS, "required": ["at"]},
            '{"at": {"x": integer}, "why"?: text (in short)}',
        ),
    ],
)
def test_a_schema_is_told_by_names_types_and_choices(schema: dict[str, object], words: str) -> None:
    assert outline(schema) == words


def test_the_form_of_a_step_takes_less_than_half_of_its_schema() -> None:
    registry = default_registry().only({"core"}).without(())
    registry.include(agent_actions(None))
    form = output_form(AgentOutput.type_with_custom_actions(registry.create_action_model(None)))
    told = outline(form.json_schema)
    assert len(told) < len(json.dumps(form.json_schema)) / 2
    assert '"click_element"?: {"index": integer | text (' in told
    for action in registry:
        assert f'"{action.name}"' in told
