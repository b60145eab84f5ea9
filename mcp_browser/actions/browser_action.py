"""One tool for the whole browser, like Roo-Code's; it calls actions of the mouse group."""

from typing import Annotated, Literal, Self

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
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.errors import NotActionable

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
