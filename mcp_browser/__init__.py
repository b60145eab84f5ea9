"""A Model Context Protocol server that gives any MCP client a real browser, and the same for programs.

What stands here is public, and nothing else is: docs/python.md and docs/actions.md show its use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_browser.actions.catalog import default_registry
    from mcp_browser.actions.registry import TYPED_IN, ActionModel, ActionParams, Registry
    from mcp_browser.actions.result import ActionContext, ActionResult, Attachment
    from mcp_browser.agent.control import Progress, Watcher
    from mcp_browser.agent.record.history import AgentHistory, Evidence, StepRecord, Verdict
    from mcp_browser.agent.secrets.store import Secret
    from mcp_browser.agent.task import Budget, Task, TaskOutcome, TaskStatus
    from mcp_browser.api import Agent
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab
    from mcp_browser.controller import Controller
    from mcp_browser.errors import ActionError, McpBrowserError, ModelError, SettingsError
    from mcp_browser.llm.messages import (
        ChatModel,
        ImageBlock,
        Message,
        ModelInfo,
        OutputCall,
        OutputForm,
        Reply,
        TextBlock,
        Usage,
    )
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
    "Evidence",
    "ImageBlock",
    "McpBrowserError",
    "Message",
    "ModelError",
    "ModelInfo",
    "OutputCall",
    "OutputForm",
    "Progress",
    "Registry",
    "Reply",
    "ScriptedModel",
    "Secret",
    "Settings",
    "SettingsError",
    "StepRecord",
    "Tab",
    "Task",
    "TaskOutcome",
    "TaskStatus",
    "TextBlock",
    "Usage",
    "Verdict",
    "Watcher",
    "__version__",
    "default_registry",
    "render_result",
]

_NAMES = {
    "actions.catalog": "default_registry",
    "actions.registry": "ActionModel ActionParams Registry TYPED_IN",
    "actions.result": "ActionContext ActionResult Attachment",
    "agent.control": "Progress Watcher",
    "agent.record.history": "AgentHistory Evidence StepRecord Verdict",
    "agent.secrets.store": "Secret",
    "agent.task": "Budget Task TaskOutcome TaskStatus",
    "api": "Agent",
    "browser.session": "BrowserSession",
    "browser.tab": "Tab",
    "controller": "Controller",
    "errors": "ActionError McpBrowserError ModelError SettingsError",
    "llm.messages": "ChatModel ImageBlock Message ModelInfo OutputCall OutputForm Reply TextBlock Usage",
    "llm.scripted": "ScriptedModel",
    "rendering": "render_result",
    "settings": "Settings",
    "version": "__version__",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the server starts faster without them all."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mcp_browser' has no attribute {name!r}")
    return getattr(import_module(f"mcp_browser.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
