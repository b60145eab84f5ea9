"""This project's agent, over MCP."""

import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters

from benchmarks.agent.episodes import ACTIONS, Episode, Limits, Result
from benchmarks.agent.model import CONTEXT

_TITLE = re.compile(r'title="((?:[^"]|"(?! untrusted))*)"')


@asynccontextmanager
async def connected(model_url: str, *, seconds: float) -> AsyncGenerator[Client]:
    """A client of a server that uses the model."""
    with tempfile.TemporaryDirectory() as folder:
        flags = [
            *("--stdio", "--headless", "--isolated", "--tasks-dir", folder),
            *("--model", "qwen", "--model-url", model_url, "--model-output", "json"),
            *("--model-window", str(CONTEXT), "--model-temperature", "0"),
            *("--model-timeout", str(seconds), "--step-timeout", str(seconds)),
        ]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "mcp_browser", *flags], env=environment
        )
        async with Client(server, read_timeout_seconds=seconds * 20) as client:
            yield client


async def goal_of(client: Client, url: str) -> str:
    """What an episode asks for; it stands in the page's title."""
    result = await client.call_tool("go_to_url", {"url": url})
    assert isinstance(result, types.CallToolResult)
    found = _TITLE.search(_text(result))
    assert found is not None, _text(result)
    return found[1]


async def attempt(client: Client, episode: Episode, limits: Limits) -> Result:
    """Let run_task do an episode; the reward is still to be asked for."""
    started = time.monotonic()
    arguments = {
        **{"task": episode.goal, "start_url": episode.url, "allowed_actions": list(ACTIONS)},
        **{"max_steps": limits.steps, "max_seconds": limits.seconds},
    }
    result = await client.call_tool("run_task", arguments)
    assert isinstance(result, types.CallToolResult)
    data: dict[str, Any] = result.structured_content or {}
    used: dict[str, Any] = data.get("usage", {})
    return Result(
        task=episode.task,
        seed=episode.seed,
        reward=None,
        claimed=data.get("status") == "succeeded",
        steps=data.get("steps", 0),
        asked=used.get("input_tokens", 0),
        cached=used.get("cached_tokens", 0),
        answered=used.get("output_tokens", 0),
        seconds=time.monotonic() - started,
        note=(data.get("obstacle") or data.get("answer") or _text(result))[:200],
    )


def _text(result: types.CallToolResult) -> str:
    return "\n".join(_texts(result.content))


def _texts(content: Sequence[types.ContentBlock]) -> list[str]:
    return [part.text for part in content if isinstance(part, types.TextContent)]
