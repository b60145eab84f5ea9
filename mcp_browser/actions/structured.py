"""What a page holds, in a form of one's own: by a JSON schema, as tables, as an article."""

import json
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread
from pydantic import Field

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.markdown import take_part, to_markdown
from mcp_browser.actions.registry import ActionParams, OptionalIndex, Registry
from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.privacy.hiding import hide
from mcp_browser.text import CHARACTERS_A_TOKEN, clean_text, counted

if TYPE_CHECKING:
    from mcp_browser.actions.answer_schema import AnswerSchema
    from mcp_browser.actions.extracting.filling import Filled
    from mcp_browser.actions.extracting.tables import Table

structured = Registry(group="extraction")

SHOWN_ROWS = 5  # How many rows are shown of a table, or records of a list, that is saved as a file


class ExtractDataParams(ActionParams):
    output_schema: dict[str, Any] = Field(description="JSON schema of the data")
    index: OptionalIndex = Field(None, description="only this element")
    save: bool = Field(False, description="as a file")


class ExtractTablesParams(ActionParams):
    index: OptionalIndex = Field(None, description="only in this element")
    table: int | None = Field(None, ge=1, description="only this one, counted from 1")
    format: Literal["csv", "json"] = "csv"
    links: bool = Field(False, description="with addresses")
    save: bool = Field(False, description="as files")


class ExtractArticleParams(ActionParams):
    links: bool = Field(False, description="with addresses")
    part: int = Field(1, description="of a long article")


@structured.action(effect="read")
async def extract_data(ctx: ActionContext, params: ExtractDataParams) -> ActionResult:
    """Fill a JSON schema from the page: tables, lists, labels, metadata; nothing is made up."""
    # Imported late: it brings along what validates.
    from mcp_browser.actions.answer_schema import AnswerSchema  # noqa: PLC0415

    schema = AnswerSchema(params.output_schema)
    page = await _detailed(ctx, params.index)
    filled = await anyio.to_thread.run_sync(lambda: _fill(schema, page), abandon_on_cancel=True)
    filled = await _fill_rest(ctx, schema, filled, params.index)
    problems = schema.problems(filled.data)
    told = _summary(filled, fits=not problems)
    about = {"found": filled.found, "missing": filled.missing, "problems": problems}
    data = {"data": filled.data, **about}
    text = json.dumps(data, ensure_ascii=False)
    if not params.save and len(text) <= _room(ctx):
        return ActionResult(extracted_content=told, page_content=text, data=data, data_is_whole=True)
    saved = await _save(ctx, json.dumps(filled.data, ensure_ascii=False, indent=1), "data.json")
    return ActionResult(
        extracted_content=f"{told} Saved the data as {saved.place}; lists are cut here.",
        page_content=json.dumps({"data": _first(filled.data), **about}, ensure_ascii=False),
        attachments=(Attachment.of_file(saved, local=not ctx.session.artifacts.remote),),
    )


@structured.action(effect="read")
async def extract_tables(ctx: ActionContext, params: ExtractTablesParams) -> ActionResult:
    """Get the page's tables as CSV or JSON, large ones as files."""
    page = await _detailed(ctx, params.index)
    tables = await anyio.to_thread.run_sync(lambda: _tables(page), abandon_on_cancel=True)
    if not tables:
        where = "The page" if params.index is None else f"[{params.index}]"
        raise NotFound(f"{where} has no table.", hint="Lists of like elements: extract_data.")
    if params.table is not None and params.table > len(tables):
        raise InvalidArguments(f"There is no table {params.table}: there are {len(tables)}.")
    numbers = [params.table] if params.table is not None else range(1, len(tables) + 1)
    texts = {number: _as_text(tables[number - 1], params) for number in numbers}
    room = _room(ctx)
    lines: list[str] = []
    saved: list[Artifact] = []
    for number, text in texts.items():
        table = tables[number - 1]
        lines.append(f"{_told(number, table)}:")
        if params.save or len(text) > room // len(texts):
            file = await _save(ctx, text, f"{table.caption or f'table {number}'}.{params.format}")
            saved.append(file)
            lines[-1] = f"{_told(number, table)}, whole in the file {file.name}; its first rows:"
            lines.append(_as_text(table, params, most=SHOWN_ROWS).rstrip())
        else:
            lines.append(text.rstrip())
    rest = f" of {len(tables)}" if len(texts) < len(tables) else ""
    told = f"{counted(len(texts), 'table')}{rest}" + (f"; {counted(len(saved), 'file')}" if saved else "")
    return ActionResult(
        extracted_content="\n".join((f"{told}:", *(f"File: {file.place}" for file in saved))),
        page_content="\n".join(lines),
        attachments=tuple(Attachment.of_file(file, local=not ctx.session.artifacts.remote) for file in saved),
    )


