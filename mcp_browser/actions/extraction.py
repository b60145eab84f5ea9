"""The content of the page as Markdown or HTML, the text of a PDF; data by a schema, tables, the article."""

import io
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, Attachment, split_parts
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import hide
from mcp_browser.text import SURROGATES, clean_text, counted

if TYPE_CHECKING:
    from mcp_browser.actions.answer_schema import AnswerSchema
    from mcp_browser.actions.extracting.filling import Filled
    from mcp_browser.actions.extracting.tables import Table

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

    Raises NotActionable: it cannot be read, or needs a password; InvalidArguments: there are no such pages.
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


structured = Registry(group="extraction")

SHOWN_ROWS = 5  # How many rows are shown of a table, or records of a list, that is saved as a file

LEAST_CONTENT = 200  # The least room in which the content of the page is worth returning, characters


class ExtractTablesParams(ActionParams):
    index: OptionalIndex = Field(None, description="only in this element")
    table: int | None = Field(None, ge=1, description="only this one, counted from 1")
    format: Literal["csv", "json"] = "csv"
    links: bool = Field(False, description="with addresses")
    save: bool = Field(False, description="as files")


@structured.action(effect="read")
async def extract_data(
    ctx: ActionContext,
    output_schema: dict[str, Any] = Field(description="JSON schema of the data"),
    index: OptionalIndex = Field(None, description="only this element"),
    save: bool = Field(False, description="as a file"),
) -> ActionResult:
    """Fill a JSON schema by exact names in tables, labels, JSON-LD, microdata; else return the content."""
    # Imported late: it imports jsonschema.
    from mcp_browser.actions.answer_schema import AnswerSchema  # noqa: PLC0415

    schema = AnswerSchema(output_schema)
    page = await _detailed(ctx, index)
    filled = await anyio.to_thread.run_sync(lambda: _fill(schema, page), abandon_on_cancel=True)
    content = clean_text(await page_markdown(ctx, index, links=True)) if filled.lacking else ""
    # Imported late, once the thread has imported what it needs.
    from mcp_browser.actions.extracting.filling import fill_rest  # noqa: PLC0415

    read = await fill_rest(schema.shown, filled, content)
    problems = schema.problems(filled.data)
    message = f"The data {'does not fit' if problems else 'fits'} the schema{' yet' if problems else ''}"
    if filled.lacking:
        missing = "1 property is" if filled.lacking == 1 else f"{filled.lacking} properties are"
        message += f"; {missing} missing"
    message = f"{message}." if filled.found else "Found nothing under the names of the schema."
    data = {"data": filled.data, "found": filled.found, "missing": filled.missing, "problems": problems}
    attachments: tuple[Attachment, ...] = ()
    if is_file := save or len(json.dumps(data, ensure_ascii=False)) > ctx.room:
        saved = await _save(ctx, json.dumps(filled.data, ensure_ascii=False, indent=1), "data.json")
        message += f" Saved the data as {saved.place}; lists are cut here."
        attachments = ctx.attach(saved)
        data["data"] = _first(filled.data)
    room = ctx.room - len(json.dumps({**data, "content": ""}, ensure_ascii=False))
    if content and not read and room > LEAST_CONTENT:
        data["content"], is_cut = _fitting(content, room)
        message += f" The content may say the rest{'; it is cut: see extract_content' if is_cut else ''}."
    return ActionResult(
        extracted_content=message,
        page_content=json.dumps(data, ensure_ascii=False),
        data=None if is_file else data,
        data_is_whole=not is_file,
        attachments=attachments,
    )


