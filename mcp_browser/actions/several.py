"""Several actions in one call; one tool for the whole browser, like Roo-Code's, by the mouse's actions."""

import itertools
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from mcp_browser.actions.emulation import EmulateParams, WrittenSize, emulate
from mcp_browser.actions.mouse import (
    MouseClickParams,
    MouseWheelParams,
    Point,
    hotkey,
    mouse_click,
    mouse_move,
    mouse_wheel,
    parse_coordinates,
    type_text,
)
from mcp_browser.actions.navigation import open_url
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Expansion, Registry
from mcp_browser.actions.result import ActionContext, Outcome
from mcp_browser.errors import NotActionable
from mcp_browser.text import counted

several = Registry(group="core")

DO_ACTIONS = "do_actions"
MOST_ACTIONS = 20


def _summary(outcomes: Sequence[Outcome]) -> str:
    """One line for each action; those that were not started share one."""
    lines = [
        f"{one.position}. {f'{one.action} failed: ' if one.outcome == 'failed' else ''}{one.text}"
        for one in outcomes
        if one.outcome != "not started"
    ]
    positions = {one.position: one.action for one in outcomes}
    failed = next((one for one in outcomes if one.outcome == "failed"), None)
    if failed is None:
        return "\n".join((f"Did {counted(len(positions), 'action')}.", *lines))
    left = [f"{at}. {name}" for at, name in itertools.islice(positions.items(), failed.position, None)]
    rest = [f"Not started: {', '.join(left)}."] if left else []
    return "\n".join((f"Stopped at action {failed.position} of {len(positions)}.", *lines, *rest))


@several.action(expansion=Expansion(into=lambda params: params.actions, summary=_summary))
async def do_actions(
    actions: list[dict[str, Any]] = Field(
        repr=False,
        min_length=1,
        max_length=MOST_ACTIONS,
        description='each by name: {"click_element": {"index": 12}}',
    ),
) -> None:
    """Do known steps in one call: it stops where one fails or the page is not as it was shown."""
    raise AssertionError(f"the pipeline carries out {actions}")


one_tool = Registry(group="browser_action")

EMPTY = "about:blank"

_NEEDS = {
    "launch": "url",
    "click": "coordinate",
    "hover": "coordinate",
    "type": "text",
    "press": "text",
    "resize": "size",
}


class BrowserActionParams(ActionParams):
    action: Literal[
        "launch", "click", "hover", "type", "press", "scroll_down", "scroll_up", "resize", "close"
    ] = Field(description="launch first, close last")
    url: str | None = Field(None, description="to launch")
    coordinate: Point | None = Field(None, description="x,y or x,y@WxH in the last picture")
    text: Annotated[str, TYPED_IN] | None = Field(None, description='to type; keys to press: "Control+a"')
    size: WrittenSize | None = Field(None, description="WxH to resize to")

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        needed = _NEEDS.get(self.action)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"{self.action} needs {needed}")
        return self


@one_tool.action(
    param_model=BrowserActionParams, reach="elements", pictured=lambda params: params.action != "close"
)
async def browser_action(ctx: ActionContext, params: BrowserActionParams) -> str:  # noqa: PLR0911 (one each)
    """Drive a browser by pictures: each action but close gives a picture and new console messages."""
    if ctx.tab.url == EMPTY and params.action not in ("launch", "close", "resize"):
        raise NotActionable("No page is open.", hint='Begin with action="launch" and a url.')
    match params.action:
        case "launch":
            return await open_url(ctx, params.url or "", new_tab=False)
        case "click":
            return await mouse_click(ctx, MouseClickParams.model_validate({"at": params.coordinate}))
        case "hover":
            return await mouse_move(ctx, parse_coordinates(params.coordinate))
        case "type":
            return await type_text(ctx, params.text or "")
        case "press":
            return await hotkey(ctx, params.text or "")
        case "scroll_down" | "scroll_up":
            direction = params.action.removeprefix("scroll_")
            return await mouse_wheel(ctx, MouseWheelParams.model_validate({"direction": direction}))
        case "resize":
            return await emulate(ctx, EmulateParams.model_validate({"viewport": params.size}))
        case "close":
            for number in [number for number, tab in ctx.session.tabs.items() if tab is not ctx.tab]:
                await ctx.session.close_tab(number)
            await ctx.tab.goto(EMPTY)
            return "Closed. Launch opens a page again."
