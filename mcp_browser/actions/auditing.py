"""Check a page: its accessibility, its looks against a kept picture, its speed for people."""

import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field, model_validator

from mcp_browser.actions.files import files_to_give
from mcp_browser.actions.observing import PICTURES_SECONDS, made_picture, png_picture
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.emulation import Emulation, Network
from mcp_browser.browser.pictures import compare_pictures
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.models import IMPACTS, DomNode, Violation
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import counted, cut, one_line

auditing = Registry(group="audit")

AUDIT_SECONDS = 60.0  # For all rules; they take a second for some thousands of elements
LONGEST_WHY = 160  # Longest reason that an element fails a rule, characters
LONGEST_UNSURE = 10  # Most rules named that a person has to judge

Standard = Literal["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]

_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
"""The tags of axe-core's rules, see https://www.deque.com/axe/core-documentation/api-documentation/.

A standard has its own and those before it.
"""


@auditing.action(effect="read", own_time=lambda _: AUDIT_SECONDS)
async def audit_accessibility(
    ctx: ActionContext,
    index: OptionalIndex = Field(None, description="only this element"),
    standard: Standard = Field("wcag22aa", description="what is checked"),
    limit: int = Field(5, ge=1, le=100, description="most elements named of a rule"),
) -> ActionResult:
    """Check accessibility by axe-core: what is wrong with which elements."""
    tags = _TAGS[: _TAGS.index(standard) + 1]
    asked = ctx.tab.dom.audit_accessibility(_axe(), tags=tags, index=index, most=limit)
    audit = await ctx.tab.ask(asked, limit=AUDIT_SECONDS)
    found = sorted(audit.violations.values(), key=lambda one: (IMPACTS.index(one.impact), -one.count))
    violations = "No violation found"
    if found:
        elements = counted(sum(rule.count for rule in found), "element")
        violations = f"{counted(len(found), 'violation')} in {elements}"
    message = f"{violations} by axe-core ({standard}); {counted(audit.passed, 'rule')} passed."
    if audit.unsure:
        names = [f"{rule.rule} ({rule.count})" for rule in audit.unsure.values()]
        message += f" A person has to judge: {', '.join(names[:LONGEST_UNSURE])}."
    if audit.missed:
        message += f" Not checked: {'; '.join(audit.missed)}."
    data = [
        {name: getattr(rule, name) for name in ("rule", "impact", "help", "criteria", "count")}
        | {"elements": [node.index for node, _ in rule.nodes[:limit] if node is not None]}
        for rule in found
    ]
    return ActionResult(
        extracted_content=message,
        page_content="\n".join(line for rule in found for line in _lines(rule, limit)) or None,
        page_lines=True,
        data={"violations": data, "passed": audit.passed},
    )


class CompareScreenshotsParams(ActionParams):
    name: str = Field(min_length=1, max_length=60, description="of the kept picture; its first use keeps it")
    index: OptionalIndex = Field(None, description="only this element")
    full_page: bool = False
    baseline: str | None = Field(None, description="file to compare with: path, browser:// or data: URI")
    threshold: float = Field(0.1, ge=0, le=1, description="how far a colour may differ")
    replace: bool = Field(False, description="keep it anew, do not compare")

    @model_validator(mode="after")
    def _is_one_kind(self) -> "CompareScreenshotsParams":
        if self.full_page and self.index is not None:
            raise ValueError("full_page goes not with index")
        return self


class _KeptPictures(SessionPlugin):
    """The pictures kept for comparison: the addresses of their files, by name."""

    def __init__(self, session: BrowserSession) -> None:
        self.uris: dict[str, str] = {}


@auditing.action(effect="read")
async def compare_screenshots(ctx: ActionContext, params: CompareScreenshotsParams) -> ActionResult:
    """Keep a picture of the page under a name; from then on, show what differs from it."""
    if ctx.settings.screenshots.screenshots == "never":
        raise NotActionable("Screenshots are switched off (screenshots=never).", hint="Use expect_snapshot.")
    kept = (await ctx.session.plugin(_KeptPictures)).uris
    before = await _baseline(ctx, params, kept)
    await ctx.tab.await_pictures(PICTURES_SECONDS)
    element = ctx.tab.element(params.index) if params.index is not None else None
    after, _ = await png_picture(ctx.tab, element, full_page=params.full_page)
    if before is None:
        artifact = await ctx.keep(after, params.name, suffix=".png", kind="screenshot", default="picture")
        kept[params.name] = artifact.uri
        return ActionResult(
            extracted_content=f"Kept the picture {params.name!r} as {artifact.place}. "
            "The next call with this name compares it.",
            attachments=ctx.attach(artifact),
        )
    try:
        difference = await anyio.to_thread.run_sync(
            lambda: compare_pictures(before, after, threshold=params.threshold)
        )
    except OSError as error:
        raise InvalidArguments(f"{params.baseline or params.name} is no picture.") from error
    data = {"different": round(difference.share, 6), "pixels": difference.pixels, "box": difference.box}
    if not difference.pixels:
        return ActionResult(extracted_content=f"The page looks as in {params.name!r}.", data=data)
    picture, _ = await made_picture(ctx, difference.picture)
    pixels = f"{difference.pixels:,} pixels"
    message = f"{difference.share:.2%} of the picture differs from {params.name!r} ({pixels})"
    if difference.box is not None:
        left, top, right, bottom = difference.box
        message += f", between {left},{top} and {right},{bottom}"
    before_size, size = difference.sizes
    if before_size != size:
        message += f"; it is {size[0]}x{size[1]}, and was {before_size[0]}x{before_size[1]}"
    message += ". What differs is red on the picture."
    return ActionResult(extracted_content=message, data=data, attachments=(picture,))


async def _baseline(
    ctx: ActionContext, params: CompareScreenshotsParams, kept: Mapping[str, str]
) -> bytes | None:
    """The picture to compare with; None if the page's is kept. Raises NotFound, InvalidArguments."""
    if params.baseline is not None:
        (path,) = await files_to_give(ctx, [params.baseline])
    elif params.replace or params.name not in kept:
        return None
    else:
        path = ctx.session.artifacts.find(kept[params.name]).path
    try:
        return await anyio.to_thread.run_sync(path.read_bytes)
    except OSError as error:
        raise NotFound(f"{path.name} cannot be read: {error.strerror}.") from error


def _lines(rule: Violation, limit: int) -> list[str]:
    about = f" (WCAG {', '.join(rule.criteria)})" if rule.criteria else ""
    lines = [f"{rule.impact}: {rule.help}{about} {rule.url.partition('?')[0]}"]
    for node, why in rule.nodes[:limit]:
        lines += [f"  {_element(node)}", f"    {one_line(cut(why, LONGEST_WHY), LONGEST_WHY)}"]
    if rule.count > len(rule.nodes[:limit]):
        lines.append(f"  … {rule.count - len(rule.nodes[:limit])} more")
    return lines


@cache
def _axe() -> str:
    """The source of axe-core, from the package axe-playwright-python."""
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


QUIET_SECONDS = 2.0  # How long is waited after the page has settled: the largest part may still be painted
LONGEST_COST = 200
KB = 1000
LARGE = 50 * KB  # From how many bytes over the network a file is large

_GOOD = {"LCP": (2500, 4000), "CLS": (0.1, 0.25), "INP": (200, 500), "FCP": (1800, 3000), "TTFB": (800, 1800)}
"""The limits of good and poor values, see https://web.dev/articles/vitals."""


@auditing.action(
    effect="navigation",
    own_time=lambda _: 60.0,
    code=lambda code, params: params.of == "reload" and code.call(code.page, "reload"),
)
async def measure_performance(
    ctx: ActionContext,
    of: Literal["reload", "page"] = Field(
        "reload", description="page: since it was opened, with what was clicked and typed"
    ),
    network: Network | None = Field(None, description="slower, while it reloads"),
    cpu: float | None = Field(None, ge=1, le=100, description="how many times slower, while it reloads"),
) -> ActionResult:
    """Measure Core Web Vitals, and what costs most: elements, requests, long tasks."""
    if of == "reload":
        async with _slowed(ctx, {"network": network, "cpu": cpu}):
            await ctx.tab.reload()
            await anyio.sleep(QUIET_SECONDS)
            found = await ctx.tab.ask(ctx.tab.dom.vitals())
    else:
        found = await ctx.tab.ask(ctx.tab.dom.vitals())
    values = {name: found[name.lower()] for name in _GOOD}
    values["LCP"] = found["lcp"] and found["lcp"]["ms"]
    rated = ", ".join(_value(name, value) for name, value in values.items() if value is not None)
    processor = f"processor {cpu:g} times slower" if cpu else None
    how = ", ".join(filter(None, (network, processor)))
    requests = f"{counted(found['requests'], 'request')}, {_size(found['bytes'])}"
    rest = f"{requests}, loaded after {found['loaded'] or 0:,.0f} ms"
    return ActionResult(
        extracted_content=f"{rated or 'Nothing was painted'}; {rest}{f' ({how})' if how else ''}.",
        page_content="\n".join(_costs(found)) or None,
        page_lines=True,
        data={name: round(value, 4) for name, value in values.items() if value is not None},
    )


@contextlib.asynccontextmanager
async def _slowed(ctx: ActionContext, wanted: Mapping[str, Any]) -> AsyncGenerator[None]:
    changes = {name: value for name, value in wanted.items() if value is not None}
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


def _costs(found: dict[str, Any]) -> Iterator[str]:
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
            yield one_line(f"{kind}: {cut_address(entry['url'])} {size}{entry['ms']:,.0f} ms", LONGEST_COST)


def _element(node: DomNode | None) -> str:
    return str(node.model_copy(update={"depth": 0})) if node is not None else "an element that is gone"


def _size(size: float) -> str:
    return f"{size / KB:,.0f} kB" if size >= KB else counted(round(size), "byte")
