"""The content of the page: as Markdown, as HTML; the text of a PDF."""

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.extracting.pdf_text import PdfText, pdf_text
from mcp_browser.actions.markdown import to_markdown, without_scripts
from mcp_browser.actions.registry import ActionParams, OptionalIndex, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import InvalidArguments

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
        return _part(ctx, f"Text of the PDF ({text.told})", str(text), params.part)
    if params.pages is not None:
        raise InvalidArguments("Only a PDF has pages, and this is none.", hint="Use part.")
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index, readable=True))
    url = ctx.tab.url
    # A thread, since a long page takes long to convert and other sessions should not wait.
    text = await anyio.to_thread.run_sync(
        lambda: to_markdown(html, base_url=url, links=params.links), abandon_on_cancel=True
    )
    return _part(ctx, f"Content of {_named(params.index)}", text, params.part)


@extraction.action(effect="read")
async def get_html(ctx: ActionContext, params: GetHtmlParams) -> ActionResult:
    """Get the HTML of the page or an element."""
    html = await ctx.tab.ask(ctx.tab.dom.html(params.index))
    if not params.scripts:
        html = without_scripts(html)
    return _part(ctx, f"HTML of {_named(params.index)}", html, params.part)


async def read_pdf(content: bytes, pages: str | None) -> PdfText:
    """The text of a PDF, or of some of its pages; see `pdf_text`."""
    return await anyio.to_thread.run_sync(lambda: pdf_text(content, pages), abandon_on_cancel=True)


def _named(index: int | None) -> str:
    return "the page" if index is None else f"[{index}]"


def _part(ctx: ActionContext, what: str, text: str, part: int) -> ActionResult:
    return ctx.one_part(what, text, part) if text else ActionResult(extracted_content=f"{what}: none.")
