"""Plugins of a session, which last longer than one call: logs, routes, overrides."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.session_services import ServicePlugin
from mcp_browser.dom.driver_errors import is_closed, plain_message
from mcp_browser.errors import ActionError

if TYPE_CHECKING:
    from mcp_browser.browser.tab import Tab

logger = logging.getLogger(__name__)

ATTACHING_SECONDS = 5.0  # How long a plugin may take for a context or a tab
ENDING_SECONDS = 30.0  # How long a plugin may take to end, for example to write a file
PAGE_TOOLS = "page_tools"  # The group of tools that call those of pages
START_STATE = "start state"  # What the settings put into each context
RECORDING = "recording from the start"

FROM_THE_START: dict[str, str] = {
    "network": "mcp_browser.browser.network.log:NetworkLog",
    PAGE_TOOLS: "mcp_browser.browser.page_tools:PageTools",
    RECORDING: "mcp_browser.browser.recording:Recordings",
    START_STATE: "mcp_browser.browser.site_data:StartState",
}
"""Plugins that follow a session from its start, as `module:Class`, by the group of the tools that use them or
by what the settings want; they are imported only if needed."""


class SessionPlugin(ServicePlugin, Protocol):
    """Follows a session through all its contexts and tabs.

    A subclass defines the methods that it needs. None is called twice for the same context or tab. A
    PlaywrightError or ActionError that it raises is reported with the next result, and the session continues.
    """

    def __init__(self, session: Any) -> None:
        """Belong to a `BrowserSession`, which may not be open yet."""

    async def opened(self, context: BrowserContext) -> None:
        """A context was opened, the first one or one after a crash; `tab_opened` of its tabs follows."""

    async def tab_opened(self, tab: "Tab") -> None:
        """A tab was opened; no action runs in it before this returns."""

    def tab_closed(self, tab: "Tab") -> None:
        """A tab is gone, for whatever reason."""

    async def leaving(self) -> None:
        """The context, still open, is about to be released; the session may get another one later."""

    async def closed(self) -> None:
        """The session ends; its context is still open if the browser runs."""


C = TypeVar("C", bound=SessionPlugin)


@dataclass(slots=True, eq=False)
class _Member:
    """A plugin, and the context and tabs that it was called for."""

    plugin: SessionPlugin
    attaching: asyncio.Task[None] | None = None
    context: BrowserContext | None = None
    tabs: set[int] = field(default_factory=set[int])


class SessionPlugins:
    """The plugins of one session; `running` has them by their classes."""

    def __init__(self, session: Any, groups: Iterable[str]) -> None:
        """Belong to a `BrowserSession`, which may not be complete yet.

        `groups` are those of the offered tools, or `all`: their plugins start with the first context.
        """
        self._session = session
        self._groups = frozenset(groups)
        self.running: dict[type[SessionPlugin], SessionPlugin] = {}
        self._members: dict[type[SessionPlugin], _Member] = {}
        self._attaching: set[asyncio.Future[None]] = set()

    async def get(self, kind: type[C]) -> C:
        """The session's plugin of this class; the first call makes it, and attaches it to the open tabs."""
        member = self._members.get(kind)
        if member is None:
            member = self._add(kind)
            member.attaching = begin(self._follow(member))
        if member.attaching is not None:
            # It continues if this caller is cancelled, for the next callers.
            await asyncio.wait({member.attaching})
        return cast("C", member.plugin)

    def _add(self, kind: type[SessionPlugin]) -> _Member:
        self.running[kind] = plugin = kind(self._session)
        self._members[kind] = member = _Member(plugin)
        return member

    async def _follow(self, member: _Member) -> None:
        """Attach a new plugin to the open context and tabs."""
        if (context := self._session.open_context) is not None:
            await self._open(member, context)
            for tab in list(self._session.tabs.values()):
                await self._open_tab(member, tab)

    async def opened(self, context: BrowserContext) -> None:
        """The session has a context."""
        for group, name in FROM_THE_START.items():
            if group in self._groups or "all" in self._groups:
                kind: type[SessionPlugin] = resolve_name(name)
                if kind not in self._members:
                    self._add(kind)
        for member in list(self._members.values()):
            await self._open(member, context)

    async def tab_opened(self, tab: "Tab") -> None:
        """The session has a new tab."""
        for member in list(self._members.values()):
            await self._open_tab(member, tab)

    def tab_closed(self, tab: "Tab") -> None:
        """A tab is gone."""
        for member in self._members.values():
            if tab.id in member.tabs:
                member.tabs.discard(tab.id)
                member.plugin.tab_closed(tab)

    async def closed(self) -> None:
        """The session ends."""
        for task in (*self._attaching, *(member.attaching for member in self._members.values())):
            if task is not None:
                task.cancel()
        await self._end(lambda plugin: plugin.closed())

    async def leaving(self) -> None:
        """The session gives its context back."""
        await self._end(lambda plugin: plugin.leaving())

    async def _end(self, end: Callable[[SessionPlugin], Awaitable[None]]) -> None:
        for member in self._members.values():
            try:
                async with asyncio.timeout(ENDING_SECONDS):
                    await end(member.plugin)
            except Exception as error:  # noqa: BLE001 - the others are to end all the same
                logger.warning("%s could not be ended: %s", type(member.plugin).__name__, error)

    async def _open(self, member: _Member, context: BrowserContext) -> None:
        if member.context is not context:
            member.context = context
            await self._attempt(member, member.plugin.opened(context), "the browser", ATTACHING_SECONDS)

    async def _open_tab(self, member: _Member, tab: "Tab") -> None:
        if tab.id in member.tabs or tab.closed:
            return
        member.tabs.add(tab.id)
        what = f"tab {tab.id}"
        opening = asyncio.create_task(self._attempt(member, member.plugin.tab_opened(tab), what))
        self._attaching.add(opening)
        opening.add_done_callback(self._attaching.discard)

        async def while_free() -> None:
            # A page that is held, for example by a dialog, takes commands only afterwards.
            with contextlib.suppress(ActionError):
                await tab.guarded(asyncio.shield(opening))

        await self._attempt(member, while_free(), what, ATTACHING_SECONDS)

    async def _attempt(
        self, member: _Member, work: Awaitable[None], what: str, limit: float | None = None
    ) -> None:
        """Wait for a plugin, and report its failure."""
        try:
            async with asyncio.timeout(limit):
                await work
            return
        except PlaywrightError as error:
            if is_closed(error):
                return
            why = f"{plain_message(error)}."
        except ActionError as error:
            why = str(error)
        except TimeoutError:
            why = f"no answer within {ATTACHING_SECONDS:g} s."
        failure = f"{type(member.plugin).__name__} could not follow {what}: {why}"
        logger.warning("%s", failure)
        self._session.notice(failure)
