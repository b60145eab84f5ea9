"""The page as a PDF, and how what is made of a page is kept as a file of the session."""

import base64
from typing import Any

from playwright.async_api import Error as PlaywrightError
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.files.artifacts import IN_CLEAR
from mcp_browser.browser.files.filenames import size_text
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import InvalidArguments, NotActionable
from mcp_browser.text import cut_address

printing = Registry(group="core")

PRINTING_SECONDS = 30
PICTURES_SECONDS = 10  # How long what is kept of a page waits for the pictures in it


class SavePdfParams(ActionParams):
    name: str | None = Field(None, description="file name")


@printing.action(
    effect="read",
    code=lambda code, params: code.call(
        code.page, "pdf", path=f"{params.name or 'page'}.pdf", print_background=True
    ),
)
async def save_pdf(ctx: ActionContext, params: SavePdfParams) -> ActionResult:
    """Save the page as PDF."""
    content = await print_page(ctx, printBackground=True, preferCSSPageSize=True)
    return await saved_page(ctx, content, params.name, suffix=".pdf", kind="pdf")


async def print_page(ctx: ActionContext, **options: Any) -> bytes:
    """The page as a PDF; `options` are those of Chromium's `Page.printToPDF`.

    Raises:
        NotActionable: this browser cannot print.
        InvalidArguments: there are no such pages.
    """
    tab = ctx.tab
    await tab.await_pictures(PICTURES_SECONDS)
    try:
        # Playwright's own page.pdf() refuses in a browser with windows, which can do it as well.
        printed = await tab.ask(send(tab.cdp, "Page.printToPDF", **options), limit=PRINTING_SECONDS)
    except PlaywrightError as error:
        if "age range" in error.message:
            raise InvalidArguments(f"The page has no such pages: {options.get('pageRanges')}.") from error
        raise NotActionable(
            f"This browser cannot print {cut_address(tab.url)} to a PDF: {plain_message(error)}.",
            hint="A headless Chromium can; use screenshot with full_page instead.",
        ) from error
    return base64.b64decode(printed["data"])


async def saved_page(
    ctx: ActionContext, content: bytes, name: str | None, *, suffix: str, kind: str
) -> ActionResult:
    """Keep what has been made of the page as a file of the session; the result names it.

    Raises:
        NotActionable: it cannot be written.
    """
    artifact = await ctx.keep(content, name or ctx.tab.title, suffix=suffix, kind=kind, default="page")
    more = f" {IN_CLEAR}" if kind in {"pdf", "mhtml"} else ""  # Pictures have them painted over
    return ActionResult(
        extracted_content=f"Saved the page as {artifact.place} ({size_text(artifact.size)}).{more}",
        attachments=ctx.attach(artifact),
    )
