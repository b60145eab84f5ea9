"""The browser sessions of one client over stdio; `remote` has those of many clients."""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_services import SessionLimits
from mcp_browser.errors import LimitReached, UnknownSession
from mcp_browser.server.calls import SessionLease
from mcp_browser.server.elicitation import Context, NeedInput
from mcp_browser.server.principals import ANONYMOUS, Principal

if TYPE_CHECKING:
    from mcp_browser.server.sessions.profiles import NamedProfile

logger = logging.getLogger(__name__)

DEFAULT = "default"
"""The handle of a local client's session for calls that name none."""

LONGEST_TICK = 5.0  # How often, at least, sessions are looked through for those that are over, seconds
ANEW = "Start anew: call without `session`, or call new_session."


@dataclass(eq=False, slots=True, kw_only=True)
class HeldSession:
    """A browser session and who holds it, by a `handle` that nobody else can guess."""

    handle: str
    session: BrowserSession
    owner: Principal = ANONYMOUS
    connection: str | None = None  # The protocol session (legacy HTTP, SSE) it was made in
    profile: "NamedProfile | None" = None
    started: float = field(default_factory=time.monotonic)
    used: float = field(default_factory=time.monotonic)  # The end of the latest call
    running: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])  # Breaks calls off
    over: str = ""  # Why it has ended
    unsaved: bool = False  # Something may be stored since its state was kept
    unused: bool = False  # A call that named none has started it, and no other call has named it yet

    @property
    def is_busy(self) -> bool:
        """Whether a call works in it, or a person has it."""
        return bool(self.running) or self.session.takeover.busy

    @property
    def last_used(self) -> float:
        """When the latest call, or the latest person's turn, ended."""
        return max(self.used, self.session.takeover.ended)


