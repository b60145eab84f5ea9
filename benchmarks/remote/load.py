"""Many clients at once, each in a session of its own, with this server and with playwright-mcp."""

import asyncio
import contextlib
import os
import signal
import statistics
import subprocess
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from rich.console import Console

from benchmarks import servers
from benchmarks.remote.memory import memory
from benchmarks.report import markdown_table
from mcp_browser import __version__
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings
from tests.support.apps import free_port
from tests.support.process import MARK, MarkedProcesses
from tests.support.remote import client_of, serving, until
from tests.support.site import Site

OURS, PEER = "mcp-browser", "playwright-mcp"

FORM = """<label>Name <input></label><button onclick="said.textContent =
`Welcome, ${document.querySelector('input').value}`">Greet</button><p id=said></p>"""

console = Console(stderr=True)


@dataclass
class Figures:
    """What was seen of one server: seconds of each kind of call, and megabytes."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    failed: list[str] = field(default_factory=list[str])
    one: float = 0
    """Memory with one session."""
    all: float = 0
    """Memory with all of them."""
    seconds: float = 0
    """From the first call of the first client to the last one of the last."""


class Worker:
    """A client that works through the form, and notes how long each call takes."""

    def __init__(self, client: Client, moves: servers.Moves, figures: Figures) -> None:
        """Note into these figures."""
        self._client = client
        self._moves = moves
        self._figures = figures

    async def work(self, address: str, rounds: int) -> None:
        """Open the page and look at it; then fill in the field and press the button, round by round."""
        moves = self._moves
        try:
            await self._call("open", moves.open(address))
            text = await self._call("look", moves.look)
            box, button = (
                servers.find(moves.handle, text, role, name)
                for role, name in (("textbox", "Name"), ("button", "Greet"))
            )
            for number in range(rounds):
                await self._call("fill", moves.fill(box, f"guest {number}"))
                await self._call("click", moves.click(button))
                text = await self._call("look", moves.look)
                if f"Welcome, guest {number}" not in text:
                    raise servers.ToolError(f"the page does not greet: {text[:200]}")
        except (servers.ToolError, MCPError, TimeoutError) as error:
            self._figures.failed.append(str(error))

    async def _call(self, kind: str, call: servers.Call) -> str:
        tool, arguments = call
        begin = time.perf_counter()
        answer = await self._client.call_tool(tool, arguments)
        self._figures.times[kind].append(time.perf_counter() - begin)
        assert isinstance(answer, types.CallToolResult)
        text = "\n".join(part.text for part in answer.content if isinstance(part, types.TextContent))
        if answer.is_error:
            raise servers.ToolError(f"{tool}: {text[:200]}")
        return text


@dataclass(frozen=True)
class Running:
    """A server that listens."""

    url: str
    root: int
    processes: MarkedProcesses


async def measure(clients: int, rounds: int) -> str:
    """Let so many clients work at once with each server in turn; the section."""
    measured: dict[str, Figures] = {}
    loads: list[float] = [os.getloadavg()[0]]
    with Site() as site:
        address = site.page(FORM)
        for name, start in ((OURS, _ours(clients)), (PEER, _peer())):
            console.print(name, markup=False)
            async with start as server:
                measured[name] = await _many(server, servers.MOVES[name], address, clients, rounds)
            loads.append(os.getloadavg()[0])
            for said in measured[name].failed:
                console.print(f"  {said}", markup=False)
    return _section(measured, clients, rounds, loads)


async def _many(server: Running, moves: servers.Moves, address: str, clients: int, rounds: int) -> Figures:
    figures = Figures()
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(client_of(server.url, "legacy"))
        # The first one starts the browser; its times are not among those of the others.
        await Worker(first, moves, Figures()).work(address, 1)
        figures.one = await _held(server)
        others = [
            await stack.enter_async_context(client_of(server.url, "legacy")) for _ in range(clients - 1)
        ]
        begin = time.perf_counter()
        workers = [Worker(client, moves, figures).work(address, rounds) for client in (first, *others)]
        await asyncio.gather(*workers)
        figures.seconds = time.perf_counter() - begin
        figures.all = await _held(server)
    return figures


async def _held(server: Running) -> float:
    return (await asyncio.to_thread(memory, server.processes, server.root)).tree


@asynccontextmanager
async def _ours(clients: int) -> AsyncGenerator[Running]:
    async with serving("--http", "--max-sessions", str(clients), "--rate-limit", "0") as server:
        yield Running(server.url, server.process.pid, server.processes)


@asynccontextmanager
async def _peer() -> AsyncGenerator[Running]:
    """playwright-mcp over HTTP with a clean profile for each client."""
    settings = Settings().browser
    chromium = str(find_browser(settings, isolated=True).executable)
    port = free_port()
    command = servers.command(PEER, chromium, sandbox=uses_sandbox(settings))
    processes = MarkedProcesses(uuid.uuid4().hex)
    process = subprocess.Popen(  # noqa: ASYNC220 - it starts at once, and nothing else goes on
        [*command.argv, "--host", "localhost", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **command.env, MARK: processes.mark},
    )

    async def listens() -> bool:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("localhost", port)
            writer.close()
            return True
        return False

    try:
        await until(listens)
        yield Running(f"http://localhost:{port}/mcp", process.pid, processes)
    finally:
        processes.seen(process.pid)
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, 10)
        processes.kill(process.pid)
        process.wait()


def _section(measured: dict[str, Figures], clients: int, rounds: int, loads: list[float]) -> str:
    versions = {OURS: __version__.partition("+")[0], PEER: servers.PEERS[PEER][1]}
    rows = [["", *(f"{name} {versions[name]}" for name in measured)]]

    def row(label: str, *cells: str) -> None:
        rows.append([label, *cells])

    several = list(measured.values())
    for kind in ("open", "look", "fill", "click"):
        row(f"{kind}, ms: median", *(_shown(figures.times[kind], 0.5) for figures in several))
        row("… 95 % are faster than", *(_shown(figures.times[kind], 0.95) for figures in several))
    row("all clients' work, s", *(f"{figures.seconds:.1f}" for figures in several))
    row("clients that failed", *(str(len(figures.failed)) for figures in several))
    row("memory with one session, MB", *(f"{figures.one:.0f}" for figures in several))
    row(f"memory with {clients} sessions, MB", *(f"{figures.all:.0f}" for figures in several))
    per = [(figures.all - figures.one) / (clients - 1) for figures in several]
    row("memory of each further session, MB", *(f"{value:.1f}" for value in per))
    return (
        f"{clients} clients at once over Streamable HTTP, each in a session of its own. Each opens a page "
        f"with a field and a button and looks at it; then {rounds} times it fills in the field, presses the "
        "button and looks whether the page has greeted it. A first client has started the browser before. "
        "playwright-mcp runs with `--isolated`; one server after the other, the clients on the same machine. "
        f"Load average {min(loads):.0f} to {max(loads):.0f}.\n\n{markdown_table(rows)}"
    )


def _shown(times: list[float], part: float) -> str:
    if len(times) < 2:  # noqa: PLR2004 - a quantile takes two
        return "-"
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return f"{cuts[round(part * 100) - 1] * 1000:,.0f}"
