"""A Model Context Protocol server that gives any MCP client a real browser.

What an action of one's own needs can be imported from here: `Registry`, `ActionContext`, `ActionParams`,
`ActionResult`, `Attachment`, `ActionError`, and for annotations `Tab` and `BrowserSession`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_browser.actions.context import ActionContext
    from mcp_browser.actions.registry import ActionParams, Registry
    from mcp_browser.actions.result import ActionResult, Attachment
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab
    from mcp_browser.errors import ActionError

    __version__: str

__all__ = [
    "ActionContext",
    "ActionError",
    "ActionParams",
    "ActionResult",
    "Attachment",
    "BrowserSession",
    "Registry",
    "Tab",
    "__version__",
]

_HOMES = {
    "ActionContext": "mcp_browser.actions.context",
    "ActionError": "mcp_browser.errors",
    "ActionParams": "mcp_browser.actions.registry",
    "ActionResult": "mcp_browser.actions.result",
    "Attachment": "mcp_browser.actions.result",
    "BrowserSession": "mcp_browser.browser.session",
    "Registry": "mcp_browser.actions.registry",
    "Tab": "mcp_browser.browser.tab",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the server starts faster without them all."""
    if name == "__version__":
        return import_module("importlib.metadata").version("mcp-browser")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except KeyError:
        raise AttributeError(f"module 'mcp_browser' has no attribute {name!r}") from None
