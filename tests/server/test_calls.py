"""Tools of the server's own, and what results tell programs."""

from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client
from mcp.server.lowlevel import Server
from pydantic import BaseModel, ConfigDict

from mcp_browser.actions import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.errors import NotFound
from mcp_browser.server.app import create_server
from mcp_browser.server.calls import Call, OneSession, server_tool
from mcp_browser.server.tools import failed
from mcp_browser.settings import BrowserSettings, Settings
from tests.server.test_app import text_of

SETTINGS = Settings(browser=BrowserSettings(headless=True, isolated=True))


class GreetParams(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


async def greet(call: Call, params: GreetParams) -> types.CallToolResult:
    """Greet somebody.

    This is for programmers.
    """
    if params.name == "nobody":
        raise NotFound("There is nobody.", hint="Greet somebody else.")
    if params.name == "fault":
        raise KeyError("token=hunter2")
    text = f"Hello, {params.name}, from {call.principal.name} in {call.session.id}."
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def outside(call: Call, _params: GreetParams) -> types.CallToolResult:
    """Work in no session."""
    return failed(f"lease: {call.lease}")


counting = Registry()


@counting.action(effect="read")
def count() -> ActionResult:
    """Tell a number, also to programs."""
    return ActionResult(extracted_content="There are 3.", data={"count": 3})


@pytest_asyncio.fixture(loop_scope="session")
async def server() -> AsyncIterator[Server[Any]]:
    registry = default_registry()
    registry.include(counting)
    manager = BrowserManager(SETTINGS)
    tools = [
        server_tool(greet, param_model=GreetParams, read_only=True),
        server_tool(outside, param_model=GreetParams, in_session=False),
    ]
    yield create_server(Controller(registry, SETTINGS), OneSession(manager), tools)
    await manager.close()


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_tool_of_the_server_is_listed_and_called_like_an_action(
    server: Server[Any], era: Any
) -> None:
    async with Client(server, mode=era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["greet"].description == "Greet somebody."
        assert tools["greet"].input_schema["properties"].keys() == {"name"}
        greeted = await client.call_tool("greet", {"name": "Ada"})
        assert text_of(greeted).startswith("Hello, Ada, from anonymous in ")
        assert text_of(await client.call_tool("outside", {"name": "Ada"})) == "lease: None"


async def test_what_a_server_tool_raises_is_told_like_an_actions_failure(server: Server[Any]) -> None:
    async with Client(server) as client:
        nobody = await client.call_tool("greet", {"name": "nobody"})
        assert nobody.is_error
        assert text_of(nobody) == "There is nobody. Greet somebody else."
        fault = await client.call_tool("greet", {"name": "fault"})
        assert fault.is_error
        assert text_of(fault).startswith("Internal error in greet.")
        wrong = await client.call_tool("greet", {"nam": "Ada"})
        assert wrong.is_error
        assert "unknown argument 'nam' (did you mean 'name'?)" in text_of(wrong)


async def test_the_data_of_an_action_is_structured_content(server: Server[Any]) -> None:
    async with Client(server) as client:
        result = await client.call_tool("count", {})
        assert result.structured_content == {"count": 3}
        assert "There are 3." in text_of(result)


async def test_two_tools_of_one_name_are_refused() -> None:
    manager = BrowserManager(SETTINGS)
    controller = Controller(counting, SETTINGS)
    tool = server_tool(greet, param_model=GreetParams)
    counting_too = server_tool(count, param_model=GreetParams)  # pyright: ignore[reportArgumentType]
    assert create_server(controller, OneSession(manager), [tool])
    with pytest.raises(ValueError, match="two tools are named count"):
        create_server(controller, OneSession(manager), [counting_too])
