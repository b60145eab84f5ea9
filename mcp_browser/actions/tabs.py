"""Tabs: open, switch, close; and the JavaScript dialogs that hold them."""

from pydantic import Field

from mcp_browser.actions.navigation import address_of, open_url
from mcp_browser.actions.page_tools import answer_of
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.errors import NotFound, ScriptFailed
from mcp_browser.hosts import origin_of
from mcp_browser.text import quoted

tabs = Registry(group="core")


class OpenTabParams(ActionParams):
    url: str | None = Field(None, description="default: an empty tab")


class SwitchTabParams(ActionParams):
    tab: int


class CloseTabParams(ActionParams):
    tab: int | None = Field(None, description="default: the current one")


@tabs.action(
    effect="navigation",
    code=lambda code, params: code.new_page(address_of(params.url) if params.url else None),
)
async def open_tab(ctx: ActionContext, params: OpenTabParams) -> ActionResult:
    """Open a new tab and switch to it."""
    if params.url is not None:
        return await open_url(ctx, params.url, new_tab=True)
    tab = await ctx.session.new_tab()
    return ActionResult(extracted_content=f"Opened the blank tab {tab.id}.")


@tabs.action(
    effect="navigation",
    during_dialog=True,
    code=lambda code, params: code.call(code.tab(params.tab), "bring_to_front"),
)
async def switch_tab(ctx: ActionContext, params: SwitchTabParams) -> ActionResult:
    """Switch to a tab by its number."""
    tab = await ctx.session.switch_tab(params.tab)
    message = f"Switched to tab {tab.id}."
    if ctx.settings.observation.observe == "none":
        return ActionResult(extracted_content=message)
    # Indexes belong to their tab, so the whole page is shown.
    return ActionResult(extracted_content=message, observation=await ctx.session.full_observation())


@tabs.action(
    effect="navigation",
    destructive=True,
    during_dialog=True,
    code=lambda code, params: code.call(code.page if params.tab is None else code.tab(params.tab), "close"),
)
async def close_tab(ctx: ActionContext, params: CloseTabParams) -> ActionResult:
    """Close a tab."""
    closing = ctx.tab.id if params.tab is None else params.tab
    await ctx.session.close_tab(closing)
    return ActionResult(extracted_content=f"Closed tab {closing}; tab {ctx.tab.id} is in front.")


class HandleDialogParams(ActionParams):
    accept: bool = Field(description="true: OK, also with a text; false: Cancel")
    text: str | None = Field(None, repr=False, description="answer to a prompt")


@tabs.action(
    reach="elements",
    during_dialog=True,
    code=lambda code, params: code.answer_dialog((params.accept and params.text) or params.accept),
)
async def handle_dialog(ctx: ActionContext, params: HandleDialogParams) -> ActionResult:
    """Accept or dismiss the open JavaScript dialog."""
    dialog = ctx.tab.dialog
    if dialog is None:
        raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
    if params.accept:
        ctx.tab.input.check_dialog(dialog.message, origin_of(ctx.tab.url))
    await ctx.tab.answer_dialog(params.accept, params.text)
    how = "Accepted" if params.accept else "Dismissed"
    message = f"{how} the {dialog.kind} dialog {quoted(dialog.message)}."
    if ctx.tab.waiting is None:
        return ActionResult(extracted_content=message)
    waiting, ctx.tab.waiting = ctx.tab.waiting, None
    try:
        answer = await answer_of(ctx, *waiting, ctx.settings.limits.action_timeout)
    except ScriptFailed as error:
        answer = ActionResult(extracted_content=str(error))
    return answer.model_copy(update={"extracted_content": f"{message} {answer.extracted_content}"})
