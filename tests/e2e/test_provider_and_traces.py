"""run_task with a provider's model over stdio, and what it leaves behind: an answer, a bill, spans, a log."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.support.agents import data, done, output, text
from tests.support.aimock import KEY, calls, fails, running_aimock
from tests.support.principals import private_file
from tests.support.process import RawServer
from tests.support.site import Reply, Request, Site

SECRET = "hunter2-correct-horse"
PAGE = "<input aria-label='Pass phrase'><p>The quarterly figures are confidential.</p>"


@dataclass(frozen=True)
class Left:
    """What a run has left behind."""

    result: types.CallToolResult
    requests: list[dict[str, Any]]
    spans: list[Span]
    exported: bytes
    log: str
    files: str

    def span(self, name: str) -> Span:
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def below(self, parent: Span) -> list[str]:
        """The names of the spans below one, in the order of their starts."""
        children = [span for span in self.spans if span.parent_span_id == parent.span_id]
        return [span.name for span in sorted(children, key=lambda span: span.start_time_unix_nano)]


def attributes(span: Span) -> dict[str, Any]:
    """The attributes of a span."""
    return {
        one.key: getattr(one.value, one.value.WhichOneof("value") or "string_value")
        for one in span.attributes
    }


@asynccontextmanager
async def connected(folder: Path, environment: dict[str, str], *flags: str) -> AsyncGenerator[Client]:
    """A client of a server with these variables; its standard error goes to a file."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("MCP_BROWSER_", "OTEL_"))
    }
    command = ["-m", "mcp_browser", "--stdio", "--headless", "--isolated", "--log-level", "debug", *flags]
    server = StdioServerParameters(command=sys.executable, args=command, env={**own, **environment})
    with (folder / "log").open("w") as log:
        async with Client(stdio_client(server, errlog=log), read_timeout_seconds=60) as client:
            yield client


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def left(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Left:
    """A run that is limited, misunderstood, types a secret and succeeds."""
    folder = tmp_path_factory.mktemp("provider")
    secrets = private_file(
        folder / "secrets.toml", f'[phrase]\nvalue = "{SECRET}"\ndomains = ["127.0.0.1"]\n'
    )
    received: list[bytes] = []

    def receive(request: Request) -> Reply:
        received.append(request.body)
        return Reply(b"", "application/x-protobuf")

    collector = site.route("/collector", receive)
    with running_aimock() as aimock:
        typing = {"input_text": {"index": 1, "text": "<secret>phrase</secret>"}}
        aimock.says(
            fails(429, f"Slow down, {KEY}.", retry_after=0),
            {"content": "Let me think."},
            calls(arguments=output(typing)),
            calls(arguments=done("Typed.")),
        )
        environment = {**aimock.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": collector}
        flags = ["--model", "openai:gpt-5-mini", "--secrets", str(secrets)]
        flags += ["--tasks-dir", str(folder / "tasks")]
        asked = {"task": "Type the phrase.", "start_url": site.page(PAGE), "secrets": ["phrase"]}
        async with connected(folder, environment, *flags) as client:
            result = await client.call_tool("run_task", {**asked, "max_cost": 1, "judge": False})
        requests = aimock.requests()
    assert isinstance(result, types.CallToolResult)
    exports = [ExportTraceServiceRequest.FromString(body) for body in received]
    kept = (path for path in (folder / "tasks").rglob("*") if path.suffix in (".json", ".html"))
    spans = [
        span
        for export in exports
        for resource in export.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    log, files = (folder / "log").read_text(), "".join(path.read_text() for path in kept)
    return Left(result, requests, spans, b"".join(received), log, files)


@pytest.mark.slow
def test_the_task_is_done_in_spite_of_a_limit_and_a_useless_answer(left: Left) -> None:
    assert "What it reported: Typed." in text(left.result), text(left.result)
    assert len(left.requests) == 4


def test_tokens_and_dollars_are_told(left: Left) -> None:
    # Two answers were counted by the provider; the useless one was not, so the price of all is not known.
    used = data(left.result)["usage"]
    assert (used["requests"], used["estimated"], used["cost"]) == (3, True, None)
    assert "price unknown" in text(left.result)


def test_no_key_and_no_secret_is_left_anywhere(left: Left) -> None:
    everything = text(left.result) + str(left.result.structured_content) + left.log + left.files
    everything += left.exported.decode(errors="replace")
    assert KEY not in everything
    assert SECRET not in everything
    assert SECRET not in str([request["body"] for request in left.requests])


def test_spans_follow_the_run_from_the_call_to_the_actions(left: Left) -> None:
    call = left.span("tools/call run_task")
    assert left.below(call) == ["invoke_agent mcp-browser"]
    assert left.below(left.span("invoke_agent mcp-browser")) == ["step 1", "step 2"]
    asked = ["chat gpt-5-mini"]
    assert left.below(left.span("step 1")) == [*asked * 3, "execute_tool input_text"]
    assert left.below(left.span("step 2")) == [*asked, "execute_tool done"]


def test_spans_say_what_was_asked_and_used(left: Left) -> None:
    run = attributes(left.span("invoke_agent mcp-browser"))
    model = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini"}
    outcome = {"mcp_browser.task.status": "unconfirmed", "mcp_browser.task.steps": 2}
    task = {"gen_ai.operation.name": "invoke_agent", "mcp_browser.task.id": data(left.result)["task_id"]}
    assert {**model, **outcome, **task}.items() <= run.items()
    chats = sorted(
        (span for span in left.spans if span.name == "chat gpt-5-mini"),
        key=lambda span: span.start_time_unix_nano,
    )
    limited, _, *good = chats
    assert limited.status.code == Status.STATUS_CODE_ERROR
    assert attributes(limited)["error.type"] == "ModelRateLimited"
    for chat in good:
        assert chat.kind == Span.SPAN_KIND_CLIENT
        used = {"gen_ai.usage.input_tokens": 1_200, "gen_ai.usage.output_tokens": 40}
        assert used.items() <= attributes(chat).items()
        assert attributes(chat)["mcp_browser.usage.cost"] == pytest.approx(0.00038)
    assert attributes(left.span("execute_tool input_text"))["gen_ai.tool.name"] == "input_text"
    assert attributes(left.span("step 1"))["server.address"] == "127.0.0.1"


def test_spans_hold_nothing_of_the_page_the_task_or_the_model(left: Left) -> None:
    exported = left.exported.decode(errors="replace")
    said = "confidential|Pass phrase|Type the phrase|Typed.|Let me think|Slow down|/page/"
    assert [one for one in said.split("|") if one in exported] == []
    assert "mcp-browser" in exported


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exporter", "words"),
    [("zipkin", "otlp, console and none are known"), ("otlp", "only http/protobuf is known")],
)
async def test_an_unknown_exporter_ends_the_start(tmp_path: Path, exporter: str, words: str) -> None:
    environment = {"OTEL_TRACES_EXPORTER": exporter, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever a client makes of a server that ends
        async with connected(tmp_path, environment):
            pass
    assert words in (tmp_path / "log").read_text()


@pytest.mark.slow
async def test_spans_can_go_to_standard_error(tmp_path: Path, site: Site) -> None:
    url = site.page(PAGE)
    async with connected(tmp_path, {"OTEL_TRACES_EXPORTER": "console"}) as client:
        result = await client.call_tool("go_to_url", {"url": url})
    assert isinstance(result, types.CallToolResult)
    assert not result.is_error
    log = (tmp_path / "log").read_text()
    assert '"name": "tools/call go_to_url"' in log
    assert "confidential" not in log
    assert url not in log


@pytest.mark.slow
def test_a_receiver_that_hangs_does_not_hold_the_process(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(_: Request) -> Reply:
        site.wait_stopping(60)
        return Reply(b"")

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", site.route("/silent", hang))
    with RawServer() as server:
        server.initialize()
        server.end()
        assert server.process.wait(30) == 0
    assert "POST /silent/v1/traces" in site.requests
