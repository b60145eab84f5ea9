"""Who may come in, through the real command and with real clients."""

import itertools
import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from tests.server.http.conftest import free_listener
from tests.server.http.issuer import AUDIENCE, Issuer
from tests.support.client import ERAS
from tests.support.principals import ALICE, BOB, bearer, tokens_in
from tests.support.remote import RemoteServer, client_of, serving

VERSION = {"MCP-Protocol-Version": "2026-07-28"}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[RemoteServer]:
    tokens = tokens_in(tmp_path_factory.mktemp("doors"))
    async with serving("--tokens", str(tokens), "--log-level", "debug", "--path-prefix", "/team") as server:
        yield server


@pytest.fixture
async def http(server: RemoteServer) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server.base, timeout=30) as client:
        yield client


async def open_session(client: Client) -> str:
    """A page is opened; the handle of the session that the result tells, if any."""
    result = await client.call_tool("go_to_url", {"url": "about:blank"})
    assert not result.is_error, result.content
    return str((result.meta or {}).get("mcp-browser/session", ""))


@asynccontextmanager
async def stream_of(http: httpx2.AsyncClient) -> AsyncGenerator[tuple[str, AsyncGenerator[str]]]:
    """A stream of Alice's: the path that takes messages, and the data of the events after it."""
    async with http.stream("GET", "/sse", headers=bearer(ALICE)) as stream:
        events = (
            line.removeprefix("data: ") async for line in stream.aiter_lines() if line.startswith("data: ")
        )
        yield (await anext(events)).removeprefix("/team"), events


async def test_a_change_is_told_before_the_answer_to_what_made_it(http: httpx2.AsyncClient) -> None:
    call: dict[str, Any] = {"name": "save_pdf", "arguments": {}}
    messages = (
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    )
    async with stream_of(http) as (path, events):
        for message in messages:
            await http.post(path, json=message, headers=JSON | bearer(ALICE))
        with anyio.fail_after(60):
            handshake, change, answer = [json.loads(await anext(events)) for _ in range(3)]
        assert change["method"] == "notifications/resources/list_changed"
        assert (handshake["id"], answer["id"]) == (1, 2)


async def test_every_path_checks_names_and_origins_and_all_but_health_ask_who_it_is(
    http: httpx2.AsyncClient,
) -> None:
    others = {421: {"Host": "evil.example"}, 403: {"Origin": "https://evil.example"}}
    for path in ("/mcp", "/sse", "/messages", "/metrics", "/healthz", "/readyz"):
        for headers, (status, other) in itertools.product(({}, VERSION), others.items()):
            assert (await http.post(path, headers=bearer(ALICE) | headers | other)).status_code == status
    assert (await http.get("/healthz")).status_code == 200
    assert (await http.get("/readyz")).status_code == 200
    for asked in (
        *("POST /mcp", "GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /sse", "GET /metrics", "GET /"),
        *("GET /nothing", f"POST /messages?session_id={'0' * 32}"),
    ):
        for headers in ({}, VERSION):
            answer = await http.request(*asked.split(), headers=headers)
            assert answer.status_code == 401, asked
            assert answer.headers["www-authenticate"].startswith("Bearer ")


async def test_a_session_of_the_handshake_era_is_its_owners_only(http: httpx2.AsyncClient) -> None:
    opened = await http.post("/mcp", json=INITIALIZE, headers=JSON | bearer(ALICE))
    assert opened.status_code == 200
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    for method in ("POST", "GET", "DELETE"):
        stolen = await http.request(method, "/mcp", json=LIST_TOOLS, headers=JSON | bearer(BOB) | session)
        unknown = await http.request(
            method, "/mcp", json=LIST_TOOLS, headers=JSON | bearer(BOB) | {"Mcp-Session-Id": "0" * 32}
        )
        assert (stolen.status_code, stolen.text) == (unknown.status_code, unknown.text)
        assert stolen.status_code == 404
    kept = await http.post("/mcp", json=LIST_TOOLS, headers=JSON | bearer(ALICE) | session)
    assert kept.status_code == 200
    assert "go_to_url" in kept.text


async def test_a_stream_takes_messages_of_its_owner_only(http: httpx2.AsyncClient) -> None:
    async with stream_of(http) as (path, _):
        stolen = await http.post(path, json=INITIALIZE, headers=JSON | bearer(BOB))
        assert stolen.status_code == 404
        own = await http.post(path, json=INITIALIZE, headers=JSON | bearer(ALICE))
        assert own.status_code == 202


