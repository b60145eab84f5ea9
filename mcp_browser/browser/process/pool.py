"""The browser contexts of this process: the only place that counts and releases them."""

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio.to_thread

from mcp_browser.browser.concurrency import SingleFlight, begin, finish, within
from mcp_browser.browser.egress.policy import log_in
from mcp_browser.browser.process.launch import (
    browser_settings,
    context_options,
    find_browser,
    find_device,
    proxy_options,
)
from mcp_browser.browser.process.launcher import CLOSE_SECONDS, LAUNCH_SECONDS, Launcher, is_stuck
from mcp_browser.browser.process.profile import ProfileLock, profile_folder, warn_of_others
from mcp_browser.errors import BrowserUnavailable, ProfileInUse
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

    from mcp_browser.browser.egress.proxy import EgressProxy, ProxySession

logger = logging.getLogger(__name__)

OPENING_SECONDS = 10.0  # How long a browser may take to open a context before it counts as stuck, seconds
OPENINGS = max(2, os.cpu_count() or 0)  # How many sessions and tabs are opened at a time: more are slower
# Settings that override a device, by Playwright's names if these differ
_SETTING_OF = {"device_scale_factor": "device_scale", "screen": "viewport"}
Ended = Literal["browser", "driver"]  # What has ended, with all contexts in it


@dataclass(eq=False, slots=True)
class SharedBrowser:
    """A browser process, or the connection to the one at `cdp_endpoint`, with contexts of several sessions.

    `contexts` are lent or being opened. In a process started here all are for one `tenant`, since it has one
    clipboard. A `retired` browser lends no new ones and ends with its last.
    """

    browser: "Browser"
    tenant: str | None = None
    contexts: int = 0
    retired: bool = False


@dataclass(eq=False, slots=True)
class Lease:
    """A context that is lent. `notice` is a sentence to report about it, or empty.

    `joined`: others used its browser before. `lent`: the ids of the targets in it that are the user's tabs.
    """

    context: "BrowserContext"
    notice: str = ""
    joined: bool = False
    lent: Collection[str] = ()


