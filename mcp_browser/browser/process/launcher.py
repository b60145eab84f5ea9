"""Playwright's driver and what it starts: browsers, profiles, connections to running browsers.

Playwright is imported and started here and nowhere else.
"""

import asyncio
import base64
import contextlib
import functools
import json
import logging
import os
import re
from collections.abc import Generator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import unquote, urlsplit, urlunsplit

import anyio.to_thread

from mcp_browser.browser.concurrency import SingleFlight, within
from mcp_browser.browser.process.early_driver import (
    LIBRARY,
    LIBRARY_HINT,
    discard,
    driver_environment,
    driver_problem,
    take_over,
)
from mcp_browser.browser.process.launch import BrowserChoice, chromium_args, find_browser, launch_options
from mcp_browser.browser.process.profile import (
    can_share,
    in_use,
    profile_folder,
    sharing_options,
    why_not_shared,
)
from mcp_browser.dom.driver_errors import is_closed, plain_message
from mcp_browser.errors import ActionError, BrowserNotFound, BrowserUnavailable
from mcp_browser.settings import BrowserSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from playwright.async_api import Browser, BrowserContext, Playwright
    from playwright.async_api import Error as PlaywrightError

    from mcp_browser.browser.egress.proxy import EgressProxy
    from mcp_browser.browser.process.divide.own_relay import Relay

_URL = "SELENIUM_REMOTE_URL"
_HEADERS = "SELENIUM_REMOTE_HEADERS"
_CAPABILITIES = "SELENIUM_REMOTE_CAPABILITIES"
_REFUSAL = re.compile(r"Error connecting to Selenium at \S+?: ")
_UNREACHABLE = re.compile(r"\b(?:E[A-Z_]{4,}|socket hang up|certificate)\b")


def address_and_headers(endpoint: str) -> tuple[str, dict[str, str]]:
    """A grid's address without credentials, and headers for every request; raises BrowserUnavailable."""
    parts = urlsplit(endpoint)
    host = parts.netloc.rpartition("@")[2]
    headers: dict[str, str] = _json_variable(_HEADERS)
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), headers


@contextlib.contextmanager
def grid_environment(endpoint: str) -> Generator[None]:
    """In this context, a driver that starts uses the grid's browsers; raises BrowserUnavailable."""
    _json_variable(_CAPABILITIES)
    address, headers = address_and_headers(endpoint)
    wanted = {_URL: address} | ({_HEADERS: json.dumps(headers)} if headers else {})
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def grid_error(endpoint: str, message: str) -> BrowserUnavailable:
    """The error, without credentials, for a grid without a browser; `message` is Playwright's."""
    place = urlsplit(endpoint).netloc.rpartition("@")[2]
    refusal = _REFUSAL.sub("", message)
    grid, is_page = f"The Selenium Grid at {place}", refusal.startswith("<")
    if refusal != message and not is_page:
        problem = f"{grid} gave no browser: {refusal}"
        hint = "Its /status page tells which browsers it has and which are in use."
    elif message.startswith("Timeout"):
        problem = f"{grid} gave no browser within {LAUNCH_SECONDS:g} s"
        hint = "All of its slots may be in use: try again later."
    elif _UNREACHABLE.search(message) and not is_page:
        problem, hint = f"{grid} cannot be reached: {message}", "Is it running there?"
    else:
        said = "what answers there is a web page" if is_page else message
        problem = f"No browser could be had at the Selenium Grid at {place}: {said}"
        hint = "The address has to be a grid's, such as http://127.0.0.1:4444; mcp-browser doctor asks it."
    return BrowserUnavailable(f"{problem}.", hint=hint)


