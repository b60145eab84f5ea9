"""Files that the browser writes."""

import base64

from playwright.async_api import Error as PlaywrightError
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.browser.cdp import send
from mcp_browser.browser.filenames import size_text
from mcp_browser.browser.playwright_errors import plain_message
from mcp_browser.errors import NotActionable

files = Registry(group="core")

PRINTING_SECONDS = 30


class SavePdfParams(ActionParams):
    """Arguments of save_pdf."""

    name: str | None = Field(None, description="file name")


@files.action(effect="read")
async def save_pdf(ctx: ActionContext, params: SavePdfParams) -> ActionResult:
    """Save the page as a PDF file."""
    tab = ctx.tab
    if tab.cdp is None:
        raise NotActionable("Only Chromium can save a page as a PDF.", hint="Use screenshot with full_page.")
    try:
        # Playwright's own page.pdf() refuses in a browser with windows, which can do it as well.
        printing = send(tab.cdp, "Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        printed = await tab.ask(printing, limit=PRINTING_SECONDS)
    except PlaywrightError as error:
        raise NotActionable(
            f"This browser cannot print {tab.url} to a PDF: {plain_message(error)}.",
            hint="A headless Chromium can; use screenshot with full_page instead.",
        ) from error
    content = base64.b64decode(printed["data"])
    return await saved_page(ctx, content, params.name or tab.title, suffix=".pdf", kind="pdf")


async def saved_page(
    ctx: ActionContext, content: bytes, name: str, *, suffix: str, kind: str
) -> ActionResult:
    """Keep what has been made of the page as a file of the session; the result names it.

    Raises:
        NotActionable: it cannot be written.
    """
    files = ctx.session.artifacts
    try:
        artifact = await files.add(content, name, suffix=suffix, kind=kind, default="page")
    except OSError as error:
        raise NotActionable(f"The file could not be written: {error.strerror}.") from error
    return ActionResult(
        extracted_content=f"Saved the page as {artifact.place} ({size_text(artifact.size)}).",
        attachments=(Attachment.of_file(artifact, local=not files.remote),),
    )
