"""MCP's tasks extension: a call that takes long is answered with a handle, and polled from then on.

https://github.com/modelcontextprotocol/ext-tasks, revision 2026-07-28.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from pydantic import Field

from mcp_browser.server.elicitation import Context, Mailbox, capabilities, is_modern
from mcp_browser.server.principals import Principal, principal_of_request

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_SECONDS = 1.0  # How often a client should ask how a call stands
KEPT_SECONDS = 3600.0  # How long a call that has ended is kept
MOST_LISTENED = 100  # How many calls one stream may report

Listen = Callable[
    [Context, types.SubscriptionsListenRequestParams], Awaitable[types.SubscriptionsListenResult]
]
Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
"""How a call stands, by the extension's words; `failed` is an error of the protocol."""


class TaskHandle(types.Result):
    """The answer to a call that goes on: the extension's `CreateTaskResult`. Times in milliseconds."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: Status
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int
    poll_interval_ms: int


class LongCall:
    """A call that was answered with its handle, and goes on; nobody can guess its identifier.

    `work` yields its result. Its questions are in `mailbox`, under keys that are never used again.
    """

    def __init__(
        self,
        identifier: str,
        work: Awaitable[types.CallToolResult],
        *,
        mailbox: Mailbox | None = None,
        created: datetime | None = None,
    ) -> None:
        self.id = identifier
        self.mailbox = mailbox or Mailbox()
        self.created = created or datetime.now(UTC)
        self._work = asyncio.ensure_future(work)
        self._work.add_done_callback(lambda _: self.mailbox.news.wake())

    @property
    def updated(self) -> datetime:
        """When something has happened last."""
        return self.created

    @property
    def doing(self) -> str | None:
        """What it does now, in a sentence."""
        return None

    @property
    def status(self) -> Status:
        if not self._work.done():
            return "input_required" if self.mailbox.waiting else "working"
        if self._work.cancelled():
            return "cancelled"
        return "completed" if self._work.exception() is None else "failed"

    @property
    def _error(self) -> MCPError | None:
        error = self._work.exception() if self.status == "failed" else None
        if error is None or isinstance(error, MCPError):
            return error
        return MCPError(types.INTERNAL_ERROR, "The call itself failed; the server's log has the details.")

    async def cancel(self) -> None:
        """End it, if it has not ended."""
        self.end()

    def end(self) -> None:
        """Wait for its result no more."""
        self._work.cancel()

    def handle(self) -> TaskHandle:
        """The answer to the call."""
        message = self.doing if self.status == "working" else None
        if self.status == "cancelled":
            message = "It was cancelled."
        elif self._error is not None:
            message = str(self._error)
        kept = (self.updated - self.created).total_seconds() + KEPT_SECONDS
        return TaskHandle(
            task_id=self.id,
            status=self.status,
            status_message=message,
            created_at=_wire_time(self.created),
            last_updated_at=_wire_time(self.updated),
            ttl_ms=int(kept * 1000),
            poll_interval_ms=int(POLL_SECONDS * 1000),
        )

    def details(self) -> dict[str, Any]:
        """How it stands, as it goes over the wire: the extension's `DetailedTask`."""
        wire = _dumped(self.handle())
        del wire["resultType"]
        if self.status == "input_required":
            wire["inputRequests"] = {asked.key: _dumped(asked.request) for asked in self.mailbox.waiting}
        elif self.status == "completed":
            wire["result"] = _dumped(self._work.result())
        elif self._error is not None:
            wire["error"] = _dumped(self._error.error)
        return wire


FindCall = Callable[[str, Principal], Awaitable[LongCall | None]]
"""Returns the call of an identifier; None where this caller has none."""


def _dumped(model: types.Result | types.Request[Any, Any] | types.ErrorData) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _wire_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TaskRequestParams(types.RequestParams):
    """The parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateTaskParams(TaskRequestParams):
    """The parameters of `tasks/update`."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


class TaskNotification(types.Notification[dict[str, Any], Literal["notifications/tasks"]]):
    """Reports the state of a call to the streams that listen for it."""

    method: Literal["notifications/tasks"] = "notifications/tasks"


def takes_tasks(request: Context) -> bool:
    """Whether a request may be answered with a handle: its client has declared so, with this very request."""
    return is_modern(request) and EXTENSION in (capabilities(request).extensions or {})


class TaskExtension:
    """Serves the extension's methods for the long calls of a server."""

    def __init__(self, find: FindCall, listen: Listen) -> None:
        """Serve the calls that `find` returns, and add their changes to the streams that `listen` serves."""
        self._find = find
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

        Raises MCPError: -32602, this caller has none; -32021, undeclared; -32020, the header names another.
        """
        return (await self._found(ctx, params)).details()

    async def update(self, ctx: Context, params: UpdateTaskParams) -> types.EmptyResult:
        """Deliver answers to the questions of a call; raises as `get` does."""
        (await self._found(ctx, params)).mailbox.deliver(params.input_responses)
        return types.EmptyResult()

    async def cancel(self, ctx: Context, params: TaskRequestParams) -> types.EmptyResult:
        """End a call, if it has not ended; raises as `get` does."""
        await (await self._found(ctx, params)).cancel()
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes, with those of the calls it names. Raises MCPError -32021: undeclared."""
        wanted = (params.notifications.model_extra or {}).get("taskIds")
        if not isinstance(wanted, list) or not wanted:
            return await self._listen(ctx, params)
        require_tasks(ctx)
        principal = principal_of_request(ctx)
        names = [name for name in cast("list[object]", wanted)[:MOST_LISTENED] if isinstance(name, str)]
        found = [await self._find(name, principal) for name in dict.fromkeys(names)]
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
        headers = getattr(ctx.request, "headers", None)
        # Intermediaries route by it.
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != params.task_id:
            raise MCPError(types.HEADER_MISMATCH, f"The header {MCP_NAME_HEADER} does not name this task.")
        if (call := await self._find(params.task_id, principal_of_request(ctx))) is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no task {params.task_id[:100]!r}.")
        return call


class _Acknowledging:
    """A session that adds the ids of the calls to the acknowledgement of a stream."""

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
    sent: dict[str, Any] = {}
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            state = call.details()
            if state != sent:
                sent = state
                meta = {"_meta": {SUBSCRIPTION_ID_META_KEY: ctx.request_id}}
                notification: Any = TaskNotification(params={**state, **meta})
                await ctx.session.send_notification(notification, related_request_id=ctx.request_id)
            if state["status"] in ("completed", "failed", "cancelled"):
                return
            if call.details() == sent:
                await call.mailbox.news.wait()


def require_tasks(ctx: Context) -> None:
    """Check that the request may be answered with a handle. Raises MCPError -32021: undeclared."""
    if not takes_tasks(ctx):
        needed = types.ClientCapabilities(extensions={EXTENSION: {}})
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            f"Declare the extension {EXTENSION} with this request.",
            data.model_dump(mode="json", by_alias=True, exclude_none=True),
        )
