"""The content of the page as Markdown or HTML; the text of a PDF."""

import io
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any, cast

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments, NotActionable
from mcp_browser.text import SURROGATES, counted

_UNREAD = ["svg", "canvas", "object", "audio", "video", "iframe", "noscript", "template"]
_TOO_DEEP = "(This page is nested too deep to be shown as Markdown. Its plain text:)"
_FAILED = "(This page could not be turned into Markdown. Its plain text:)"
_SCRIPTS = re.compile(
    r"<(script|style|noscript|template)\b.*?</\1\s*>|<link\b[^>]*>", re.DOTALL | re.IGNORECASE
)


@lru_cache(maxsize=2)
def to_markdown(html: str, *, base_url: str, links: bool) -> str:
    """The content of HTML as Markdown; cached, since long pages are read in parts.

    If it cannot be converted, for instance if it is nested too deep: its plain text, with a line that says
    so. Without `links`, links and pictures are only their texts.
    """
    # Imported late: a server need not wait for it before a page is extracted.
    from html_to_markdown import (  # noqa: PLC0415
        ConversionError,
        ConversionOptions,
        PreprocessingOptions,
        WarningKind,
        convert,
    )

    html = SURROGATES.sub("\ufffd", html)
    options = ConversionOptions(
        base_url=base_url,
        compact_tables=True,
        bullets="-",
        autolinks=False,
        expand_abbreviations=False,
        include_blockquote_citations=False,
        extract_metadata=False,
        inline_data_media="alt_text_only",
        # The page's script knows what is hidden; navigation and forms are what an agent acts on.
        hidden_content="all",
        preprocessing=PreprocessingOptions(enabled=False),
        exclude_selectors=_UNREAD,
        strip_tags=[] if links else ["a"],
    )
    try:
        result = convert(html, options, visitor=None if links else cast("Any", _AltTexts()))
    except ConversionError:
        return _plain_text(html, _FAILED)
    if any(warning.kind == WarningKind.DEPTH_LIMIT_EXCEEDED for warning in result.warnings):
        return _plain_text(html, _TOO_DEEP)
    return (result.content or "").strip()


def without_scripts(html: str) -> str:
    """HTML without scripts, styles and templates."""
    return _SCRIPTS.sub("", html)


class _AltTexts:
    def visit_image(self, _context: object, _src: str, alt: str, _title: str) -> dict[str, str]:
        return {"type": "custom", "output": alt}


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(" ".join(data.split()))


def _plain_text(html: str, note: str) -> str:
    collector = _TextCollector()
    collector.feed(without_scripts(html))
    collector.close()
    return "\n".join([note, "", *filter(None, collector.texts)])


MOST_PAGES = 200  # How many pages are read at once

