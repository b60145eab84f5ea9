"""The content of the page: as Markdown, as HTML; the text of a PDF."""

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.extracting.pdf_text import PdfText, pdf_text
from mcp_browser.actions.markdown import take_part, to_markdown, without_scripts
from mcp_browser.actions.registry import ActionParams, OptionalIndex, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import InvalidArguments
from mcp_browser.text import CHARACTERS_A_TOKEN

extraction = Registry(group="core")

LARGEST_PDF = 50_000_000  # Largest PDF that is read from a tab, bytes


class ExtractContentParams(ActionParams):
    index: OptionalIndex = None
    links: bool = Field(False, description="with addresses")
    part: int = Field(1, description="of a long page")
    pages: str | None = Field(None, description="of a PDF, such as 1-3,5")


class GetHtmlParams(ActionParams):
    index: OptionalIndex = None
    scripts: bool = Field(False, description="with scripts and styles")
    part: int = Field(1, description="of a long page")


@extraction.action(effect="read")
async def extract_content(ctx: ActionContext, params: ExtractContentParams) -> ActionResult:
    """Read the page or an element as Markdown, frames included."""
    pdf = await ctx.tab.ask(ctx.tab.dom.pdf(params.index, most=LARGEST_PDF))
    if pdf is not None:
        text = await read_pdf(pdf, params.pages)
        if not str(text):
            return ActionResult(extracted_content=f"The PDF has {text.told}. Look with screenshot.")
        return _part(ctx, "Text", str(text), f"the PDF ({text.told})", params.part)
    if params.pages is not None:
        raise InvalidArguments("Only a PDF has pages, and this is none.", hint="Use part.")
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index, readable=True))
    url = ctx.tab.url
    # A thread, since a long page takes long to convert and other sessions should not wait.
    text = await anyio.to_thread.run_sync(
        lambda: to_markdown(html, base_url=url, links=params.links), abandon_on_cancel=True
    )
    return _part(ctx, "Content", text, _named(params.index), params.part)


@extraction.action(effect="read")
async def get_html(ctx: ActionContext, params: GetHtmlParams) -> ActionResult:
    """Get the HTML of the page or an element."""
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index))
    if not params.scripts:
        html = without_scripts(html)
    return _part(ctx, "HTML", html, _named(params.index), params.part)


async def read_pdf(content: bytes, pages: str | None) -> PdfText:
    """The text of a PDF, or of some of its pages; see `pdf_text`."""
    return await anyio.to_thread.run_sync(lambda: pdf_text(content, pages), abandon_on_cancel=True)


def _named(index: int | None) -> str:
    return "the page" if index is None else f"[{index}]"


def _part(ctx: ActionContext, kind: str, text: str, of: str, part: int) -> ActionResult:
    what = f"{kind} of {of}"
    if not text:
        return ActionResult(extracted_content=f"{what}: none.")
    size = ctx.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN
    shown, parts = take_part(text, part=part, size=size)
    if parts > 1:
        what += f", part {part} of {parts}" + (f" (next: part={part + 1})" if part < parts else "")
    return ActionResult(extracted_content=f"{what}:", page_content=shown, data={"part": part, "parts": parts})
