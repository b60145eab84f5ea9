"""Asks a model for one call, and judges it."""

import hashlib
import json
import re
import shlex
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self, cast

from benchmarks.tool_choice import lists
from benchmarks.tool_choice.expected import judge
from benchmarks.tool_choice.instructions import Instruction
from mcp_browser.actions import default_registry, load_registry
from mcp_browser.cli.commands import Commands
from mcp_browser.cli.config import skill_text
from mcp_browser.errors import McpBrowserError
from mcp_browser.llm.messages import ChatModel, system, user
from mcp_browser.settings import Settings

BRIEF = (
    "You drive a web browser for a person, by calling tools. You are shown what is open now and told what "
    "the person wants. Answer with exactly one call, the next one: the name of a tool, and its arguments as "
    "its schema wants them. These are the tools, one a line:\n"
)


SHAPE = 'Answer with one JSON object and nothing else: {"tool": "its name", "arguments": {"name": value, …}}'

COMMAND_SHAPE = "Answer with one command line and nothing else: mcp-browser do ACTION …"

_CALL = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and how it was; `list` is a digest of the tools that were listed, `day` its date."""

    model: str
    server: str
    list: str
    category: str
    says: str
    tool: str
    arguments: Any
    tool_right: bool
    arguments_right: bool
    why: str
    seconds: float
    tokens: int
    day: str

    def as_line(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_line(cls, line: str) -> Self:
        """What was written."""
        return cls(**json.loads(line))


def digest(tools: lists.Listed, server: str = "") -> str:
    """Identifies a way of asking: a description that has changed makes other results."""
    asked = f"{brief(tools, server)}{COMMAND_SHAPE if server == lists.COMMANDS else SHAPE}"
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def brief(tools: lists.Listed, server: str = "") -> str:
    """What the model is given before any page: the tools, or the skill."""
    if server == lists.COMMANDS:
        return skill_text(load_registry(Settings().tools), "mcp-browser")
    return BRIEF + "\n".join(json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools)


def call_in(text: str) -> tuple[str, Any]:
    """The tool and the arguments in an answer, whatever stands around its JSON; "" for none."""
    found = _CALL.search(text)
    try:
        given: Any = json.loads(found[0]) if found else None
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return "", None
    chosen = cast("dict[str, Any]", given)
    return str(chosen.get("tool", "")), chosen.get("arguments")


def as_taken(tool: str, arguments: Any) -> Any:
    """The arguments as this server takes them, `"3"` as a number and null as left out, where it does."""
    try:
        taken = default_registry()[tool].validate(arguments)
        return taken.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    except (TypeError, McpBrowserError):
        return arguments


def command_in(text: str) -> tuple[str, Any]:
    """The action and the arguments of the first command in an answer; "" for none that can be read."""
    found = re.search(r"mcp-browser do (.+?)`*$", text, re.MULTILINE)
    try:
        command = Commands(default_registry()).parse(shlex.split(found[1] if found else ""))
        assert command.action is not None
        taken = command.action.validate(command.arguments)
        return command.action.name, taken.model_dump(mode="json", exclude_unset=True)
    except (ValueError, AssertionError, McpBrowserError):
        return "", None


async def ask(  # noqa: PLR0913 - what is asked, of whom, about what
    model: ChatModel,
    called: str,
    server: str,
    tools: lists.Listed,
    instruction: Instruction,
    *,
    seconds: float,
) -> Asked:
    """The answer to one instruction."""
    by_command = server == lists.COMMANDS
    shape = COMMAND_SHAPE if by_command else SHAPE
    question = f"{lists.shown(instruction.state, server)}\n\nThe person wants: {instruction.says}\n\n{shape}"
    started, tool, arguments, failure, tokens = time.monotonic(), "", None, "", 0
    try:
        reply = await model.ask([system(brief(tools, server)), user(question)], form=None, seconds=seconds)
        tokens = reply.usage.tokens
        tool, arguments = (command_in if by_command else call_in)(reply.text)
        failure = "" if tool else f"no call: {reply.text[:120]}"
    except McpBrowserError as error:
        failure = str(error)[:200]
    if server == lists.OURS:
        arguments = as_taken(tool, arguments)
    answer = Asked(
        model=called,
        server=server,
        list=digest(tools, server),
        category=instruction.category,
        says=instruction.says,
        tool=tool,
        arguments=arguments,
        tool_right=False,
        arguments_right=False,
        why=failure,
        seconds=round(time.monotonic() - started, 1),
        tokens=tokens,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    return judged(answer, tools, instruction)


def judged(answer: Asked, tools: lists.Listed, instruction: Instruction) -> Asked:
    """The answer with what is right of it; why there was no answer stays."""
    expected = instruction.theirs if answer.server == lists.THEIRS else instruction.ours
    schemas = {one["name"]: one["inputSchema"] for one in tools}
    score = judge(answer.tool, answer.arguments, expected, schemas)
    why = score.why if answer.tool else answer.why
    return replace(answer, tool_right=score.tool, arguments_right=score.arguments, why=why)
