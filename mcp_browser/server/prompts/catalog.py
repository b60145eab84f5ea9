"""Prompts and the completion of arguments, as the protocol asks for them. What they say is imported late."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from mcp_browser.errors import InvalidArguments
from mcp_browser.server.calls import SessionSource
from mcp_browser.server.principals import Principal, principal_of_request
from mcp_browser.server.resources.catalog import Caller
from mcp_browser.server.resources.pages import SessionPages

if TYPE_CHECKING:
    from mcp_browser.server.prompts.texts import PromptText

Context = ServerRequestContext[Any, Any]
ToolNames = Callable[[Principal], Collection[str]]  # Those that a caller is offered
TaskIds = Callable[[Principal], Collection[str]]  # Those of a caller, the newest first

ENOUGH = ({"get_state"}, {"run_task", "get_task"})
"""Sets of tools of which each is enough for a prompt."""


def has_prompts(tools: Collection[str]) -> bool:
    """Whether there is a prompt for callers with some of these tools."""
    return any(enough <= set(tools) for enough in ENOUGH)


class Prompts:
    """The prompts of a server: to each caller those whose tools it is offered."""

    def __init__(self, sessions: SessionSource, pages: SessionPages, task_ids: TaskIds) -> None:
        """Complete arguments from what `pages` shows, and from `task_ids`."""
        self._sessions = sessions
        self._pages = pages
        self._task_ids = task_ids
        self._tools: ToolNames = lambda _: ()

    def install(self, server: Server[Any], tools: ToolNames, *, has_prompts: bool) -> None:
        """Register what is there: prompts where `has_prompts`, completion where it has a use."""
        self._tools = tools
        if has_prompts:
            server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list)
            server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get)
        if has_prompts or self._sessions.has_handles:
            server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)

    async def list(self, ctx: Context, _params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        """The prompts of the caller."""
        return types.ListPromptsResult(prompts=[self._listed(prompt) for prompt in self._offered(ctx)])

    async def get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """What a prompt says.

        Raises:
            MCPError: -32602, there is no such prompt, or an argument is missing, unknown or cannot be.
        """
        prompt = self._prompt(ctx, params.name)
        try:
            text = prompt.text(
                params.arguments or {},
                self._tools(principal_of_request(ctx)),
                has_sessions=self._sessions.has_handles,
            )
        except InvalidArguments as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Values for an argument that begin as far as it is written, then those that hold it.

        Raises:
            MCPError: -32602, there is no such prompt, template or argument.
        """
        from mcp_browser.server.prompts.completion import MOST_VALUES, fitting, values_for  # noqa: PLC0415

        caller = Caller(ctx, principal_of_request(ctx))
        choices, completed = self._argument(ctx, params)
        if completed == "tasks":
            found = [*self._task_ids(caller.principal)]
        else:
            given = (params.context.arguments if params.context else None) or {}
            found = [*choices, *await values_for(completed, self._pages, caller, given.get("session"))]
        values = fitting(found, params.argument.value)
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:MOST_VALUES], total=len(values), has_more=len(values) > MOST_VALUES
            )
        )

    def _argument(self, ctx: Context, params: types.CompleteRequestParams) -> tuple[tuple[str, ...], str]:
        """The choices of an argument, and what it is completed from."""
        name = params.argument.name
        if isinstance(params.ref, types.PromptReference):
            prompt = self._prompt(ctx, params.ref.name)
            known = {one.name: one for one in prompt.all_arguments(has_sessions=self._sessions.has_handles)}
            if (argument := known.get(name)) is not None:
                return argument.choices, argument.completed
            raise _no_argument(f"The prompt {prompt.name}", name, known)
        uri = params.ref.uri
        if uri not in {template.uri_template for template in self._pages.templates}:
            raise MCPError(types.INVALID_PARAMS, f"Nothing of the template {uri[:200]} can be completed.")
        if name != "session":
            raise _no_argument("The template", name, ("session",))
        return (), "sessions"

    def _offered(self, ctx: Context) -> "list[PromptText]":
        from mcp_browser.server.prompts.texts import offered  # noqa: PLC0415

        return offered(self._tools(principal_of_request(ctx)))

    def _prompt(self, ctx: Context, name: str) -> "PromptText":
        known = {prompt.name: prompt for prompt in self._offered(ctx)}
        if name not in known:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no prompt {name[:60]!r}. There are: {', '.join(known) or 'none'}.",
            )
        return known[name]

    def _listed(self, prompt: "PromptText") -> types.Prompt:
        arguments = [
            types.PromptArgument(name=one.name, description=one.description, required=one.required)
            for one in prompt.all_arguments(has_sessions=self._sessions.has_handles)
        ]
        return types.Prompt(
            name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
        )


def _no_argument(of: str, name: str, known: Collection[str]) -> MCPError:
    return MCPError(
        types.INVALID_PARAMS, f"{of} has no argument {name[:60]!r} to complete. It has: {', '.join(known)}."
    )
