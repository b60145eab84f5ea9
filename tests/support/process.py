"""A server process driven by hand: raw JSON-RPC lines, signals, and who is left over."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support.family import Process, family

MARK = "BROWSER_TEST_RUN"


class RawServer:
    """`python -m mcp_browser` as a subprocess, marked in its environment to find what it starts."""

    def __init__(self, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.lines: list[str] = []
        self._seen: dict[int, Process] = {}
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._last_id = 0
        command = [sys.executable, "-m", "mcp_browser", "--stdio", "--headless", "--isolated", *arguments]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, MARK: self.mark},
            text=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

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
        assert self.process.stdin is not None
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notification:
            self._last_id += 1
            message["id"] = self._last_id
            self._answers[self._last_id] = queue.Queue()
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return self._last_id

    def answer(self, request: int, *, seconds: float = 60) -> dict[str, Any]:
        """The answer to a request."""
        return self._answers[request].get(timeout=seconds)

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        return self.answer(self.send(method, params))

    def initialize(self) -> dict[str, Any]:
        """The handshake of the legacy era."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", params)
        self.send("notifications/initialized", notification=True)
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its result."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def descendants(self) -> dict[int, str]:
        """Every living process of this server by id: its descendants, those seen before, all that are marked.

        A browser's renderers lose the mark, and orphans their descent.
        """
        self._seen |= family(self.process.pid)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in self._seen:
                with contextlib.suppress(OSError):
                    if f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes():
                        self._seen |= family(int(entry.name))
        return {pid: process.command[:200] for pid, process in self._seen.items() if process.alive}

    def left_over(self, *, seconds: float) -> dict[int, str]:
        """The marked processes that still live after at most `seconds`; empty as soon as there are none."""
        deadline = time.monotonic() + seconds
        while (found := self.descendants()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        for pid in self.descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
