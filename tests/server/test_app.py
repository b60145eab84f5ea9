"""What a client sees of the server, in both protocol eras."""

import json
import logging

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_browser.actions import default_registry
from mcp_browser.server.app import INSTRUCTIONS
from mcp_browser.server.runs.tools import GetTaskParams, InstructParams, ReplayTaskParams, RunTaskParams
from mcp_browser.server.tools import listed_tool
from tests.support.agents import refused, text
from tests.support.client import both_eras
from tests.support.site import Site


def test_the_default_tools_and_the_instructions_are_short() -> None:
    tools = types.ListToolsResult(tools=[*map(listed_tool, default_registry().only(["core"]))])
    wire = tools.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    assert len(json.dumps(wire, separators=(",", ":"))) < 13_000
    assert len(INSTRUCTIONS) < 2000


SAY_IT_THEMSELVES = frozenset(
    "url index text query fields direction button new_tab full_page format name value area same_site "
    "color_scheme user_agent max_steps tab limit checked count timeout language".split()
)
"""Names of parameters that need no description; beside them every parameter has one."""


def test_every_parameter_is_described_save_those_whose_name_says_it() -> None:
    params = (RunTaskParams, GetTaskParams, InstructParams, ReplayTaskParams)
    schemas = {model.__name__: model.model_json_schema() for model in params}
    schemas |= {tool.name: tool.input_schema for tool in map(listed_tool, default_registry())}
    silent = [
        (tool, name)
        for tool, schema in schemas.items()
        for name, parameter in schema.get("properties", {}).items()
        if name not in SAY_IT_THEMSELVES and not parameter.get("description")
    ]
    assert silent == []


def test_every_schema_is_closed_and_every_tool_says_what_it_does_to_the_world() -> None:
    tools = [*map(listed_tool, default_registry())]
    assert tools[0].name == "go_to_url", "opening a page comes first"
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not None


@both_eras
async def test_only_what_the_server_has_is_declared(client: Client) -> None:
    declared = client.server_capabilities
    assert declared is not None
    assert set(declared.model_dump(exclude_none=True)) <= {"tools", "resources", "prompts", "extensions"}
    assert declared.tools == types.ToolsCapability(list_changed=False)
    assert declared.resources == types.ResourcesCapability(subscribe=True, list_changed=True)


@both_eras
async def test_an_unknown_tool_is_a_protocol_error(client: Client) -> None:
    with pytest.raises(MCPError, match="Unknown tool: nope") as caught:
        await client.call_tool("nope", {})
    assert caught.value.code == types.INVALID_PARAMS


@both_eras
async def test_an_unforeseen_error_tells_nothing_but_the_log_does(
    caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    with caplog.at_level(logging.ERROR):
        result = await client.call_tool("stumble", {})
    assert result.is_error
    assert text(result).startswith("Internal error in stumble.")
    assert "hunter2" not in text(result)
    assert "KeyError" in caplog.text


async def test_an_action_for_other_sites_says_which(site: Site, client: Client) -> None:
    listed = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert listed["only_there"].endswith("Refused on other pages than *.example.com.")
    assert not any("Refused" in told for name, told in listed.items() if name != "only_there")
    await client.call_tool("go_to_url", {"url": site.page("<p>Here</p>")})
    assert "*.example.com" in await refused(client, "only_there", {})
