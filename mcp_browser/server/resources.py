"""MCP resources: what can be listed, read and watched, in both eras; the files of browser sessions."""

import asyncio
import base64
import contextlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import parse_qs

import anyio
import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from mcp_browser.browser.concurrency import added
from mcp_browser.browser.files.artifacts import URI, Artifact, size_text
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError, NotFound
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import principal_of_request
from mcp_browser.server.sessions.sessions import Sessions

logger = logging.getLogger(__name__)

Contents = types.TextResourceContents | types.BlobResourceContents

PAGE = 100  # How many resources a page of the list has
MOST_SUBSCRIPTIONS = 1000  # How many addresses one connection may watch
_SENDING_SECONDS = 1.0  # How long an answer waits for the notifications before it
MOST_LISTENERS = 1024  # How many streams of changes may be open at a time

LARGEST_PART = 640_000  # Bytes of a file in one answer: as base64 well below the megabyte
LONGEST_TEXT = 850_000  # Longest text in one answer, in characters of JSON

SIZE, OFFSET, NEXT = "mcp-browser/size", "mcp-browser/offset", "mcp-browser/next"
"""What `_meta` says of a part: size of the whole file, where the part begins, the next part."""

_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})

Changed = Callable[[str, bool], None]  # Called with an address, and whether the caller's list has it


class ResourceProvider(Protocol):
    """A family of resources, such as the files of sessions; `templates` are the forms of its addresses."""

    templates: ClassVar[Sequence[types.ResourceTemplate]] = ()

    def listed(self, _caller: Context, /) -> list[types.Resource]:
        """What there is for this caller, oldest first; by default nothing."""
        return []

    async def read(self, caller: Context, uri: str) -> Contents | None:
        """The contents of a resource; None where the address is of another family.

        Raises MCPError: it is read in another way, which the message says; ActionError: the caller has none.
        """
        ...

    def listen(self, _caller: Context, _changed: Changed, /) -> Callable[[], None]:
        """Report changes of resources that the caller may read, until the function returned is called."""
        return lambda: None


