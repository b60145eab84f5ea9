"""A server over HTTP as a process of its own, and clients that reach it.

async with serving("--http") as server:
    async with connected(server.url) as browser:
        await browser.open("http://127.0.0.1:8000/")
"""

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.client import Browser, Era, browsing, held
from tests.support.process import MARK, MarkedProcesses, own_environment
from tests.support.waiting import until

_LISTENING = re.compile(r"listening at (\S+)(?: and (\S+))?")
STARTING_SECONDS = 60
STOPPING_SECONDS = 30


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class RemoteServer:
    """`python -m mcp_browser --http --port 0`, marked in its environment to find what it starts."""

    def __init__(self, *flags: str, environment: Mapping[str, str] | None = None) -> None:
        """Start the process, with more variables; `wait_until_listening` waits for it.

        Without `--http` and `--sse` in the flags both are served. Sites at 127.0.0.1 may be opened unless
        they say which private ones may.
        """
        transports = [] if {"--http", "--sse"} & set(flags) else ["--http", "--sse"]
        ports = [] if "--port" in flags else ["--port", "0"]
        # The sites of tests are on this machine.
        local = [] if any("-private" in flag for flag in flags) else ["--allow-private", "127.0.0.1"]
        self.flags = [*transports, *ports, *local, "--headless", *flags]
        self.processes = MarkedProcesses(uuid.uuid4().hex)
        self.stderr: list[str] = []
        self.url = ""
        self.sse_url = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mcp_browser", *self.flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**own_environment(), **(environment or {}), MARK: self.processes.mark},
            text=True,
        )
        self._listens = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def base(self) -> str:
        """The address that all paths stand under, prefix included."""
        return (self.url or self.sse_url).rpartition("/")[0]

    @property
    def port(self) -> int:
        return int(self.base.split(":")[2].partition("/")[0])

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr.append(line)
            if found := _LISTENING.search(line):
                for address in filter(None, found.groups()):
                    if address.endswith("/sse"):
                        self.sse_url = address
                    else:
                        self.url = address
                self._listens.set()
        self._listens.set()

    def wait_until_listening(self) -> None:
        """Wait until standard error has told the addresses."""
        self._listens.wait(STARTING_SECONDS)
        assert self.url or self.sse_url, f"the server did not start: {''.join(self.stderr)}"

    def get(self, path: str, *, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Fetch a path under the base; status and body."""
        answer = httpx.get(f"{self.base}{path}", headers=dict(headers or {}), timeout=60, verify=False)
        return answer.status_code, answer.text

    def client_configuration(self) -> dict[str, Any]:
        """What standard error tells people to paste into their client."""
        line = next(line for line in self.stderr if "configuration: " in line)
        return json.loads(line.partition("configuration: ")[2])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOPPING_SECONDS)


@contextmanager
def serving_process(*flags: str, environment: Mapping[str, str] | None = None) -> Generator[RemoteServer]:
    """A server that listens. At the end it is stopped, and nothing that it started may be left over."""
    server = RemoteServer(*flags, environment=environment)
    try:
        server.wait_until_listening()
        server.processes.seen(server.process.pid)
        yield server
        server.processes.seen(server.process.pid)
        if server.process.poll() is None:
            assert server.stop() == 0, server.stderr
        left_over = server.processes.left_over(server.process.pid, seconds=10)
        assert not left_over, f"left over: {left_over}"
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(10)
        server.processes.kill(server.process.pid)


@asynccontextmanager
async def serving(*flags: str, environment: Mapping[str, str] | None = None) -> AsyncGenerator[RemoteServer]:
    """`serving_process` for tests that run in the event loop, which goes on meanwhile."""
    holder = serving_process(*flags, environment=environment)
    server = await asyncio.to_thread(holder.__enter__)
    try:
        yield server
    except BaseException:
        await asyncio.to_thread(holder.__exit__, *sys.exc_info())
        raise
    await asyncio.to_thread(holder.__exit__, None, None, None)


def client_of(
    url: str, era: Era = "auto", *, headers: Mapping[str, str] | None = None, **options: Any
) -> AbstractAsyncContextManager[Client]:
    """The SDK's client, connected to a server's `/mcp` or `/sse`; fixtures of any scope may hold it.

    `options` are the client's: its callbacks, its extensions.
    """
    return held(_client(url, era, headers=headers, **options))


@asynccontextmanager
async def _client(
    url: str, era: Era, *, headers: Mapping[str, str] | None, **options: Any
) -> AsyncGenerator[Client]:
    async with contextlib.AsyncExitStack() as stack:
        if url.endswith("/sse"):
            transport: Any = sse_client(url, headers=dict(headers or {}), timeout=60)
        elif headers:
            http = await stack.enter_async_context(create_mcp_http_client(headers=dict(headers)))
            transport = streamable_http_client(url, http_client=http)
        else:
            transport = url
        async with Client(transport, mode=era, read_timeout_seconds=120, **options) as client:
            yield client


class RemoteBrowser(Browser):
    """A policy's client that remembers the session's handle, as a model does."""

    session: str | None = None

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool in the session that the first result told."""
        if self.session is not None and tool not in {"new_session", "list_sessions"}:
            arguments.setdefault("session", self.session)
        result = await super().call(tool, **arguments)
        if self.session is None:
            self.session = result.meta.get("mcp-browser/session") or (result.structured or {}).get("session")
        return result

    async def handle(self) -> str:
        """The session's handle, which the server lists where no result has told it."""
        if self.session is not None:
            return self.session
        listed = (await self.call("list_sessions")).structured
        assert listed is not None
        (own,) = listed["sessions"]
        return own["session"]


async def until_working(browser: RemoteBrowser, **session: str) -> None:
    """Wait until the server works on a call of this client."""

    async def works() -> bool:
        return "working" in (await browser.call("list_sessions", **session)).text

    await until(works)


@asynccontextmanager
async def connected(
    url: str, era: Era = "auto", *, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[RemoteBrowser]:
    """A policy's client for a server; it lists the tools first, as every real client does."""
    async with client_of(url, era, headers=headers) as client:
        await client.list_tools()
        yield RemoteBrowser(client)


@asynccontextmanager
async def reached(way: str, era: Era, *flags: str, **options: Any) -> AsyncGenerator[Browser]:
    """A policy's client of a server of its own, over `stdio`, `http` or `sse`; `options` are the client's."""
    if way == "stdio":
        async with browsing(era, *flags, **options) as browser:
            yield browser
        return
    async with (
        serving(f"--{way}", *flags) as server,
        client_of(server.url or server.sse_url, era, **options) as client,
    ):
        await client.list_tools()
        yield RemoteBrowser(client)
