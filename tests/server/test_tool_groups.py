"""Which actions and which of the agent's tools a server offers."""

from typing import Any

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.tool_groups import AGENT_TOOLS, agent_tools, load_actions
from mcp_browser.settings import AgentSettings, Settings, ToolSettings


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
