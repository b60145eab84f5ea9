"""Files: give to the page, save from it, list, wait for, read.

A page is given files by path, by the address of a session's file, or as a `data:` URI.
"""

import base64
import binascii
import contextlib
import mimetypes
import quopri
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, unquote_to_bytes

import anyio.to_thread
from playwright.async_api import Error as PlaywrightError
from pydantic import BeforeValidator, Field, model_validator

from mcp_browser.actions.code import Code, NoEquivalent
from mcp_browser.actions.extraction import read_pdf
from mcp_browser.actions.observing import describe_unscrolled, made_picture, png_picture
from mcp_browser.actions.registry import ActionParams, Registry, without_bounds
from mcp_browser.actions.result import ActionContext, ActionResult
from mcp_browser.actions.waiting import LONGEST_WAIT
from mcp_browser.browser.files.artifacts import IN_CLEAR, size_text
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.dom.named import Index
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address, hide
from mcp_browser.text import counted

files = Registry(group="files")

LARGEST_READ = 50_000_000  # Largest file that is read as text or shown as a picture, bytes

PAPERS = {
    "A3": (11.7, 16.54),
    "A4": (8.27, 11.7),
    "A5": (5.83, 8.27),
    "Letter": (8.5, 11),
    "Legal": (8.5, 14),
}
"""Width and height in inches."""

MARGIN_WITH_LINES = 0.8  # Inches above and below the pages of a PDF with a header or a footer
PRINTING_SECONDS = 30
PICTURES_SECONDS = 10  # How long a saved page waits for its pictures
SHOWN_SOURCE = 100  # How much of a wrong path or address an error repeats, characters
_DATA = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<options>(?:;[\w-]+(?:=[^;,]*)?)*),", re.IGNORECASE)

Strings = Annotated[
    list[str],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(min_length=1),
]


class SavePageParams(ActionParams):
    format: Literal["pdf", "mhtml", "png"] = "pdf"
    name: str | None = Field(None, description="file name")
    paper: Literal["A3", "A4", "A5", "Letter", "Legal"] | None = Field(None, description="of a PDF")
    landscape: bool = Field(False, description="turn the paper")
    scale: float | None = Field(None, description="0.1 to 2")
    pages: str | None = Field(None, description="such as 1-3,5")
    background: bool = Field(True, description="print background colours and pictures")
    header: str | None = Field(None, description="HTML; class title, url, date, pageNumber, totalPages")
    footer: str | None = Field(None, description="as `header`")

    @model_validator(mode="after")
    def _options_fit(self) -> "SavePageParams":
        of_pdf = {"paper", "landscape", "scale", "pages", "background", "header", "footer"}
        if self.format != "pdf" and (given := of_pdf & self.model_fields_set):
            raise ValueError(f"only a pdf has {', '.join(sorted(given))}")
        if self.scale is not None and not 0.1 <= self.scale <= 2:  # noqa: PLR2004 - as it is described
            raise ValueError("scale must be 0.1 to 2")
        return self


class WaitForDownloadParams(ActionParams):
    timeout: float = Field(30, gt=0, le=LONGEST_WAIT, json_schema_extra=without_bounds, description="seconds")


@files.action(reach="elements", alone=True)
async def drop_files(
    ctx: ActionContext,
    index: Index,
    paths: Strings = Field(repr=False, description="or data: or browser:// URIs"),
) -> str:
    """Drop files on an element, as from a folder's window."""
    element = ctx.tab.element(index)
    given = await files_to_give(ctx, paths)
    await element.drop_files(given)
    ctx.session.uploads += (file.name for file in given)
    return f"Dropped {', '.join(file.name for file in given)} on {element}."


def _save_page_code(code: Code, params: SavePageParams) -> None:
    name = f"{params.name or 'page'}.{params.format}"
    match params.format:
        case "pdf":
            code.call(code.page, "pdf", path=name, print_background=params.background)
        case "png":
            code.call(code.page, "screenshot", path=name, full_page=True)
        case "mhtml":
            raise NoEquivalent("Playwright writes no web archives")


