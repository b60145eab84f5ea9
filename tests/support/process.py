"""A server process driven by hand: raw JSON-RPC lines, signals, and who is left over."""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from tests.support.family import Process, family

MARK = "BROWSER_TEST_RUN"


def own_environment() -> dict[str, str]:
    """The environment of the tests, without the settings that the tester may have there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MCP_BROWSER_")}


def succeeds(*words: str | Path, **options: Any) -> str:
    """What a command prints, which must succeed; `options` are those of `subprocess.run`."""
    command, null = [*map(str, words)], subprocess.DEVNULL
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, stdin=null, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def warnings_aside(stderr: str) -> list[str]:
    """What a program says, without the warning that those get who run it as root."""
    return [line for line in stderr.splitlines() if "without its process sandbox" not in line]


def browser_of(commands: Mapping[int, str]) -> int:
    """The browser's own process: its others have a type, and neither the driver nor the server is one."""
    others = re.compile("--type=|crashpad|python|driver/node")
    (browser,) = [pid for pid, command in commands.items() if not others.search(command)]
    return browser


class MarkedProcesses:
    """A process and all that it starts, found by a mark in their environment.

    A browser's renderers lose the mark, and orphans their descent: what was seen once is remembered.
    """

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._seen: dict[int, Process] = {}

    def seen(self, root: int) -> None:
        self._seen |= family(root)

    def living(self, root: int) -> dict[int, str]:
        """The commands of those that live, by process id."""
        self.seen(root)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in self._seen:
                with contextlib.suppress(OSError):
                    if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes():
                        self.seen(int(entry.name))
        return {pid: process.command[:200] for pid, process in self._seen.items() if process.alive}

    def left_over(self, root: int, *, seconds: float) -> dict[int, str]:
        """Those that still live after at most `seconds`; empty as soon as there are none."""
        deadline = time.monotonic() + seconds
        while (found := self.living(root)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def kill(self, root: int) -> None:
        for pid in self.living(root):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


class RawServer:
    """`python -m mcp_browser` as a subprocess, marked in its environment to find what it starts."""

    def __init__(
        self,
        *arguments: str,
        browser: Sequence[str] = ("--headless", "--isolated"),
        stderr: IO[str] | int = subprocess.DEVNULL,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._processes = MarkedProcesses(uuid.uuid4().hex)
        self.lines: list[str] = []
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._last_id = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mcp_browser", "--stdio", *browser, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**environment, MARK: self._processes.mark},
            text=True,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if message.get("id") in self._answers:
                    self._answers[message["id"]].put(message)

    def send(self, method: str, params: dict[str, Any] | None = None, *, notification: bool = False) -> int:
        """Send one message; the id of a request."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notification:
            self._last_id += 1
            message["id"] = self._last_id
            self._answers[self._last_id] = queue.Queue()
        self.write(json.dumps(message))
        return self._last_id

    def write(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def answer(self, request: int, *, seconds: float = 120) -> dict[str, Any]:
        return self._answers[request].get(timeout=seconds)

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.send(method, params))

    def initialize(self) -> dict[str, Any]:
        """The handshake of the legacy era."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", params)
        self.send("notifications/initialized", notification=True)
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def opens(self, url: str) -> str:
        """Greet the server, and open an address; what is told of the page."""
        self.initialize()
        result = self.call("go_to_url", url=url)
        assert not result["isError"], result
        return result["content"][0]["text"]

    def end(self, number: int | None = None) -> None:
        """Send a signal; without one, end the server's input."""
        if number is not None:
            self.process.send_signal(number)
        elif self.process.stdin is not None:
            self.process.stdin.close()

    def all_lines(self) -> list[str]:
        """What it has said when it has ended with its input, as it has to."""
        self.end()
        assert self.process.wait(60) == 0
        self._reader.join()
        return self.lines

    def descendants(self) -> dict[int, str]:
        """Every living process of this server by id: its descendants, those seen before, and all marked."""
        return self._processes.living(self.process.pid)

    def left_over(self, *, seconds: float) -> dict[int, str]:
        return self._processes.left_over(self.process.pid, seconds=seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.end()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self._processes.kill(self.process.pid)
