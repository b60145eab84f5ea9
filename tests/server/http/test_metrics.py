import asyncio
import sys
from itertools import chain

from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request

from mcp_browser.server.http.metrics import Metrics, process_memory

LABELS = ("tool", "outcome", "reason", "process", "le")


async def shown(metrics: Metrics) -> dict[str, float]:
    """What a scrape gets: each sample with its labels, and its value."""
    answer = await metrics.show(Request({"type": "http", "method": "GET", "headers": []}))
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(bytes(answer.body).decode())
    found: dict[str, float] = {}
    for sample in chain.from_iterable(family.samples for family in families):
        labels = [sample.labels[name] for name in LABELS if name in sample.labels]
        found[" ".join([sample.name, *labels])] = sample.value
    return found


def metrics_of(sessions: int = 0, connections: int = 0, restarts: int = 0) -> Metrics:
    return Metrics(sessions=lambda: sessions, connections=lambda: connections, restarts=lambda: restarts)


async def test_calls_are_counted_and_timed_beside_refusals_sessions_connections_and_restarts() -> None:
    metrics = metrics_of(3, 5, 2)
    metrics.called("click_element", "ok", 0.04)
    metrics.called("click_element", "error", 2)
    metrics.called("go_to_url", "cancelled", 100)
    metrics.refused("rate")
    metrics.refused("rate")
    found = await shown(metrics)
    expected = {
        "calls_total click_element ok": 1,
        "calls_total click_element error": 1,
        "call_seconds_bucket click_element 0.05": 1,
        "call_seconds_bucket click_element 2.5": 2,
        "call_seconds_sum click_element": 2.04,
        "call_seconds_bucket go_to_url 60.0": 0,
        "call_seconds_count go_to_url": 1,
        "refused_total rate": 2,
        "sessions": 3,
        "connections": 5,
        "restarts_total": 2,
    }
    assert {name: found[f"mcp_browser_{name}"] for name in expected} == expected


async def test_memory_counts_the_processes_that_were_started() -> None:
    metrics = metrics_of()
    before = (await shown(metrics))["mcp_browser_memory_bytes children"]
    code = "held = b'x' * 400_000_000; print(flush=True); input()"
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=pipe, stdout=pipe)
    assert child.stdout is not None
    await child.stdout.readline()
    # A browser of other tests may give some back meanwhile.
    assert process_memory()["children"] - before > 200_000_000
    # Many scrapes do not measure more often than every few seconds.
    assert (await shown(metrics))["mcp_browser_memory_bytes children"] == before
    await child.communicate(b"\n")
    assert (await shown(metrics))["mcp_browser_memory_bytes server"] > 10_000_000
