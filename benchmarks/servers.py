"""The servers that are compared: how each is installed and started, and how its tools are called.

Nothing here is the product's own code. A server is a process that speaks newline-delimited JSON-RPC; an
adapter knows the names of its tools and finds an element's handle in the text that they return.
"""

import contextlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.packages import npm_packages
from tests.support.process import MARK, MarkedProcesses

CLIENT = {"name": "benchmark", "version": "1"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What each request carries in the protocol's modern era."""

PEERS = {
    "playwright-mcp": ("@playwright/mcp", "0.0.83"),
    "chrome-devtools-mcp": ("chrome-devtools-mcp", "1.11.0"),
    "agent-browser": ("agent-browser", "0.41.2"),
}
"""Package and version of the servers to compare with, by the names used here."""


class ToolError(Exception):
    """A tool answered with an error, or not in time."""


@dataclass(frozen=True)
class Command:
    """How a server is started."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict[str, str])


class Connection:
    """A server process and the protocol's handshake."""

    def __init__(self, command: Command, *, modern: bool = False) -> None:
        """Start the process; `started` is the moment, by time.perf_counter().

        Raises:
            ToolError: the server does not speak the protocol's era.
        """
        self._every: dict[str, Any] = {"_meta": MODERN} if modern else {}
        self._processes = MarkedProcesses(uuid.uuid4().hex)
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **command.env, MARK: self._processes.mark},
            text=True,
            encoding="utf-8",
        )
        self._last_id = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        threading.Thread(target=self._read, daemon=True).start()
        if modern:
            try:
                self.request("server/discover", {})
            except ToolError:
                self.close()
                raise
        else:
            self.request(
                "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
            )
            self._send({"method": "notifications/initialized"})
        self.tools: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {})
            self.tools += page["tools"]
            cursor = page.get("nextCursor") or None
        self.ready = time.perf_counter() - self.started

    @property
    def listed(self) -> int:
        """Characters of the answer to `tools/list`."""
        return len(json.dumps(self.tools, separators=(",", ":"), ensure_ascii=False))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if "method" in message and "id" in message:
                    refusal = {"code": -32601, "message": "not supported"}
                    self._send({"id": message["id"], "error": refusal})
                elif message.get("id") in self._answers:
                    self._answers[message["id"]].put(message)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def request(self, method: str, params: dict[str, Any], *, limit: float = 60) -> dict[str, Any]:
        """Send a request; its result.

        Raises:
            ToolError: an error, or no answer within `limit` seconds.
        """
        self._last_id += 1
        answers = self._answers[self._last_id] = queue.Queue()
        self._send({"id": self._last_id, "method": method, "params": {**params, **self._every}})
        try:
            answer = answers.get(timeout=limit)
        except queue.Empty:
            raise ToolError(f"no answer in {limit:g} s") from None
        if "error" in answer:
            raise ToolError(str(answer["error"].get("message", answer["error"]))[:200])
        return answer["result"]

    def call(self, tool: str, *, limit: float = 60, **arguments: Any) -> str:
        """Call a tool; its text.

        Raises:
            ToolError: the tool failed, or did not answer within `limit` seconds.
        """
        text, failed = self.answer(tool, limit=limit, **arguments)
        if failed:
            raise ToolError(text[:200])
        return text

    def answer(self, tool: str, *, limit: float = 60, **arguments: Any) -> tuple[str, bool]:
        """Call a tool; its text, and whether it says that it failed."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments}, limit=limit)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        return text, bool(result.get("isError"))

    def memory(self) -> float:
        """Megabytes that the processes hold, shared pages counted in proportion (PSS)."""
        total = 0
        for pid in self._processes.living(self._process.pid):
            with contextlib.suppress(OSError):
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += sum(int(number) for number in re.findall(r"^Pss:\s+(\d+)", rollup, re.M))
        return total / 1024

    def close(self) -> None:
        """End the server as a client does, then whatever it has left behind."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(8)
        self._processes.kill(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(8)


def find(pattern: str, text: str, role: str, name: str) -> str:
    """The handle of an element in a snapshot, by a pattern as `Moves.handle`.

    Raises:
        ToolError: the snapshot does not show it.
    """
    found = re.search(pattern.format(role=role, name=re.escape(name)), text, re.M)
    if found is None:
        raise ToolError(f"no {role} {name!r} in the snapshot")
    return found[1]


Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True)
class Moves:
    """The calls of a server. Handles are whatever it calls an element by."""

    handle: str
    """Pattern of an element's line, with {role} and {name} to be filled in; its group is the handle."""
    open: Callable[[str], Call]
    look: Call
    click: Callable[[str], Call]
    fill: Callable[[str, str], Call]


