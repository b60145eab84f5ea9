"""Virtual lists, which draw rows only near the view: scroll a list until the wanted row is drawn."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from mcp_browser.browser.page import TabPage
from mcp_browser.dom.worlds import World

SMALLEST_PART = 1e-4  # The part of a list's length at which bisection ends
LEAST_STEPS = 16  # How many bisection steps there are on slow machines, too
SEEKING_SECONDS = 4.0  # How long all lists of a page are scrolled for a text

T = TypeVar("T")


async def scroll_for(
    wanted: str,
    show: Callable[[float], Awaitable[tuple[T | None, Sequence[str]] | None]],
    *,
    seconds: float,
    thorough: bool = False,
) -> T | None:
    """Scroll a list from its start until a row is found; bisect a sorted list.

    Args:
        wanted: the row's text.
        show: scrolls to a part of the list's length (0 to 1), or on by a view (-1); returns what was found
            there and the texts of the rows, None if nothing moved.
        seconds: the time limit; a sorted list is bisected for `LEAST_STEPS` in any case.
        thorough: also scroll through all of a list that seems to be sorted.
    """
    low, high, at = 0.0, 1.0, 0.0  # Bounds of the row in a sorted list
    by_views = False
    ends, steps = time.monotonic() + seconds, 0
    while time.monotonic() < ends or (not by_views and steps < LEAST_STEPS):
        if (shown := await show(at)) is None:
            break
        steps += 1
        found, labels = shown
        if found is not None:
            return found
        rows = [_in_order(label) for label in labels]
        if by_views or not rows[1:] or rows != sorted(rows):
            by_views, at = True, -1.0
        elif rows[0] <= _in_order(wanted) <= rows[-1]:
            at = -1.0
        elif high - low > SMALLEST_PART:
            low, high = (at, high) if _in_order(wanted) > rows[-1] else (low, at)
            at = (low + high) / 2
        elif thorough:
            by_views, at = True, 0.0
        else:
            return None
    return None


async def seek(tab: TabPage, text: str) -> bool:
    """Scroll the page's virtual lists until one has this text; otherwise restore their positions."""
    wanted = tidy(text)
    if not wanted:
        return False
    ends = time.monotonic() + SEEKING_SECONDS
    for world, box, place in await tab.ask(tab.dom.partly_drawn()):
        if time.monotonic() >= ends:
            break
        show = partial(_show_rows, tab, world, box, wanted)
        if await scroll_for(text, show, seconds=ends - time.monotonic()):
            return True
        await show(place)
    return False


async def _show_rows(
    tab: TabPage, world: World, box: int, wanted: str, part: float
) -> tuple[bool | None, list[str]] | None:
    rows: list[str] | None = (await tab.ask(world.run("scrollRows", box, part)))["rows"]
    return None if rows is None else (any(wanted in tidy(row) for row in rows) or None, rows)


def tidy(text: str) -> str:
    """A text for comparisons: casefolded, with single spaces."""
    return " ".join(text.split()).casefold()


def _in_order(label: str) -> list[tuple[str, int]]:
    """A sort key for a label, with its numbers as numbers."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", f" {tidy(label)}")]
