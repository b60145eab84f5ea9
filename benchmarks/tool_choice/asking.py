"""Asks a model for one call, and judges it."""

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self, cast

from benchmarks.tool_choice import lists
from benchmarks.tool_choice.expected import judge
from benchmarks.tool_choice.instructions import Instruction
from mcp_browser.errors import McpBrowserError
from mcp_browser.llm.messages import ChatModel, OutputForm, system, user

BRIEF = (
    "You drive a web browser for a person, by calling tools. You are shown what is open now and told what "
    "the person wants. Answer with exactly one call, the next one: the name of a tool, and its arguments as "
    "its schema wants them. These are the tools, one a line:\n"
)


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


def digest(tools: lists.Listed) -> str:
    """What tells one list from another: a description that has changed makes other results."""
    return hashlib.sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:12]


def brief(tools: lists.Listed) -> str:
    """What the model is told before any page."""
    return BRIEF + "\n".join(json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools)


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
    form = OutputForm(
        name="call",
        description="The next call.",
        json_schema={
            "type": "object",
            "properties": {
                "tool": {"type": "string", "enum": [tool["name"] for tool in tools]},
                "arguments": {"type": "object"},
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        },
    )
    told = f"{lists.shown(instruction.state, server)}\n\nThe person wants: {instruction.says}"
    started, tool, arguments, failure, tokens = time.monotonic(), "", None, "", 0
    try:
        reply = await model.ask([system(brief(tools)), user(told)], form=form, seconds=seconds)
        tokens = reply.usage.tokens
        given: Any = reply.call.arguments if reply.call is not None else {}
        if isinstance(given, dict):
            chosen = cast("dict[str, Any]", given)
            tool, arguments = str(chosen.get("tool", "")), chosen.get("arguments")
        else:
            failure = "no JSON that could be read"
    except McpBrowserError as error:
        failure = str(error)[:200]
    expected = instruction.ours if server == lists.OURS else instruction.theirs
    schemas = {one["name"]: one["inputSchema"] for one in tools}
    score = judge(tool, arguments, expected, schemas)
    return Asked(
        model=called,
        server=server,
        list=digest(tools),
        category=instruction.category,
        says=instruction.says,
        tool=tool,
        arguments=arguments,
        tool_right=score.tool,
        arguments_right=score.arguments,
        why=failure or score.why,
        seconds=round(time.monotonic() - started, 1),
        tokens=tokens,
        day=f"{datetime.now(UTC):%Y-%m-%d}",
    )
