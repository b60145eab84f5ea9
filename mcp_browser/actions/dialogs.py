"""JavaScript dialogs: alert, confirm, prompt, and the question before leaving a page."""

from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import NotFound

dialogs = Registry(group="core")


class HandleDialogParams(ActionParams):
    accept: bool
    text: str | None = Field(None, description="answer to a prompt")


@dialogs.action(during_dialog=True)
async def handle_dialog(ctx: ActionContext, params: HandleDialogParams) -> ActionResult:
    """Accept or dismiss the open JavaScript dialog."""
    dialog = ctx.tab.dialog
    if dialog is None:
        raise NotFound("No dialog is open.", hint="It may have closed by itself; look with get_state.")
    await ctx.tab.answer_dialog(params.accept, params.text)
    how = "Accepted" if params.accept else "Dismissed"
    return ActionResult(extracted_content=f'{how} the {dialog.kind} dialog "{dialog.message}".')