@files.action(effect="read", code=_save_page_code)
async def save_page(ctx: ActionContext, params: SavePageParams) -> ActionResult:
    """Save the page as PDF, MHTML archive, or PNG in full size."""
    kind, lacks = params.format, ""
    match params.format:
        case "pdf":
            content = await _print(ctx, params)
        case "mhtml":
            tab = ctx.tab
            await tab.await_pictures(PICTURES_SECONDS)
            asked = send(tab.cdp, "Page.captureSnapshot", format="mhtml")
            try:
                taken = await tab.ask(asked, limit=PRINTING_SECONDS)
            except PlaywrightError as error:
                why = plain_message(error)
                raise NotActionable(f"{cut_address(tab.url)} cannot be archived: {why}.") from error
            content = str(taken["data"]).encode()
        case "png":
            if ctx.settings.screenshots.screenshots == "never":
                raise NotActionable("Screenshots are switched off (screenshots=never).")
            await ctx.tab.await_pictures(PICTURES_SECONDS)
            content, left_out = await png_picture(ctx.tab, full_page=True)
            if left_out:
                lacks = f" The last {left_out:,} px of the page are not on it."
            lacks += await describe_unscrolled(ctx.tab)
            kind = "screenshot"
    name, suffix = params.name or ctx.tab.title, f".{params.format}"
    artifact = await ctx.keep(content, name, suffix=suffix, kind=kind, default="page")
    more = f" {IN_CLEAR}" if kind in {"pdf", "mhtml"} else ""  # Pictures have them painted over
    return ActionResult(
        extracted_content=f"Saved the page as {artifact.place} ({size_text(artifact.size)}).{more}{lacks}",
        attachments=ctx.attach(artifact),
    )


@files.action(effect="read", during_dialog=True)
async def list_files(ctx: ActionContext) -> ActionResult:
    """List downloads and other files of this session."""
    under_way = [info for info in ctx.session.downloads if info.size is None]
    kept, local = ctx.session.artifacts.files(), not ctx.session.artifacts.remote
    lines = [f"{counted(len(kept), 'file')}:" if kept else "There is no file yet."]
    lines += [f"- {file.kind}, {size_text(file.size)}, {file.mime_type}: {file.place}" for file in kept]
    lines += [f"- {info}" for info in under_way]
    shown = ("name", "uri", "mime_type", "size", "kind", *(["path"] if local else []))
    dumped = [file.model_dump(mode="json") for file in kept]
    data = {
        "files": [{key: file[key] for key in shown} for file in dumped],
        "downloads": [info.model_dump(include={"name", "url", "uri", "error"}) for info in under_way],
    }
    return ActionResult(extracted_content="\n".join(lines), data=data, data_is_whole=True)


@files.action(
    effect="read",
    during_dialog=True,
    own_time=lambda params: params.timeout,
    code=lambda code, _: code.await_download(),
)
async def wait_for_download(ctx: ActionContext, params: WaitForDownloadParams) -> ActionResult:
    """Wait until downloads under way have ended, or the next one has; one just told of counts."""
    ended = await ctx.session.incoming.wait_for_end(limit=params.timeout)
    saved = {info.uri for info in ended if info.size is not None}
    files = [file for file in ctx.session.artifacts.files() if file.uri in saved]
    return ActionResult(extracted_content="\n".join(map(str, ended)), attachments=ctx.attach(*files))


