"""Tabs: open, switch, close; and the JavaScript dialogs that hold them."""

from pydantic import Field

from mcp_browser.actions.navigation import address_of, open_url
from mcp_browser.actions.page_tools import answer_of
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.errors import NotFound, ScriptFailed
from mcp_browser.hosts import origin_of
from mcp_browser.text import quoted

tabs = Registry(group="core")


@tabs.action(
    effect="navigation",
    code=lambda code, params: code.new_page(address_of(params.url) if params.url else None),
)
async def open_tab(
    ctx: ActionContext, url: str | None = Field(None, description="default: an empty tab")
) -> str:
    """Open a new tab and switch to it."""
    if url is not None:
        return await open_url(ctx, url, new_tab=True)
    return f"Opened the blank tab {(await ctx.session.new_tab()).id}."


@tabs.action(
    effect="navigation",
    during_dialog=True,
    code=lambda code, params: code.call(code.tab(params.tab), "bring_to_front"),
)
async def switch_tab(ctx: ActionContext, tab: int) -> ActionResult:
    """Switch to a tab by its number."""
    message = f"Switched to tab {(await ctx.session.switch_tab(tab)).id}."
    # Indexes belong to their tab, so the whole page is shown.
    shown = ctx.settings.observation.observe != "none"
    observation = await ctx.session.full_observation() if shown else None
    return ActionResult(extracted_content=message, observation=observation)


@tabs.action(
    effect="navigation",
    destructive=True,
    during_dialog=True,
    code=lambda code, params: code.call(code.page if params.tab is None else code.tab(params.tab), "close"),
)
async def close_tab(
    ctx: ActionContext, tab: int | None = Field(None, description="default: the current one")
) -> str:
    """Close a tab."""
    closing = ctx.tab.id if tab is None else tab
    await ctx.session.close_tab(closing)
    return f"Closed tab {closing}; tab {ctx.tab.id} is in front."


@tabs.action(
    reach="elements",
    during_dialog=True,
    code=lambda code, params: code.answer_dialog((params.accept and params.text) or params.accept),
)
async def handle_dialog(
    ctx: ActionContext,
    accept: bool = Field(description="true: OK, also with a text; false: Cancel"),
    text: str | None = Field(None, repr=False, description="answer to a prompt"),
) -> ActionResult:
    """Accept or dismiss the open JavaScript dialog."""
    dialog = ctx.tab.dialog
    if dialog is None:
        raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
    if accept:
        ctx.tab.input.check_dialog(dialog.message, origin_of(ctx.tab.url))
    await ctx.tab.answer_dialog(accept, text)
    how = "Accepted" if accept else "Dismissed"
    message = f"{how} the {dialog.kind} dialog {quoted(dialog.message)}."
    if ctx.tab.waiting is None:
        return ActionResult(extracted_content=message)
    waiting, ctx.tab.waiting = ctx.tab.waiting, None
    try:
        answer = await answer_of(ctx, *waiting, ctx.settings.limits.action_timeout)
    except ScriptFailed as error:
        answer = ActionResult(extracted_content=str(error))
    return answer.model_copy(update={"extracted_content": f"{message} {answer.extracted_content}"})
