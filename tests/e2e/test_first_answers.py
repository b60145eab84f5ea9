"""The handshake and the list of tools, answered before the SDK has been imported."""

import json
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import RawServer, succeeds
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the SDK's own transport serves there")

MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
NEEDLESS = (
    *("mcp", "mcp_types", "playwright.async_api", "PIL", "rich", "jsonschema", "html_to_markdown", "jinja2"),
    *("opentelemetry", "cryptography", "jwt", "starlette", "uvicorn", "httpx2", "pydantic_settings", "anyio"),
)

HOLDS_IMPORTS = f"""
import os, sys, threading

class Holds:
    def find_spec(self, name, path=None, target=None):
        if name in {NEEDLESS!r}:
            threading.Event().wait()

if os.environ.get("HOLD_IMPORTS"):
    sys.meta_path.insert(0, Holds())
"""


def ask(number: Any, method: str, params: dict[str, Any] | None = None) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


def say(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})


START = [ask(0, "initialize", HELLO), say("notifications/initialized"), ask(1, "tools/list")]
MODERN_START = [ask(0, "server/discover", MODERN), ask(1, "tools/list", MODERN)]

CONVERSATIONS: dict[str, tuple[list[str], int]] = {
    "handshake": ([*START, ask(2, "tools/call", {"name": "nope"})], 3),
    "modern": ([*MODERN_START, ask(2, "tools/call", {"name": "nope", **MODERN})], 3),
    "unknown methods": ([*START, ask(2, "prompts/list"), ask(3, "nope"), ask(4, "resources/list")], 5),
    "ping before": ([ask("p", "ping"), *START], 3),
    "list before the handshake": ([ask(7, "tools/list"), *START], 3),
    "list twice": ([*START, ask(2, "tools/list"), ask(3, "tools/list", {"cursor": "x"})], 4),
    "odd ids": (
        [
            *(ask("first", "initialize", HELLO), say("notifications/initialized")),
            *(ask(2**40, "tools/list"), ask(-1, "tools/list"), ask('a "b" ü', "tools/list")),
        ],
        4,
    ),
    "two requests with one id, one after the other": (
        [ask(1, "initialize", HELLO), say("notifications/initialized"), ask(1, "ping")],
        2,
    ),
    "handshake twice": ([*START, ask(2, "initialize", HELLO)], 3),
    "garbage": (["this is not JSON", "{}", "", "[]", *START, '{"id": 5}', ask(2, "ping")], 3),
    "garbage within": ([*START[:2], "nope", ask(1, "tools/list"), ask(2, "ping")], 3),
    "batch": ([f"[{START[0]}]", *START], 2),
    "cancelled": ([*START, say("notifications/cancelled", requestId=1), ask(2, "ping")], 3),
    "handshake in the modern era": ([*MODERN_START, ask(2, "initialize", HELLO)], 3),
    "modern request after a handshake": ([*START, ask(2, "tools/list", MODERN)], 3),
    "list first in the modern era": ([ask(1, "tools/list", MODERN), ask(2, "initialize", HELLO)], 2),
    "unknown version": ([ask(0, "initialize", {**HELLO, "protocolVersion": "1999-01-01"}), START[2]], 2),
}

SMOKE = {"handshake"}
LONGEST = 120  # Seconds that a server may take for an answer on the busiest machine
PARAMETERS = [
    pytest.param(*case, id=name, marks=pytest.mark.smoke if name in SMOKE else ())
    for name, case in CONVERSATIONS.items()
]


@contextmanager
def server(cache: Path, *, hold: bool = False) -> Generator[RawServer]:
    site = cache / "site"
    site.mkdir(exist_ok=True)
    if not (site / "sitecustomize.py").exists():
        (site / "sitecustomize.py").write_text(HOLDS_IMPORTS)
    # Nothing is kept for a server that is traced.
    untraced = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    # No browser is wanted, nor a driver.
    nothing = {"PLAYWRIGHT_NODEJS_PATH": shutil.which("true") or "", "HOLD_IMPORTS": "yes" if hold else ""}
    environment = {**untraced, **nothing, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(site)}
    with RawServer(browser=("--cdp-endpoint", "http://127.0.0.1:9"), environment=environment) as running:
        yield running
        running.process.kill() if hold else running.all_lines()


def talk(server: RawServer, lines: list[str], count: int) -> list[str]:
    """The first answers to the lines, sent all at once, sorted."""
    server.write(*lines)
    wait_until(lambda: len(server.lines) >= count, seconds=LONGEST)
    return sorted(server.lines[:count])


def number_kept(cache: Path) -> int:
    return sum(
        len(json.loads(path.read_text())["answers"]) for path in cache.glob("mcp-browser/answers/*.json")
    )


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "count"), PARAMETERS)
def test_answers_are_the_same_whether_known_or_not(tmp_path: Path, lines: list[str], count: int) -> None:
    with server(tmp_path) as process:
        first = talk(process, lines, count)
        assert len(process.all_lines()) == count, "there are no more answers"
    with server(tmp_path) as process:
        assert talk(process, lines, count) == first
        assert len(process.all_lines()) == count, "nothing is answered twice"


@pytest.mark.parametrize("start", [START, MODERN_START], ids=["handshake", "modern"])
def test_the_first_answers_wait_for_no_import_that_they_do_not_need(tmp_path: Path, start: list[str]) -> None:
    count = sum('"id"' in line for line in start)
    with server(tmp_path) as process:
        first = talk(process, start, count)
        # They are kept beside the work; a server that ends at once may keep the first one only.
        wait_until(lambda: number_kept(tmp_path) >= count, seconds=LONGEST)
    # In a checkout, files come and go beside the package.
    (tmp_path / "site" / "notes.txt").touch()
    with server(tmp_path, hold=True) as process:
        assert talk(process, start, count) == first


def test_what_is_kept_is_ignored_when_it_cannot_be_read_or_is_of_another_installation(tmp_path: Path) -> None:
    with server(tmp_path) as process:
        first = talk(process, START, 2)
    (path,) = tmp_path.glob("mcp-browser/answers/*.json")
    made = json.loads(path.read_text())
    wrong = dict.fromkeys(made["answers"], '{"tools":[]}}\n')
    for content in ("{", "[]", json.dumps({"made_by": "another", "answers": wrong})):
        path.write_text(content)
        with server(tmp_path) as process:
            assert talk(process, START, 2) == first

    (tmp_path / "site" / "installed-1.0.dist-info").mkdir()
    with server(tmp_path) as process:
        assert talk(process, START, 2) == first
        wait_until(lambda: json.loads(path.read_text())["made_by"] != made["made_by"], seconds=LONGEST)


def test_the_end_of_input_right_after_the_handshake_ends_the_server(tmp_path: Path) -> None:
    for _ in range(2):
        with server(tmp_path) as process:
            talk(process, START[:1], 1)


def test_a_server_is_imported_without_what_few_calls_need() -> None:
    program = "import sys, mcp_browser.server.startup, mcp_browser.server.transports; print(*sys.modules)"
    imported = succeeds(sys.executable, "-c", program)
    late = {"PIL", "av", "html_to_markdown", "jinja2", "jsonschema", "lxml", "pydantic_ai", "rich"}
    assert not late & set(imported.split())
