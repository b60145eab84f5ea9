"""Any request over HTTP: an answer that is no fault of the server's, and tells nothing of its inside."""

import contextlib
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.remote import RemoteServer, serving_process

SECONDS = 20.0

paths = st.one_of(
    st.sampled_from(
        ["/mcp", "/mcp", "/mcp", "/sse", "/messages/", "/healthz", "/metrics", "/ask/x", "/files/a/b"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30).map(lambda text: f"/{text}"),
)
words = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=60)
names = st.sampled_from(
    [
        *(
            "Accept",
            "Content-Type",
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "Origin",
        ),
        *(
            "Authorization",
            "Last-Event-ID",
            "X-Forwarded-For",
            "Forwarded",
            "Range",
            "Content-Encoding",
            "Expect",
        ),
    ]
)
values = st.one_of(
    words,
    st.sampled_from(
        ["application/json", "application/json, text/event-stream", "2025-11-25", "2026-07-28", "initialize"]
    ),
)
methods = st.sampled_from(
    [
        *("initialize", "ping", "tools/list", "tools/call", "resources/read", "completion/complete"),
        *(
            "notifications/cancelled",
            "tasks/get",
            "logging/setLevel",
            "subscriptions/listen",
            "server/discover",
            "",
        ),
    ]
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


@settings(
    max_examples=150,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(
    method=st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "X"]),
    path=paths,
    headers=st.lists(st.tuples(names, values), max_size=5),
    body=bodies,
)
def test_any_request_gets_an_answer_that_is_no_fault_of_the_servers(
    server: RemoteServer, method: str, path: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    usual = {"Host": f"127.0.0.1:{server.port}", "Content-Length": str(len(body)), "Connection": "close"}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in [*usual.items(), *headers])]
    answer = answer_to(server.port, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
    status = answer.split(b" ", 2)[1:2]
    assert status, (lines, body)
    assert int(status[0]) < 500 or (path == "/readyz" and status[0] == b"503"), (lines, body, answer[:500])
    for leak in (b"Traceback", b'File "', b"site-packages"):
        assert leak not in answer, (lines, body, answer[:500])
    assert server.process.poll() is None
    assert not [line for line in server.stderr if "Traceback" in line], server.stderr[-40:]