@structured.action(effect="read")
async def extract_article(ctx: ActionContext, params: ExtractArticleParams) -> ActionResult:
    """Read the page's article as Markdown, without what is around it."""
    page = await _detailed(ctx, None)
    url = ctx.tab.url
    text = await anyio.to_thread.run_sync(
        lambda: _article(page, url, links=params.links), abandon_on_cancel=True
    )
    if text is None:
        raise NotFound(
            "The page has no article.",
            hint="Read all of it with extract_content, its tables with extract_tables.",
        )
    shown, parts = take_part(text, part=params.part, size=_room(ctx))
    what = "The article"
    if parts > 1:
        what += f", part {params.part} of {parts}"
        what += f" (next: part={params.part + 1})" if params.part < parts else ""
    return ActionResult(
        extracted_content=f"{what}:", page_content=shown, data={"part": params.part, "parts": parts}
    )


async def _detailed(ctx: ActionContext, index: int | None) -> str:
    return await ctx.tab.ask(ctx.tab.dom.html(index, readable=True, detailed=True))


def _room(ctx: ActionContext) -> int:
    return ctx.settings.observation.snapshot_budget * CHARACTERS_A_TOKEN


def _fill(schema: "AnswerSchema", page: str) -> "Filled":
    # Imported late, as below: a server need not wait for what reads HTML before it is used.
    from mcp_browser.actions.extracting.filling import fill_schema  # noqa: PLC0415

    return fill_schema(schema.shown, clean_text(page))


def _summary(filled: "Filled", *, fits: bool) -> str:
    if not filled.found:
        return "Found nothing of the schema on the page."
    count = len(filled.found)
    told = f"Found {count} {'property' if count == 1 else 'properties'}"
    if filled.missing:
        told += f", missed {len(filled.missing)}"
    return f"{told}; the data {'fits' if fits else 'does not fit'} the schema{'' if fits else ' yet'}."


async def _fill_rest(
    ctx: ActionContext, schema: "AnswerSchema", filled: "Filled", index: int | None
) -> "Filled":
    from mcp_browser.actions.extracting.by_model import fill_rest  # noqa: PLC0415

    async def text() -> str:
        html, url = await ctx.tab.ask(ctx.tab.dom.html(index, readable=True)), ctx.tab.url
        return clean_text(await anyio.to_thread.run_sync(lambda: to_markdown(html, base_url=url, links=True)))

    return await fill_rest(schema.shown, filled, text)


def _tables(page: str) -> "list[Table]":
    from mcp_browser.actions.extracting.tables import tables_in  # noqa: PLC0415
    from mcp_browser.actions.extracting.tree import parse  # noqa: PLC0415

    return tables_in(parse(clean_text(page)))


def _article(page: str, url: str, *, links: bool) -> str | None:
    from mcp_browser.actions.extracting.articles import find_article  # noqa: PLC0415

    article = find_article(clean_text(page))
    if article is None:
        return None
    body = to_markdown(article.html, base_url=url, links=links)
    by = ", ".join(filter(None, (article.author, article.date)))
    # The first heading is most often the title itself.
    heading, _, rest = body.partition("\n")
    body = rest.lstrip() if heading.lstrip("# ") == article.title else body
    return "\n\n".join(filter(None, (f"# {article.title}", by, body)))


def _as_text(table: "Table", params: ExtractTablesParams, *, most: int | None = None) -> str:
    shown = table if most is None else table.first(most)
    if params.format == "csv":
        return shown.as_csv(links=params.links)
    records = ",\n".join(json.dumps(row, ensure_ascii=False) for row in shown.records(links=params.links))
    return f"[\n{records}\n]"


def _told(number: int, table: "Table") -> str:
    named = f"Table {number}" + (f" {table.caption}" if table.caption else "")
    return f"{named}, {table.size}" + (f" ({table.note})" if table.note else "")


def _first(data: Any) -> Any:
    """The data with the first entries of each list."""
    if isinstance(data, list):
        return [_first(part) for part in cast("list[Any]", data)[:SHOWN_ROWS]]
    if isinstance(data, dict):
        return {name: _first(part) for name, part in cast("dict[str, Any]", data).items()}
    return data


async def _save(ctx: ActionContext, text: str, name: str) -> Artifact:
    files = ctx.session.artifacts
    try:
        shown = hide(text, ctx.session.hidden)
        return await files.add(shown.encode("utf-8"), name, kind="extract", default="table")
    except OSError as error:
        raise files.not_written(error) from error
