"""The browser's process: started when it is first needed, again when it has died, ended with the server.

Playwright is imported and started here and nowhere else. Whatever starts or ends a browser runs in a task of
the manager's own: a caller that gives up waiting leaves nothing half done.
"""

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio.to_thread

from mcp_browser.browser.process.early_driver import discard, driver_environment, take_over
from mcp_browser.browser.process.grid import grid_environment, grid_error, grid_launch_options
from mcp_browser.browser.process.launch import (
    BrowserChoice,
    context_options,
    engine_of,
    find_browser,
    launch_options,
    proxy_options,
)
from mcp_browser.browser.process.profile import ProfileLock, in_use, profile_folder
from mcp_browser.errors import ActionError, BrowserNotFound, BrowserUnavailable, ProfileInUse
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, BrowserType, Playwright
    from playwright.async_api import Error as PlaywrightError

    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.session_limits import SessionLimits

logger = logging.getLogger(__name__)

T = TypeVar("T")

FileListener = Callable[["BrowserSession", str], None]
"""Told the address of a file that has come or gone, and the session that it belongs to."""

TRIES = 3
"""How often something is started that dies or gets stuck: with a browser, a driver, or both being new."""

OPENING_SECONDS = 10.0
"""How long a browser may take to open a context before it counts as stuck, seconds."""

OPENINGS = max(2, os.cpu_count() or 0)
"""How many sessions and tabs are opened at a time: more of them only hold each other up."""

LAUNCH_SECONDS = 30.0
CLOSE_SECONDS = 2.0
"""How long one part of the browser may take to close before the next one is closed, seconds."""


@dataclass(eq=False, slots=True)
class SharedBrowser:
    """A browser process with the contexts of several sessions.

    `sessions` is how many use it. A `retired` one takes no new ones and ends with its last.
    """

    browser: "Browser"
    sessions: int = 0
    retired: bool = False


