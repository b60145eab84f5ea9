"""The browser sessions of clients over HTTP: their owners, limits and ends."""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.concurrency import FairSemaphore, begin, finish
from mcp_browser.browser.files.artifacts import BYTES_A_MEGABYTE, Artifact, ClientDisk, safe_name
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_services import SessionLimits
from mcp_browser.errors import BrowserUnavailable, LimitReached, NotFound, UnknownSession
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import ANONYMOUS, Principal, SettingsOf, principal_of_request
from mcp_browser.server.sessions.profiles import NamedProfile, Profiles
from mcp_browser.server.sessions.sessions import ANEW, LONGEST_TICK, HeldSession, Sessions, in_words, logged
from mcp_browser.settings import SessionSettings
from mcp_browser.text import counted

CONNECTION = "mcp_browser.connection"
"""Where a request's ASGI scope names the protocol session, once the transport has found that there is one."""

HANDLE_BYTES = 18  # How much of a handle is chance: 144 bits
STATE_SECONDS = 5.0  # How long after a call its session's state is kept: once for quick calls, seconds
OVER = "The session ended with its connection."

UNUSED_KEPT = 3  # How many sessions of a client stay that were never called again, the newest
UNUSED_SECONDS = 60.0  # The others end so long after their one call
UNUSED = "The session was closed to make room: no call had named it since it was started."

REMEMBERED = 1000  # For how many ended sessions the reason is remembered


