"""Actions as MCP tools, and what they give back as tool results."""

import base64
import logging
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_browser.actions.registry import RegisteredAction, Registry
from mcp_browser.actions.schema import tool_schema
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError
from mcp_browser.rendering.result import ImagePart, LinkPart, Part, TextPart, render_error, render_result

logger = logging.getLogger(__name__)


def list_tools(registry: Registry) -> list[types.Tool]:
    """Every action of the registry as a tool, in the registry's order."""
    return [_tool(action) for action in registry]


async def call_tool(
    controller: Controller, session: BrowserSession, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    """Carry out the action behind a tool.

    A failure that the caller can act upon is an error result that says what to do. Anything else is an error
    result without details; the traceback goes to the log.

    Raises:
        MCPError: -32602, there is no such tool.
    """
    if name not in controller.registry:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")
    try:
        result = await controller.execute(name, arguments, session)
    except ActionError as error:
        return _failed(render_error(error))
    except Exception:
        logger.exception("Internal error in %s", name)
        return _failed(
            f"Internal error in {name}. The browser session goes on; the server's log has the details."
        )
    parts = render_result(result, settings=controller.settings)
    return types.CallToolResult(content=[_content(part) for part in parts], is_error=result.error is not None)


def _tool(action: RegisteredAction) -> types.Tool:
    reads = action.effect == "read"
    annotations = types.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else action.destructive,
        open_world_hint=action.open_world,
    )
    return types.Tool(
        name=action.name,
        description=action.description,
        input_schema=tool_schema(action.param_model),
        annotations=annotations,
    )


def _content(part: Part) -> types.ContentBlock:
    match part:
        case TextPart():
            return types.TextContent(text=part.text)
        case ImagePart():
            return types.ImageContent(data=base64.b64encode(part.data).decode(), mime_type=part.mime_type)
        case LinkPart():
            return types.ResourceLink(name=part.name, uri=part.uri, mime_type=part.mime_type, size=part.size)


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
