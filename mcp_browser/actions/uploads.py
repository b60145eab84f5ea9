"""Files given to pages: by path, by the address of a session's file, or as a `data:` URI."""

import base64
import binascii
import contextlib
import mimetypes
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.files.filenames import size_text
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound

SHOWN_SOURCE = 100  # How much of a wrong path or address an error repeats, characters
_DATA = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<options>(?:;[\w-]+(?:=[^;,]*)?)*),", re.IGNORECASE)


async def files_to_give(ctx: ActionContext, sources: Iterable[str]) -> list[Path]:
    """The files that sources name, on the server's disk.

    A source is a path in a folder allowed for uploads, the address of a file of the session, or a content as
    a `data:` URI: `data:text/csv;name=table.csv;base64,YSxi`.

    Raises:
        NotFound: there is no such file.
        InvalidArguments: a path is outside the allowed folders or a folder, or a content is wrong.
        NotActionable: a content could not be written.
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
