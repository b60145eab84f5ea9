"""Tools of the server's own, and what results tell programs."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
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
from mcp_browser.server import tools
from mcp_browser.server.calls import Call, ServerTool
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tools import failed
from mcp_browser.settings import BrowserSettings, Settings
from tests.support.agents import refused
from tests.support.agents import text as text_of
from tests.support.client import both_eras
from tests.support.servers import server_of
from tests.support.site import Site

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
    """Return a number as data."""
    return ActionResult(data={"count": 3})


@counting.action(effect="read")
def describe() -> ActionResult:
    """Return more than the data."""
    return ActionResult(extracted_content="There are 3 of them.", data={"count": 3})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def manager() -> AsyncIterator[BrowserManager]:
    manager = BrowserManager(SETTINGS)
    yield manager
    await manager.close()


@pytest.fixture(scope="module")
def server(manager: BrowserManager) -> Server[Any]:
    registry = default_registry()
    registry.include(counting)
    own = [
        ServerTool(greet, param_model=GreetParams, read_only=True),
        ServerTool(outside, param_model=GreetParams, in_session=False),
    ]
    return server_of(Controller(registry, SETTINGS), Sessions(manager), own)


@both_eras
async def test_a_tool_of_the_server_is_listed_and_called_like_an_action(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["greet"].description == "Greet somebody."
    assert tools["greet"].input_schema["properties"].keys() == {"name"}
    greeted = await client.call_tool("greet", {"name": "Ada"})
    assert text_of(greeted).startswith("Hello, Ada, from anonymous in ")
    assert text_of(await client.call_tool("outside", {"name": "Ada"})) == "lease: None"


async def test_what_a_server_tool_raises_is_told_like_an_actions_failure(client: Client) -> None:
    nobody = await client.call_tool("greet", {"name": "nobody"})
    assert nobody.is_error
    assert text_of(nobody) == "There is nobody. Greet somebody else."
    fault = await client.call_tool("greet", {"name": "fault"})
    assert fault.is_error
    assert text_of(fault).startswith("Internal error in greet.")
    told = await refused(client, "greet", {"nam": "Ada"})
    assert "unknown argument 'nam' (did you mean 'name'?)" in told


async def test_data_is_structured_content_only_where_it_is_the_whole_result(client: Client) -> None:
    await client.call_tool("get_state", {})
    result = await client.call_tool("count", {})
    assert result.structured_content == {"count": 3}
    assert text_of(result) == '{"count": 3}'
    more = await client.call_tool("describe", {})
    assert more.structured_content is None
    assert text_of(more) == "There are 3 of them."


@both_eras
async def test_a_long_wait_reports_progress(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr(tools, "PROGRESS_SECONDS", 0.05)
    told: list[str | None] = []
    enough = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        if len(told) > 1:
            enough.set()

    waiting = asyncio.create_task(
        client.call_tool("wait_for", {"text": "Never", "seconds": 30}, progress_callback=on_progress)
    )
    await asyncio.wait_for(enough.wait(), 20)
    waiting.cancel()
    assert told[0] == "wait_for: 0 s"


@both_eras
async def test_a_waiting_call_reports_at_once_that_a_person_has_the_browser(
    manager: BrowserManager, client: Client
) -> None:
    told: list[str | None] = []
    first = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        first.set()

    takeover = (await manager.default_session()).takeover
    await takeover.begin("Ann")
    waiting = asyncio.create_task(client.call_tool("get_state", {}, progress_callback=on_progress))
    await asyncio.wait_for(first.wait(), 20)
    await takeover.end("Go on.")
    result = await waiting
    assert told[0] == "get_state: 0 s (A person (Ann) has taken over the browser)"
    assert not result.is_error
    assert "Go on." in text_of(result)


async def test_two_tools_of_one_name_are_refused() -> None:
    manager = BrowserManager(SETTINGS)
    controller = Controller(counting, SETTINGS)
    tool = ServerTool(greet, param_model=GreetParams)
    counting_too = ServerTool(count, param_model=GreetParams)  # pyright: ignore[reportArgumentType]
    assert server_of(controller, Sessions(manager), [tool])
    with pytest.raises(ValueError, match="two tools are named count"):
        server_of(controller, Sessions(manager), [counting_too])


@pytest.mark.slow
async def test_a_browser_that_idles_is_closed_and_the_next_call_is_told(site: Site) -> None:
    manager = BrowserManager(SETTINGS)
    controller = Controller(default_registry(), SETTINGS)
    sessions = Sessions(manager, idle_seconds=0.8)
    server = server_of(controller, sessions)
    watching = asyncio.create_task(sessions.watch())
    async with Client(server) as client:

        async def act(**arguments: str) -> str:
            return text_of(await client.call_tool("browser_action", arguments))

        assert "Opened" in await act(action="launch", url=site.page("<p>Here"))
        session = await manager.default_session()
        await session.takeover.begin("Ann")
        await anyio.sleep(1.2)
        assert session.tabs
        await session.takeover.end()
        while session.open_context is not None:  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.05)
        told = await act(action="scroll_down")
        assert "closed after 0.8 s without a call" in told
        assert "launch" in told
        assert "Opened" in await act(action="launch", url=site.page("<p>Again"))
    watching.cancel()
    await manager.close()
