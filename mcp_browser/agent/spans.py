"""OpenTelemetry spans of runs, steps, model calls and actions, by its conventions for generative AI.

There is nothing in them that a page, a person or a model has said: names, counts, kinds of failure, hosts.
They go nowhere until the server is started with an exporter (`server.telemetry`).
"""

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from urllib.parse import urlsplit

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, get_tracer
from opentelemetry.util.types import AttributeValue

from mcp_browser.agent.record.history import StepRecord
from mcp_browser.agent.task import TaskOutcome
from mcp_browser.llm.messages import Reply
from mcp_browser.privacy.hiding import MARK
from mcp_browser.version import __version__

AGENT = "mcp-browser"

_PROVIDERS = {"google": "gcp.gemini"}  # Providers that the conventions call by another name
_tracer = get_tracer("mcp_browser.agent", __version__)


def of_run(task_id: str, model: str, style: str) -> AbstractContextManager[Span]:
    """A whole run, or the part of one that goes on after a pause."""
    run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT}
    task = {"mcp_browser.task.id": task_id, "mcp_browser.task.style": style}
    return _span(f"invoke_agent {AGENT}", {**run, **task, **_of_model(model)})


def of_step(number: int) -> AbstractContextManager[Span]:
    """One step."""
    return _span(f"step {number}", {"mcp_browser.step.number": number})


def of_request(model: str) -> AbstractContextManager[Span]:
    """One request to a model."""
    attributes = {"gen_ai.operation.name": "chat", **_of_model(model)}
    return _span(f"chat {model.partition(':')[2] or model}", attributes, SpanKind.CLIENT)


def of_action(name: str) -> AbstractContextManager[Span]:
    """One action of a step."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return _span(f"execute_tool {name}", attributes)


def end(span: Span, result: TaskOutcome | StepRecord | Reply) -> None:
    """Set the outcome and usage of a run, the host of a step, the answer to a request."""
    match result:
        case StepRecord():
            if host := urlsplit(result.url.replace(MARK, "")).hostname:
                span.set_attribute("server.address", host)
            if all(action.error for action in result.actions):
                _fail(span, "step_failed")
            return
        case TaskOutcome():
            span.set_attribute("mcp_browser.task.status", result.status.value)
            span.set_attribute("mcp_browser.task.steps", result.steps)
            if result.status.is_final and not result.succeeded:
                _fail(span, result.status.value)
        case Reply():
            span.set_attribute("gen_ai.response.model", result.model)
            span.set_attribute("gen_ai.response.finish_reasons", [result.finish])
    span.set_attribute("gen_ai.usage.input_tokens", result.usage.input_tokens)
    span.set_attribute("gen_ai.usage.output_tokens", result.usage.output_tokens)
    span.set_attribute("gen_ai.usage.cache_read.input_tokens", result.usage.cached_tokens)
    if result.usage.cost is not None:
        span.set_attribute("mcp_browser.usage.cost", float(result.usage.cost))


@contextmanager
def _span(
    name: str, attributes: Mapping[str, AttributeValue], kind: SpanKind = SpanKind.INTERNAL
) -> Generator[Span]:
    """A span that records only the kind of a failure: messages may quote a page."""
    with _tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:
            _fail(span, type(error).__name__)
            raise


def _of_model(model: str) -> dict[str, str]:
    provider, colon, name = model.partition(":")
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name if colon else model,
    }


def _fail(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))
