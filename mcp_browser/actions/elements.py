"""Mouse actions on an element: click, hover, drag."""

from pydantic import Field

from mcp_browser.actions.code import Code
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.input import Button, Modifier
from mcp_browser.dom.named import Index

elements = Registry(group="core")


class ClickElementParams(ActionParams):
    index: Index = Field(
        description='or role and name: button "Save", button "Save" #2 in dialog "Filter" or in [12]'
    )
    button: Button = "left"
    double: bool = Field(False, description="double click")
    modifiers: tuple[Modifier, ...] = Field((), description="keys held meanwhile")
    force: bool = Field(False, description="click even if covered")


def _click(code: Code, params: ClickElementParams) -> None:
    double = {"click_count": 2} if params.double else {}
    given = params.model_dump(include={"button", "modifiers", "force"}, exclude_defaults=True)
    code.call(code.element(), "click", **double, **given)


@elements.action(reach="elements", code=_click)
async def click_element(ctx: ActionContext, params: ClickElementParams) -> str:
    """Click a button, link, row or any other element by its index."""
    element = await ctx.tab.element(params.index)
    await element.click(
        button=params.button, clicks=2 if params.double else 1, modifiers=params.modifiers, force=params.force
    )
    how = "Double-clicked" if params.double else "Clicked"
    which = "" if params.button == "left" else f" with the {params.button} button"
    held = f" holding {'+'.join(params.modifiers)}" if params.modifiers else ""
    return f"{how} {element}{which}{held}."


@elements.action(reach="view", code=lambda code, _: code.call(code.element(), "hover"))
async def hover_element(ctx: ActionContext, index: Index) -> str:
    """Move the mouse over an element."""
    element = await ctx.tab.element(index)
    await element.hover()
    return f"The mouse is over {element}."


@elements.action(
    reach="elements", code=lambda code, _: code.call(code.element(), "drag_to", code.element("target"))
)
async def drag_element(
    ctx: ActionContext,
    index: Index,
    target: Index = Field(description="index to drop on"),
    offset_x: float | None = Field(None, description="px from its left edge, else its middle"),
    offset_y: float | None = Field(None, description="px from its top edge"),
) -> str:
    """Drag an element onto another one."""
    element, onto = await ctx.tab.element(index), await ctx.tab.element(target)
    await element.drag_to(onto, offset_x=offset_x, offset_y=offset_y)
    offset = (offset_x, offset_y)
    at = " at " + ", ".join("middle" if px is None else f"{px:g} px" for px in offset) if any(offset) else ""
    return f"Dragged {element} onto {onto}{at}."
