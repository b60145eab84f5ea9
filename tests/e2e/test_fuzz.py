"""Any request over HTTP: an answer that is no fault of the server's, and tells nothing of its inside.

First anything at all, of which little gets past the doors; then messages that do, with any parameters.
"""

import contextlib
import json
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp.shared.inbound import encode_header_value

from mcp_browser.server.tasks import EXTENSION
from tests.e2e.test_remote_doors import INITIALIZE, JSON, LIST_TOOLS, VERSION
from tests.support.load import load
from tests.support.remote import RemoteServer, serving_process

SECONDS = 20.0
fuzzed = partial(
    settings,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ),
)

paths = st.one_of(
    st.sampled_from(
        ["/mcp", "/mcp", "/mcp", "/sse", "/messages/", "/healthz", "/metrics", "/ask/x", "/files/a/b"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30).map(lambda text: f"/{text}"),
)
words = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=60)
names = st.sampled_from(
    "Accept Content-Type Mcp-Session-Id MCP-Protocol-Version Mcp-Method Mcp-Name Origin Authorization "
    "Last-Event-ID X-Forwarded-For Forwarded Range Content-Encoding Expect".split()
)
values = st.one_of(
    words,
    st.sampled_from(
        ["application/json", "application/json, text/event-stream", "2025-11-25", "2026-07-28", "initialize"]
    ),
)
methods = st.sampled_from(
    "initialize ping tools/list tools/call resources/read completion/complete notifications/cancelled "
    "tasks/get logging/setLevel subscriptions/listen server/discover ".split(" ")
)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20))
trees: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "1.0", 2]), "method": methods | trees},
    optional={"id": leaves, "params": trees, "result": trees},
)
bodies = st.one_of(
    messages.map(lambda message: json.dumps(message).encode()),
    st.lists(messages, max_size=3).map(lambda several: json.dumps(several).encode()),
    trees.map(lambda tree: json.dumps(tree).encode()),
    st.binary(max_size=200),
    st.just(b"[" * 100_000),
)


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    with serving_process("--http", "--sse") as running:
        yield running


