"""Clients of the older era whose streams of events break: they resume them and lose nothing."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest

from tests.e2e.test_remote_doors import INITIALIZE, JSON
from tests.support.gates import gated_site, relay
from tests.support.principals import BEARERS, bearer
from tests.support.remote import RemoteServer, connected, serving, until


@pytest.fixture(scope="module")
async def server() -> AsyncGenerator[RemoteServer]:
    async with serving("--http", "--tools", "core", environment=BEARERS) as running:
        yield running


async def test_a_client_whose_connections_break_gets_the_answer_of_its_call(server: RemoteServer) -> None:
    async with gated_site(lambda _: "<h1>Late</h1>") as site, relay(server.port) as line:
        url = f"http://127.0.0.1:{line.port}/mcp"
        async with connected(url, "legacy", headers=bearer("alice")) as browser:
            await browser.open(f"{site.url}/page")
            call = asyncio.create_task(browser.call("go_to_url", url=f"{site.url}/never"))
            await site.asked("/never")
            line.cut()

            async def is_answered() -> bool:
                site.hang_up()  # The browser may try again
                return call.done()

            await until(is_answered)
            # Only the server knows how its browser fared.
            assert f"{site.url}/never" in (await call).text


class Legacy:
    """A client that sees the events as they come."""

    def __init__(self, http: httpx2.AsyncClient, name: str) -> None:
        self.http = http
        self.headers = JSON | bearer(name) | {"MCP-Protocol-Version": "2025-11-25"}

    async def begin(self) -> None:
        begun = await self.http.post("/mcp", json=INITIALIZE, headers=self.headers)
        self.headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.http.post("/mcp", json=ready, headers=self.headers)

    async def events(self, message: dict[str, Any], *, most: int) -> list[tuple[str, str]]:
        """The ids and data of at most so many events of a message's stream, which is then broken off."""
        async with self.http.stream("POST", "/mcp", json=message, headers=self.headers) as answer:
            return await events_of(answer, most)

    async def resumed(self, event: str, begun: asyncio.Event | None = None) -> list[tuple[str, str]]:
        """All of the stream that goes on after an event; `begun` is set when it has."""
        headers = self.headers | {"Last-Event-ID": event}
        async with self.http.stream("GET", "/mcp", headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            if begun is not None:
                begun.set()
            return await events_of(answer)


async def events_of(answer: httpx2.Response, most: int | None = None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    event = ""
    async for line in answer.aiter_lines():
        kind, _, value = line.partition(": ")
        if kind == "id":
            event = value
        elif line.startswith("data:"):
            found.append((event, value))
            if len(found) == most:
                break
    return found


async def test_a_stream_goes_on_after_its_last_event_for_its_own_session_only(server: RemoteServer) -> None:
    call: dict[str, object] = {"jsonrpc": "2.0", "id": "one", "method": "tools/call"}
    call["params"] = {"name": "wait_for", "arguments": {"seconds": 1}}
    async with httpx2.AsyncClient(base_url=server.base, timeout=60) as http:
        alice, again, bob = (Legacy(http, name) for name in ("alice", "alice", "bob"))
        await asyncio.gather(*(client.begin() for client in (alice, again, bob)))
        ((primed, data),) = await alice.events(call, most=1)
        assert data == ""
        (*_, (last, answer)) = await alice.resumed(primed)
        assert json.loads(answer)["id"] == "one"
        assert "result" in json.loads(answer)
        # Once more, and after the last one, each to the stream's end.
        assert (await alice.resumed(primed))[-1] == (last, answer)
        assert await alice.resumed(last) == []
        # Another request may have its id; its stream is another one.
        ((other, _),) = await alice.events(call | {"method": "ping", "params": {}}, most=1)
        assert other.partition("-")[0] != primed.partition("-")[0]

        others = ((again, primed), (bob, primed), (alice, "9999-1"), (alice, "x"), (alice, "1-99"))
        for client, event in others:
            headers = client.headers | {"Last-Event-ID": event}
            refused = await http.get("/mcp", headers=headers)
            # The first event of each session is that of `initialize`.
            assert refused.status_code == 400, (event, refused.text)
            assert "call again" in refused.text
        stolen = bob.headers | {"Mcp-Session-Id": alice.headers["Mcp-Session-Id"], "Last-Event-ID": "x"}
        assert (await http.get("/mcp", headers=stolen)).status_code == 404

        ((going_on, _),) = await alice.events(call | {"id": 2}, most=1)
        begun = asyncio.Event()
        ended = asyncio.create_task(alice.resumed(going_on, begun))
        await begun.wait()
        assert (await http.delete("/mcp", headers=alice.headers)).status_code == 200
        async with asyncio.timeout(30):
            assert len(await ended) <= 1
