"""Files as resources, read whole or in parts; the files of browser sessions."""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_browser.browser.concurrency import added
from mcp_browser.browser.files.artifacts import URI, Artifact
from mcp_browser.browser.files.filenames import size_text
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotFound
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import principal_of_request
from mcp_browser.server.resources.catalog import Changed, Contents, ResourceProvider
from mcp_browser.server.sessions.sessions import Sessions

LARGEST_PART = 640_000  # Bytes of a file in one answer: as base64 well below the megabyte
LONGEST_TEXT = 850_000  # Longest text in one answer, in characters of JSON

SIZE, OFFSET, NEXT = "mcp-browser/size", "mcp-browser/offset", "mcp-browser/next"
"""What `_meta` says of a part: size of the whole file, where the part begins, the next part."""

_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file of a task. `size` in bytes."""

    name: str
    uri: str
    mime_type: str
    size: int
    path: Path


ReadableFile = Artifact | TaskFile


def resource_of(file: ReadableFile) -> types.Resource:
    """A file as it is listed."""
    return types.Resource(name=file.name, uri=file.uri, mime_type=file.mime_type, size=file.size)


async def contents_of(file: ReadableFile, uri: str) -> Contents:
    """A file, or the part of it that the address asks for by its query.

    Raises:
        MCPError: the part is outside the file, or the file is to be read in parts.
        OSError: it cannot be read.
    """
    part = _part(uri.partition("?")[2], file.size)
    if part is not None:
        return await _read_part(file, uri, *part)
    if file.size > LARGEST_PART:
        first = f"{file.uri}?offset=0"
        raise MCPError(
            types.INVALID_PARAMS,
            f"{file.name} has {size_text(file.size)}, more than one answer holds. Read it in parts: "
            f"{first}, then as `_meta` of each part says.",
            {"uri": file.uri, "size": file.size, "part": LARGEST_PART, "first": first},
        )
    return _whole(file, uri, await asyncio.to_thread(file.path.read_bytes))


def _part(query: str, size: int) -> tuple[int, int] | None:
    """Offset and length of the part that a query asks for; None where it asks for all."""
    if not query:
        return None
    try:
        given = parse_qs(query, strict_parsing=True, max_num_fields=2)
        numbers = {name: int(value) for name, (value,) in given.items()}
    except ValueError:
        numbers = {"": 0}
    if not numbers.keys() <= {"offset", "length"}:
        raise MCPError(
            types.INVALID_PARAMS,
            "A part of a file is named by ?offset=…&length=…, in bytes, and nothing else.",
        )
    offset, length = numbers.get("offset", 0), numbers.get("length", LARGEST_PART)
    if not 0 <= offset <= size or length < 1:
        raise MCPError(types.INVALID_PARAMS, f"The file has {size:,} bytes; this part is not in it.")
    return offset, min(length, LARGEST_PART, size - offset)


async def _read_part(file: ReadableFile, uri: str, offset: int, length: int) -> Contents:
    content = await asyncio.to_thread(_read_bytes, file.path, offset, length)
    meta: dict[str, object] = {SIZE: file.size, OFFSET: offset}
    if offset + length < file.size:
        meta[NEXT] = f"{file.uri}?offset={offset + length}"
    return types.BlobResourceContents(
        uri=uri, blob=base64.b64encode(content).decode(), mime_type=file.mime_type, _meta=meta
    )


def _read_bytes(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def _whole(file: ReadableFile, uri: str, content: bytes) -> Contents:
    if file.mime_type.startswith("text/") or file.mime_type in _TEXT_TYPES:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            pass
        else:
            if len(json.dumps(text)) <= LONGEST_TEXT:
                return types.TextResourceContents(uri=uri, text=text, mime_type=file.mime_type)
    blob = base64.b64encode(content).decode()
    return types.BlobResourceContents(uri=uri, blob=blob, mime_type=file.mime_type)


class SessionFiles(ResourceProvider):
    """Lists and reads the files of the sessions that a caller may see."""

    templates = (
        types.ResourceTemplate(
            name="file",
            title="File of a browser session",
            uri_template="browser://{key}/files/{id}/{name}{?offset,length}",
            description=(
                "A download, PDF, picture or recording. With offset and length, in bytes, a part of it as a "
                f"blob; files over {LARGEST_PART:,} bytes are read in parts."
            ),
        ),
    )

    def __init__(self, manager: BrowserManager, sessions: Sessions) -> None:
        self._manager = manager
        self._sessions = sessions

    def listed(self, caller: Context) -> list[types.Resource]:
        """The files of the caller's own sessions, oldest first in each."""
        return [
            resource_of(artifact)
            for session in self._manager.sessions
            if self._sessions.owns(caller, session)
            for artifact in session.artifacts.files()
        ]

    async def read(self, caller: Context, uri: str) -> Contents | None:
        """A file, or the part of it that the address asks for; raises NotFound, MCPError."""
        address = uri.partition("?")[0]
        match = URI.fullmatch(address)
        if match is None:
            return None
        reader = principal_of_request(caller)
        artifact = self.find(address, lambda session: self._sessions.may_read(reader, session))
        return await contents_of(artifact, uri)

    def find(self, address: str, may_read: Callable[[BrowserSession], bool]) -> Artifact:
        """The file at an address, in a session that `may_read` admits. Raises NotFound, alike for others."""
        match = URI.fullmatch(address)
        for session in self._manager.sessions:
            if match is not None and session.artifacts.key == match["key"] and may_read(session):
                return session.artifacts.find(address)
        raise NotFound(f"There is no file at {address[:300]}.", hint="It ends with its browser session.")

    def listen(self, caller: Context, changed: Changed) -> Callable[[], None]:
        """Report when a file of the caller's sessions is added or deleted."""

        def heard(session: BrowserSession, uri: str) -> None:
            if self._sessions.may_read(principal_of_request(caller), session):
                changed(uri, self._sessions.owns(caller, session))

        return added(self._manager.file_listeners, heard)
