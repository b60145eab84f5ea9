"""A Model Context Protocol server that gives any MCP client a real browser, and the same for programs.

What stands here is public, and nothing else is: docs/python.md and docs/actions.md show its use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_browser.actions.catalog import default_registry
    from mcp_browser.actions.context import ActionContext
    from mcp_browser.actions.registry import TYPED_IN, ActionModel, ActionParams, Registry
    from mcp_browser.actions.result import ActionResult, Attachment
    from mcp_browser.agent.control import Progress, Watcher
    from mcp_browser.agent.record.history import AgentHistory
    from mcp_browser.agent.secrets.store import Secret
    from mcp_browser.agent.task import Budget, Task, TaskOutcome, TaskStatus
    from mcp_browser.api import Agent
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab
    from mcp_browser.controller import Controller
    from mcp_browser.errors import ActionError, McpBrowserError, ModelError, SettingsError
    from mcp_browser.llm.messages import ChatModel
    from mcp_browser.llm.scripted import ScriptedModel
    from mcp_browser.rendering import render_result
    from mcp_browser.settings import Settings
    from mcp_browser.version import __version__

__all__ = [
    "TYPED_IN",
    "ActionContext",
    "ActionError",
    "ActionModel",
    "ActionParams",
    "ActionResult",
    "Agent",
    "AgentHistory",
    "Attachment",
    "BrowserSession",
    "Budget",
    "ChatModel",
    "Controller",
    "McpBrowserError",
    "ModelError",
    "Progress",
    "Registry",
    "ScriptedModel",
    "Secret",
    "Settings",
    "SettingsError",
    "Tab",
    "Task",
    "TaskOutcome",
    "TaskStatus",
    "Watcher",
    "__version__",
    "default_registry",
    "render_result",
]

_HOMES = {
    "ActionContext": "actions.context",
    "ActionError": "errors",
    "ActionModel": "actions.registry",
    "ActionParams": "actions.registry",
    "ActionResult": "actions.result",
    "Agent": "api",
    "AgentHistory": "agent.record.history",
    "Attachment": "actions.result",
    "BrowserSession": "browser.session",
    "Budget": "agent.task",
    "ChatModel": "llm.messages",
    "Controller": "controller",
    "McpBrowserError": "errors",
    "ModelError": "errors",
    "Progress": "agent.control",
    "Registry": "actions.registry",
    "ScriptedModel": "llm.scripted",
    "Secret": "agent.secrets.store",
    "Settings": "settings",
    "SettingsError": "errors",
    "TYPED_IN": "actions.registry",
    "Tab": "browser.tab",
    "Task": "agent.task",
    "TaskOutcome": "agent.task",
    "TaskStatus": "agent.task",
    "Watcher": "agent.control",
    "__version__": "version",
    "default_registry": "actions.catalog",
    "render_result": "rendering",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the server starts faster without them all."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mcp_browser' has no attribute {name!r}")
    return getattr(import_module(f"mcp_browser.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