MOVES = {
    "mcp-browser": Moves(
        r'\[(\d+)\] {role} "{name}"',
        lambda url: ("go_to_url", {"url": url}),
        ("get_state", {"screenshot": False}),
        lambda handle: ("click_element", {"index": int(handle)}),
        lambda handle, text: ("input_text", {"index": int(handle), "text": text}),
    ),
    "playwright-mcp": Moves(
        r'- {role} "{name}".*?\[ref=(\w+)\]',
        lambda url: ("browser_navigate", {"url": url}),
        ("browser_snapshot", {}),
        lambda handle: ("browser_click", {"element": "it", "target": handle}),
        lambda handle, text: ("browser_type", {"element": "it", "target": handle, "text": text}),
    ),
    "chrome-devtools-mcp": Moves(
        r'uid=(\w+) {role} "{name}"',
        lambda url: ("navigate_page", {"pageId": 1, "type": "url", "url": url}),
        ("take_snapshot", {"pageId": 1}),
        lambda handle: ("click", {"pageId": 1, "uid": handle, "includeSnapshot": True}),
        lambda handle, text: ("fill", {"pageId": 1, "uid": handle, "value": text}),
    ),
    "agent-browser": Moves(
        r'- {role} "{name}".*?ref=(\w+)',
        lambda url: ("agent_browser_open", {"url": url}),
        ("agent_browser_snapshot", {}),
        lambda handle: ("agent_browser_click", {"selector": f"@{handle}"}),
        lambda handle, text: ("agent_browser_fill", {"selector": f"@{handle}", "text": text}),
    ),
}


class Server:
    """What the benchmark asks of a server; each method returns the text of its tool."""

    def __init__(self, name: str, command: Command, *, modern: bool = False) -> None:
        """Start the server of a name in MOVES, and list its tools."""
        self.name = name
        self.moves = MOVES[name]
        self.connection = Connection(command, modern=modern)

    def find(self, text: str, role: str, name: str) -> str:
        """The handle of an element in a snapshot."""
        return find(self.moves.handle, text, role, name)

    def open(self, url: str) -> str:
        """Open a page."""
        return self._call(self.moves.open(url))

    def look(self, *, limit: float = 60) -> str:
        """The page as text."""
        return self._call(self.moves.look, limit=limit)

    def click(self, handle: str) -> str:
        """Click an element."""
        return self._call(self.moves.click(handle))

    def fill(self, handle: str, value: str) -> str:
        """Put text into a field."""
        return self._call(self.moves.fill(handle, value))

    def _call(self, call: Call, *, limit: float = 60) -> str:
        tool, arguments = call
        return self.connection.call(tool, limit=limit, **arguments)


def install(packages: Iterable[tuple[str, str]]) -> Path:
    """The node_modules with pinned versions of npm packages."""
    return npm_packages("benchmark", *(f"{package}@{version}" for package, version in packages))


def command(name: str, chromium: str, *, sandbox: bool) -> Command:
    """How a server is started on this Chromium, headless and with a clean profile.

    Args:
        name: a key of MOVES.
        chromium: path of the browser that all of them drive.
        sandbox: whether the browser's sandbox can be used.
    """
    if name == "mcp-browser":
        flags = ["--stdio", "--headless", "--isolated", "--executable", chromium]
        # Python keeps compiled modules, as it does for a user.
        return Command([sys.executable, "-m", "mcp_browser", *flags], {"PYTHONDONTWRITEBYTECODE": ""})
    modules = install(PEERS.values())
    node = shutil.which("node") or "node"
    if name == "playwright-mcp":
        flags = ["--headless", "--isolated", "--executable-path", chromium]
        flags += ["--output-dir", str(modules.parent / "output")] + ([] if sandbox else ["--no-sandbox"])
        return Command([node, str(modules / "@playwright/mcp/cli.js"), *flags])
    if name == "chrome-devtools-mcp":
        flags = ["--headless", "--isolated", "--executablePath", chromium, "--no-usage-statistics"]
        flags += ["--no-performance-crux"] + ([] if sandbox else ["--chrome-arg=--no-sandbox"])
        script = modules / "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
        return Command([node, str(script), *flags])
    session = f"benchmark-{uuid.uuid4().hex[:8]}"
    env = {"AGENT_BROWSER_EXECUTABLE_PATH": chromium, "AGENT_BROWSER_SESSION": session}
    if not sandbox:
        env["AGENT_BROWSER_ARGS"] = "--no-sandbox"
    return Command([agent_browser(modules), "mcp"], env)


def agent_browser(modules: Path) -> str:
    """The native program of agent-browser, made executable."""
    machine = os.uname().machine
    architecture = {"x86_64": "x64", "aarch64": "arm64"}.get(machine, machine)
    binary = modules / "agent-browser" / "bin" / f"agent-browser-{sys.platform}-{architecture}"
    binary.chmod(0o755)
    return str(binary)