class ContextPool:
    """Lends browser contexts, and starts and ends the browsers of one server or standalone session."""

    def __init__(self, settings: Settings, *, remote: bool = False) -> None:
        """Start nothing yet; `remote`: the clients are on other machines."""
        self.restarts = 0  # How many shared browsers have ended by themselves and were replaced
        self.contexts = 0  # How many contexts are lent, being opened or being closed
        self.openings = asyncio.Semaphore(OPENINGS)
        self.context_options = context_options(settings.browser)
        """Keyword arguments of `new_context` for all sessions; with the device's after `use_device`."""
        self._has_device = False
        self._settings = settings
        self._remote = remote
        # The proxy that the browsers connect through if their connections are restricted.
        self.egress: EgressProxy | None = None
        if any(one.egress.restricts(remote=remote) for one in settings.variants):
            if settings.browser.starts_browser:
                # Imported late: most servers over stdio restrict nothing.
                from mcp_browser.browser.egress import proxy  # noqa: PLC0415

                self.egress = proxy.EgressProxy(settings.browser.proxy)
            else:
                # An explicit restriction is refused at the start.
                logger.warning(
                    "Where the browser connects to is not restricted: it is not started here. "
                    "Its pages can reach the network that it runs in."
                )
        self._launcher = Launcher(browser_settings(settings), self.egress)
        self._launcher.on_driver_end = self._driver_ended
        # Called when the driver ends, one for each lent context
        self._lent: set[Callable[[Ended], None]] = set()
        self._shared: list[SharedBrowser] = []
        self._start_shared = SingleFlight(self._add_shared)
        self._ending: set[asyncio.Task[bool]] = set()
        self._profile_is_lent = False
        self.closed = False  # Whether it lends nothing any more

    @property
    def browsers(self) -> "list[Browser]":
        return [shared.browser for shared in self._shared]

    def admit(self, settings: Settings) -> "ProxySession | None":
        """Access to the proxy for a session with these settings, if there is one."""
        return self.egress.admit(settings.egress, remote=self._remote) if self.egress else None

    async def start(self) -> None:
        """Start Playwright's driver and check that there is a browser; raises BrowserNotFound."""
        if self._settings.browser.starts_browser:
            find_browser(self._settings.browser)
        await self._launcher.driver()

    @contextlib.asynccontextmanager
    async def lease(
        self,
        *,
        isolated: bool,
        options: Mapping[str, Any],
        on_end: "Callable[[BrowserContext, Ended], None]",
        egress: "ProxySession | None" = None,
        tenant: str = "",
    ) -> AsyncGenerator[Lease]:
        """Lend a context; it is closed at the end, unless it belongs to a browser that others started.

        It is a clean one if `isolated`, otherwise the profile's, or that of the browser at `cdp_endpoint`.
        `options` for Playwright's `new_context` override the settings. `on_end` is called once it has ended,
        even by being closed here. `egress` is its access to the egress proxy, if there is one. A browser
        started here is shared by sessions of one `tenant` only. Raises BrowserUnavailable: no browser could
        be found, started or reached; ProfileInUse: another process holds the profile.
        """
        if self.closed:
            raise BrowserUnavailable("The server is ending.")
        self.contexts += 1
        try:
            async with contextlib.AsyncExitStack() as lent:
                lease = await self._lend(lent, isolated=isolated, options=options, tenant=tenant)
                if egress is not None:
                    await log_in(lease.context, egress)
                ended = functools.partial(on_end, lease.context)
                lease.context.on("close", lambda _: ended("browser"))
                self._lent.add(ended)
                lent.callback(self._lent.discard, ended)
                yield lease
        finally:
            self.contexts -= 1

    async def ready(self) -> None:
        """Make sure that a browser runs or can be reached; raises BrowserUnavailable."""

        async def have_one() -> None:
            if self._settings.browser.connect is not None:
                await self._launcher.driver()
            elif not any(shared.browser.is_connected() for shared in self._shared):
                await self._start_shared()

        await finish(self._launcher.try_again(have_one))

    async def use_device(self) -> None:
        """Add the options of the settings' device that other settings do not override; raises NotFound."""
        settings = self._settings.browser
        if settings.device is None or self._has_device:
            return
        _, device = find_device(settings.device, await self.devices())
        given = settings.model_fields_set
        self.context_options |= {
            name: value
            for name, value in device.items()
            if name != "default_browser_type" and _SETTING_OF.get(name, name) not in given
        }
        self._has_device = True

    async def devices(self) -> dict[str, dict[str, Any]]:
        """Playwright's list of devices: keyword arguments of `new_context` by the devices' names."""
        # Playwright's types are incomplete.
        return cast("dict[str, dict[str, Any]]", cast("Any", await self._launcher.driver()).devices)

    async def close(self) -> None:
        """Lend nothing more; close the browsers and the driver, but no browser that others started."""
        self.closed = True
        await finish(self._close())

    async def _close(self) -> None:
        try:
            await self._start_shared.ended(LAUNCH_SECONDS)
            shared, self._shared = self._shared, []
            for one in shared:
                self._end(one.browser)
            if self._ending:
                await asyncio.wait(self._ending)
        finally:
            await self._launcher.close()
            if self.egress is not None:
                await self.egress.close()

    # -- the kinds of contexts

    async def _lend(
        self, lent: contextlib.AsyncExitStack, *, isolated: bool, options: Mapping[str, Any], tenant: str
    ) -> Lease:
        """Lend a context, which `lent` releases."""
        settings = self._settings.browser
        await self.use_device()
        options = self.context_options | dict(options)
        if settings.connect is not None:
            context = await self._of_own_chrome(lent, options, isolated=isolated)
            own_chrome = self._launcher.own_chrome
            return Lease(context, notice=own_chrome.describe(), lent=own_chrome.lent)
        notice = ""
        if not isolated and settings.cdp_endpoint is None:
            try:
                return await lent.enter_async_context(self._of_profile(options))
            except ProfileInUse as error:
                shares = settings.profile_in_use == "share" and self._launcher.shares_profile
                if settings.profile_in_use == "error" or shares:
                    raise
                instead = "A temporary profile is used instead: logins are neither there nor kept."
                notice = f"{error.message} {instead}"
        if self.egress is not None:
            options["proxy"] = await self.egress.browser_proxy()
        elif settings.browser_endpoint is not None and settings.proxy is not None:
            # For a browser started here it is a launch option.
            options["proxy"] = proxy_options(settings.proxy)
        use_own = settings.cdp_endpoint is not None and not isolated
        return Lease(await self._of_shared_browser(lent, options, tenant, use_own=use_own), notice)

    async def _of_shared_browser(
        self, lent: contextlib.AsyncExitStack, options: Mapping[str, Any], tenant: str, *, use_own: bool
    ) -> "BrowserContext":
        """A new context; `use_own`: the one that the browser has from its start, which stays open."""

        async def take() -> "BrowserContext":
            shared = await self._seat(tenant)
            if use_own and shared.browser.contexts:
                lent.callback(self._leave, shared)
                return shared.browser.contexts[0]
            try:
                context = await _opened(shared.browser.new_context(**options), OPENING_SECONDS)
            except BaseException as error:
                shared.retired = shared.retired or is_stuck(error)
                self._leave(shared)
                raise
            lent.push_async_callback(self._give_back, shared, context)
            return context

        return await self._launcher.try_again(take)

    async def _give_back(self, shared: SharedBrowser, context: "BrowserContext") -> None:
        if not await _close(context):
            # It would stay: the browser ends with its last session.
            shared.retired = True
        self._leave(shared)

    @contextlib.asynccontextmanager
    async def _of_profile(self, options: Mapping[str, Any]) -> AsyncGenerator[Lease]:
        shared = self._launcher.shares_profile
        if self._profile_is_lent and not shared:
            raise BrowserUnavailable(
                "The profile belongs to another session of this server.", hint="Use an isolated session."
            )
        self._profile_is_lent = True
        folder = profile_folder(self._settings.browser)
        lock = ProfileLock(folder, shared=shared)
        try:
            await lock.acquire()
            if shared:
                lock.release()  # From here on the broker holds it.
            context = await self._launcher.try_again(
                lambda: _opened(
                    self._launcher.launch_profile(folder, options), LAUNCH_SECONDS + CLOSE_SECONDS
                )
            )
            try:
                joined = shared and await anyio.to_thread.run_sync(warn_of_others, folder)
                yield Lease(context, joined=joined)
            finally:
                await _close(context)
        finally:
            lock.release()
            self._profile_is_lent = False

    async def _of_own_chrome(
        self, lent: contextlib.AsyncExitStack, options: Mapping[str, Any], *, isolated: bool
    ) -> "BrowserContext":
        """The context of the user's browser, with this session's own tabs, which are closed at the end."""
        if isolated or options != self.context_options:
            raise BrowserUnavailable(
                "In a browser of the user's own (connect) there are no isolated sessions, and none with a "
                "device, locale or other options of their own.",
                hint="Start a session without them, or the server without --connect.",
            )
        browser = await self._launcher.try_again(self._launcher.join_own_chrome)
        lent.push_async_callback(_close, browser)
        return browser.contexts[0]

    # -- browsers

    async def _seat(self, tenant: str) -> SharedBrowser:
        """A place in a tenant's browser, started if none has room; `_leave` releases it."""
        while (shared := self._with_room(tenant)) is None:
            for idle in [one for one in self._shared if one.tenant is not None and not one.contexts]:
                self._shared.remove(idle)
                self._end(idle.browser)
            await self._start_shared()
        shared.tenant = tenant
        shared.contexts += 1
        return shared

    def _with_room(self, tenant: str) -> SharedBrowser | None:
        has_one = self._settings.browser.cdp_endpoint is not None
        for shared in [shared for shared in self._shared if not shared.browser.is_connected()]:
            self._shared.remove(shared)
            self.restarts += not has_one  # Else a connection was lost, not a browser
        most = self._settings.sessions.sessions_per_browser
        for shared in self._shared:
            fits = has_one or (shared.contexts < most and shared.tenant in (None, tenant))
            if fits and not shared.retired:
                return shared
        return None

    async def _add_shared(self) -> None:
        browser = await self._launcher.launch()
        if self.closed or not browser.is_connected():
            self._end(browser)
            raise BrowserUnavailable("The browser ended as it began.", hint="Try again.")
        self._shared.append(SharedBrowser(browser))

    def _leave(self, shared: SharedBrowser) -> None:
        """Release a place. A browser that nobody uses ends, unless it is the only one."""
        shared.contexts -= 1
        others = [other for other in self._shared if other is not shared and not other.retired]
        if shared.contexts == 0 and (shared.retired or others):
            with contextlib.suppress(ValueError):
                self._shared.remove(shared)
            self._end(shared.browser)

    def _end(self, browser: "Browser") -> None:
        ending = begin(_close(browser))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _driver_ended(self) -> None:
        """Every browser has ended with the driver, without an event."""
        self.restarts += len(self._shared)
        self._shared = []
        for ended in list(self._lent):
            ended("driver")


async def _opened(opening: "Coroutine[Any, Any, BrowserContext]", seconds: float) -> "BrowserContext":
    """A context within `seconds`. One that is opened later, or after cancellation, is closed.

    Playwright's calls cannot be cancelled: the context would be opened and stay. So a cancelled caller waits.
    """
    task = begin(opening)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(task)
    except TimeoutError:
        begin(_close_late(task))
        raise
    except asyncio.CancelledError:
        await within(seconds, _close_late(task))
        raise


async def _close_late(opening: "asyncio.Task[BrowserContext]") -> None:
    await asyncio.wait({opening})
    if not opening.cancelled() and opening.exception() is None:
        await _close(opening.result())


async def _close(what: "Browser | BrowserContext") -> bool:
    """Close something; whether it did so in time."""
    return await within(CLOSE_SECONDS, what.close())
