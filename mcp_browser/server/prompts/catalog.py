"""Prompts, as the protocol asks for them. What they say is imported late."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from mcp_browser.errors import InvalidArguments
from mcp_browser.server.principals import Principal, principal_of_request

if TYPE_CHECKING:
    from mcp_browser.server.prompts.texts import PromptText

Context = ServerRequestContext[Any, Any]
ToolNames = Callable[[Principal], Collection[str]]  # Those that a caller is offered

NEEDED = "get_state"
"""The tool without which there is no prompt."""


class Prompts:
    """The prompts of a server: to each caller those whose tools it is offered."""

    def __init__(self, tools: ToolNames, *, has_sessions: bool) -> None:
        """`has_sessions` says that calls can name a session."""
        self._tools = tools
        self._has_sessions = has_sessions

    def install(self, server: Server[Any]) -> None:
        """Register the handlers of requests about prompts."""
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)

    async def list(self, ctx: Context, _params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        """The prompts of the caller."""
        return types.ListPromptsResult(prompts=[self._listed(prompt) for prompt in self._offered(ctx)])

    async def get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """What a prompt says.

        Raises:
            MCPError: -32602, there is no such prompt, or an argument is missing, unknown or cannot be.
        """
        known = {prompt.name: prompt for prompt in self._offered(ctx)}
        if (prompt := known.get(params.name)) is None:
            there = ", ".join(known) or "none"
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt {params.name[:60]!r}. There are: {there}."
            )
        tools = self._tools(principal_of_request(ctx))
        try:
            text = prompt.text(params.arguments or {}, tools, has_sessions=self._has_sessions)
        except InvalidArguments as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    def _offered(self, ctx: Context) -> "list[PromptText]":
        from mcp_browser.server.prompts.texts import offered  # noqa: PLC0415

        return offered(self._tools(principal_of_request(ctx)))

    def _listed(self, prompt: "PromptText") -> types.Prompt:
        arguments = [
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.all_arguments(has_sessions=self._has_sessions)
        ]
        return types.Prompt(
            name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
        )