@files.action(effect="read", during_dialog=True)
async def read_file(
    ctx: ActionContext,
    file: str = Field(description="name, path or browser:// URI"),
    part: int = Field(1, ge=1, description="of a long text"),
    pages: str | None = Field(None, description="of a PDF, such as 1-3,5"),
) -> ActionResult:
    """Read a file of this session: text in parts, a PDF's text, or a picture."""
    kept = ctx.session.artifacts.named(file)
    if kept.size > LARGEST_READ:
        raise NotActionable(
            f"{kept.name} has {size_text(kept.size)}, which is too much to be read here.",
            hint=f"A client can read the resource {kept.uri} in parts.",
        )
    try:
        content = await anyio.to_thread.run_sync(kept.path.read_bytes)
    except OSError as error:
        raise NotActionable(f"{kept.name} cannot be read: {error.strerror}.") from error
    message = f"{kept.name}, {size_text(kept.size)}"
    if kept.mime_type.startswith("image/") and kept.mime_type != "image/svg+xml":
        try:
            picture, size = await made_picture(ctx, content)
        except (OSError, ValueError) as error:
            raise NotActionable(f"{kept.name} is no picture that can be shown.") from error
        return ActionResult(extracted_content=f"{message}, shown at {size}.", attachments=(picture,))
    if kept.kind == "mhtml":
        content = quopri.decodestring(content)
    if content.startswith(b"%PDF"):
        pdf = await read_pdf(content, pages)
        text, message = str(pdf), f"{message}, {pdf.summary}"
    elif pages is not None:
        raise InvalidArguments(f"{kept.name} is no PDF: only one has pages.", hint="Use part.")
    else:
        text = _as_text(content)
    if text is None:
        raise NotActionable(
            f"{kept.name} ({kept.mime_type}, {size_text(kept.size)}) is no text.",
            hint=f"A client can read it as the resource {kept.uri}; a page can take it by upload_file.",
        )
    # Here too, since a part may begin in the middle of a hidden value.
    text = hide(text, ctx.session.hidden)
    parts = max(1, -(-len(text) // ctx.room))
    if part > parts:
        raise InvalidArguments(f"{kept.name} has {parts} parts; there is no part {part}.")
    message += f", part {part} of {parts}:" if parts > 1 else ":"
    shown = text[(part - 1) * ctx.room : part * ctx.room]
    return ActionResult(extracted_content=message, page_content=shown)


def _as_text(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    # Bytes that are letters in no encoding show that it is none.
    return text if text.count("\ufffd") + sum(letter < " " for letter in text) < len(text) / 8 else None


printing = Registry(group="core")


@printing.action(
    effect="read",
    code=lambda code, params: _save_page_code(code, SavePageParams.model_validate({"name": params.name})),
)
async def save_pdf(
    ctx: ActionContext, name: str | None = Field(None, description="file name")
) -> ActionResult:
    """Save the page as PDF."""
    return await save_page(ctx, SavePageParams.model_validate({"name": name}))


async def _print(ctx: ActionContext, params: SavePageParams) -> bytes:
    """The page as a PDF; raises NotActionable, InvalidArguments."""
    options: dict[str, Any] = {
        "landscape": params.landscape,
        "printBackground": params.background,
        "preferCSSPageSize": params.paper is None,
    }
    if params.paper is not None:
        options["paperWidth"], options["paperHeight"] = PAPERS[params.paper]
    if params.scale is not None:
        options["scale"] = params.scale
    if params.pages is not None:
        options["pageRanges"] = params.pages
    if params.header is not None or params.footer is not None:
        options |= {
            "displayHeaderFooter": True,
            # For an empty template, Chromium prints its own.
            "headerTemplate": params.header or "<span></span>",
            "footerTemplate": params.footer or "<span></span>",
            "marginTop": MARGIN_WITH_LINES,
            "marginBottom": MARGIN_WITH_LINES,
        }
    tab = ctx.tab
    await tab.await_pictures(PICTURES_SECONDS)
    try:
        # Playwright's own page.pdf() refuses in a browser with windows, which can do it as well.
        printed = await tab.ask(send(tab.cdp, "Page.printToPDF", **options), limit=PRINTING_SECONDS)
    except PlaywrightError as error:
        if "age range" in error.message:
            raise InvalidArguments(f"The page has no such pages: {params.pages}.") from error
        raise NotActionable(
            f"This browser cannot print {cut_address(tab.url)} to a PDF: {plain_message(error)}.",
            hint="A headless Chromium can; use screenshot with full_page instead.",
        ) from error
    return base64.b64decode(printed["data"])


async def files_to_give(ctx: ActionContext, sources: Iterable[str]) -> list[Path]:
    """The files that sources name, on the server's disk.

    A source is a path in a folder allowed for uploads, the address of a file of the session, or a content as
    a `data:` URI: `data:text/csv;name=table.csv;base64,YSxi`. Raises NotFound; InvalidArguments: a path is
    outside the allowed folders or a folder, or a content is wrong; NotActionable: it could not be written.
    """
    artifacts = ctx.session.artifacts
    files: list[Path] = []
    for source in sources:
        if source[:5].lower() == "data:":
            name, content = decode_data_uri(source)
            try:
                files.append(await artifacts.stage(content, name))
            except OSError as error:
                raise NotActionable(f"{name} could not be written: {error.strerror}.") from error
        elif source[:10].lower() == "browser://":
            files.append(artifacts.find(source).path)
        elif artifacts.remote:
            files.append(_remote_file(source, ctx.session.upload_dirs))
        else:
            files.append(allowed_file(source, ctx.session.upload_dirs))
    most = ctx.settings.files.max_files_size * 1_000_000
    if (size := sum(file.stat().st_size for file in files)) > most:
        raise InvalidArguments(f"The files have {size_text(size)}; {size_text(most)} may be given at once.")
    return files


def decode_data_uri(uri: str) -> tuple[str, bytes]:
    """Name (the parameter `name`, percent-encoded) and content of a `data:` URI; raises InvalidArguments."""
    match = _DATA.match(uri)
    if match is None:
        raise InvalidArguments(
            f"{uri[:SHOWN_SOURCE]} is no data URI.",
            hint="One looks like data:text/csv;name=a.csv;base64,YSxi or data:text/plain;name=a.txt,Hello.",
        )
    options = match["options"].split(";")
    named = [option.partition("=")[2] for option in options if option.lower().startswith("name=")]
    kind = (match["type"] or "text/plain").lower()
    name = unquote(named[0]) if named else f"file{mimetypes.guess_extension(kind) or ''}"
    payload = uri[match.end() :]
    if "base64" not in (option.lower() for option in options):
        return name, unquote_to_bytes(payload)
    try:
        # Line breaks and the alphabet for URLs come from many encoders.
        plain = unquote("".join(payload.split())).replace("-", "+").replace("_", "/").rstrip("=")
        return name, base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArguments(f"The content of {name} is not base64: {error}.") from error


def allowed_file(path: str, folders: Iterable[Path]) -> Path:
    """The file at a path, if it lies in an allowed folder; raises NotFound, InvalidArguments."""
    allowed = [folder.expanduser().resolve() for folder in folders]
    shown = path[:SHOWN_SOURCE]
    try:
        file = Path(path).expanduser().resolve()
        inside = any(file.is_relative_to(folder) for folder in allowed)
        exists = inside and file.exists()  # Raises for a path that is too long for the file system.
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidArguments(
            f"{shown!r} is no path.", hint="Give the path of a file that is there."
        ) from error
    if not inside:
        names = ", ".join(str(folder) for folder in allowed) or "none"
        raise InvalidArguments(
            f"{shown} is not in a folder that files may be uploaded from.",
            hint=f"Allowed: {names}. More can be allowed with --upload-dir when the server starts.",
        )
    if not exists:
        raise NotFound(f"There is no file {shown}.")
    if not file.is_file():
        raise InvalidArguments(f"{shown} is a folder, not a file.")
    return file


def _remote_file(name: str, folders: Sequence[Path]) -> Path:
    """Find a file by name; never reveal the server's folders or their content to a remote client."""
    for folder in folders:
        with contextlib.suppress(InvalidArguments, NotFound):
            return allowed_file(str(folder / name), folders)
    raise InvalidArguments(
        f"{name[:SHOWN_SOURCE]} is no file that may be uploaded: the browser is on another machine.",
        hint="Give the content, as data:text/csv;name=a.csv;base64,YSxi, or a browser:// address.",
    )
