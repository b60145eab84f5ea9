"""Measure how fast a page is for people."""

import contextlib
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal

import anyio
from pydantic import Field

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.emulation import Emulation, Network
from mcp_browser.dom.models import DomNode
from mcp_browser.text import counted, cut_address, one_line

performance = Registry(group="audit")

QUIET_SECONDS = 2.0  # How long is waited after the page has settled: the largest part may still be painted
LONGEST_LINE = 200
KB = 1000
LARGE = 50 * KB  # From how many bytes over the network a file is large

_GOOD = {"LCP": (2500, 4000), "FCP": (1800, 3000), "TTFB": (800, 1800), "INP": (200, 500), "CLS": (0.1, 0.25)}
"""The limits of good and poor values, see https://web.dev/articles/vitals."""


class MeasurePerformanceParams(ActionParams):
    of: Literal["reload", "page"] = Field(
        "reload", description="page: since it was opened, with what was clicked and typed"
    )
    network: Network | None = Field(None, description="slower, while it reloads")
    cpu: float | None = Field(None, ge=1, le=100, description="how many times slower, while it reloads")


@performance.action(
    effect="navigation",
    own_time=lambda _: 60.0,
    code=lambda code, params: params.of == "reload" and code.call(code.page, "reload"),
)
async def measure_performance(ctx: ActionContext, params: MeasurePerformanceParams) -> ActionResult:
    """Measure Core Web Vitals, and what costs most: elements, requests, long tasks."""
    if params.of == "reload":
        async with _slowed(ctx, params):
            await ctx.tab.reload()
            await anyio.sleep(QUIET_SECONDS)
            found = await ctx.tab.ask(ctx.tab.dom.vitals())
    else:
        found = await ctx.tab.ask(ctx.tab.dom.vitals())
    values = {
        "LCP": found["lcp"] and found["lcp"]["ms"],
        "CLS": found["cls"],
        "INP": found["inp"],
        "FCP": found["fcp"],
        "TTFB": found["ttfb"],
    }
    rated = ", ".join(_value(name, value) for name, value in values.items() if value is not None)
    processor = f"processor {params.cpu:g} times slower" if params.cpu else None
    how = ", ".join(filter(None, (params.network, processor)))
    requests = f"{counted(found['requests'], 'request')}, {_size(found['bytes'])}"
    rest = f"{requests}, loaded after {found['loaded'] or 0:,.0f} ms"
    return ActionResult(
        extracted_content=f"{rated or 'Nothing was painted'}; {rest}{f' ({how})' if how else ''}.",
        page_content="\n".join(_lines(found)) or None,
        page_lines=True,
        data={name: round(value, 4) for name, value in values.items() if value is not None},
    )


@contextlib.asynccontextmanager
async def _slowed(ctx: ActionContext, params: MeasurePerformanceParams) -> AsyncGenerator[None]:
    """Slow the network and the processor down as asked."""
    changes: dict[str, Any] = params.model_dump(include={"network", "cpu"}, exclude_none=True)
    if not changes:
        yield
        return
    if changes.get("network") == "full":
        changes["network"] = None
    emulation = await ctx.session.plugin(Emulation)
    before = {name: getattr(emulation.overrides, name) for name in changes}
    await emulation.override(changes)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await emulation.override(before)


def _value(name: str, value: float) -> str:
    good, poor = _GOOD[name]
    rating = "good" if value <= good else "poor" if value > poor else "needs improvement"
    return f"{name} {value:.3g} ({rating})" if name == "CLS" else f"{name} {value:,.0f} ms ({rating})"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """The most expensive parts, one per line."""
    largest = found["lcp"]
    if largest is not None:
        address = f" {cut_address(largest['url'])}" if largest["url"] else ""
        yield f"Largest paint: {_element(largest['node'])}{address}"
    for shift in found["shifts"]:
        yield f"Layout shift {shift['value']:.3g}: {'; '.join(map(_element, shift['nodes'])) or 'unknown'}"
    for event in found["interactions"]:
        parts = (
            f"{event['ms']:,.0f} ms, {event['delay']:,.0f} of them waiting, {event['work']:,.0f} in scripts"
        )
        yield f"Interaction {event['type']}: {_element(event['node'])} {parts}"
    if found["tasks"]:
        longest = ", ".join(f"{task['ms']:,.0f} ms at {task['at']:,.0f}" for task in found["tasks"])
        yield f"Long tasks block {found['blocked']:,.0f} ms: {longest}"
    large = [entry for entry in found["largest"] if entry["bytes"] >= LARGE]
    for kind, entries in (("Blocks rendering", found["blocking"]), ("Large", large)):
        for entry in entries:
            # The browser may hide the size of a file from another site.
            size = "cached, " if entry["cached"] else f"{_size(entry['bytes'])}, " if entry["bytes"] else ""
            yield one_line(f"{kind}: {cut_address(entry['url'])} {size}{entry['ms']:,.0f} ms", LONGEST_LINE)


def _element(node: DomNode | None) -> str:
    return str(node.model_copy(update={"depth": 0})) if node is not None else "an element that is gone"


def _size(size: float) -> str:
    return f"{size / KB:,.0f} kB" if size >= KB else counted(round(size), "byte")
