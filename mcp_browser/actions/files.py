"""Files that the browser writes."""

import base64
import re
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.browser.cdp import send
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
    path = free_path(ctx.session.output_dir, params.name or tab.title or "page", ".pdf")
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
    path.write_bytes(content)
    return ActionResult(
        extracted_content=f"Saved the page as {path} ({len(content):,} bytes).",
        attachments=(Attachment(kind="file", mime_type="application/pdf", name=path.name, path=str(path)),),
    )


def free_path(folder: Path, name: str, suffix: str) -> Path:
    """A path right in the folder that no file has yet, after a name or a title."""
    stem = name.removesuffix(suffix)
    stem = re.sub(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]+', "-", stem).strip(" .-")[:80] or "page"
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        if not path.exists():
            return path
        number += 1
