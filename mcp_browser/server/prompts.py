"""The prompts of a server; they name only tools that are offered."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import Field

from mcp_browser.errors import InvalidArguments
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import Principal, principal_of_request
from mcp_browser.text import clean_text

ToolNames = Callable[[Principal], Collection[str]]  # Those that a caller is offered

LONGEST_ARGUMENT = 4_000  # Characters
NEEDED = "get_state"
"""The tool without which there is no prompt."""


class Prompts:
    """The prompts of a server: each caller gets those whose tools it has."""

    def __init__(self, tools: ToolNames, *, has_sessions: bool) -> None:
        """`has_sessions` says that calls can name a session."""
        self._tools = tools
        self._has_sessions = has_sessions

    @property
    def handlers(self) -> dict[str, Any]:
        """The handlers of requests about prompts, as the SDK's server takes them."""
        return {"on_list_prompts": self.list, "on_get_prompt": self.get}

    async def list(self, ctx: Context, _params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        """The prompts of the caller."""
        return types.ListPromptsResult(prompts=[*self._offered(ctx).values()])

    async def get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """What a prompt says. Raises MCPError -32602: no such prompt, or an argument is missing or wrong."""
        known = self._offered(ctx)
        if (prompt := known.get(params.name)) is None:
            there = ", ".join(known) or "none"
            raise MCPError(
                types.INVALID_PARAMS, f"There is no prompt {params.name[:60]!r}. There are: {there}."
            )
        try:
            given = _checked(prompt, params.arguments or {})
        except InvalidArguments as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        text = prompt.text(given, self._tools(principal_of_request(ctx)))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    def _offered(self, ctx: Context) -> "dict[str, PromptText]":
        tools = set(self._tools(principal_of_request(ctx)))
        more = [_SESSION] if self._has_sessions else []
        return {
            prompt.name: prompt.model_copy(update={"arguments": [*(prompt.arguments or ()), *more]})
            for prompt in all_prompts()
            if set(prompt.needs) <= tools
        }


class PromptText(types.Prompt):
    """A prompt: offered where all the tools of `needs` are; some arguments take only their `choices`."""

    needs: tuple[str, ...]
    steps: str
    choices: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def text(self, given: Mapping[str, str], tools: Collection[str]) -> str:
        """The message for the model, by the arguments that were given and the tools there are."""
        # Imported late: few clients ask for a prompt.
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

        def line(text: str, *names: str) -> str:
            """A step with those of these tools that are offered for `{}`; "" where none is."""
            *others, last = [f"`{name}`" for name in names if name in tools] or [""]
            return text.format(f"{', '.join(others)} and {last}" if others else last) if last else ""

        environment = Environment(autoescape=False, undefined=StrictUndefined)  # A model reads it.
        environment.filters["said"] = _said
        values: dict[str, Any] = dict.fromkeys((one.name for one in self.arguments or ()), "")
        values |= {**given, "line": line}
        values |= {
            name: environment.from_string(part).render(values) for name, part in _file()["parts"].items()
        }
        rendered = (environment.from_string(step).render(values) for step in self.steps.splitlines())
        head, *steps, end = filter(None, rendered)
        text = "\n".join([head, *(f"{number}. {step}" for number, step in enumerate(steps, 1)), end])
        if session := given.get(_SESSION.name):
            text += f"\nGive `session`: {_said(session)} with every call."
        return text


def _checked(prompt: PromptText, given: Mapping[str, str]) -> dict[str, str]:
    """The arguments that are given and not empty; raises InvalidArguments."""
    known = {argument.name: argument for argument in prompt.arguments or ()}
    if unknown := [name for name in given if name not in known]:
        raise InvalidArguments(
            f"The prompt {prompt.name} has no argument {unknown[0][:60]!r}.",
            hint=f"It takes: {', '.join(known)}.",
        )
    values = {name: text for name, value in given.items() if (text := clean_text(value).strip())}
    for name, argument in known.items():
        if argument.required and name not in values:
            raise InvalidArguments(
                f"The prompt {prompt.name} needs the argument {name!r}: {argument.description}"
            )
    for name, value in values.items():
        choices = prompt.choices.get(name, (value,))
        if value not in choices:
            raise InvalidArguments(f"{name!r} must be one of: {', '.join(choices)}.")
        if len(value) > LONGEST_ARGUMENT:
            raise InvalidArguments(
                f"{name!r} has {len(value):,} characters; {LONGEST_ARGUMENT:,} may be given."
            )
    return values


def _said(text: str) -> str:
    """A person's words, in quotation marks."""
    return f"“{text}”"


_SESSION = types.PromptArgument(
    name="session", description="Handle of the browser session to work in.", required=False
)


@cache
def _file() -> dict[str, Any]:
    """The table of the prompts; few clients ask for it."""
    text = resources.files("mcp_browser.server").joinpath("prompts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def all_prompts() -> tuple[PromptText, ...]:
    """The prompts, whatever tools they need."""
    return tuple(map(PromptText.model_validate, _file()["prompts"]))
