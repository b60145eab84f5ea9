"""Asks a model for one call, and judges it."""

import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self, cast

from benchmarks.tool_choice import lists
from benchmarks.tool_choice.expected import judge
from benchmarks.tool_choice.instructions import Instruction
from mcp_browser.errors import McpBrowserError
from mcp_browser.llm.messages import ChatModel, system, user

BRIEF = (
    "You drive a web browser for a person, by calling tools. You are shown what is open now and told what "
    "the person wants. Answer with exactly one call, the next one: the name of a tool, and its arguments as "
    "its schema wants them. These are the tools, one a line:\n"
)


SHAPE = 'Answer with one JSON object and nothing else: {"tool": "its name", "arguments": {"name": value, …}}'

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


def digest(tools: lists.Listed) -> str:
    """What tells one way of asking from another: a description that has changed makes other results."""
    asked = f"{brief(tools)}{SHAPE}"
    return hashlib.sha256(asked.encode()).hexdigest()[:12]


def brief(tools: lists.Listed) -> str:
    """What the model is told before any page."""
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
    told = f"{lists.shown(instruction.state, server)}\n\nThe person wants: {instruction.says}\n\n{SHAPE}"
    started, tool, arguments, failure, tokens = time.monotonic(), "", None, "", 0
    try:
        reply = await model.ask([system(brief(tools)), user(told)], form=None, seconds=seconds)
        tokens = reply.usage.tokens
        tool, arguments = call_in(reply.text)
        failure = "" if tool else f"no call: {reply.text[:120]}"
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
