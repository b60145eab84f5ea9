"""The browsers of this process and the sessions that work in them, from the server's start to its end."""

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from mcp_browser.browser.concurrency import added, begin, finish
from mcp_browser.browser.process.launcher import import_playwright
from mcp_browser.browser.process.pool import Browsers
from mcp_browser.errors import ActionError
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.session_services import SessionLimits

logger = logging.getLogger(__name__)

FileListener = Callable[["BrowserSession", str], None]
"""Told the address of a file that has come or gone, and the session that it belongs to."""

PageListener = Callable[["BrowserSession"], None]


class BrowserManager:
    """Owns Playwright's driver, the pool of browser contexts and the sessions of this process."""

    def __init__(self, settings: Settings, *, remote: bool = False) -> None:
        """Nothing is started yet.

        Args:
            settings: the settings in force.
            remote: the clients are on other machines: its sessions take no path of theirs for one here, and
                tell none.
        """
        self.settings = settings
        self.remote = remote
        self._browsers = Browsers(settings, remote=remote)
        self.egress, self.pool = self._browsers.egress, self._browsers.pool
        self._default: BrowserSession | None = None
        self._sessions: dict[BrowserSession, None] = {}
        self._file_listeners: list[FileListener] = []
        self._page_listeners: list[PageListener] = []
        self._session_listeners: list[PageListener] = []

    @property
    def restarts(self) -> int:
        """How many shared browsers had ended by themselves and were replaced."""
        return self.pool.restarts

    async def warm(self, *, shared: bool = False) -> None:
        """Begin to start a browser; returns when that goes on without this process's processor.

        With `shared` it is one that sessions share, otherwise the default session is opened.

        A failure shows at the first call. Whatever else is to be imported had better wait for this: imports
        at the same time hold each other up, and the driver then starts later.
        """
        await anyio.to_thread.run_sync(import_playwright)

        async def start() -> None:
            try:
                await self.start()
                if shared:
                    await self.ready()
                    return
                if self.settings.browser.connect is not None:
                    # Its user may be asked to allow it: not before something is wanted of it.
                    return
                session = await self.default_session()
                await session.ensure_open()
            except ActionError as error:
                logger.info("The browser could not be started yet: %s", error)

        begin(start())
        # The driver is started meanwhile.
        await anyio.to_thread.run_sync(import_module, "mcp_browser.browser.session")

    async def start(self) -> None:
        """Start Playwright's driver and see to it that there is a browser; raises BrowserNotFound."""
        await self._browsers.start()

    @property
    def default(self) -> "BrowserSession | None":
        """The session that `default_session` has made, if there is one now."""
        return self._default

    async def default_session(self) -> "BrowserSession":
        """The one session of a server with one client; opened by its `ensure_open`."""
        if self._default is None or self._default.closed:
            # A profile is a folder of this machine.
            elsewhere = self.settings.browser.browser_endpoint is not None
            self._default = await self.open_session(isolated=elsewhere or self.settings.browser.isolated)
        return self._default

    async def ready(self) -> None:
        """See to it that a browser runs or can be reached, for sessions to come; raises as the pool does."""
        await self.pool.ready()

    async def open_session(
        self,
        *,
        isolated: bool = True,
        context_options: Mapping[str, Any] | None = None,
        limits: "SessionLimits | None" = None,
        settings: Settings | None = None,
    ) -> "BrowserSession":
        """A new session; its browser is started by its `ensure_open`.

        Args:
            isolated: it has a clean context of its own that is deleted at its end. Otherwise it works in the
                profile, in tabs of its own where that is shared, else as its only session; or in the browser
                at `cdp_endpoint`.
            context_options: keyword arguments for Playwright's `new_context` that go before the settings'.
            limits: what it has to share with others.
            settings: those that hold for its client; by default the server's.
        """
        # Imported late: it brings Playwright's classes along.
        from mcp_browser.browser.session import BrowserSession  # noqa: PLC0415
        from mcp_browser.browser.start_state import with_storage_state  # noqa: PLC0415

        settings = settings or self.settings
        context_options = with_storage_state(settings.browser, context_options or {}, isolated=isolated)
        session = BrowserSession(
            settings,
            self.pool,
            isolated=isolated,
            remote=self.remote,
            context_options=context_options,
            limits=limits,
            egress=self._browsers.admit(settings),
            on_close=self._forget,
        )
        self._sessions[session] = None
        session.artifacts.listen(functools.partial(self._file_changed, session))
        for listener in self._session_listeners:
            listener(session)
        return session

    @property
    def sessions(self) -> "tuple[BrowserSession, ...]":
        return tuple(self._sessions)

    def listen_to_files(self, listener: "FileListener") -> Callable[[], None]:
        """Have files of any session that come and go told to `listener`; the function returned ends it."""
        return added(self._file_listeners, listener)

    def listen_to_pages(self, listener: "PageListener") -> Callable[[], None]:
        """Have sessions that have ended told to `listener`; the function returned ends it."""
        return added(self._page_listeners, listener)

    def listen_to_sessions(self, listener: "PageListener") -> Callable[[], None]:
        """Have each new session told to `listener`, before it opens; the function returned ends it."""
        return added(self._session_listeners, listener)

    async def close(self) -> None:
        """Close every session, browser and the driver; a browser that others started goes on."""
        self.pool.closed = True
        await finish(self._close())

    async def _close(self) -> None:
        closing = [session.close() for session in self._sessions]
        for outcome in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(outcome, Exception):
                logger.error("A session could not be closed", exc_info=outcome)
        await self._browsers.close()

    def _forget(self, session: "BrowserSession") -> None:
        self._sessions.pop(session, None)
        if self._default is session:
            self._default = None
        for listener in list(self._page_listeners):
            listener(session)

    def _file_changed(self, session: "BrowserSession", uri: str) -> None:
        for listener in list(self._file_listeners):
            listener(session, uri)
