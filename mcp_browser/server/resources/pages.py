"""The pages of browser sessions as resources: what is open, looked at without a trace."""

import base64
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.result import ActionResult
from mcp_browser.audit import CALLER, name_of
from mcp_browser.audit import Caller as AuditedCaller
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller, Look
from mcp_browser.errors import ActionError, InvalidArguments, NotFound
from mcp_browser.rendering.result import ImagePart, render_error, render_result
from mcp_browser.server.ask import client_of
from mcp_browser.server.calls import CURRENT, SessionSource
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import Principal
from mcp_browser.server.resources.catalog import Caller, Changed, Contents

if TYPE_CHECKING:
    from mcp_browser.server.resources.views import View

URI = re.compile(r"browser://(?P<session>[\w.-]+)/(?P<view>[a-z]+)(?:\?(?P<query>.*))?")
_PART = re.compile(r"part=([1-9][0-9]{0,5})")
_NOTHING_OPEN = "No page is open in this session."


class _Known(NamedTuple):
    """What a listener knows of a session: its names, and whether the caller's list has it."""

    names: tuple[str, ...] = ()
    listed: bool = False


class SessionPages:
    """Reads what the sessions of a caller show; a session that is not open stays so."""

    def __init__(
        self,
        manager: BrowserManager,
        sessions: SessionSource,
        controller_of: Callable[[Principal], Controller],
    ) -> None:
        """`controller_of` gives the controller of a principal, whose settings decide what may be seen."""
        self._manager = manager
        self._sessions = sessions
        self._controller_of = controller_of

    @property
    def templates(self) -> tuple[types.ResourceTemplate, ...]:
        """One for each view, where sessions have names."""
        if not self._sessions.has_handles:
            return ()
        return tuple(
            types.ResourceTemplate(
                name=view.name,
                title=f"{view.title} of a browser session",
                uri_template=f"browser://{{session}}/{view.name}{'{?part}' if view.in_parts else ''}",
                description=f"{view.description} {_MEANT}",
                mime_type=_mime_type(view),
            )
            for view in _views().values()
        )

    def listed(self, caller: Caller) -> list[types.Resource]:
        """The views of the sessions that the caller is known to have."""
        views = [*self._offered(caller.principal)]
        return [
            types.Resource(
                name=view.name if name == CURRENT else f"{name} {view.name}",
                title=view.title if name == CURRENT else f"{view.title} ({name})",
                uri=f"browser://{name}/{view.name}",
                description=view.description,
                mime_type=_mime_type(view),
            )
            for name in self._names(caller)
            for view in views
        ]

    async def read(self, caller: Caller, uri: str) -> Contents | None:
        """A view of a session as it is now, in the session's turn as a tool would be.

        Raises:
            NotFound: the caller has no such session, nothing is open in it, or the view is not offered.
            InvalidArguments: what stands behind the `?` is not a part.
            MCPError: it cannot be seen now.
        """
        match = URI.fullmatch(uri)
        view = _views().get(match["view"]) if match is not None else None
        if match is None or view is None:
            return None
        if view not in self._offered(caller.principal):
            raise NotFound(f"The resource {view.name} is switched off by the server's settings.")
        part = _part_of(view, match["query"])
        handle = self._handle(caller, match["session"])
        async with self._sessions.lease(caller.request, caller.principal, handle) as lease:
            session = lease.session
            if session.tab_in_use is None:
                raise NotFound(_NOTHING_OPEN, hint="go_to_url opens one.")
            return await self._contents(view, part, session, caller, uri)

    def listen(self, caller: Caller, changed: Changed) -> Callable[[], None]:
        """Tell when an action was carried out in the caller's sessions, and when one opens or ends."""
        known: WeakKeyDictionary[BrowserSession, _Known] = WeakKeyDictionary()
        known.update((session, self._known(caller, session)) for session in self._manager.sessions)

        def tell(session: BrowserSession, only: str | None = None) -> None:
            before = known.get(session, _Known())
            now = known[session] = _Known() if session.closed else self._known(caller, session)
            listed = before.listed != now.listed
            views = [view for view in self._offered(caller.principal) if only in (None, view.name)]
            for view in views:
                for name in now.names or before.names:
                    changed(f"browser://{name}/{view.name}", listed)
                    listed = False

        ends = (
            self._manager.listen_to_pages(tell),
            self._manager.listen_to_files(lambda session, _uri: tell(session, "downloads")),
        )

        def end() -> None:
            for stop in ends:
                stop()

        return end

    # -- for completions

    def names(self, caller: Caller) -> list[str]:
        """The names of the caller's sessions."""
        return list(self._names(caller))

    def session(self, caller: Caller, name: str | None) -> BrowserSession | None:
        """The caller's session of that name, by default the current one, where something is open in it."""
        for session in self._manager.sessions:
            mine = session.tab_in_use is not None and self._may_see(caller, session)
            if mine and (name or CURRENT) in self._names_of(caller, session):
                return session
        return None

    async def look(
        self, caller: Caller, session: BrowserSession, action: str, look: Look, *, method: str
    ) -> ActionResult:
        """What the caller sees of its session, as `Controller.look`; `method` is what it has asked for."""
        CALLER.set(AuditedCaller(caller.principal.name, client_of(caller.request), method, name_of(session)))
        return await self._controller_of(caller.principal).look(action, {}, look, session)

    # -- inside

    def _known(self, caller: Caller, session: BrowserSession) -> "_Known":
        if not self._may_see(caller, session):
            return _Known()
        listed = any(one is session for _, one in self._named(caller))
        return _Known(tuple(self._names_of(caller, session)), listed)

    def _may_see(self, caller: Caller, session: BrowserSession) -> bool:
        return self._sessions.may_read(caller.principal, session)

    def _named(self, caller: Caller) -> Iterator[tuple[str, BrowserSession | None]]:
        return iter(self._sessions.named(caller.request, caller.principal).items())

    def _names(self, caller: Caller) -> Iterator[str]:
        seen: set[BrowserSession] = set()
        for name, session in self._named(caller):
            if session is not None and session not in seen:
                seen.add(session)
                yield name

    def _names_of(self, caller: Caller, session: BrowserSession) -> Iterator[str]:
        yield from (name for name, one in self._named(caller) if one is session)
        handle = self._sessions.handle_of(session)
        if handle is not None and handle not in dict(self._named(caller)):
            # Of callers who do not say who they are: whoever watches it knows the handle.
            yield handle

    def _handle(self, caller: Caller, name: str) -> str | None:
        """The handle that a name in an address stands for; None for the current session.

        Raises:
            NotFound: there is no such session.
        """
        if name != CURRENT:
            if not self._sessions.has_handles:
                raise NotFound(
                    f"There is no session {name[:60]}.", hint=f"Read browser://{CURRENT}/… instead."
                )
            return name
        named = dict(self._named(caller))
        if CURRENT not in named:
            raise NotFound(
                "There is no current session: each call names its own.",
                hint="Read browser://SESSION/… with the session's handle.",
            )
        if named[CURRENT] is None:
            raise NotFound(_NOTHING_OPEN, hint="go_to_url opens one.")
        return None

    def _offered(self, principal: Principal) -> "Iterator[View]":
        settings = self._controller_of(principal).settings
        for view in _views().values():
            pictures = settings.screenshots.screenshots != "never" or view.action != "screenshot"
            if pictures and view.action not in settings.tools.exclude_actions:
                yield view

    async def _contents(
        self, view: "View", part: int, session: BrowserSession, caller: Caller, uri: str
    ) -> Contents:
        def look(ctx: ActionContext) -> Awaitable[ActionResult]:
            return view.look(ctx, part)

        try:
            result = await self.look(caller, session, view.action, look, method="resources/read")
        except ActionError as error:
            text = render_error(error, secrets=session.hidden)
            raise MCPError(types.INVALID_PARAMS, text, {"uri": uri}) from error
        settings = self._controller_of(caller.principal).settings
        text, *others = render_result(result, settings=settings, secrets=session.hidden)
        block: types.ContentBlock = types.TextContent(text=str(text))
        if others and isinstance(picture := others[0], ImagePart):
            block = types.ImageContent(
                data=base64.b64encode(picture.data).decode(), mime_type=picture.mime_type
            )
        (block,) = (await fit(types.CallToolResult(content=[block]), None)).content
        if isinstance(block, types.ImageContent):
            return types.BlobResourceContents(uri=uri, blob=block.data, mime_type=block.mime_type)
        assert isinstance(block, types.TextContent)
        return types.TextResourceContents(
            uri=uri, text=block.text, mime_type=_mime_type(view) or "text/plain"
        )


_MEANT = f"`session` is the handle that a result told, or `{CURRENT}`."


def _views() -> "Mapping[str, View]":
    # Imported late: no client asks before it has the tools.
    from mcp_browser.server.resources.views import VIEWS  # noqa: PLC0415

    return VIEWS


def _mime_type(view: "View") -> str | None:
    # Of a picture it is known once it was taken.
    return None if "*" in view.mime_type else view.mime_type


def _part_of(view: "View", query: str | None) -> int:
    if query is None:
        return 1
    found = _PART.fullmatch(query)
    if found is None or not view.in_parts:
        raise InvalidArguments(
            "A part of a long one is named by ?part=2, a number from 1, and nothing else."
            if view.in_parts
            else f"The resource {view.name} has no parts, and takes no ?."
        )
    return int(found[1])
