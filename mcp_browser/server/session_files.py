"""The files of browser sessions as resources."""

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_browser.browser.artifacts import URI, Artifact
from mcp_browser.browser.filenames import size_text
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotFound
from mcp_browser.server.calls import SessionSource
from mcp_browser.server.resources import Caller, Changed, Contents

LARGEST_PART = 640_000
"""Most bytes of a file in one answer: as base64 they stay well below the megabyte that clients refuse."""

LONGEST_TEXT = 850_000
"""Longest text in one answer, in characters of JSON."""

SIZE, OFFSET, NEXT = "mcp-browser/size", "mcp-browser/offset", "mcp-browser/next"
"""What an answer tells of a part in `_meta`: size of the whole file, where the part begins, the next part."""

_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})


class SessionFiles:
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

    def __init__(self, manager: BrowserManager, sessions: SessionSource) -> None:
        """Serve the files of `manager`'s sessions; `sessions` tells who may see which."""
        self._manager = manager
        self._sessions = sessions

    def listed(self, caller: Caller) -> list[types.Resource]:
        """The files of the caller's own sessions, oldest first in each."""
        return [
            _resource(artifact)
            for session in self._manager.sessions
            if self._sessions.owns(caller.request, caller.principal, session)
            for artifact in session.artifacts.files()
        ]

    async def read(self, caller: Caller, uri: str) -> Contents | None:
        """A file, or the part of it that the address asks for.

        Raises:
            NotFound: the caller has no such file, or it is not whole yet.
            MCPError: the part is outside the file, or the file is to be read in parts.
        """
        address, _, query = uri.partition("?")
        match = URI.fullmatch(address)
        if match is None:
            return None
        artifact = self.find(address, lambda session: self._may_read(caller, session))
        part = _part(query, artifact.size)
        if part is not None:
            return await _read_part(artifact, uri, *part)
        if artifact.size > LARGEST_PART:
            raise _too_large(artifact)
        return _whole(artifact, uri, await asyncio.to_thread(artifact.path.read_bytes))

    def find(self, address: str, may_read: Callable[[BrowserSession], bool]) -> Artifact:
        """The file at an address, in a session for which `may_read` is true.

        Raises:
            NotFound: there is none; for files of others the message is the same.
        """
        match = URI.fullmatch(address)
        for session in self._manager.sessions:
            if match is not None and session.artifacts.key == match["key"] and may_read(session):
                return session.artifacts.find(address)
        raise NotFound(f"There is no file at {address[:300]}.", hint="It ends with its browser session.")

    def listen(self, caller: Caller, changed: Changed) -> Callable[[], None]:
        """Tell when a file of the caller's sessions comes or goes."""

        def heard(session: BrowserSession, uri: str) -> None:
            if self._may_read(caller, session):
                changed(uri, self._sessions.owns(caller.request, caller.principal, session))

        return self._manager.listen_to_files(heard)

    def _may_read(self, caller: Caller, session: BrowserSession) -> bool:
        return self._sessions.may_read(caller.principal, session)


def _resource(artifact: Artifact) -> types.Resource:
    return types.Resource(
        name=artifact.name, uri=artifact.uri, mime_type=artifact.mime_type, size=artifact.size
    )


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


async def _read_part(artifact: Artifact, uri: str, offset: int, length: int) -> Contents:
    content = await asyncio.to_thread(_read_bytes, artifact.path, offset, length)
    meta: dict[str, object] = {SIZE: artifact.size, OFFSET: offset}
    if offset + length < artifact.size:
        meta[NEXT] = f"{artifact.uri}?offset={offset + length}"
    return types.BlobResourceContents(
        uri=uri, blob=base64.b64encode(content).decode(), mime_type=artifact.mime_type, _meta=meta
    )


def _read_bytes(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def _whole(artifact: Artifact, uri: str, content: bytes) -> Contents:
    """A whole file: as text where it is one, else as a blob."""
    if artifact.mime_type.startswith("text/") or artifact.mime_type in _TEXT_TYPES:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            pass
        else:
            if len(json.dumps(text)) <= LONGEST_TEXT:
                return types.TextResourceContents(uri=uri, text=text, mime_type=artifact.mime_type)
    blob = base64.b64encode(content).decode()
    return types.BlobResourceContents(uri=uri, blob=blob, mime_type=artifact.mime_type)


def _too_large(artifact: Artifact) -> MCPError:
    first = f"{artifact.uri}?offset=0"
    return MCPError(
        types.INVALID_PARAMS,
        f"{artifact.name} has {size_text(artifact.size)}, more than one answer holds. Read it in parts: "
        f"{first}, then as `_meta` of each part says.",
        {"uri": artifact.uri, "size": artifact.size, "part": LARGEST_PART, "first": first},
    )
