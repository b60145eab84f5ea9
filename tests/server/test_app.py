"""What a client sees of the server, in both protocol eras: tools, prompts and instructions."""

import json
import logging
import re
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_browser.actions import default_registry, load_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.app import INSTRUCTIONS, BrowserServer
from mcp_browser.server.prompts import NEEDED, all_prompts
from mcp_browser.server.runs.tools import (
    GetTaskParams,
    InstructParams,
    ReplayTaskParams,
    RunTaskParams,
    RunTools,
    TaskFiles,
)
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tool_groups import AGENT_TOOLS, agent_tools, load_actions
from mcp_browser.server.tools import listed_tool
from mcp_browser.settings import AgentSettings, Settings, ToolSettings
from tests.support.agents import refused, text
from tests.support.client import both_eras
from tests.support.servers import server_of
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


@pytest.mark.parametrize(
    ("groups", "model", "offered"),
    [
        (("core",), None, AGENT_TOOLS[:1]),
        (("core", "agent"), None, AGENT_TOOLS),
        (("all",), None, AGENT_TOOLS),
        (("console",), None, ()),
        (("console",), "test:one", AGENT_TOOLS),
    ],
)
def test_run_task_stands_beside_the_core_tools_and_the_others_where_they_are_of_use(
    groups: tuple[str, ...], model: str | None, offered: tuple[str, ...]
) -> None:
    settings = Settings(tools=ToolSettings(tools=groups), agent=AgentSettings(model=model))
    assert agent_tools(settings) == offered
    nothing: Any = None
    tools = RunTools(settings, nothing, default_registry(), TaskFiles(nothing)).tools()
    assert tuple(tool.name for tool in tools) == offered


def test_the_agents_tools_can_be_excluded_as_actions_can() -> None:
    settings = Settings(tools=ToolSettings(exclude_actions=("run_task",)))
    assert "click_element" in load_actions(settings.tools)
    assert agent_tools(settings) == ()


def test_read_only_leaves_nothing_that_changes_a_page() -> None:
    settings = Settings(tools=ToolSettings(tools=("all",), read_only=True))
    offered = load_actions(settings.tools)
    assert {action.effect for action in offered} == {"read", "navigation", "input"}
    moving = {action.name for action in offered if action.effect == "input"}
    assert moving == {"hover_element", "scroll", "scroll_to_text", "mouse_move", "mouse_wheel"}
    assert {"go_to_url", "get_state", "extract_content", "close_tab"} <= {action.name for action in offered}
    assert set(agent_tools(settings)) == set(AGENT_TOOLS) - {"replay_task"}


def prompting(**tools: Any) -> BrowserServer:
    settings = Settings(tools=ToolSettings(**tools))
    manager = BrowserManager(settings)
    source = Sessions(manager)
    controller = Controller(load_registry(settings.tools), settings)
    return server_of(controller, source)


async def test_a_server_that_only_reads_offers_no_prompt_that_types() -> None:
    async with Client(prompting(read_only=True)) as client:
        prompts = [one.name for one in (await client.list_prompts()).prompts]
        assert prompts == ["test_page", "extract_table"]
        (message,) = (await client.get_prompt("test_page", {"url": "http://x.test/"})).messages
        assert isinstance(message.content, types.TextContent)
        assert "You can only look here" in message.content.text
        assert "click_element" not in message.content.text
        with pytest.raises(MCPError, match="There are: test_page, extract_table"):
            await client.get_prompt("fill_form", {"values": "x"})


async def test_the_instructions_name_no_list_of_actions_where_there_is_none() -> None:
    async with Client(prompting(exclude_actions=("do_actions",))) as client:
        instructions = client.instructions or ""
        assert ("do_actions" in instructions, "get_state" in instructions) == (False, True)


@both_eras
async def test_a_server_without_prompts_declares_none(era: Any) -> None:
    async with Client(prompting(tools=("browser_action",)), mode=era) as client:
        declared = client.server_capabilities
        assert declared is not None
        assert (declared.prompts, declared.completions) == (None, None)
        with pytest.raises(MCPError, match="Method not found"):
            await client.list_prompts()


@both_eras
async def test_prompts_name_the_tools_that_there_are_and_wrong_arguments_are_reported(era: Any) -> None:
    async with Client(prompting(tools=("core", "console")), mode=era) as client:
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        assert [*prompts] == ["fill_form", "test_page", "extract_table"]
        offered = {tool.name for tool in (await client.list_tools()).tools}
        for prompt in prompts.values():
            names = {one.name for one in prompt.arguments or []}
            taken = {"values": "tea Sencha"} if "values" in names else {}
            (message,) = (await client.get_prompt(prompt.name, taken)).messages
            assert isinstance(message.content, types.TextContent)
            text = message.content.text
            assert {one for one in text.split("`")[1::2] if re.fullmatch(r"[a-z]+_[a-z_]+", one)} <= offered
            assert all(value in text for value in taken.values())
        for name, arguments, why in (
            ("nope", {}, "There are: fill_form"),
            ("fill_form", {}, "needs the argument 'values'"),
            ("fill_form", {"values": " \u200b "}, "needs the argument 'values'"),
            ("fill_form", {"values": "x", "sumbit": "yes"}, "no argument 'sumbit'"),
            ("fill_form", {"values": "x", "submit": "maybe"}, "one of: yes, no, ask"),
            ("fill_form", {"values": "x" * 5000}, "5,000 characters"),
        ):
            with pytest.raises(MCPError, match=why) as caught:
                await client.get_prompt(name, arguments)
            assert caught.value.code == types.INVALID_PARAMS


def test_whether_there_are_prompts_is_known_by_one_tool() -> None:
    assert all(NEEDED in prompt.needs for prompt in all_prompts())
    assert any(prompt.needs == (NEEDED,) for prompt in all_prompts())