class BrowserManager:
    """Owns Playwright's driver and the browsers of this process, and lends contexts of theirs to sessions."""

    def __init__(self, settings: Settings, *, remote: bool = False) -> None:
        """Nothing is started yet.

        Args:
            settings: the settings in force.
            remote: the clients are on other machines: its sessions take no path of theirs for one here, and
                tell none.
        """
        self.settings = settings
        self.remote = remote
        self.restarts = 0
        """How many shared browsers had ended by themselves and were replaced."""
        self._driver: Playwright | None = None
        self._shared: list[SharedBrowser] = []
        self._closing_browsers: list[asyncio.Task[bool]] = []
        self._lent: dict[BrowserSession, SharedBrowser] = {}
        self._attached: Browser | None = None
        self._profile_context: BrowserContext | None = None
        self._profile_lock: ProfileLock | None = None
        self._profile_session: BrowserSession | None = None
        self._default: BrowserSession | None = None
        self._sessions: dict[BrowserSession, None] = {}
        self._file_listeners: list[FileListener] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._changing = asyncio.Lock()
        self.openings = asyncio.Semaphore(OPENINGS)
        self._closing = False

    # -- for servers

    async def warm(self, *, shared: bool = False) -> None:
        """Begin to start a browser; returns when that goes on without this process's processor.

        With `shared` it is one that sessions share, otherwise the default session is opened.

        A failure shows at the first call. Whatever else is to be imported had better wait for this: imports
        at the same time hold each other up, and the driver then starts later.
        """
        await anyio.to_thread.run_sync(_import_playwright)

        async def start() -> None:
            try:
                await self.start()
                if shared:
                    await self.ready()
                    return
                session = await self.default_session()
                await session.ensure_open()
            except ActionError as error:
                logger.info("The browser could not be started yet: %s", error)

        self._keep(asyncio.create_task(start()))
        # The driver is started meanwhile.
        await anyio.to_thread.run_sync(import_module, "mcp_browser.browser.session")

    async def start(self) -> None:
        """Start Playwright's driver and see to it that there is a browser.

        Raises:
            BrowserNotFound: there is none.
        """

        async def begin() -> None:
            async with self._changing:
                await self._playwright()

        if self.settings.browser.cdp_endpoint is None and self.settings.browser.browser_endpoint is None:
            find_browser(self.settings.browser)
        await self.in_own_task(begin)

    async def default_session(self) -> "BrowserSession":
        """The one session of a server with one client; opened by its `ensure_open`."""
        if self._default is None:
            # A profile is a folder of this machine.
            elsewhere = self.settings.browser.browser_endpoint is not None
            self._default = await self.open_session(isolated=elsewhere or self.settings.browser.isolated)
        return self._default

    async def ready(self) -> None:
        """See to it that a browser runs or can be reached, for sessions to come.

        Raises:
            BrowserUnavailable: none could be found, started or reached.
        """

        async def have_one() -> None:
            async with self._changing:
                if self.settings.browser.cdp_endpoint is not None:
                    await self._running_browser()
                elif not any(shared.browser.is_connected() for shared in self._shared):
                    await self._shared_browser()

        async def work() -> None:
            await self._try_again(have_one)

        await self.in_own_task(work)

    async def open_session(
        self,
        *,
        isolated: bool = True,
        context_options: Mapping[str, Any] | None = None,
        limits: "SessionLimits | None" = None,
    ) -> "BrowserSession":
        """A new session; its browser is started by its `ensure_open`.

        Args:
            isolated: it has a clean context of its own that is deleted at its end. Otherwise it works in the
                profile, which one session at a time can have, or in the browser at `cdp_endpoint`.
            context_options: keyword arguments for Playwright's `new_context` that go before the settings'.
            terms: what it has to share with others.
        """
        # Imported late: it brings Playwright's classes along.
        from mcp_browser.browser.session import BrowserSession  # noqa: PLC0415

        session = BrowserSession(self, isolated=isolated, context_options=context_options, limits=limits)
        self._sessions[session] = None
        session.artifacts.listen(functools.partial(self._file_changed, session))
        return session

    @property
    def sessions(self) -> "tuple[BrowserSession, ...]":
        """The sessions that there are, oldest first."""
        return tuple(self._sessions)

    def listen_to_files(self, listener: "FileListener") -> Callable[[], None]:
        """Have files of any session that come and go told to `listener`; the function returned ends it."""
        self._file_listeners.append(listener)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._file_listeners.remove(listener)

        return end

    async def close(self) -> None:
        """Close every session, browser and the driver; a browser that others started goes on."""
        self._closing = True
        await self.in_own_task(self._close)

    def _file_changed(self, session: "BrowserSession", uri: str) -> None:
        for listener in list(self._file_listeners):
            listener(session, uri)

    # -- for sessions

    async def in_own_task(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The outcome of `work()`, which goes on to its end also where the caller is cancelled."""
        return await asyncio.shield(self._keep(asyncio.create_task(work())))

    async def lend_context(self, session: "BrowserSession") -> "tuple[BrowserContext, list[str]]":
        """A context for a session, and sentences to tell about it. Runs in a task of the manager's.

        Raises:
            BrowserUnavailable: no browser could be found, started or reached.
        """
        if self._closing:
            raise BrowserUnavailable("The server is ending.")
        if self.settings.browser.cdp_endpoint is not None:
            return await self._context_of_running_browser(session), []
        if session.isolated:
            return await self._isolated_context(session), []
        try:
            async with self._changing:
                return await self._context_of_profile(session), []
        except ProfileInUse as error:
            if self.settings.browser.profile_in_use == "error":
                raise
            told = f"{error.message} A temporary profile is used instead: logins are neither there nor kept."
            return await self._isolated_context(session), [told]

    def forget(self, session: "BrowserSession") -> None:
        """Know nothing more of a session that ends."""
        self._sessions.pop(session, None)
        if self._default is session:
            self._default = None

    async def give_back(self, session: "BrowserSession", context: "BrowserContext") -> None:
        """Close the context of a session that ends, unless it belongs to a browser that others started."""
        if self._attached is not None and context in self._attached.contexts[:1] and not session.isolated:
            return
        closed = await _within(CLOSE_SECONDS, context.close())
        if context is self._profile_context:
            self._release_profile()
        shared = self._lent.pop(session, None)
        if shared is not None:
            # What cannot be closed would stay for ever: the browser ends once its last session has.
            shared.retired = shared.retired or not closed
            self._leave(shared)

    async def devices(self) -> dict[str, dict[str, Any]]:
        """Playwright's list of devices."""
        # Playwright leaves the types within open.
        return cast("dict[str, dict[str, Any]]", cast("Any", await self._playwright()).devices)

    # -- contexts

    async def _isolated_context(self, session: "BrowserSession") -> "BrowserContext":
        from playwright.async_api import Error as PlaywrightError  # noqa: PLC0415

        from mcp_browser.browser.playwright_errors import is_closed  # noqa: PLC0415

        browser = self.settings.browser
        options = context_options(browser) | session.context_options
        if browser.browser_endpoint is not None and browser.proxy is not None:
            # That of a browser started here is among its launch options.
            options["proxy"] = proxy_options(browser.proxy)

        async def open_context() -> "BrowserContext":
            async with self._changing:
                if (lost := self._lent.pop(session, None)) is not None:
                    self._leave(lost)
                shared = await self._shared_browser()
                shared.sessions += 1
                self._lent[session] = shared
            try:
                async with asyncio.timeout(OPENING_SECONDS):
                    return await shared.browser.new_context(**options)
            except (TimeoutError, PlaywrightError) as error:
                shared.retired = isinstance(error, TimeoutError) or is_closed(error)
                raise

        return await self._try_again(open_context)

    async def _shared_browser(self) -> SharedBrowser:
        """A browser with room for one more session, started where there is none."""
        for shared in list(self._shared):
            if not shared.browser.is_connected():
                self._shared.remove(shared)
                self.restarts += 1
        most = self.settings.sessions.sessions_per_browser
        for shared in self._shared:
            if not shared.retired and shared.sessions < most:
                return shared
        shared = SharedBrowser(await self._start_browser())
        self._shared.append(shared)
        return shared

    async def _start_browser(self) -> "Browser":
        settings = self.settings.browser
        endpoint = settings.browser_endpoint
        seconds = LAUNCH_SECONDS * 1000
        if settings.selenium_grid is not None:
            chromium = (await self._playwright()).chromium
            # A driver that is stuck keeps no time.
            async with asyncio.timeout(LAUNCH_SECONDS + CLOSE_SECONDS):
                return await chromium.launch(**grid_launch_options(settings), timeout=seconds)
        if endpoint is not None:
            driver = await self._playwright()
            engine: BrowserType = getattr(driver, engine_of(settings))
            return await engine.connect(endpoint, timeout=seconds)
        choice = find_browser(settings, isolated=True)
        launch = launch_options(choice, settings=settings)
        kind = await self._browser_type(choice)
        async with asyncio.timeout(LAUNCH_SECONDS + CLOSE_SECONDS):
            return await kind.launch(**launch, timeout=seconds)

    def _leave(self, shared: SharedBrowser) -> None:
        """A session no longer uses a shared browser. One that nobody uses ends, unless it is the only one."""
        shared.sessions -= 1
        others = [other for other in self._shared if other is not shared and not other.retired]
        if shared.sessions == 0 and (shared.retired or others):
            with contextlib.suppress(ValueError):
                self._shared.remove(shared)
            self._closing_browsers.append(
                self._keep(asyncio.create_task(_within(CLOSE_SECONDS, shared.browser.close())))
            )
            self._closing_browsers = [task for task in self._closing_browsers if not task.done()]

    async def _context_of_profile(self, session: "BrowserSession") -> "BrowserContext":
        if self._profile_context is not None:
            if self._profile_session is not session and not _is_over(self._profile_context):
                raise BrowserUnavailable(
                    "The profile belongs to another session of this server.",
                    hint="Use an isolated session.",
                )
            self._release_profile()
        folder = profile_folder(self.settings.browser)
        lock = ProfileLock(folder)
        await lock.acquire()
        try:
            choice = find_browser(self.settings.browser)
            options = launch_options(choice, settings=self.settings.browser)
            options |= context_options(self.settings.browser)

            async def launch() -> "BrowserContext":
                kind = await self._browser_type(choice)
                return await kind.launch_persistent_context(folder, **options, timeout=LAUNCH_SECONDS * 1000)

            context = await self._try_again(launch)
        except BaseException:
            lock.release()
            raise
        self._profile_context, self._profile_lock, self._profile_session = context, lock, session
        return context

    async def _context_of_running_browser(self, session: "BrowserSession") -> "BrowserContext":
        async def connect() -> "BrowserContext":
            async with self._changing:
                browser = await self._running_browser()
            if session.isolated or not browser.contexts:
                async with asyncio.timeout(OPENING_SECONDS):
                    return await browser.new_context(
                        **(context_options(self.settings.browser) | session.context_options)
                    )
            return browser.contexts[0]

        return await self._try_again(connect)

    async def _running_browser(self) -> "Browser":
        if self._attached is None or not self._attached.is_connected():
            driver = await self._playwright()
            self._attached = await driver.chromium.connect_over_cdp(
                self.settings.browser.cdp_endpoint or "", timeout=LAUNCH_SECONDS * 1000
            )
        return self._attached

    async def _try_again(self, work: "Callable[[], Awaitable[T]]") -> T:
        """Start something; again where the browser or the driver turns out to be dead or stuck."""
        from playwright.async_api import Error as PlaywrightError  # noqa: PLC0415

        from mcp_browser.browser.playwright_errors import is_closed  # noqa: PLC0415

        for left in reversed(range(TRIES)):
            driver = self._driver
            try:
                return await work()
            except (TimeoutError, PlaywrightError) as error:
                answers = driver is not None and await self._driver_answers(driver)
                again = isinstance(error, TimeoutError) or is_closed(error)
                if not left or not again or (answers and _is_about_launching(error)):
                    raise self._launch_error(error) from error
            logger.info("The browser or its driver had ended, or does not answer; it is started again.")
            self._attached = None
            if not answers and driver is self._driver:
                await self._stop_driver()
        raise AssertionError("the last try returns or raises")

    # -- the driver and the browser

    async def _browser_type(self, choice: BrowserChoice) -> "BrowserType":
        return getattr(await self._playwright(), choice.engine)

    async def _playwright(self) -> "Playwright":
        driver = self._driver
        if driver is None:
            os.environ.update(driver_environment())
            # A tenth of a second that the client need not wait for.
            module = await anyio.to_thread.run_sync(_import_playwright)
            try:
                with self._starting_driver():
                    driver = self._driver = await module.async_playwright().start()
            except ActionError:
                raise
            except Exception as error:
                raise BrowserUnavailable(
                    f"Playwright's driver could not be started: {error}.",
                    hint="mcp-browser doctor tells more.",
                ) from error
        return driver

    def _starting_driver(self) -> contextlib.AbstractContextManager[None]:
        """Within it, Playwright's driver is started that the settings need."""
        grid = self.settings.browser.selenium_grid
        if grid is not None:
            discard()
            return grid_environment(grid)
        return take_over()

    async def _driver_answers(self, driver: "Playwright") -> bool:
        from playwright.async_api import Error as PlaywrightError  # noqa: PLC0415

        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                # The least that can be asked without a browser.
                requests = await driver.request.new_context()
                await requests.dispose()
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def _stop_driver(self) -> None:
        driver, self._driver = self._driver, None
        self._shared, self._attached = [], None
        if driver is not None:
            await _within(CLOSE_SECONDS, driver.stop())

    def _launch_error(  # noqa: PLR0911 - one for each cause
        self, error: "PlaywrightError | TimeoutError"
    ) -> ActionError:
        from mcp_browser.browser.playwright_errors import plain_message  # noqa: PLC0415

        if isinstance(error, TimeoutError):
            return BrowserUnavailable("The browser does not answer.", hint="Try again.")
        log = str(error)
        settings = self.settings.browser
        if settings.selenium_grid is not None:
            return grid_error(settings.selenium_grid, plain_message(error), seconds=LAUNCH_SECONDS)
        if settings.browser_endpoint is not None:
            return BrowserUnavailable(
                f"No browser could be had at the browser endpoint: {plain_message(error)}.",
                hint="A Playwright server has to run the version that mcp-browser doctor tells of this one.",
            )
        if settings.cdp_endpoint is not None:
            return BrowserUnavailable(
                f"No browser could be reached at the CDP endpoint: {plain_message(error)}.",
                hint="Start one with --remote-debugging-port=9222 and give --cdp-endpoint http://127.0.0.1:9222.",
            )
        if "ProcessSingleton" in log or "already in use" in log:
            return in_use(profile_folder(settings), None)
        if "Executable doesn't exist" in log or "is not found" in log:
            return BrowserNotFound(
                f"The browser could not be found: {plain_message(error)}.",
                hint="Get one with: mcp-browser install.",
            )
        for sign, hint in _LAUNCH_HINTS.items():
            if sign in log:
                return BrowserUnavailable("The browser could not be started.", hint=hint)
        return BrowserUnavailable(
            f"The browser could not be started: {plain_message(error)}.",
            hint="mcp-browser doctor tells what is wrong; --log-level debug shows the browser's own words.",
        )

    def _release_profile(self) -> None:
        self._profile_context = self._profile_session = None
        if self._profile_lock is not None:
            self._profile_lock.release()
            self._profile_lock = None

    async def _close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions)))
        async with self._changing:
            if self._profile_context is not None:
                await _within(CLOSE_SECONDS, self._profile_context.close())
            browsers = [shared.browser for shared in self._shared]
            browsers += [self._attached] if self._attached is not None else []
            connected = [browser for browser in browsers if browser.is_connected()]
            closing = [_within(CLOSE_SECONDS, browser.close()) for browser in connected]
            await asyncio.gather(*closing, *self._closing_browsers)
            await self._stop_driver()
            self._release_profile()

    def _keep(self, task: "asyncio.Task[T]") -> "asyncio.Task[T]":
        """Hold on to a task; its error is taken note of also where nobody waits for it any more."""
        self._tasks.add(task)

        def done(ended: "asyncio.Task[T]") -> None:
            self._tasks.discard(ended)
            if not ended.cancelled():
                ended.exception()

        task.add_done_callback(done)
        return task


_LAUNCH_HINTS = {
    "No usable sandbox": "Its sandbox does not work on this machine: start with --no-sandbox.",
    "without --no-sandbox": "Its sandbox does not work for root: start with --no-sandbox.",
    "Missing X server": "There is no display here: start with --headless.",
    "error while loading shared libraries": "Libraries are missing: run playwright install-deps.",
    "Failed to launch": "Its executable cannot be run: mcp-browser doctor tells more.",
}


def _is_about_launching(error: Exception) -> bool:
    """Whether a browser ended while it was being started: another try would end in the same way."""
    return "launch" in str(error).partition(":")[0]


def _is_over(context: "BrowserContext") -> bool:
    browser = context.browser
    return browser is not None and not browser.is_connected()


def _import_playwright() -> Any:
    import playwright.async_api  # noqa: PLC0415

    return playwright.async_api


async def _within(seconds: float, work: Awaitable[Any]) -> bool:
    """Close something, without being held or failed by it; whether it came to its end in time."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    except Exception as error:  # noqa: BLE001 - what is gone already need not be closed
        logger.debug("Closing failed: %s", error)
    return True
