"""Several browser sessions for the one client of a server over stdio: `--tools sessions`."""

import itertools
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import Field

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_limits import SessionLimits
from mcp_browser.errors import LimitReached, UnknownSession
from mcp_browser.server.calls import Call, Lease, ServerTool, logins_of, server_tool
from mcp_browser.server.principals import ANONYMOUS, Principal
from mcp_browser.server.sessions.store import HeldSession
from mcp_browser.server.sessions.tools import (
    CloseSessionParams,
    ContextParams,
    ListSessionsParams,
    context_options,
    data_of,
    line_of,
    tool_result,
)

DEFAULT = "default"
"""The handle of the session of calls that name none."""


class NewLocalSessionParams(ContextParams):
    """How the browser of the session shall be."""

    isolated: bool = Field(default=False, description="Start clean, without the logins of the profile.")


class LocalSessions:
    """The source of sessions for a server with one client that wants several."""

    has_handles = True
    is_remote = False

    def __init__(self, manager: BrowserManager) -> None:
        """There is the default session only; it opens at its first call."""
        self._manager = manager
        self._held: dict[str, HeldSession] = {}
        self._numbers = itertools.count(1)

    @asynccontextmanager
    async def lease(
        self, _request: ServerRequestContext[Any, Any], _principal: Principal, handle: str | None, /
    ) -> AsyncGenerator[Lease]:
        """The session of a call, for as long as that lasts; see `SessionSource`."""
        held = await self.find(handle)
        held.calls += 1
        try:
            yield Lease(session=held.session, handle=held.handle)
        finally:
            held.calls -= 1
            held.used = time.monotonic()

    async def beside(self, _principal: Principal, session: BrowserSession, /) -> Lease:
        """A session with a handle of its own; see `SessionSource`."""
        held = await self.open(isolated=True, options=await logins_of(session))
        told = f'Its browser session is "{held.handle}"; close_session ends it.'
        return Lease(session=held.session, handle=held.handle, is_new=True, told=(told,))

    def owns(
        self, _request: ServerRequestContext[Any, Any], _principal: Principal, _session: BrowserSession, /
    ) -> bool:
        """The one client owns all there is."""
        return True

    def may_read(self, _principal: Principal, _session: BrowserSession, /) -> bool:
        """The one client owns all there is."""
        return True

    async def find(self, handle: str | None) -> HeldSession:
        """The session of that handle, by default the default one.

        Raises:
            UnknownSession: there is none.
        """
        name = handle or DEFAULT
        held = self._held.get(name)
        if held is not None and not held.session.closed:
            return held
        if name != DEFAULT:
            raise UnknownSession(
                f"There is no session {name!r}.",
                hint=f"There are: {', '.join(one.handle for one in self.all())}. new_session starts another.",
            )
        return self._hold(DEFAULT, await self._manager.default_session())

    def all(self) -> list[HeldSession]:
        """Those that were asked for and not closed, oldest first."""
        return [held for held in self._held.values() if not held.session.closed]

    async def open(self, *, isolated: bool, options: dict[str, Any]) -> HeldSession:
        """A new session; its browser, or its tab in the profile's browser, opens at its first call.

        Raises:
            LimitReached: there are too many.
        """
        most = self._manager.settings.sessions.max_sessions
        if len(self.all()) >= most:
            raise LimitReached(f"There are {most} sessions already.", hint="Close one with close_session.")
        first = await self._manager.default_session()
        browser = self._manager.settings.browser
        # In a browser that runs elsewhere a session without a context of its own would have the same tabs.
        isolated = isolated or first.isolated or browser.cdp_endpoint is not None
        limits = SessionLimits(clipboard=Clipboard(), logins=first.limits.logins)
        session = await self._manager.open_session(isolated=isolated, context_options=options, limits=limits)
        return self._hold(f"s{next(self._numbers)}", session)

    def _hold(self, handle: str, session: BrowserSession) -> HeldSession:
        held = self._held[handle] = HeldSession(
            handle=handle, owner=ANONYMOUS, connection=None, session=session
        )
        return held


def local_session_tools(sessions: LocalSessions) -> tuple[ServerTool, ...]:
    """The tools for these sessions."""

    async def new_session(_call: Call, params: NewLocalSessionParams) -> types.CallToolResult:
        """Start another browser session with its own tabs; its handle goes into `session` of later calls."""
        held = await sessions.open(isolated=params.isolated, options=context_options(params))
        state = "clean" if held.session.isolated else "with the profile's logins"
        text = f'New browser session "{held.handle}", {state}: give it as `session` with each call for it.'
        return tool_result(text, {"session": held.handle, "message": text})

    async def list_sessions(_call: Call, params: ListSessionsParams) -> types.CallToolResult:
        """List your browser sessions."""
        held = [await sessions.find(params.session)] if params.session is not None else sessions.all()
        lines = [line_of(one) for one in held] or [
            "There are no sessions yet: any call starts the default one."
        ]
        return tool_result("\n".join(lines), {"sessions": [data_of(one) for one in held]})

    async def close_session(_call: Call, params: CloseSessionParams) -> types.CallToolResult:
        """Close a browser session with its tabs; the profile keeps its logins."""
        held = await sessions.find(params.session)
        await held.session.takeover.let_pass()
        await held.session.close()
        return tool_result(f'Closed the session "{held.handle}".', None)

    return (
        server_tool(new_session, param_model=NewLocalSessionParams, in_session=False, open_world=False),
        server_tool(
            list_sessions,
            param_model=ListSessionsParams,
            in_session=False,
            read_only=True,
            open_world=False,
        ),
        server_tool(
            close_session,
            param_model=CloseSessionParams,
            in_session=False,
            destructive=True,
            open_world=False,
        ),
    )
