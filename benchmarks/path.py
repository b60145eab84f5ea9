"""Counts what a call passes in this package and asks of the browser, for docs/performance.md.

A profile hook follows one warm call of each kind, in this process: the real server, the SDK's in-memory
client, a real headless Chromium, a page of a local site. What the tab's events run meanwhile counts, too.
"""

import argparse
import asyncio
import contextlib
import datetime
import itertools
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx2
from mcp import Client
from playwright._impl.connection import Connection
from pydantic import SecretStr
from rich.console import Console

import mcp_browser
from benchmarks.egress import replaced
from benchmarks.report import machine, markdown_table
from mcp_browser.agent.executor import Executor
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.agent.task import ActionCall
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.controller import Controller
from mcp_browser.server.app import registry_of
from mcp_browser.server.http.serving import HttpServer, listen
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.settings import AccessSettings, BrowserSettings, ServerSettings, Settings
from tests.support.servers import server_of
from tests.support.site import Site

HEADING = "## The path of a call"
BEFORE = "Before the steps of a call became one list (`mcp_browser/pipeline.py`):"
DOCUMENT = Path(__file__).parent.parent / "docs" / "performance.md"
PACKAGE = str(Path(mcp_browser.__file__).parent) + os.sep
SECRET = SecretStr("correct horse battery")
TOKEN = "path-of-a-call-" + "0" * 32
PAGE = """<!doctype html><title>Desk</title><h1 id=n>0</h1>
<button onclick="n.textContent = +n.textContent + 1">Add</button><button id=gone>Gone</button>
<form><label>Password <input type=password></label></form>"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "path", "version": "1"},
    },
}
HEAD = (
    "",
    "calls",
    "functions",
    "files",
    "package switches",
    "functions before the action",
    "messages to the browser",
    "of these, evaluations",
)
out = Console(markup=False, highlight=False, soft_wrap=True)
READING = ("Runtime.evaluate", "Runtime.callFunctionOn")


@dataclass
class Trace:
    """The calls of one pass, in order, and the messages to the browser."""

    calls: list[CodeType] = field(default_factory=list[CodeType])
    messages: Counter[str] = field(default_factory=Counter[str])
    _frames: dict[int, FrameType] = field(default_factory=dict[int, FrameType])

    def take(self, frame: FrameType, event: str, _arg: object) -> None:
        """Take in an event of `sys.setprofile`: a coroutine that goes on is no new call."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and id(frame) not in self._frames:
            self._frames[id(frame)] = frame
            self.calls.append(code)

    @property
    def named(self) -> list[CodeType]:
        """The functions that have a name, each once, in the order of their first call."""
        return list(dict.fromkeys(code for code in self.calls if not code.co_name.startswith("<")))

    @property
    def files(self) -> set[str]:
        return {code.co_filename for code in self.named}

    @property
    def switches(self) -> int:
        """How often one package calls, or returns to, another."""
        rooms = [_room(code) for code in self.calls]
        return sum(one != other for one, other in itertools.pairwise(rooms))

    def before(self, action: str) -> int | str:
        """How many functions had run before the action's own; `-` where it did not run."""
        names = [code.co_name for code in self.named]
        return names.index(action) if action in names else "-"

    def row(self, name: str, action: str) -> list[str]:
        """The line of the table."""
        evaluations = sum(self.messages[method] for method in READING)
        counts = (
            len(self.calls),
            len(self.named),
            len(self.files),
            self.switches,
            self.before(action),
            self.messages.total(),
            evaluations,
        )
        return [name, *map(str, counts)]


def _room(code: CodeType) -> str:
    return code.co_filename.removeprefix(PACKAGE).partition(os.sep)[0]


@contextlib.contextmanager
def tracing() -> Generator[Trace]:
    """Follow what runs in this thread within it."""
    trace = Trace()
    send = Connection.send_message_to_server

    def counted(self: Connection, object: Any, method: str, params: Any, options: Any) -> Any:
        if method != "__waitInfo__":
            trace.messages[params["method"] if method == "send" else method] += 1
        return send(self, object, method, params, options)

    Connection.send_message_to_server = counted
    sys.setprofile(trace.take)
    try:
        yield trace
    finally:
        sys.setprofile(None)
        Connection.send_message_to_server = send


async def traced(work: Callable[[], Awaitable[Any]], *, warm: int = 2) -> Trace:
    """The last of some passes of the same work."""
    for _ in range(warm):
        await work()
        await asyncio.sleep(0.3)
    with tracing() as trace:
        await work()
    await asyncio.sleep(0.1)
    return trace