class Resources:
    """Serves the resources of some providers."""

    def __init__(self, providers: Iterable[ResourceProvider]) -> None:
        self._providers = tuple(providers)
        self._streams: set[ListenHandler] = set()

    @property
    def handlers(self) -> dict[str, Any]:
        """The handlers of requests about resources, as the SDK's server takes them."""
        return {
            "on_list_resources": self.list,
            "on_list_resource_templates": self.list_templates,
            "on_read_resource": self.read,
            "on_subscribe_resource": self.subscribe,
            "on_unsubscribe_resource": self.unsubscribe,
            "on_subscriptions_listen": self.listen,
        }

    async def list(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        """One page of the caller's resources."""
        found = [resource for provider in self._providers for resource in provider.listed(ctx)]
        cursor = "0" if params.cursor is None else params.cursor
        if not cursor.isascii() or not cursor.isdigit():
            raise MCPError(types.INVALID_PARAMS, "The cursor is none that this server has given.")
        start, end = int(cursor), int(cursor) + PAGE
        following = str(end) if end < len(found) else None
        return types.ListResourcesResult(resources=found[start:end], next_cursor=following)

    async def list_templates(
        self, _ctx: Context, _params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        """The forms that addresses have."""
        return types.ListResourceTemplatesResult(
            resource_templates=[template for provider in self._providers for template in provider.templates]
        )

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """The contents of a resource. Raises MCPError -32602: there is none, or it is to be read in parts."""
        for provider in self._providers:
            try:
                contents = await provider.read(ctx, params.uri)
            except ActionError as error:
                raise MCPError(types.INVALID_PARAMS, str(error), {"uri": params.uri}) from error
            except MCPError:
                raise
            except Exception as error:
                logger.exception("A resource could not be read")
                what = "file" if isinstance(error, OSError) else "resource"
                raise MCPError(types.INTERNAL_ERROR, f"The {what} could not be read.") from error
            if contents is not None:
                return types.ReadResourceResult(contents=[contents])
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {params.uri[:300]}.", {"uri": params.uri})

    # -- changes, for the handshake era: a connection has a channel of its own

    async def notified(self, ctx: Context) -> None:
        """Wait until a connection has its notifications; they begin at the end of its handshake."""
        if ctx.method == "notifications/initialized":
            self._follower(ctx)
        elif follower := _connection(ctx).state.get(_FOLLOWER):
            await follower.sent()

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Notify the connection of changes of a resource. Raises MCPError -32602: too many."""
        uris = self._follower(ctx).uris
        if len(uris) >= MOST_SUBSCRIPTIONS and params.uri not in uris:
            raise MCPError(types.INVALID_PARAMS, f"More than {MOST_SUBSCRIPTIONS} subscriptions.")
        uris.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Notify the connection of a resource no more."""
        self._follower(ctx).uris.discard(params.uri)
        return types.EmptyResult()

    def _follower(self, ctx: Context) -> "_Follower":
        connection = _connection(ctx)
        follower: _Follower | None = connection.state.get(_FOLLOWER)
        if follower is None:
            follower = connection.state[_FOLLOWER] = _Follower(ctx.session)
            for provider in self._providers:
                connection.exit_stack.callback(provider.listen(ctx, follower.changed))
            connection.exit_stack.callback(follower.end)
        return follower

    # -- changes, for the modern era: a request whose answer is a stream of them

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes of what the caller may read. Raises MCPError -32603: too many."""
        if len(self._streams) >= MOST_LISTENERS:
            raise MCPError(types.INTERNAL_ERROR, "Too many streams of changes are open.")
        handler = ListenHandler(_CallersChanges(self._providers, ctx))
        self._streams.add(handler)
        try:
            return await handler(ctx, params)
        finally:
            self._streams.discard(handler)

    def close(self) -> None:
        """End every stream of changes, saying so."""
        for handler in list(self._streams):
            handler.close()


@dataclass(slots=True, eq=False)
class _Follower:
    """Notifies a connection of changes, one after another, each pending one once."""

    session: ServerSession
    uris: set[str] = field(default_factory=set[str])
    _due: dict[str | None, None] = field(default_factory=dict[str | None, None])
    _sending: "asyncio.Task[None] | None" = None

    def changed(self, uri: str, listed: bool) -> None:
        if listed:
            self._due[None] = None
        if uri in self.uris:
            self._due[uri] = None
        if self._due and self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def sent(self) -> None:
        """Return when nothing is due, or the connection does not take it."""
        if self._sending is not None:
            await asyncio.wait({self._sending}, timeout=_SENDING_SECONDS)

    def end(self) -> None:
        self._due.clear()
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self) -> None:
        try:
            while self._due:
                uri = next(iter(self._due))
                del self._due[uri]
                with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    if uri is None:
                        await self.session.send_notification(types.ResourceListChangedNotification())
                    else:
                        await self.session.send_resource_updated(uri)
        finally:
            self._sending = None


class _CallersChanges:
    """The SDK's bus of events, as one caller may hear them: each stream listens to the providers itself."""

    def __init__(self, providers: Sequence[ResourceProvider], caller: Context) -> None:
        self._providers = providers
        self._caller = caller

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        def changed(uri: str, listed: bool) -> None:
            if listed:
                listener(ResourcesListChanged())
            listener(ResourceUpdated(uri))

        ends = contextlib.ExitStack()
        for provider in self._providers:
            ends.callback(provider.listen(self._caller, changed))
        return ends.close

    async def publish(self, event: ServerEvent) -> None:
        raise NotImplementedError


_FOLLOWER = "mcp_browser.follower"


def _connection(ctx: Context) -> Connection:
    # The SDK gives each request a proxy, and no public access to the state of the connection.
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]


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

    Raises MCPError: the part is outside the file, or it is to be read in parts; OSError: it cannot be read.
    """
    part = _part(uri.partition("?")[2], file.size)
    if part is None and file.size > LARGEST_PART:
        first = f"{file.uri}?offset=0"
        raise MCPError(
            types.INVALID_PARAMS,
            f"{file.name} has {size_text(file.size)}, more than one answer holds. Read it in parts: "
            f"{first}, then as `_meta` of each part says.",
            {"uri": file.uri, "size": file.size, "part": LARGEST_PART, "first": first},
        )
    offset, length = part or (0, -1)
    content = await asyncio.to_thread(_read, file.path, offset, length)
    meta: dict[str, object] | None = None
    if part is not None:
        meta = {SIZE: file.size, OFFSET: offset}
        if offset + length < file.size:
            meta[NEXT] = f"{file.uri}?offset={offset + length}"
    elif file.mime_type.startswith("text/") or file.mime_type in _TEXT_TYPES:
        with contextlib.suppress(UnicodeDecodeError):
            if len(json.dumps(text := content.decode())) <= LONGEST_TEXT:
                return types.TextResourceContents(uri=uri, text=text, mime_type=file.mime_type)
    blob = base64.b64encode(content).decode()
    return types.BlobResourceContents(uri=uri, blob=blob, mime_type=file.mime_type, _meta=meta)


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


def _read(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


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
        if URI.fullmatch(address) is None:
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
