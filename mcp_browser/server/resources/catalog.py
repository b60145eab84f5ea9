"""MCP resources: what can be listed, read and watched, in both protocol eras."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import anyio
import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from mcp_browser.errors import ActionError
from mcp_browser.server.elicitation import Context

logger = logging.getLogger(__name__)

Contents = types.TextResourceContents | types.BlobResourceContents

PAGE = 100  # How many resources a page of the list has
MOST_SUBSCRIPTIONS = 1000  # How many addresses one connection may watch
_SENDING_SECONDS = 1.0  # How long an answer waits for the notifications before it
MOST_LISTENERS = 1024  # How many streams of changes may be open at a time


Changed = Callable[[str, bool], None]  # Called with an address, and whether the caller's list has it


class ResourceProvider(Protocol):
    """A family of resources, such as the files of sessions; `templates` are the forms of its addresses."""

    templates: ClassVar[Sequence[types.ResourceTemplate]] = ()

    def listed(self, _caller: Context, /) -> list[types.Resource]:
        """What there is for this caller, oldest first; by default nothing."""
        return []

    async def read(self, caller: Context, uri: str) -> Contents | None:
        """The contents of a resource; None where the address is of another family.

        Raises:
            MCPError: it cannot be read in this way; the message says how it can.
            ActionError: there is no such resource for this caller.
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
        start = int(cursor)
        rest = start + PAGE < len(found)
        return types.ListResourcesResult(
            resources=found[start : start + PAGE], next_cursor=str(start + PAGE) if rest else None
        )

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