async def measure(url: str) -> list[tuple[str, str, Trace]]:
    """A trace of each kind of call: its name, the action's, what it passed."""
    settings = Settings(browser=BrowserSettings(headless=True, isolated=True))
    manager = BrowserManager(settings)
    try:
        session = await manager.default_session()
        server = server_of(Controller(registry_of(settings), settings), Sessions(manager))
        found: list[tuple[str, str, Trace]] = []
        async with Client(server) as client:
            await client.call_tool("go_to_url", {"url": url})

            def call(tool: str, **arguments: Any) -> Callable[[], Awaitable[Any]]:
                return lambda: client.call_tool(tool, arguments)

            found.append(("click", "click_element", await traced(call("click_element", index=1))))
            found.append(("screenshot", "screenshot", await traced(call("screenshot"))))
            await session.current_tab.page.evaluate("gone.remove()")
            stale = call("click_element", index=2)
            found.append(("stale index", "click_element", await traced(stale)))
        secrets = Secrets({"password": Secret(value=SECRET, origins=(url.rstrip("/"),))})
        executor = Executor(Controller(registry_of(settings), settings), session, secrets=secrets)
        typing = ActionCall(name="input_text", arguments={"index": 3, "text": "<secret>password</secret>"})
        found.append(
            ("secret typed by the agent", "input_text", await traced(lambda: executor.act([typing], [])))
        )
        return found
    finally:
        await manager.close()


@contextlib.asynccontextmanager
async def _serving() -> AsyncGenerator[str]:
    """An HTTP server in this process that asks for a token; its address."""
    settings = Settings(
        browser=BrowserSettings(headless=True, isolated=True),
        access=AccessSettings(token=SecretStr(TOKEN)),
        server=ServerSettings(http=True, port=0),
    )
    manager = BrowserManager(settings, remote=True)
    listener = listen(settings.server)
    server = HttpServer(settings, manager, listener)
    task = asyncio.create_task(server.serve())
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        await server.stop()
        await task
        await manager.close()


async def measure_initialize() -> Trace:
    """A trace of an `initialize` over HTTP with a token, from the socket to the answer."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    async with _serving() as url, httpx2.AsyncClient() as http:

        async def initialize() -> None:
            (await http.post(url, json=INITIALIZE, headers=headers)).raise_for_status()

        return await traced(initialize)


def section(rows: list[list[str]], before: list[list[str]]) -> str:
    """The section of docs/performance.md; `before` are the rows of an earlier state, which it shows below."""
    chromium = str(find_browser(Settings().browser).executable)
    parts = [
        HEADING,
        "What one warm call passes in this package (functions with a name, each counted once) and asks of "
        "the browser, counted by a profile hook in the server's process; `python -m benchmarks.path` shows "
        f"it. {datetime.date.today().isoformat()}: {machine(chromium)}.",
        markdown_table([list(HEAD), *rows]),
    ]
    if before:
        parts += [BEFORE, markdown_table([list(HEAD), *before])]
    return "\n\n".join(parts) + "\n"


def rows_before() -> list[list[str]]:
    """The rows that the document keeps for comparison."""
    kept = DOCUMENT.read_text(encoding="utf-8").partition(BEFORE)[2].partition("\n## ")[0]
    table = [line.strip("| ").split(" | ") for line in kept.splitlines() if line.startswith("| ")]
    return table[1:]


def rows_of(*, detailed: bool = False) -> list[list[str]]:
    """Measure all kinds of calls."""
    with Site() as site:
        found = asyncio.run(measure(site.publish(PAGE.encode(), path="/")))
    found.append(("HTTP `initialize`", "", asyncio.run(measure_initialize())))
    if detailed:
        for name, _, trace in found:
            show(name, trace)
    return [trace.row(name, action) for name, action, trace in found]


def show(name: str, trace: Trace) -> None:
    """Print the functions by file, and the messages."""
    out.print(f"\n== {name}: {dict(trace.messages)}")
    by_file: dict[str, list[str]] = {}
    for code in trace.named:
        by_file.setdefault(code.co_filename.removeprefix(PACKAGE), []).append(code.co_qualname)
    for file, names in by_file.items():
        out.print(f"{file} ({len(names)}): {', '.join(names)}")


def main() -> None:
    """Measure and write the section."""
    arguments = argparse.ArgumentParser(description="Count what a call passes and asks of the browser.")
    arguments.add_argument("--functions", action="store_true", help="print the functions of each call, too")
    arguments.add_argument("--no-write", action="store_true", help="leave the document alone")
    asked = arguments.parse_args()
    text = section(rows_of(detailed=asked.functions), rows_before())
    out.print(text)
    if not asked.no_write:
        DOCUMENT.write_text(replaced(DOCUMENT.read_text(encoding="utf-8"), text, HEADING), encoding="utf-8")


if __name__ == "__main__":
    main()