@structured.action(effect="read")
async def extract_tables(ctx: ActionContext, params: ExtractTablesParams) -> ActionResult:
    """Get the page's tables as CSV or JSON, large ones as files."""
    page = await _detailed(ctx, params.index)
    tables = await anyio.to_thread.run_sync(lambda: _tables(page), abandon_on_cancel=True)
    if not tables:
        where = "The page" if params.index is None else f"[{params.index}]"
        raise NotFound(f"{where} has no table.", hint="Read it with extract_content.")
    if params.table is not None and params.table > len(tables):
        raise InvalidArguments(f"There is no table {params.table}: there are {len(tables)}.")
    numbers = [params.table] if params.table is not None else range(1, len(tables) + 1)
    texts = {number: _as_text(tables[number - 1], params) for number in numbers}
    room = ctx.room
    lines: list[str] = []
    saved: list[Artifact] = []
    for number, text in texts.items():
        table = tables[number - 1]
        lines.append(f"{_heading(number, table)}:")
        if params.save or len(text) > room // len(texts):
            file = await _save(ctx, text, f"{table.caption or f'table {number}'}.{params.format}")
            saved.append(file)
            lines[-1] = f"{_heading(number, table)}, whole in the file {file.name}; its first rows:"
            lines.append(_as_text(table, params, most=SHOWN_ROWS).rstrip())
        else:
            lines.append(text.rstrip())
    rest = f" of {len(tables)}" if len(texts) < len(tables) else ""
    message = f"{counted(len(texts), 'table')}{rest}" + (f"; {counted(len(saved), 'file')}" if saved else "")
    return ActionResult(
        extracted_content="\n".join((f"{message}:", *(f"File: {file.place}" for file in saved))),
        page_content="\n".join(lines),
        attachments=ctx.attach(*saved),
    )


@structured.action(effect="read")
async def extract_article(
    ctx: ActionContext,
    links: bool = Field(False, description="with addresses"),
    part: int = Field(1, description="of a long article"),
) -> ActionResult:
    """Read the page's article as Markdown, without what is around it."""
    page, url = await _detailed(ctx, None), ctx.tab.url
    text = await anyio.to_thread.run_sync(lambda: _article(page, url, links=links), abandon_on_cancel=True)
    if text is None:
        raise NotFound(
            "The page has no article.",
            hint="Read all of it with extract_content, its tables with extract_tables.",
        )
    return ctx.one_part("The article", text, part)


async def _detailed(ctx: ActionContext, index: int | None) -> str:
    return await ctx.tab.ask(ctx.tab.dom.html(index, readable=True, detailed=True))


def _fitting(content: str, room: int) -> tuple[str, bool]:
    """The beginning of a content that fits into `room` characters of JSON, and whether it is cut."""
    size = room
    while True:
        part, *rest = split_parts(content, size)
        taken = len(json.dumps(part, ensure_ascii=False)) - len('""')
        if taken <= room:
            return part, bool(rest)
        size = size * room // (taken + 1)


def _fill(schema: "AnswerSchema", page: str) -> "Filled":
    # Imported late, as below: a server need not wait for what reads HTML before it is used.
    from mcp_browser.actions.extracting.filling import Filled  # noqa: PLC0415

    return Filled(schema.shown, clean_text(page))


def _tables(page: str) -> "list[Table]":
    from mcp_browser.actions.extracting.machine_data import parse  # noqa: PLC0415
    from mcp_browser.actions.extracting.tables import tables_in  # noqa: PLC0415

    return tables_in(parse(clean_text(page)))


def _article(page: str, url: str, *, links: bool) -> str | None:
    from mcp_browser.actions.extracting.articles import find_article  # noqa: PLC0415

    article = find_article(clean_text(page))
    if article is None:
        return None
    body = to_markdown(article.html, base_url=url, links=links)
    # The first heading is most often the title itself.
    heading, _, rest = body.partition("\n")
    body = rest.lstrip() if heading.lstrip("# ") == article.title else body
    return "\n\n".join(filter(None, (f"# {article.title}", article.by, body)))


def _as_text(table: "Table", params: ExtractTablesParams, *, most: int | None = None) -> str:
    shown = table if most is None else replace(table, rows=table.rows[:most], foot=0)
    if params.format == "csv":
        return shown.as_csv(links=params.links)
    records = ",\n".join(json.dumps(row, ensure_ascii=False) for row in shown.records(links=params.links))
    return f"[\n{records}\n]"


def _heading(number: int, table: "Table") -> str:
    named = f"Table {number}" + (f" {table.caption}" if table.caption else "")
    return f"{named}, {table.size}" + (f" ({table.note})" if table.note else "")


def _first(data: Any) -> Any:
    """The data with only the first entries of each list."""
    if isinstance(data, list):
        return [_first(part) for part in cast("list[Any]", data)[:SHOWN_ROWS]]
    if isinstance(data, dict):
        return {name: _first(part) for name, part in cast("dict[str, Any]", data).items()}
    return data


async def _save(ctx: ActionContext, text: str, name: str) -> Artifact:
    shown = hide(text, ctx.session.hidden)
    return await ctx.keep(shown.encode(), name, kind="extract", default="table")
