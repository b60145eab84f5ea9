"""Which prompts a server has, by its tools."""

import re
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_browser.actions import load_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.app import BrowserServer
from mcp_browser.server.prompts import NEEDED, all_prompts
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import Settings, ToolSettings
from tests.support.client import both_eras
from tests.support.servers import server_of


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
