"""MCP's tasks extension: a call that takes long is answered with a handle, and asked for from then on.

https://github.com/modelcontextprotocol/ext-tasks, revision 2026-07-28.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from pydantic import Field

from mcp_browser.server.ask import capabilities, is_modern
from mcp_browser.server.principals import principal_of_request
from mcp_browser.server.tasks.long_calls import LongCall, LongCalls, detailed

EXTENSION = "io.modelcontextprotocol/tasks"

Context = ServerRequestContext[Any, Any]
Listen = Callable[
    [Context, types.SubscriptionsListenRequestParams], Awaitable[types.SubscriptionsListenResult]
]


class TaskRequestParams(types.RequestParams):
    """The parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateTaskParams(TaskRequestParams):
    """The parameters of `tasks/update`."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


class TaskNotification(types.Notification[dict[str, Any], Literal["notifications/tasks"]]):
    """Tells how a call stands, to who listens for it."""

    method: Literal["notifications/tasks"] = "notifications/tasks"


def takes_tasks(request: Context) -> bool:
    """Whether a request may be answered with a handle: its client has declared so, with this very request."""
    return is_modern(request) and EXTENSION in (capabilities(request).extensions or {})


class TaskExtension:
    """Serves the extension's methods for the long calls of a server."""

    def __init__(self, calls: LongCalls, listen: Listen) -> None:
        """Tell of `calls`; `listen` serves the streams of changes, to which those of tasks are added."""
        self._calls = calls
        self._listen = listen

    def install(self, server: Server[Any]) -> None:
        """Declare the extension and register its methods."""
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskRequestParams, self.get)
        server.add_request_handler("tasks/update", UpdateTaskParams, self.update)
        server.add_request_handler("tasks/cancel", TaskRequestParams, self.cancel)
        server.add_request_handler(
            "subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen
        )

    async def get(self, ctx: Context, params: TaskRequestParams) -> dict[str, Any]:
        """How a call stands.

        Raises:
            MCPError: -32602, there is none for this caller; -32021, the extension was not declared; -32020,
                the header names another one.
        """
        return detailed(await self._found(ctx, params))

    async def update(self, ctx: Context, params: UpdateTaskParams) -> types.EmptyResult:
        """Take answers to what a call has asked.

        Raises:
            MCPError: as for `get`.
        """
        (await self._found(ctx, params)).deliver(params.input_responses)
        return types.EmptyResult()

    async def cancel(self, ctx: Context, params: TaskRequestParams) -> types.EmptyResult:
        """End a call; one that has ended stays as it is.

        Raises:
            MCPError: as for `get`.
        """
        await (await self._found(ctx, params)).cancel()
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes, those of long calls among them where the client names some.

        Raises:
            MCPError: -32021, calls are named and the extension was not declared.
        """
        wanted = (params.notifications.model_extra or {}).get("taskIds")
        if not isinstance(wanted, list) or not wanted:
            return await self._listen(ctx, params)
        require_tasks(ctx)
        principal = principal_of_request(ctx)
        names = [name for name in cast("list[object]", wanted)[:MOST_LISTENED] if isinstance(name, str)]
        found = [await self._calls.find(name, principal) for name in dict.fromkeys(names)]
        calls = [call for call in found if call is not None]
        session = _Acknowledging(ctx.session, [call.id for call in calls])
        followers = [asyncio.create_task(_follow(ctx, session.acknowledged, call)) for call in calls]
        try:
            return await self._listen(replace(ctx, session=cast("ServerSession", session)), params)
        finally:
            for follower in followers:
                follower.cancel()

    async def _found(self, ctx: Context, params: TaskRequestParams) -> LongCall:
        if not is_modern(ctx):
            # Earlier revisions had tasks of another kind, which this server never has offered.
            raise MCPError(types.METHOD_NOT_FOUND, "Method not found")
        require_tasks(ctx)
        _check_header(ctx, params.task_id)
        call = await self._calls.find(params.task_id, principal_of_request(ctx))
        if call is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no task {params.task_id[:100]!r}.")
        return call


MOST_LISTENED = 100  # How many calls one stream may tell of


class _Acknowledging:
    """A session whose acknowledgement of a stream names the calls that it tells of, too."""

    def __init__(self, session: ServerSession, names: Sequence[str]) -> None:
        self._session = session
        self._names = list(names)
        self.acknowledged = anyio.Event()

    async def send_notification(
        self, notification: types.ServerNotification, related_request_id: types.RequestId | None = None
    ) -> None:
        if isinstance(notification, types.SubscriptionsAcknowledgedNotification):
            honored = notification.params.notifications.model_copy(update={"taskIds": self._names})
            params = notification.params.model_copy(update={"notifications": honored})
            notification = notification.model_copy(update={"params": params})
        await self._session.send_notification(notification, related_request_id=related_request_id)
        self.acknowledged.set()


async def _follow(ctx: Context, begin: anyio.Event, call: LongCall) -> None:
    await begin.wait()
    told: dict[str, Any] = {}
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            state = detailed(call)
            if state != told:
                told = state
                meta = {"_meta": {SUBSCRIPTION_ID_META_KEY: ctx.request_id}}
                notification: Any = TaskNotification(params={**state, **meta})
                await ctx.session.send_notification(notification, related_request_id=ctx.request_id)
            if state["status"] in ("completed", "failed", "cancelled"):
                return
            if detailed(call) == told:
                await call.changed()


def require_tasks(ctx: Context) -> None:
    """Check that the request may be answered with a handle.

    Raises:
        MCPError: -32021, its client has not declared the extension.
    """
    if not takes_tasks(ctx):
        needed = types.ClientCapabilities(extensions={EXTENSION: {}})
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"Declare the extension {EXTENSION} with this request.",
            data.model_dump(mode="json", by_alias=True, exclude_none=True),
        )


def _check_header(ctx: Context, task: str) -> None:
    """Check that the header by which intermediaries route names the task of the request."""
    headers = getattr(ctx.request, "headers", None)
    if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != task:
        raise MCPError(types.HEADER_MISMATCH, f"The header {MCP_NAME_HEADER} does not name this task.")