_RANGES = re.compile(r"\s*\d+\s*(?:-\s*\d*\s*)?(?:,\s*\d+\s*(?:-\s*\d*\s*)?)*")


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of some pages of a PDF, by their numbers from 1; `count` is how many pages it has."""

    pages: tuple[tuple[int, str], ...]
    count: int

    def __str__(self) -> str:
        return "\n\n".join(f"## Page {number}\n\n{text}" for number, text in self.pages if text)

    @property
    def summary(self) -> str:
        """The number of pages, which of them were not read, and which have no text."""
        summary = counted(self.count, "page")
        read = [number for number, _ in self.pages]
        if len(read) < self.count:
            summary += f", of which {_ranges(read)} {'was' if len(read) == 1 else 'were'} read"
        if empty := [number for number, text in self.pages if not text]:
            summary += f"; without text, as scans and pictures are: {_ranges(empty)}"
        return summary


@lru_cache(maxsize=2)
def pdf_text(content: bytes, pages: str | None = None) -> PdfText:
    """The text of a PDF, or of its `pages`, such as `1-3,5`; of at most 200 pages; cached.

    Raises:
        NotActionable: it cannot be read, or needs a password.
        InvalidArguments: there are no such pages.
    """
    # Imported late: a server need not wait for it before a PDF is read.
    from pypdf import PdfReader  # noqa: PLC0415

    # It logs oddities of a file in the file's own words.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise NotActionable("The PDF is protected by a password.", hint="Look with screenshot.")
        count = len(reader.pages)
        chosen = _chosen(pages, count)[:MOST_PAGES]
        texts = tuple((number, reader.pages[number - 1].extract_text().strip()) for number in chosen)
    except (NotActionable, InvalidArguments):
        raise
    # A broken file may raise anything.
    except Exception as error:
        raise NotActionable(
            f"The PDF cannot be read: it is damaged ({type(error).__name__}).", hint="Look with screenshot."
        ) from error
    return PdfText(texts, count)


def _chosen(pages: str | None, count: int) -> list[int]:
    if pages is None:
        return list(range(1, count + 1))
    if not _RANGES.fullmatch(pages):
        raise InvalidArguments(f"pages must be such as 1-3,5; {pages[:40]!r} is not.")
    chosen: list[int] = []
    for part in pages.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        begin, end = int(first), min(int(last), count) if last else count if dash else int(first)
        if not 1 <= begin <= end <= count:
            raise InvalidArguments(f"There is no page {part.strip()}: the PDF has {counted(count, 'page')}.")
        chosen += range(begin, end + 1)
    return chosen


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3, 5`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number <= runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if run[-1] != run[0] else str(run[0]) for run in runs)


extraction = Registry(group="core")

LARGEST_PDF = 50_000_000  # Largest PDF that is read from a tab, bytes


@extraction.action(effect="read")
async def extract_content(
    ctx: ActionContext,
    index: OptionalIndex = None,
    links: bool = Field(False, description="with addresses"),
    part: int = Field(1, description="of a long page"),
    pages: str | None = Field(None, description="of a PDF, such as 1-3,5"),
) -> ActionResult:
    """Read the page or an element as Markdown, frames included."""
    pdf = await ctx.tab.ask(ctx.tab.dom.pdf(index, most=LARGEST_PDF))
    if pdf is not None:
        text = await read_pdf(pdf, pages)
        if not str(text):
            return ActionResult(extracted_content=f"The PDF has {text.summary}. Look with screenshot.")
        return _part(ctx, f"Text of the PDF ({text.summary})", str(text), part)
    if pages is not None:
        raise InvalidArguments("Only a PDF has pages, and this is none.", hint="Use part.")
    return _part(ctx, f"Content of {_named(index)}", await page_markdown(ctx, index, links=links), part)


async def page_markdown(ctx: ActionContext, index: int | None, *, links: bool) -> str:
    """The page or an element as Markdown."""
    html, url = await ctx.tab.ask(ctx.tab.dom.html(index, readable=True)), ctx.tab.url
    # A thread, since a long page takes long to convert and other sessions should not wait.
    return await anyio.to_thread.run_sync(
        lambda: to_markdown(html, base_url=url, links=links), abandon_on_cancel=True
    )


@extraction.action(effect="read")
async def get_html(
    ctx: ActionContext,
    index: OptionalIndex = None,
    scripts: bool = Field(False, description="with scripts and styles"),
    part: int = Field(1, description="of a long page"),
) -> ActionResult:
    """Get the HTML of the page or an element."""
    html = await ctx.tab.ask(ctx.tab.dom.html(index))
    return _part(ctx, f"HTML of {_named(index)}", html if scripts else without_scripts(html), part)


async def read_pdf(content: bytes, pages: str | None) -> PdfText:
    """The text of a PDF, or of some of its pages; see `pdf_text`."""
    return await anyio.to_thread.run_sync(lambda: pdf_text(content, pages), abandon_on_cancel=True)


def _named(index: int | None) -> str:
    return "the page" if index is None else f"[{index}]"


def _part(ctx: ActionContext, what: str, text: str, part: int) -> ActionResult:
    return ctx.one_part(what, text, part) if text else ActionResult(extracted_content=f"{what}: none.")
