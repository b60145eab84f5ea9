"""One tool for the whole browser, like Roo-Code's; it calls actions of the mouse group."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from mcp_browser.actions.coordinates import Point
from mcp_browser.actions.emulation import EmulateParams, WrittenSize, emulate
from mcp_browser.actions.mouse import (
    HotkeyParams,
    MouseClickParams,
    MouseMoveParams,
    MouseWheelParams,
    TypeTextParams,
    hotkey,
    mouse_click,
    mouse_move,
    mouse_wheel,
    type_text,
)
from mcp_browser.actions.navigation import open_url
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.errors import NotActionable

one_tool = Registry(group="browser_action")

T = TypeVar("T")

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
async def browser_action(ctx: ActionContext, params: BrowserActionParams) -> ActionResult:
    """Drive a browser by pictures: each action but close gives a picture and new console messages."""
    if ctx.tab.url == EMPTY and params.action not in ("launch", "close", "resize"):
        raise NotActionable("No page is open.", hint='Begin with action="launch" and a url.')
    return await _CARRIED_OUT[params.action](ctx, params)


async def _launch(ctx: ActionContext, params: BrowserActionParams) -> ActionResult:
    return await open_url(ctx, _given(params.url), new_tab=False)


async def _close(ctx: ActionContext, _params: BrowserActionParams) -> ActionResult:
    for number in [number for number, tab in ctx.session.tabs.items() if tab is not ctx.tab]:
        await ctx.session.close_tab(number)
    await ctx.tab.goto(EMPTY)
    return ActionResult(extracted_content="Closed. Launch opens a page again.")


_CARRIED_OUT: Mapping[str, Callable[[ActionContext, BrowserActionParams], Awaitable[ActionResult]]] = {
    "launch": _launch,
    "click": lambda ctx, params: mouse_click(ctx, MouseClickParams.model_validate({"at": params.coordinate})),
    "hover": lambda ctx, params: mouse_move(ctx, MouseMoveParams.model_validate({"at": params.coordinate})),
    "type": lambda ctx, params: type_text(ctx, TypeTextParams(text=_given(params.text))),
    "press": lambda ctx, params: hotkey(ctx, HotkeyParams(keys=_given(params.text))),
    "scroll_down": lambda ctx, _: mouse_wheel(ctx, MouseWheelParams.model_validate({"direction": "down"})),
    "scroll_up": lambda ctx, _: mouse_wheel(ctx, MouseWheelParams.model_validate({"direction": "up"})),
    "resize": lambda ctx, params: emulate(ctx, EmulateParams.model_validate({"viewport": params.size})),
    "close": _close,
}


def _given(value: T | None) -> T:
    assert value is not None, "checked by the model"
    return value
