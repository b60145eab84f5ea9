"""Scroll by pages, inside an element, to a text."""

import math
from typing import Literal

from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry, without_bounds
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.browser.choosing import seek
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import NotFound

scrolling = Registry(group="core")

Direction = Literal["down", "up", "right", "left", "top", "bottom"]

_STEPS: dict[Direction, tuple[float, float]] = {
    "down": (0, 1),
    "up": (0, -1),
    "right": (1, 0),
    "left": (-1, 0),
    "top": (0, -math.inf),
    "bottom": (0, math.inf),
}


class ScrollParams(ActionParams):
    direction: Direction = "down"
    pages: float = Field(
        1, gt=0, le=1000, json_schema_extra=without_bounds, description="in views, such as 0.5"
    )
    index: OptionalIndex = Field(None, description="scroll inside this")


def _scroll_code(code: Code, params: ScrollParams) -> None:
    x, y = _STEPS[params.direction]
    if math.isinf(y):
        by = f"top: {'-' if y < 0 else ''}1e6"
    else:
        by = f"left: {x * params.pages:g} * innerWidth" if x else f"top: {y * params.pages:g} * innerHeight"
    if params.index is not None:
        code.call(code.element(), "evaluate", f"element => element.scrollBy({{{by}}})")
    else:
        code.call(code.page, "evaluate", f"document.scrollingElement.scrollBy({{{by}}})")


@scrolling.action(reach="view", code=_scroll_code)
async def scroll(ctx: ActionContext, params: ScrollParams) -> str:
    """Scroll the page, or inside an element."""
    x, y = _STEPS[params.direction]
    # Infinity times any number of pages is still the end.
    asked = ctx.tab.dom.scroll(x=x * params.pages, y=y * params.pages, index=params.index)
    scrolled = await ctx.tab.ask(asked)
    what = str(scrolled.node) if scrolled.node else "the page"
    pairs = (scrolled.moved, scrolled.position, scrolled.seen, scrolled.size)
    moved, at, view, whole = (across if x else down for across, down in pairs)
    side = {"top": "up", "bottom": "down"}.get(params.direction, params.direction)
    if whole <= view + 1:
        return f"Nothing to scroll {side}: {what} shows all of its content."
    if not moved:
        return f"{what[0].upper()}{what[1:]} cannot be scrolled further {side}."
    rest = max(0.0, (whole - view - at) / view)
    screens = f"{at / view:.1f} screens before, {rest:.1f} after"
    return f"Scrolled {what} {side} by {abs(moved)} px; {screens} what is in view."


@scrolling.action(
    reach="view",
    code=lambda code, params: code.call(
        code.find("text", params.text, nth=params.nth - 1), "scroll_into_view_if_needed"
    ),
)
async def scroll_to_text(
    ctx: ActionContext,
    text: str = Field(min_length=1, repr=False),
    nth: int = Field(1, ge=1, json_schema_extra=without_bounds, description="which occurrence"),
) -> ActionResult:
    """Scroll to where a text stands."""
    asked = ctx.tab.dom.scroll_to_text
    try:
        context, count = await ctx.tab.ask(asked(text, nth=nth))
    except NotFound:
        if nth > 1 or not await seek(ctx.tab, text):
            raise
        context, count = await ctx.tab.ask(asked(text))
    which = f"match {nth} of {count}" if count > 1 else "the only match"
    return ActionResult(extracted_content=f"Scrolled to {which}:", page_content=context, page_lines=True)
