"""Extract data of a page: by a JSON schema, as tables, as an article."""

import json
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.extraction import page_markdown, to_markdown
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, Attachment, split_parts
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.privacy.hiding import hide
from mcp_browser.text import clean_text, counted

if TYPE_CHECKING:
    from mcp_browser.actions.answer_schema import AnswerSchema
    from mcp_browser.actions.extracting.filling import Filled
    from mcp_browser.actions.extracting.tables import Table

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
    message = _summary(filled, fits=not problems)
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


def _summary(filled: "Filled", *, fits: bool) -> str:
    if not filled.found:
        return "Found nothing under the names of the schema."
    message = f"The data {'fits' if fits else 'does not fit'} the schema{'' if fits else ' yet'}"
    if filled.lacking == 1:
        return f"{message}; 1 property is missing."
    return f"{message}; {filled.lacking} properties are missing." if filled.lacking else f"{message}."


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
    shown = table if most is None else table.first(most)
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
    return await ctx.keep(shown.encode("utf-8"), name, kind="extract", default="table")