class Sessions:
    """The sessions of a server for one client: one, or several by handles.

    Without `has_handles` there is the default session, and those that tasks have forked from it. A session
    that was made for a call which ends with `NeedInput` is dropped again, unless the call has begun its work.
    """

    is_remote = False
    """Whether the clients are on other machines, and have no business with paths of this one."""

    def __init__(
        self, manager: BrowserManager, *, has_handles: bool = False, idle_seconds: float | None = None
    ) -> None:
        """With `has_handles` tools take the argument `session`.

        `watch` closes the browser of the default session after `idle_seconds` without a call.
        """
        self.has_handles = has_handles
        self._manager = manager
        self._idle_seconds = idle_seconds
        self._held: dict[str, HeldSession] = {}
        self._numbers = itertools.count(1)
        self._call_ended: asyncio.Event | None = None  # For a server that stops

    # -- for calls

    @asynccontextmanager
    async def lease(
        self, request: Context, principal: Principal, handle: str | None, /
    ) -> AsyncGenerator[SessionLease]:
        """Lend a call its session for as long as the call lasts; `handle` is its argument `session`.

        Raises ActionError: there is no such session, no room for one, or it was closed during the call.
        """
        held, notes = await self._of_call(request, principal, handle)
        is_new = held.unused
        call = anyio.CancelScope()
        held.running.add(call)
        try:
            with call:
                yield self._lease(held, notes, is_new=is_new)
            if call.cancelled_caught:
                raise UnknownSession(held.over, hint=ANEW)
        except NeedInput as need:
            if need.has_begun:
                held.unused = False
            elif is_new:
                await self.end(held, "The call that started it was not carried out.")
            raise
        finally:
            held.running.discard(call)
            if self._call_ended is not None:
                self._call_ended.set()
            held.used = time.monotonic()
            held.unsaved = True

    async def fork(self, principal: Principal, session: BrowserSession, /) -> SessionLease:
        """Open a session for a task, with a copy of this one's logins; raises LimitReached."""
        # Imported late: it is seldom needed.
        from mcp_browser.browser.site_data import read_state  # noqa: PLC0415

        context = session.open_context
        options = {"storage_state": await read_state(context)} if context is not None else {}
        held = await self.open(principal, context_options=options)
        if not self.has_handles:
            return self._lease(held)
        note = f'Its browser session is "{held.handle}"; close_session ends it.'
        return self._lease(held, (note,), is_new=True)

    def owns(self, _request: Context, _session: BrowserSession, /) -> bool:
        """Whether a session is this client's own, and no other one's: its files are listed for it."""
        return True

    def may_read(self, _principal: Principal, _session: BrowserSession, /) -> bool:
        """Whether the caller, who knows the secret address of a file, may read it."""
        return True

    async def named(self, handle: str | None) -> HeldSession:
        """Return the session of that handle, by default the default one; raises UnknownSession."""
        name = handle or DEFAULT
        held = self._held.get(name)
        if held is not None and not held.session.closed:
            return held
        if name != DEFAULT:
            raise UnknownSession(
                f"There is no session {name!r}.",
                hint=f"There are: {', '.join(one.handle for one in self.all())}. new_session starts another.",
            )
        return self._hold(HeldSession(handle=DEFAULT, session=await self._manager.default_session()))

    def all(self) -> list[HeldSession]:
        """Those that were asked for and not closed, oldest first."""
        return [held for held in self._held.values() if not held.session.closed]

    async def open(
        self, principal: Principal, *, isolated: bool = True, context_options: dict[str, Any] | None = None
    ) -> HeldSession:
        """Make a session; its browser or tab opens at its first call. Raises LimitReached."""
        most = self._manager.settings.sessions.max_sessions
        if self.has_handles and len(self.all()) >= most:
            raise LimitReached(f"There are {most} sessions already.", hint="Close one with close_session.")
        first = await self._manager.default_session()
        browser = self._manager.settings.browser
        # In a browser that runs elsewhere a session without a context of its own would have the same tabs.
        isolated = isolated or first.isolated or browser.cdp_endpoint is not None
        limits = SessionLimits(clipboard=Clipboard(), logins=first.services.limits.logins)
        session = await self._manager.open_session(
            isolated=isolated, context_options=context_options, limits=limits
        )
        return self._hold(HeldSession(handle=f"s{next(self._numbers)}", session=session, owner=principal))

    async def end(self, held: HeldSession, why: str) -> None:
        """Close a session; its calls are answered with an error."""
        if self._held.pop(held.handle, None) is not None:
            self._break_off(held, why)
            await held.session.close()

    # -- for the server

    async def watch(self) -> None:
        """Close sessions that are over, until cancelled; returns at once where none ever is."""
        while tick := self._tick():
            await asyncio.sleep(tick)
            for held in list(self._held.values()):
                self._look_after(held)

    # -- inside; sessions of other clients differ in this

    async def _of_call(
        self, _request: Context, _principal: Principal, handle: str | None
    ) -> tuple[HeldSession, tuple[str, ...]]:
        """The session of a call, which is `unused` if it was made for the call, and notes for the result."""
        return await self.named(handle), ()

    def _tick(self) -> float:
        return min(LONGEST_TICK, (self._idle_seconds or 0) / 4)

    def _look_after(self, held: HeldSession) -> None:
        idle = self._idle_seconds
        if idle is None or held.is_busy or held.session.open_context is None:
            return
        if time.monotonic() - held.last_used >= idle:
            why = f"The browser was closed after {idle:g} s without a call: no page is open."
            begin(logged(held.session.rest(why)))

    def _lease(self, held: HeldSession, notes: tuple[str, ...] = (), *, is_new: bool = False) -> SessionLease:
        ephemeral = not self.has_handles and held.handle != DEFAULT
        handle = held.handle if self.has_handles or ephemeral else None
        return SessionLease(
            session=held.session, handle=handle, is_new=is_new, notes=notes, ephemeral=ephemeral
        )

    def _hold(self, held: HeldSession) -> HeldSession:
        self._held[held.handle] = held
        return held

    def _break_off(self, held: HeldSession, why: str) -> None:
        held.over = why
        for call in held.running:
            call.cancel()


async def logged(work: Coroutine[Any, Any, None]) -> None:
    """Do work that nobody waits for; an error goes to the log."""
    try:
        await work
    except Exception:
        logger.exception("A session could not be looked after")


def in_words(seconds: float) -> str:
    """A time in words."""
    for size, name in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            number = f"{seconds / size:g}"
            return f"{number} {name}{'' if number == '1' else 's'}"
    return f"{seconds:g} seconds"
