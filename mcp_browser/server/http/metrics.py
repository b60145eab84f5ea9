"""What the server does, in numbers, in the text format of Prometheus."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import anyio.to_thread
import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from mcp_browser.server.calls import CallOutcome
from mcp_browser.server.http.limits import Reason

CALL_SECONDS = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # Upper limits of buckets, seconds
_MEMORY_SECONDS = 5.0


class Metrics(Collector):
    """Counts calls and refusals, and shows all numbers at `/metrics`."""

    def __init__(
        self, *, sessions: Callable[[], int], connections: Callable[[], int], restarts: Callable[[], int]
    ) -> None:
        """Ask for open sessions and connections, and restarts of browsers, only when somebody looks."""
        self._restarts = restarts
        self._memory: dict[str, int] = {}
        self._measured_at = float("-inf")
        self._registry = registry = CollectorRegistry()
        self._calls = Counter("mcp_browser_calls", "Tool calls.", ["tool", "outcome"], registry=registry)
        took = "How long tool calls took."
        self._seconds = Histogram(
            "mcp_browser_call_seconds", took, ["tool"], buckets=CALL_SECONDS, registry=registry
        )
        refused = "Requests and connections not served."
        self._refusals = Counter("mcp_browser_refused", refused, ["reason"], registry=registry)
        Gauge("mcp_browser_sessions", "Open browser sessions.", registry=registry).set_function(sessions)
        open_connections = Gauge("mcp_browser_connections", "Open HTTP connections.", registry=registry)
        open_connections.set_function(connections)
        registry.register(self)
        ProcessCollector(registry=registry)

    def called(self, tool: str, outcome: CallOutcome, seconds: float) -> None:
        """A call has been answered."""
        self._calls.labels(tool, outcome).inc()
        self._seconds.labels(tool).observe(seconds)

    def refused(self, reason: Reason) -> None:
        """A request or connection was not served."""
        self._refusals.labels(reason).inc()

    async def show(self, request: Request) -> Response:
        """The answer to `GET /metrics`."""
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        # Reading the memory of many processes takes long enough to hold others up.
        text = await anyio.to_thread.run_sync(encode, self._registry)
        return Response(text, headers={"Content-Type": content_type, "Cache-Control": "no-store"})

    def collect(self) -> Iterable[Metric]:
        """The numbers that are asked for."""
        yield CounterMetricFamily("mcp_browser_restarts", "Browsers started again.", value=self._restarts())
        memory = GaugeMetricFamily(
            "mcp_browser_memory_bytes",
            "Memory of the server and of the processes it has started, shared pages counted once.",
            labels=["process"],
        )
        if time.monotonic() - self._measured_at > _MEMORY_SECONDS:
            self._memory = process_memory()
            self._measured_at = time.monotonic()
        for process, size in self._memory.items():
            memory.add_metric([process], size)
        yield memory


def process_memory() -> dict[str, int]:
    """Bytes held by this process (`server`) and by all that it has started (`children`)."""
    server = psutil.Process()
    held = {"server": _held(server), "children": 0}
    with suppress(psutil.Error):
        held["children"] = sum(map(_held, server.children(recursive=True)))
    return held


def _held(process: psutil.Process) -> int:
    try:
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or getattr(full, "uss", 0) or full.rss)
    except psutil.AccessDenied:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
