"""One `tools/call`, the browser session that it works in, and tools that are not actions of a page."""

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import BaseModel

from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.principals import Principal
from mcp_browser.server.tasks.long_calls import TaskHandle

Answer = types.CallToolResult | types.InputRequiredResult | TaskHandle
"""What a call is answered with: a result, questions to the caller, who then calls again, or a handle."""

ParamsT = TypeVar("ParamsT", bound=BaseModel)
Handler = Callable[["Call", ParamsT], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A browser session, lent to one call; the result of its first one has to tell its handle.

    `told` are sentences to tell with the result, whatever comes of the call. `passing` says that nobody but
    the task that it was opened for ever comes to it.
    """

    session: BrowserSession
    handle: str | None = None
    is_new: bool = False
    told: tuple[str, ...] = ()
    passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One `tools/call`: the SDK's context, what the client has sent, and who calls.

    `arguments` are those of the tool, without the session's `handle`, which is kept for a tool that takes a
    session by itself. `lease` is None for a tool that works in no session.
    """

    request: ServerRequestContext[Any, Any]
    params: types.CallToolRequestParams
    arguments: Mapping[str, Any]
    principal: Principal
    handle: str | None = None
    lease: Lease | None = None

    @property
    def session(self) -> BrowserSession:
        if self.lease is None:
            raise RuntimeError(f"{self.params.name} is declared to work in no session")
        return self.lease.session


class SessionSource(Protocol):
    """Where the browser session of a call comes from."""

    @property
    def has_handles(self) -> bool:
        """Whether tools take the argument `session`."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether the clients are on other machines, and have no business with paths of this one."""
        ...

    def lease(
        self, request: ServerRequestContext[Any, Any], principal: Principal, handle: str | None, /
    ) -> AbstractAsyncContextManager[Lease]:
        """The session of a call, for as long as that lasts.

        A session that was made for a call which ends with `NeedInput` is dropped again.

        Args:
            request: the call's context.
            principal: who calls.
            handle: the argument `session`, if the caller gave one.

        Raises:
            ActionError: there is no such session, or no room for another one.
        """
        ...

    async def beside(self, principal: Principal, session: BrowserSession, /) -> Lease:
        """A new session of its own for a task, with a copy of the logins of this one, which goes on.

        Raises:
            ActionError: there is no room for another one.
        """
        ...

    def owns(
        self, request: ServerRequestContext[Any, Any], principal: Principal, session: BrowserSession, /
    ) -> bool:
        """Whether a session is this client's own, and no other one's: its files are listed for it."""
        ...

    def may_read(self, principal: Principal, session: BrowserSession, /) -> bool:
        """Whether the caller may read a file of the session whose address, a secret, it knows."""
        ...


class OneSession:
    """The source for a server with one client: its one session."""

    has_handles = False
    is_remote = False

    def __init__(self, manager: BrowserManager, *, idle_seconds: float | None = None) -> None:
        """Serve one client; where it does not call for `idle_seconds`, its browser is closed meanwhile."""
        self._manager = manager
        self._idle_seconds = idle_seconds
        self._leases = 0
        self._resting: asyncio.TimerHandle | None = None
        self._beside: dict[str, BrowserSession] = {}

    @asynccontextmanager
    async def lease(
        self, _request: ServerRequestContext[Any, Any], _principal: Principal, handle: str | None
    ) -> AsyncGenerator[Lease]:
        """The one session; by its handle, which no client knows, one beside it."""
        if handle is not None:
            yield Lease(session=self._beside[handle], handle=handle, passing=True)
            return
        self._leases += 1
        if self._resting is not None:
            self._resting.cancel()
        try:
            yield Lease(session=await self._manager.default_session())
        finally:
            self._leases -= 1
            if self._idle_seconds is not None and not self._leases:
                self._rest_after(self._idle_seconds)

    async def beside(self, _principal: Principal, session: BrowserSession) -> Lease:
        """A session with a copy of the logins, which rests once its task has ended."""
        beside = await self._manager.open_session(context_options=await logins_of(session))
        self._beside[beside.id] = beside
        return Lease(session=beside, handle=beside.id, passing=True)

    def _rest_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._resting = loop.call_later(seconds, lambda: begin(self._rest()))

    async def _rest(self) -> None:
        session = await self._manager.default_session()
        assert self._idle_seconds is not None
        await session.takeover.over()
        left = session.takeover.ended + self._idle_seconds - time.monotonic()
        if not self._leases and left > 0:
            self._rest_after(left)
        elif not self._leases:
            seconds = f"{self._idle_seconds:g} s"
            await session.rest(f"The browser was closed after {seconds} without a call: no page is open.")

    def owns(
        self, _request: ServerRequestContext[Any, Any], _principal: Principal, _session: BrowserSession
    ) -> bool:
        """The one client owns all there is."""
        return True

    def may_read(self, _principal: Principal, _session: BrowserSession) -> bool:
        """The one client owns all there is."""
        return True


async def logins_of(session: BrowserSession) -> dict[str, Any]:
    """Options for a context that begins with a copy of what sites have stored in this session's."""
    # Imported late: it is seldom needed.
    from mcp_browser.browser.site_data import read_state  # noqa: PLC0415

    context = session.open_context
    return {"storage_state": await read_state(context)} if context is not None else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTool:
    """A tool that is not an action of a page, such as one that opens a session. Made by `server_tool`.

    `ui` is what clients that show MCP Apps are told of it (`_meta.ui`); `apps_only` leaves it out of the list
    of others, and `for_page` says that a page calls it, again and again, and no model.
    """

    name: str
    description: str
    param_model: type[BaseModel]
    handler: Handler[Any]
    annotations: types.ToolAnnotations
    in_session: bool
    takes_session: bool
    ui: Mapping[str, Any] | None = None
    apps_only: bool = False

    @property
    def for_page(self) -> bool:
        return self.ui is not None and self.ui.get("visibility") == ["app"]


def server_tool(  # noqa: PLR0913 - options, all by keyword
    handler: Handler[ParamsT],
    *,
    param_model: type[ParamsT],
    in_session: bool = True,
    takes_session: bool = False,
    read_only: bool = False,
    destructive: bool | None = False,
    open_world: bool = True,
    ui: Mapping[str, Any] | None = None,
    apps_only: bool = False,
) -> ServerTool:
    """A handler as a tool of its name; its docstring is what the model reads.

    What the handler raises is answered as an action's failure is; it may raise `NeedInput` to ask the client.
    With `in_session` there is `Call.session`; with `takes_session` the call takes one by `Call.handle`.
    """
    return ServerTool(
        name=getattr(handler, "__name__", ""),
        description=" ".join((inspect.getdoc(handler) or "").partition("\n\n")[0].split()),
        param_model=param_model,
        handler=handler,
        annotations=types.ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=None if read_only else destructive,
            open_world_hint=open_world,
        ),
        in_session=in_session,
        takes_session=in_session or takes_session,
        ui=ui,
        apps_only=apps_only,
    )


class NeedInput(Exception):
    """A handler needs answers of the client, which calls again with them; nothing has been done yet."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("The client is asked.")
        self.result = result