async def test_a_handle_of_another_principal_names_no_session(server: RemoteServer) -> None:
    async with (
        client_of(server.url, headers=bearer(ALICE)) as alice,
        client_of(server.url, headers=bearer(BOB)) as bob,
    ):
        await alice.list_tools()
        await bob.list_tools()
        handle = await open_session(alice)
        assert handle
        stolen = await bob.call_tool("get_state", {"session": handle})
        made_up = await bob.call_tool("get_state", {"session": handle[:-4] + "AAAA"})
        assert stolen.is_error
        assert made_up.is_error
        assert not (await alice.call_tool("get_state", {"session": handle})).is_error
        assert (await bob.call_tool("close_session", {"session": handle})).is_error
        assert not (await alice.call_tool("get_state", {"session": handle})).is_error


async def test_metrics_count_calls_and_refusals(server: RemoteServer, http: httpx2.AsyncClient) -> None:
    async with client_of(server.url, headers=bearer(ALICE)) as client:
        await client.list_tools()
        await open_session(client)
        assert (await client.call_tool("click_element", {"index": 0})).is_error
    await http.get("/metrics")
    shown = await http.get("/metrics", headers=bearer(ALICE))
    assert shown.status_code == 200

    def value(sample: str) -> float:
        found = re.search(rf"^{re.escape(sample)} ([0-9.e+]+)$", shown.text, re.MULTILINE)
        assert found is not None, f"{sample} in {shown.text}"
        return float(found[1])

    assert value('mcp_browser_calls_total{outcome="ok",tool="go_to_url"}') >= 1
    assert value('mcp_browser_calls_total{outcome="error",tool="click_element"}') >= 1
    assert value('mcp_browser_call_seconds_count{tool="go_to_url"}') >= 1
    assert value('mcp_browser_refused_total{reason="unauthenticated"}') >= 1
    assert value("mcp_browser_sessions") >= 1
    assert value("mcp_browser_connections") >= 1
    assert value('mcp_browser_memory_bytes{process="children"}') > 50e6
    assert ALICE not in shown.text


async def test_nothing_secret_is_logged_at_any_level(server: RemoteServer, http: httpx2.AsyncClient) -> None:
    secret = "a-very-secret-password"
    headers = JSON | bearer(ALICE) | {"Cookie": f"session={secret}"}
    await http.post("/mcp", content=f'{{"password": "{secret}", ', headers=headers)
    await http.post(f"/mcp?access_token={secret}", headers=headers)
    async with client_of(server.sse_url, "legacy", headers=bearer(ALICE)) as client:
        await client.call_tool("input_text", {"index": 1, "text": secret})
    async with stream_of(http) as (path, _):
        broken = await http.post(path, content=f'{{"password": "{secret}", ', headers=headers)
        assert broken.status_code == 400
    logged = "".join(server.stderr)
    assert secret not in logged
    assert ALICE not in logged
    assert BOB not in logged
    assert path.rpartition("=")[2] not in logged


async def test_tokens_of_an_authorization_server_let_clients_in() -> None:
    issuer = Issuer(free_listener())
    flags = ("--oauth-issuer", issuer.url, "--oauth-audience", AUDIENCE, "--oauth-scopes", "browse")
    async with issuer.running(), serving(*flags, "--path-prefix", "/team") as server:
        async with httpx2.AsyncClient(timeout=30) as http:
            refused = await http.post(server.url)
            address = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
            assert address.endswith("/.well-known/oauth-protected-resource/team/mcp")
            metadata = (await http.get(address)).json()
            assert metadata["resource"] == server.url
            assert metadata["authorization_servers"] == [issuer.url]
        for url, eras in ((server.url, ERAS), (server.sse_url, ERAS[1:])):
            for era in eras:
                async with client_of(url, era, headers=bearer(issuer.token())) as client:
                    assert (await client.list_tools()).tools


def test_a_server_for_the_network_without_tokens_does_not_start() -> None:
    words = [sys.executable, "-m", "mcp_browser", "--http", "--port", "0", "--host", "0.0.0.0"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "--insecure" in ended.stderr
    assert "mcp-browser token NAME --tokens FILE" in ended.stderr


async def test_what_is_told_to_paste_holds_a_place_for_the_token(server: RemoteServer) -> None:
    entries = server.client_configuration()["mcpServers"]
    assert {entry["headers"]["Authorization"] for entry in entries.values()} == {"Bearer YOUR_TOKEN"}