class RemoteSessions(Sessions):
    """The sessions of a server that has many clients.

    A client of the legacy protocol, or of SSE, has a session without naming it: that of its protocol session.
    In the modern protocol a call without a handle starts a session, and its result names the handle.
    """

    is_remote = True

    def __init__(self, manager: BrowserManager, settings_of: SettingsOf) -> None:
        super().__init__(manager, has_handles=True)
        self._settings_of = settings_of
        settings = settings_of.default
        self._settings = settings.sessions
        self.replica = f"{settings.server.replica}." if settings.server.replica else ""
        self.turns = FairSemaphore(self._settings.max_calls, crowds={ANONYMOUS.id})
        self._closing: set[HeldSession] = set()
        self.defaults: dict[str, HeldSession] = {}  # By the protocol session that has it without naming it
        self._disks: WeakValueDictionary[str, ClientDisk] = WeakValueDictionary()
        self._ended: dict[str, str] = {}
        self._over: dict[str, None] = {}
        self.stopping = False

    # -- for calls

    async def _of_call(
        self, request: Context, principal: Principal, handle: str | None
    ) -> tuple[HeldSession, tuple[str, ...]]:
        if self.stopping:
            raise BrowserUnavailable("The server is shutting down.", hint="Connect again in a moment.")
        connection = connection_of(request)
        notes: tuple[str, ...] = ()
        if handle is not None:
            held = self.find(handle, principal)
            held.unused = False
        elif connection is not None:
            held, notes = await self._own_of(connection, principal)
        else:
            held = await self.open(principal)
            held.unused = True
            notes = (self.how_to_use(held),)
        if len(held.running) > self._settings_for(principal).max_waiting:
            raise LimitReached(
                f"{len(held.running)} calls wait in this session already.",
                hint="Wait for their results first.",
            )
        return held, notes

    def owns(self, request: Context, session: BrowserSession, /) -> bool:
        """Whether the caller is known to have this session; see `of`."""
        held = self._holder_of(session)
        return held is not None and _is_of(held, principal_of_request(request), connection_of(request))

    def may_read(self, principal: Principal, session: BrowserSession, /) -> bool:
        """Whether the session is the caller's; anonymous callers read what they know the address of."""
        held = self._holder_of(session)
        return held is not None and held.owner.id == principal.id

    def how_to_use(self, held: HeldSession) -> str:
        """A sentence that names the handle of a new session."""
        idle = in_words(self._settings_for(held.owner).idle_timeout)
        return (
            f'New browser session "{held.handle}": give it as `session` with every further call, or each '
            f"starts another one. It ends after {idle} without a call, or with close_session."
        )

    def profiles_of(self, principal: Principal) -> Profiles | None:
        """The named profiles of a caller; None where the server keeps none."""
        folder = self._settings.profiles
        return Profiles(folder, principal) if folder is not None else None

    def find(self, handle: str, principal: Principal) -> HeldSession:
        """The session of that handle. Raises UnknownSession: the caller has none of that handle."""
        if (held := self._held.get(handle)) is None or held.owner.id != principal.id:
            # To all others it is as if it had never been.
            why = self._ended.get(f"{principal.id} {handle}", "There is no such session.")
            raise UnknownSession(why, hint=ANEW)
        if why := self._why_over(held):
            begin(logged(self.end(held, why)))
            raise UnknownSession(why, hint=ANEW)
        return held

    async def open(
        self,
        principal: Principal,
        *,
        isolated: bool = True,
        context_options: dict[str, Any] | None = None,
        connection: str | None = None,
        profile: NamedProfile | None = None,
    ) -> HeldSession:
        """A new session; its context opens at its first call, with `context_options` for `new_context`.

        The session holds `profile`, which keeps its logins, until it ends. Raises LimitReached: there are too
        many sessions, and none that is `unused` can be closed.
        """
        while (full := self._full_for(principal)) is not None:
            if (unused := self._reclaimable(principal)) is None:
                raise full
            await self.end(unused, UNUSED)
        options = dict(context_options or {})
        if profile is not None and profile.state is not None:
            options["storage_state"] = profile.state
        folder, is_anonymous = self._client_folder(principal), principal == ANONYMOUS
        # The browser of such a client's sessions, with its clipboard, may be that of others, too.
        shares = is_anonymous or self._settings_of.default.browser.cdp_endpoint is not None
        session = await self._manager.open_session(
            isolated=isolated,
            settings=self._settings_of(principal),
            context_options=options,
            limits=SessionLimits(
                turns=self.turns,
                why_no_tab=lambda tabs: self._why_no_tab(principal, tabs),
                find_file=lambda uri: self._file_of(principal, uri),
                logins=self.profiles_of(principal),
                # The anonymous have a folder for each session.
                output_dir=folder / secrets.token_hex(8) if folder and is_anonymous else folder,
                disk=self._disk_of(principal),
                tenant=principal.id,
                clipboard=Clipboard() if shares else None,
            ),
        )
        handle = f"{self.replica}{secrets.token_urlsafe(HANDLE_BYTES)}"
        held = HeldSession(handle=handle, owner=principal, session=session, profile=profile)
        held.connection = connection
        return self._hold(held)

    async def end(self, held: HeldSession, why: str) -> None:
        """Close a session, keeping the logins of its profile; its calls are answered with an error."""
        if self._held.pop(held.handle, None) is None:
            return
        self._break_off(held, why)
        self._ended[f"{held.owner.id} {held.handle}"] = why
        if held.connection is not None and self.defaults.get(held.connection) is held:
            del self.defaults[held.connection]
            self._ended[f"{held.owner.id} {held.connection}"] = why
        while len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        await finish(self._close(held))

    async def end_connection(self, connection: str) -> None:
        """A protocol session is over: close the browser session that it had without naming it."""
        # A call that the transport has taken before may still come to ask for its session.
        self._over[connection] = None
        while len(self._over) > REMEMBERED:
            del self._over[next(iter(self._over))]
        if (held := self.defaults.get(connection)) is not None:
            await self.end(held, OVER)

    def of(self, principal: Principal, connection: str | None) -> list[HeldSession]:
        """The sessions of a caller, oldest first; of an anonymous one, those of its connection only."""
        return [held for held in self._held.values() if _is_of(held, principal, connection)]

    def __len__(self) -> int:
        return len(self._held)

    # -- for the server

    async def stop(self, seconds: float) -> None:
        """Take no new calls, wait at most `seconds` for those under way, then close every session."""
        self.stopping = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                ended = self._call_ended = asyncio.Event()
                while any(held.running for held in self._held.values()):
                    ended.clear()
                    await ended.wait()
        why = "The server was shut down."
        await asyncio.gather(*(self.end(held, why) for held in list(self._held.values())))

    # -- inside

    def _tick(self) -> float:
        shortest = [self._settings, *(self._settings_for(held.owner) for held in self._held.values())]
        return min(LONGEST_TICK, *(min(one.idle_timeout, one.lifetime) / 4 for one in shortest))

    def _look_after(self, held: HeldSession) -> None:
        """Close a session that is over, and keep the state of one that was used."""
        if why := self._why_over(held):
            begin(logged(self.end(held, why)))
            return
        rested = time.monotonic() - held.used >= min(STATE_SECONDS, self._tick())
        if rested and held.unsaved and not held.running:
            held.unsaved = False
            begin(logged(self._keep_state(held)))

    def _holder_of(self, session: BrowserSession) -> HeldSession | None:
        """The holder of a session, also of one that is closing: clients are notified that its files go."""
        known = (*self._held.values(), *self._closing)
        return next((held for held in known if held.session is session), None)

    async def _own_of(self, connection: str, principal: Principal) -> tuple[HeldSession, tuple[str, ...]]:
        held = self.defaults.get(connection)
        if held is not None and held.owner.id == principal.id:
            return held, ()
        if connection in self._over:
            raise UnknownSession(OVER, hint="Connect again.")
        held = await self.open(principal, connection=connection)
        first = self.defaults.get(connection)
        if connection in self._over or (first is not None and first.owner.id == principal.id):
            await self.end(held, OVER)
            # Two first calls at once work in one session.
            return await self._own_of(connection, principal)
        self.defaults[connection] = held
        why = self._ended.pop(f"{principal.id} {connection}", None)
        return held, ((f"{why} This is a new one, with an empty browser.",) if why else ())

    def _client_folder(self, principal: Principal) -> Path | None:
        """A caller's own folder for files that stay."""
        output_dir = self._settings_of(principal).files.output_dir
        if output_dir is None:
            return None
        if principal == ANONYMOUS:
            return output_dir / ANONYMOUS.name
        # Names of callers may hold anything, and two of them may be alike.
        digest = hashlib.sha256(principal.id.encode()).hexdigest()[:16]
        return output_dir / f"{safe_name(principal.name)[:40]}-{digest}"

    def _disk_of(self, principal: Principal) -> ClientDisk:
        settings, folder = self._settings_of(principal), self._client_folder(principal)
        most = settings.sessions.max_disk_per_client or 4 * settings.files.max_files_size
        disk = ClientDisk(most=most * BYTES_A_MEGABYTE, folder=folder, refuses=principal != ANONYMOUS)
        return self._disks.setdefault(principal.id, disk)

    def _settings_for(self, principal: Principal) -> SessionSettings:
        return self._settings_of(principal).sessions

    def _full_for(self, principal: Principal) -> LimitReached | None:
        settings = self._settings_for(principal)
        if len(self._held) >= settings.max_sessions:
            return LimitReached(
                f"{counted(len(self._held), 'browser session')} open, as many as this server allows.",
                hint="Close one of yours with close_session, or try again later.",
            )
        mine = [held for held in self._held.values() if held.owner.id == principal.id]
        most = settings.max_sessions_per_client or max(1, settings.max_sessions // 2)
        if principal != ANONYMOUS and len(mine) >= most:
            return LimitReached(
                f"You have {counted(len(mine), 'browser session')}, as many as one client may have.",
                hint="list_sessions shows them: go on in one by its handle, or close one with close_session.",
            )
        return None

    def _unused(self, of: Callable[[HeldSession], bool]) -> list[HeldSession]:
        """Those among the sessions that were never called again, the longest idle first."""
        found = [held for held in self._held.values() if held.unused and not held.is_busy and of(held)]
        return sorted(found, key=lambda held: held.used)

    def _reclaimable(self, principal: Principal) -> HeldSession | None:
        """The session to close for a new one of this client: one of its own, else one long left by others."""
        mine = self._unused(lambda held: held.owner.id == principal.id)
        if mine or len(self._held) < self._settings_for(principal).max_sessions:
            return next(iter(mine), None)
        late = time.monotonic() - UNUSED_SECONDS
        return next(iter(self._unused(lambda held: held.used < late)), None)

    def _why_no_tab(self, principal: Principal, tabs: int) -> str:
        settings = self._settings_for(principal)
        if tabs >= settings.max_tabs:
            return f"a session may have {settings.max_tabs} tabs."
        if sum(len(held.session.tabs) for held in self._held.values()) >= settings.max_tabs_total:
            return f"all sessions of this server together may have {settings.max_tabs_total} tabs."
        most = settings.max_tabs_per_client or max(1, settings.max_tabs_total // 2)
        mine = sum(len(held.session.tabs) for held in self._held.values() if held.owner.id == principal.id)
        if principal != ANONYMOUS and mine >= most:
            return f"all sessions of one client together may have {most} tabs."
        return ""

    def _file_of(self, principal: Principal, uri: str) -> Artifact | None:
        for held in self._held.values():
            if held.owner.id == principal.id:
                with suppress(NotFound):
                    return held.session.artifacts.find(uri)
        return None

    def _why_over(self, held: HeldSession) -> str:
        """Why a session is over; "" where it is not, or calls are running."""
        settings, now = self._settings_for(held.owner), time.monotonic()
        if held.is_busy:
            return ""
        used = held.last_used
        if now - held.started >= settings.lifetime:
            return f"The session ended: it was {in_words(settings.lifetime)} old."
        if now - used >= settings.idle_timeout:
            return f"The session ended after {in_words(settings.idle_timeout)} without a call."
        if held.unused and now - used >= UNUSED_SECONDS:
            newest = self._unused(lambda other: other.owner.id == held.owner.id)[-UNUSED_KEPT:]
            return "" if held in newest else UNUSED
        return ""

    async def _close(self, held: HeldSession) -> None:
        self._closing.add(held)
        try:
            await self._keep_state(held)
        finally:
            if held.profile is not None:
                held.profile.release()
            try:
                await held.session.close()
            finally:
                self._closing.discard(held)

    async def _keep_state(self, held: HeldSession) -> None:
        if held.profile is not None:
            await held.profile.keep(held.session)


def _is_of(held: HeldSession, principal: Principal, connection: str | None) -> bool:
    """Whether a session is a caller's; one of an anonymous caller is known by its connection."""
    if principal == ANONYMOUS:
        return connection is not None and held.connection == connection
    return held.owner.id == principal.id


def connection_of(request: Context) -> str | None:
    """The protocol session that a call came in, None in the modern protocol over HTTP, which has none."""
    scope = getattr(request.request, "scope", None)
    return None if scope is None else scope.get(CONNECTION)
