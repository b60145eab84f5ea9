"""The content of the page: as Markdown, as HTML."""

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.markdown import take_part, to_markdown, without_scripts
from mcp_browser.actions.registry import ActionParams, OptionalIndex, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.text import CHARACTERS_A_TOKEN

extraction = Registry(group="core")


class ExtractContentParams(ActionParams):
    index: OptionalIndex = Field(None, description="only this element")
    links: bool = Field(False, description="with addresses")
    part: int = Field(1, description="of a long page")


class GetHtmlParams(ActionParams):
    index: OptionalIndex = Field(None, description="only this element")
    scripts: bool = Field(False, description="with scripts and styles")
    part: int = Field(1, description="of a long page")


@extraction.action(effect="read")
async def extract_content(ctx: ActionContext, params: ExtractContentParams) -> ActionResult:
    """Read the page or an element as Markdown, frames included."""
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index, readable=True))
    url = ctx.tab.url
    # A thread, since a long page takes long to convert and other sessions should not wait.
    text = await anyio.to_thread.run_sync(
        lambda: to_markdown(html, base_url=url, links=params.links), abandon_on_cancel=True
    )
    return _part(ctx, "Content", text, params.index, params.part)


@extraction.action(effect="read")
async def get_html(ctx: ActionContext, params: GetHtmlParams) -> ActionResult:
    """Get the HTML of the page or an element."""
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index))
    if not params.scripts:
        html = without_scripts(html)
    return _part(ctx, "HTML", html, params.index, params.part)


def _part(ctx: ActionContext, kind: str, text: str, index: int | None, part: int) -> ActionResult:
    what = f"{kind} of {'the page' if index is None else f'[{index}]'}"
    if not text:
        return ActionResult(extracted_content=f"{what}: none.")
    size = ctx.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN
    shown, parts = take_part(text, part=part, size=size)
    if parts > 1:
        what += f", part {part} of {parts}" + (f" (next: part={part + 1})" if part < parts else "")
    return ActionResult(extracted_content=f"{what}:", page_content=shown, data={"part": part, "parts": parts})
