"""The browsers and sessions of this process, from the server's start to its end."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from mcp_browser.browser.concurrency import begin, finish
from mcp_browser.browser.process.pool import ContextPool
from mcp_browser.errors import ActionError
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.session_services import SessionLimits

logger = logging.getLogger(__name__)

FileListener = Callable[["BrowserSession", str], None]  # Takes a session and the address of its file
SessionListener = Callable[["BrowserSession"], None]


class BrowserManager:
    """Owns Playwright's driver, the pool of browser contexts and the sessions of this process."""

    def __init__(self, settings: Settings, *, remote: bool = False) -> None:
        """Start nothing yet; `remote`: clients are on other machines, and share no paths with the server."""
        self.settings = settings
        self.remote = remote
        self.pool = ContextPool(settings, remote=remote)
        self.egress = self.pool.egress
        self.start, self.ready = self.pool.start, self.pool.ready
        self.default: BrowserSession | None = None  # The session of `default_session`, if there is one now
        self._sessions: dict[BrowserSession, None] = {}
        self.file_listeners: list[FileListener] = []  # Called for each file of a session added or removed
        self.when_new: list[SessionListener] = []  # Called with each new session before it opens
        self.when_ended: list[SessionListener] = []  # Called with each session that has ended

    async def warm(self, *, shared: bool = False) -> None:
        """Start a browser in the background: one that sessions share (`shared`), or the default session's.

        A failure is raised by the first call. Import other modules after this returns: imports in parallel
        delay the driver.
        """
        await anyio.to_thread.run_sync(import_module, "playwright.async_api")

        async def start() -> None:
            try:
                await self.start()
                if shared:
                    await self.ready()
                elif self.settings.browser.connect is None:
                    # Connecting may ask the browser's user: not before the first call.
                    await (await self.default_session()).ensure_open()
            except ActionError as error:
                logger.info("The browser could not be started yet: %s", error)

        begin(start())
        # The driver starts in parallel.
        await anyio.to_thread.run_sync(import_module, "mcp_browser.browser.session")

    async def default_session(self) -> "BrowserSession":
        """The session of a server with one client; `ensure_open` opens it."""
        if self.default is None or self.default.closed:
            # A profile is a folder of this machine.
            elsewhere = self.settings.browser.browser_endpoint is not None
            self.default = await self.open_session(isolated=elsewhere or self.settings.browser.isolated)
        return self.default

    async def open_session(
        self,
        *,
        isolated: bool = True,
        context_options: Mapping[str, Any] | None = None,
        limits: "SessionLimits | None" = None,
        settings: Settings | None = None,
    ) -> "BrowserSession":
        """A new session, as `BrowserSession` describes; `ensure_open` starts its browser.

        Without `isolated` it uses the profile, in separate tabs if that is shared, else as its only session,
        or the browser at `cdp_endpoint`. `settings` are those of its client, by default the server's.
        """
        # Imported late: it imports Playwright's classes.
        from mcp_browser.browser.session import BrowserSession  # noqa: PLC0415
        from mcp_browser.browser.site_data import with_storage_state  # noqa: PLC0415

        settings = settings or self.settings
        context_options = with_storage_state(settings.browser, context_options or {}, isolated=isolated)
        session = BrowserSession(
            settings,
            self.pool,
            isolated=isolated,
            remote=self.remote,
            context_options=context_options,
            limits=limits,
            egress=self.pool.admit(settings),
            on_close=self._forget,
        )
        self._sessions[session] = None
        session.artifacts.on_change = partial(self._file_changed, session)
        for listener in self.when_new:
            listener(session)
        return session

    @property
    def sessions(self) -> "tuple[BrowserSession, ...]":
        return tuple(self._sessions)

    async def close(self) -> None:
        """Close every session, browser and the driver, but no browser that others started."""
        self.pool.closed = True
        await finish(self._close())

    async def _close(self) -> None:
        closing = [session.close() for session in self._sessions]
        for outcome in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(outcome, Exception):
                logger.error("A session could not be closed", exc_info=outcome)
        await self.pool.close()

    def _forget(self, session: "BrowserSession") -> None:
        self._sessions.pop(session, None)
        if self.default is session:
            self.default = None
        for listener in self.when_ended:
            listener(session)

    def _file_changed(self, session: "BrowserSession", uri: str) -> None:
        for listener in list(self.file_listeners):
            listener(session, uri)