def _json_variable(name: str) -> dict[str, Any]:
    """The JSON object in an environment variable; empty if it is not set."""
    try:
        value = json.loads(os.environ.get(name) or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        # Playwright would ignore it. Its value may be a secret.
        raise BrowserUnavailable(f"The environment variable {name} is not a JSON object.", hint="Correct it.")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON has no types


logger = logging.getLogger(__name__)

T = TypeVar("T")

TRIES = 3  # How often to start something that ends or hangs
LAUNCH_SECONDS = 30.0
CLOSE_SECONDS = 2.0  # How long one part may take to close before the next one is closed, seconds


class Launcher:
    """Owns Playwright's driver, and starts browsers with it."""

    def __init__(self, settings: BrowserSettings, egress: "EgressProxy | None" = None) -> None:
        """Start nothing yet. With `egress`, browsers can connect through that proxy only."""
        self.egress = egress
        self.on_driver_end: Callable[[], None] = lambda: None  # Called when it has ended
        self._settings = settings
        self._driver: Playwright | None = None
        self._start = SingleFlight(self._start_driver)
        self._closed = False

    async def driver(self) -> "Playwright":
        """Playwright's driver, started if needed; raises BrowserUnavailable."""
        return self._driver or await self._start()

    async def launch(self) -> "Browser":
        """Start a browser for clean contexts, or get one of a grid, or at an endpoint."""
        settings, seconds = self._settings, LAUNCH_SECONDS * 1000
        # A missing browser is reported before the driver is started.
        is_remote = settings.selenium_grid or settings.browser_endpoint or settings.cdp_endpoint
        choice = None if is_remote else find_browser(settings, isolated=True)
        chromium = (await self.driver()).chromium
        if choice is not None:
            options: dict[str, Any] = await self._launch_options(choice, isolated=True)
        elif settings.selenium_grid is not None:
            # Whether this machine has a display, or this is root, does not matter there.
            options = {
                "headless": settings.headless is not False,
                "chromium_sandbox": settings.sandbox is not False,
                "args": chromium_args(settings),
                "channel": "msedge" if settings.browser == "msedge" else None,
            }
        elif settings.browser_endpoint is not None:
            return await chromium.connect(settings.browser_endpoint, timeout=seconds)
        else:
            assert settings.cdp_endpoint is not None
            return await chromium.connect_over_cdp(settings.cdp_endpoint, timeout=seconds)
        # A driver that hangs keeps no time limit.
        async with asyncio.timeout(LAUNCH_SECONDS + CLOSE_SECONDS):
            return await chromium.launch(**options, timeout=seconds)

    @property
    def shares_profile(self) -> bool:
        """Whether several servers share the profile's browser; raises BrowserNotFound."""
        return self.egress is None and can_share(self._settings, find_browser(self._settings))

    async def launch_profile(self, folder: "Path", options: "Mapping[str, Any]") -> "BrowserContext":
        """Start a browser with a profile folder, which ends with its context.

        A shared profile's browser may run already, and ends with the last context.
        """
        choice = find_browser(self._settings)
        options = await self._launch_options(choice) | dict(options)
        if self.shares_profile:
            options |= sharing_options(self._settings, choice, folder)
        chromium = (await self.driver()).chromium
        return await chromium.launch_persistent_context(folder, **options, timeout=LAUNCH_SECONDS * 1000)

    async def _launch_options(self, choice: BrowserChoice, *, isolated: bool = False) -> dict[str, Any]:
        options = launch_options(choice, settings=self._settings, isolated=isolated)
        if options["chromium_sandbox"] is False:
            logger.warning(
                "The browser runs without its process sandbox (--no-sandbox, or root on Linux): a page that "
                "breaks out of its renderer has this user's rights. Run the server as a user of its own."
            )
        if self.egress is not None:
            options["proxy"] = await self.egress.browser_proxy()
            options["args"] += self.egress.browser_args()
        return options

    @functools.cached_property
    def own_chrome(self) -> "Relay":
        """The connection to the user's own browser, not opened yet."""
        # Imported late: few servers connect.
        from mcp_browser.browser.process.divide.own_relay import Relay  # noqa: PLC0415

        return Relay(self._settings.connect or "", self._settings.connect_tabs)

    async def join_own_chrome(self) -> "Browser":
        """Connect to the user's own browser; a session sees its own tabs. Raises BrowserUnavailable."""
        address = await self.own_chrome.address()
        chromium = (await self.driver()).chromium
        return await chromium.connect_over_cdp(address, is_local=True, timeout=LAUNCH_SECONDS * 1000)

    async def try_again(self, work: "Callable[[], Awaitable[T]]") -> T:
        """Start something; try again if the browser or the driver has ended or hangs."""
        from playwright.async_api import Error as PlaywrightError  # noqa: PLC0415

        for left in reversed(range(TRIES)):
            driver = self._driver
            try:
                return await work()
            except (TimeoutError, PlaywrightError) as error:
                answers = driver is not None and await _answers(driver)
                # A browser that ends during its start would do so again.
                is_final = answers and "launch" in str(error).partition(":")[0]
                if not left or not is_stuck(error) or is_final:
                    raise self._launch_error(error) from error
            logger.info("The browser or its driver had ended, or does not answer; it is started again.")
            if driver is not None and not answers and self._ended(driver):
                await within(CLOSE_SECONDS, driver.stop())
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """Stop the driver, with every browser that it has started."""
        self._closed = True
        if "own_chrome" in self.__dict__:
            await self.own_chrome.close()
        await self._start.ended(LAUNCH_SECONDS)
        driver, self._driver = self._driver, None
        if driver is not None:
            await within(CLOSE_SECONDS, driver.stop())

    async def _start_driver(self) -> "Playwright":
        if self._closed:
            raise BrowserUnavailable("The server is ending.")
        os.environ.update(driver_environment())
        # In a thread: it takes a tenth of a second.
        module: Any = await anyio.to_thread.run_sync(import_module, "playwright.async_api")
        grid = self._settings.selenium_grid
        if grid is not None:
            discard()
        try:
            with take_over() if grid is None else grid_environment(grid):
                driver: Playwright = await module.async_playwright().start()
        except ActionError:
            raise
        except Exception as error:
            # Playwright reports only that the connection closed.
            problem = await anyio.to_thread.run_sync(driver_problem, abandon_on_cancel=True) or str(error)
            hint = LIBRARY_HINT if LIBRARY in problem else "Run mcp-browser doctor for details."
            raise BrowserUnavailable(
                f"Playwright's driver could not be started: {problem}.", hint=hint
            ) from error
        self._driver = driver
        # Playwright has no public event for the driver's end; without it, calls would time out.
        with contextlib.suppress(AttributeError):
            connection = cast("Any", driver)._impl_obj._connection
            connection.on("close", functools.partial(self._ended, driver))
        return driver

    def _ended(self, driver: "Playwright", *_event: object) -> bool:
        """Drop a driver that has ended; whether it was the current one."""
        if driver is not self._driver:
            return False
        self._driver = None
        self.on_driver_end()
        return True

    def _launch_error(  # noqa: PLR0911 - one for each cause
        self, error: "PlaywrightError | TimeoutError"
    ) -> ActionError:
        if isinstance(error, TimeoutError):
            return BrowserUnavailable("The browser does not answer.", hint="Try again.")
        log, message, settings = str(error), plain_message(error), self._settings
        if settings.selenium_grid is not None:
            return grid_error(settings.selenium_grid, message)
        for asked_for, failure, hint in (
            (settings.browser_endpoint, "No browser could be had at the browser endpoint", _SAME_VERSION),
            (settings.connect, "The browser ended while it was connected to", "Try again."),
            (settings.cdp_endpoint, "No browser could be reached at the CDP endpoint", _HOW_TO_ATTACH),
        ):
            if asked_for is not None:
                return BrowserUnavailable(f"{failure}: {message}.", hint=hint)
        if (refusal := why_not_shared(log, profile_folder(settings))) is not None:
            return refusal
        if "ProcessSingleton" in log or "already in use" in log:
            return in_use(profile_folder(settings), None)
        if "Executable doesn't exist" in log or "is not found" in log:
            hint = "Get one with: mcp-browser install."
            return BrowserNotFound(f"The browser could not be found: {message}.", hint=hint)
        for sign, hint in _LAUNCH_HINTS.items():
            if sign in log:
                return BrowserUnavailable("The browser could not be started.", hint=hint)
        return BrowserUnavailable(
            f"The browser could not be started: {message}.",
            hint="mcp-browser doctor tells what is wrong; --log-level debug shows the browser's own words.",
        )


_SAME_VERSION = "A Playwright server has to run the version that mcp-browser doctor tells of this one."
_HOW_TO_ATTACH = "Start one with --remote-debugging-port=9222 and give --cdp-endpoint http://127.0.0.1:9222."
_LAUNCH_HINTS = {
    "No usable sandbox": "Its sandbox does not work on this machine: start with --no-sandbox.",
    "without --no-sandbox": "Its sandbox does not work for root: start with --no-sandbox.",
    "Missing X server": "There is no display here: start with --headless.",
    "error while loading shared libraries": "Libraries are missing: run playwright install-deps.",
    "Failed to launch": "Its executable cannot be run: mcp-browser doctor tells more.",
}


def is_stuck(error: BaseException) -> bool:
    """Whether a browser or the driver has ended, or hangs, by an error of a request to it."""
    return isinstance(error, TimeoutError) or is_closed(error)


async def _answers(driver: "Playwright") -> bool:
    from playwright.async_api import Error as PlaywrightError  # noqa: PLC0415

    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            # The cheapest request that needs no browser.
            requests = await driver.request.new_context()
            await requests.dispose()
    except (TimeoutError, PlaywrightError):
        return False
    return True
