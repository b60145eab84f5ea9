"""A page read by a client library of another maker, run with that library's own Python.

python python_clients.py LIBRARY URL PAGE

Lists the tools of the server at URL, opens PAGE, extracts it, takes a picture, breaks off a call that would
take longer, and looks again. Prints JSON: the texts that the library gives its model, and the picture size.
"""

# ruff: noqa: PLC0415, T201 - each library is there where this is run with its Python only
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]
LONG_CALL_SECONDS = 4.0  # The SDK's 1.x does not tell the server that a task was cancelled: its call goes on
BROKEN_OFF_SECONDS = 1.5
SECONDS = 120


@asynccontextmanager
async def python_sdk_1(url: str) -> AsyncGenerator[tuple[list[str], Call]]:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(url) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield [tool.name for tool in (await session.list_tools()).tools], session.call_tool


@asynccontextmanager
async def langchain(url: str) -> AsyncGenerator[tuple[list[str], Call]]:
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    client = MultiServerMCPClient({"browser": {"transport": "streamable_http", "url": url}})
    async with client.session("browser") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        yield list(tools), lambda name, arguments: tools[name].ainvoke(arguments)


@asynccontextmanager
async def fastmcp(url: str) -> AsyncGenerator[tuple[list[str], Call]]:
    from fastmcp import Client

    async with Client(url) as client:
        yield [tool.name for tool in await client.list_tools()], client.call_tool


@asynccontextmanager
async def pydantic_ai(url: str) -> AsyncGenerator[tuple[list[str], Call]]:
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(url) as toolset:
        yield [tool.name for tool in await toolset.list_tools()], toolset.direct_call_tool


@asynccontextmanager
async def openai_agents(url: str) -> AsyncGenerator[tuple[list[str], Call]]:
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=SECONDS) as server:
        yield [tool.name for tool in await server.list_tools()], server.call_tool


def strings(result: Any) -> Iterator[str]:
    """The texts, keys and encoded pictures in a result, in the forms of all of them."""
    if isinstance(result, str | bytes):
        yield result if isinstance(result, str) else result.hex()
    else:
        fields = result if isinstance(result, dict) else getattr(result, "__dict__", {})
        for part in result if isinstance(result, list | tuple) else (*fields, *fields.values()):
            yield from strings(part)


async def main(library: str, url: str, page: str) -> None:
    """Go through it all."""
    async with globals()[library](url) as (tools, call):

        async def text_of(tool: str, **arguments: Any) -> str:
            return "\n".join(strings(await call(tool, arguments)))

        told = {"opened": await text_of("go_to_url", url=page)}
        # In the modern protocol a session is named from its second call on.
        handle = re.search(r'New browser session "([^"]+)"', told["opened"])
        session = {"session": handle[1]} if handle else {}
        told["extracted"] = await text_of("extract_content", **session)
        picture = max(map(len, strings(await call("screenshot", session))))
        waiting = asyncio.ensure_future(call("wait_for", {"seconds": LONG_CALL_SECONDS, **session}))
        await asyncio.wait({waiting}, timeout=BROKEN_OFF_SECONDS)
        broken_off = waiting.cancel()
        await asyncio.wait({waiting})
        told["files"] = await text_of("list_files", **session)
        told["after"] = await text_of("get_state", **session)
    print(json.dumps({"tools": tools, "picture": picture, "broken_off": broken_off, **told}))


asyncio.run(main(*sys.argv[1:]))