def answer_to(port: int, request: bytes) -> bytes:
    """The head of the answer, and what comes with it; streams are left at their first bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.sendall(request)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in got and (part := client.recv(65_536)):
                got += part
            client.settimeout(0.05)
            with contextlib.suppress(TimeoutError):
                while part := client.recv(65_536):
                    got += part
        return got


@fuzzed(max_examples=150)
@given(
    method=st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "X"]),
    path=paths,
    headers=st.lists(st.tuples(names, values), max_size=5),
    body=bodies,
)
def test_any_request_gets_an_answer_that_is_no_fault_of_the_servers(
    server: RemoteServer, method: str, path: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    status, _ = ask(server, method, path, headers, body)
    assert status < 500 or (path == "/readyz" and status == 503), (path, headers, body)


def ask(
    server: RemoteServer, method: str, path: str, headers: Iterable[tuple[str, str]], body: bytes
) -> tuple[int, bytes]:
    """The status and the whole of an answer, which tells nothing of the inside and harms nothing."""
    usual = {"Host": f"127.0.0.1:{server.port}", "Content-Length": str(len(body)), "Connection": "close"}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in [*usual.items(), *headers])]
    answer = answer_to(server.port, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
    status = answer.split(b" ", 2)[1:2]
    assert status, (lines, body)
    for leak in (b"Traceback", b'File "', b"site-packages"):
        assert leak not in answer, (lines, body, answer[:500])
    assert server.process.poll() is None
    assert not [line for line in server.stderr if "Traceback" in line], server.stderr[-40:]
    return int(status[0]), answer


names_of_things = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            *("browser://tasks/../x", "browser://tasks/aaaaaaaa/history.json?offset=-1"),
            *("browser://x/files/1", "browser://x/files/1/a?length=x", "file:///etc/passwd", "data:,x"),
            *("-1", "9" * 30, "\x00"),
        ]
    ),
)
# Those that open no browser.
tools = st.sampled_from(["list_sessions", "close_session", "get_task", "stop_task", "add_instructions", "x"])
arguments = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("session", "task_id", "text", "wait_seconds"), names_of_things | trees)
)
PARAMS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "tools/call": {"name": tools, "arguments": arguments},
    "resources/read": {"uri": names_of_things},
    **{key: {"uri": names_of_things} for key in ("resources/subscribe", "resources/unsubscribe")},
    **{key: {"cursor": names_of_things} for key in ("tools/list", "resources/list", "prompts/list")},
    "prompts/get": {"name": names_of_things, "arguments": arguments},
    "completion/complete": {"ref": trees, "argument": trees},
    "tasks/get": {"taskId": names_of_things},
    "tasks/update": {"taskId": names_of_things, "inputResponses": trees},
    "subscriptions/listen": {"notifications": trees},
    "logging/setLevel": {"level": names_of_things},
    "notifications/cancelled": {"requestId": leaves, "reason": names_of_things},
}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}, "elicitation": {}},
}


@pytest.fixture(scope="module")
def legacy(server: RemoteServer) -> dict[str, str]:
    """The headers of a client of the older era, once it has begun."""
    _, answer = ask(server, "POST", "/mcp", JSON.items(), json.dumps(INITIALIZE).encode())
    (session,) = re.findall(rb"(?im)^mcp-session-id: (\S+)", answer)
    return {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session.decode()}


HOSTILE_BODIES = (
    *(b"{", b"", b"[" * 200_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"null"),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}}",
    json.dumps([LIST_TOOLS] * 1000).encode(),
    b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}',
    *(b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":1,"result":{}}'),
    b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":1,"method":"__class__"}',
    b'{"jsonrpc":2,"id":{},"method":[],"params":"x"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"../../x"}}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list","method":"no/such"}',
)

HOSTILE_HEADERS = (
    *({"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}),
    *({"Content-Type": "multipart/form-data; boundary=x"}, {"Content-Type": ""}),
    *({"Content-Type": "application/json; charset=utf-7"}, {"Content-Encoding": "gzip"}),
    *({"Accept": "text/html"}, {"Accept": "x" * 10_000}, {"Last-Event-ID": "x" * 1000}),
    *({"MCP-Protocol-Version": "1999-01-01"}, {"MCP-Protocol-Version": "../../etc/passwd"}),
    {**VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "x"},
    *({**VERSION, "Mcp-Param-Session": "x" * 5000}, {"Mcp-Session-Id": "../" * 1000}),
)


def test_hostile_bodies_and_headers_do_no_harm(server: RemoteServer, legacy: dict[str, str]) -> None:
    cases = [(body, more) for more in ({}, legacy, VERSION) for body in HOSTILE_BODIES]
    for body, more in (*cases, *((json.dumps(LIST_TOOLS).encode(), more) for more in HOSTILE_HEADERS)):
        status, answer = ask(server, "POST", "/mcp", (JSON | more).items(), body)
        assert status < 500, (more, body[:300], answer[:300])


def modern(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The headers that the newer era wants with a message."""
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    names = [params[key] for key in ("name", "uri", "taskId") if key in params]
    given: dict[str, Any] = params.get("arguments", {})
    mirrored = {"Mcp-Name": names[0] if names else None, "Mcp-Param-Session": given.get("session")}
    told = {key: encode_header_value(value) for key, value in mirrored.items() if isinstance(value, str)}
    return headers | told


@fuzzed(max_examples=load(60, full=1000))
@given(data=st.data(), method=st.sampled_from(sorted(PARAMS)), is_modern=st.booleans())
def test_any_parameters_get_an_answer_that_is_no_fault_of_the_servers(
    server: RemoteServer, legacy: dict[str, str], data: st.DataObject, method: str, is_modern: bool
) -> None:
    params: dict[str, Any] = data.draw(st.fixed_dictionaries({}, optional=PARAMS[method]))
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    if method.startswith("notifications/"):
        del message["id"]
    headers = legacy
    if is_modern:
        headers, message["params"] = modern(method, params), params | {"_meta": META}
    status, answer = ask(
        server, "POST", "/mcp", [*JSON.items(), *headers.items()], json.dumps(message).encode()
    )
    assert status < 500, (message, answer)
    assert b"-32603" not in answer, (message, answer)
    assert b"Internal error" not in answer, (message, answer)
