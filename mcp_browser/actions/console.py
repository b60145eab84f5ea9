"""The page's console messages."""

import time
from typing import Literal

from pydantic import Field

from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionContext, ActionResult, list_part
from mcp_browser.browser.collectors import LEVELS, Entry, Location
from mcp_browser.browser.source_maps import SourceMaps
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import one_line

console = Registry(group="console")

LONGEST = 500  # How much of a message is shown, characters
MAPPED = 60  # How many positions are looked up in source maps for one result


@console.action(effect="read", during_dialog=True)
async def get_console_messages(
    ctx: ActionContext,
    level: Literal["error", "warning", "info", "debug"] = Field("debug", description="this and graver"),
    text: str | None = Field(None, repr=False, description="part of the message"),
    part: int = Field(1, description="of a long list"),
    clear: bool = Field(False, description="forget all afterwards"),
) -> ActionResult:
    """List console messages and uncaught errors of the tab, newest first, with source positions."""
    kept = ctx.tab.console
    redactor = ctx.session.redactor()
    levels = LEVELS[: LEVELS.index(level) + 1]
    wanted = text.lower() if text else ""
    chosen = [
        entry for entry in reversed(kept.entries()) if entry.level in levels and wanted in entry.text.lower()
    ]
    places = dict.fromkeys(
        place for entry in chosen for place in (*entry.stack, *filter(None, (entry.place,)))
    )
    maps = await ctx.session.plugin(SourceMaps)
    originals = await maps.originals(ctx.tab, [*places][:MAPPED])
    lines = [_line(entry, originals, redactor) for entry in chosen]
    result = list_part(ctx, lines, what="console message", part=part, dropped=kept.dropped)
    if clear:
        kept.clear()
    return result


def _line(entry: Entry, originals: dict[Location, Location], redactor: Redactor) -> str:
    text = one_line(redactor.text(entry.text), LONGEST)
    times = f" ({entry.times} times)" if entry.times > 1 else ""
    clock = time.strftime("%H:%M:%S", time.localtime(entry.time))
    line = f"{clock} {entry.level}: {text}{times}"
    if entry.stack:
        return "\n".join([line, *(f"at {_place(place, originals, redactor)}" for place in entry.stack)])
    return f"{line} ({_place(entry.place, originals, redactor)})" if entry.place else line


def _place(place: Location, originals: dict[Location, Location], redactor: Redactor) -> str:
    known = originals.get(place, place)
    where = f"{redactor.url(known.url)[:300]}:{known.line}:{known.column}"
    return f"{place.function} ({where})" if place.function else where
