"""The live view as an MCP App: a page that clients show within the chat, and that calls the server's tools.

https://github.com/modelcontextprotocol/ext-apps, revision 2026-01-26 (SEP-1865).
"""

import base64
import json
import re
import secrets
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import Any

import anyio
import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE
from pydantic import Field, JsonValue

from mcp_browser import __version__
from mcp_browser.actions.registry import ActionParams
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.concurrency import Condition, begin
from mcp_browser.browser.screencast import Frame
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotActionable, NotFound
from mcp_browser.server.calls import Call, ServerTool
from mcp_browser.server.elicitation import APP_URI, Context, shows_apps
from mcp_browser.server.principals import Principal, SettingsOf, principal_of_request
from mcp_browser.server.resources import ResourceProvider
from mcp_browser.server.tool_groups import SHOW_BROWSER, view_tools
from mcp_browser.server.tools import call_result
from mcp_browser.server.view.journal import Journal
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.server.view.viewer import TransportClosed, Viewer, ViewTransport
from mcp_browser.settings import Settings

PAGE = resources.files("mcp_browser.server.view") / "page"
KEY_META = "mcp-browser/view"  # Where a result's `_meta` has what lets its page in: models do not read it
KEY_BYTES = 24
MOST_SEATS = 20  # How many calls have shown a session, and still count
MOST_PAGES = 8  # How many pages of one such call are open
LONGEST_EXCHANGE = 200  # Messages

POLL_SECONDS = 5.0  # How long a poll waits for something new; some clients make one call at a time
SILENT_SECONDS = 30.0  # After which a page that polls no more has gone
MOST_SAID = 500  # How many messages of the page wait; more are dropped
LONGEST_NEWS = 150_000  # Characters of JSON in one answer, about; what is left comes in the next one
MOST_NEWS = 2_000  # How many wait for the page; it has gone where it does not take them


class ExchangeViewParams(ActionParams):
    """What the page of the view says, and asks."""

    view: str = Field(max_length=100, description="what the result that shows the view has for its page")
    page: str = Field(min_length=16, max_length=64, description="a name that the page has given itself")
    messages: tuple[dict[str, JsonValue], ...] = Field(
        default=(), max_length=LONGEST_EXCHANGE, description="what the person does"
    )
    wait: bool = Field(default=False, description="answer with what is new, once there is something")
    anew: bool = Field(default=False, description="begin with all there is: answers may have been lost")
    picture: int | None = Field(default=None, description="answer with the picture after this call")


class _PolledTransport(ViewTransport):
    """Messages wait until the page polls; of frames the newest does."""

    def __init__(self) -> None:
        self._to_viewer, self._from_page = anyio.create_memory_object_stream[str](MOST_SAID)
        self._news: deque[dict[str, Any]] = deque()
        self._frame: Frame | None = None
        self._undrawn = 0
        self._polls = 0
        self._polled = time.monotonic()
        self._changed = Condition()
        self.closed = False

    def put(self, message: str) -> None:
        """Take a message of the page, as JSON."""
        self._polled = time.monotonic()
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError):
            self._to_viewer.send_nowait(message)

    async def poll(self, *, wait: bool) -> tuple[list[dict[str, Any]], Frame | None]:
        """Return the news that fit, and the newest frame; `wait` until there is something."""
        # A page that polls again has drawn the frames.
        for _ in range(self._undrawn):
            self.put('{"type": "drawn"}')
        self._undrawn = 0
        self._polls += 1
        try:
            if wait and not self._news and self._frame is None and not self.closed:
                await self._changed.wait(POLL_SECONDS)
        finally:
            self._polls -= 1
            self._polled = time.monotonic()
        news: list[dict[str, Any]] = []
        room = LONGEST_NEWS
        while self._news and room > 0:
            news.append(self._news.popleft())
            room -= len(json.dumps(news[-1]))
        frame, self._frame = self._frame, None
        return news, frame

    def end(self) -> None:
        """Take no more messages; a waiting poll returns, and the page counts as gone."""
        self.closed = True
        self._to_viewer.close()
        self._changed.wake()

    async def receive(self) -> str:
        while True:
            left = self._polled + SILENT_SECONDS - time.monotonic()
            if self.closed or (left <= 0 and not self._polls):
                raise TransportClosed
            with suppress(anyio.EndOfStream), anyio.move_on_after(max(left, 1.0)):
                return await self._from_page.receive()

    async def send(self, message: dict[str, Any]) -> None:
        if self.closed or len(self._news) >= MOST_NEWS:
            raise TransportClosed
        self._news.append(message)
        self._changed.wake()

    async def send_frame(self, frame: Frame) -> None:
        self._frame = frame
        self._undrawn += 1
        self._changed.wake()

    async def close(self, _code: int, reason: str) -> None:
        """Say why it ends, then end it."""
        self._news.append({"type": "told", "text": reason})
        self.end()


@dataclass(eq=False, slots=True)
class _Seat:
    """A call that has shown a session: its caller, and the open pages by their names."""

    principal: Principal
    session: BrowserSession
    pages: dict[str, _PolledTransport] = field(default_factory=dict[str, _PolledTransport])


class ViewApp(ResourceProvider):
    """The page as a resource that no list has, the tool that shows it, and the tool that the page calls."""

    def __init__(self, settings_of: SettingsOf, journal: Journal) -> None:
        self._settings_of = settings_of
        self._journal = journal
        self.viewer = partial(Viewer, journal=journal, takeovers=Takeovers())  # An open page
        self._seats: dict[str, _Seat] = {}

    def tools(self, settings: Settings) -> Sequence[ServerTool[Any]]:
        """Those that the settings offer."""
        if not view_tools(settings):
            return ()
        return (
            ServerTool(
                self.show_browser,
                param_model=ActionParams,
                read_only=True,
                open_world=False,
                ui={"resourceUri": APP_URI},
                apps_only=True,
            ),
            ServerTool(
                self.exchange_view,
                param_model=ExchangeViewParams,
                in_session=False,
                # It names the server that has it, where a proxy has several behind it.
                takes_session=True,
                ui={"visibility": ["app"]},
                apps_only=True,
            ),
        )

    async def show_browser(self, call: Call, _params: ActionParams) -> types.CallToolResult:
        """Show the user this browser, live, in the chat; they can take it over there."""
        if not shows_apps(call.request):
            raise NotActionable(
                "This client shows no MCP Apps.", hint="Tell the user what you see, or take a screenshot."
            )
        for key in [key for key, seat in self._seats.items() if seat.session.closed]:
            self._leave(key)
        shown = [key for key, seat in self._seats.items() if seat.session is call.session]
        if len(shown) >= MOST_SEATS:
            self._leave(shown[0])
        key = secrets.token_urlsafe(KEY_BYTES)
        self._seats[key] = _Seat(call.principal, call.session)
        text = "The user sees the browser in the chat, live. While they have taken it over, calls wait."
        result = call_result(ActionResult(extracted_content=text), settings=call.session.settings, secrets={})
        return result.model_copy(update={"meta": {KEY_META: key}})

    async def exchange_view(self, call: Call, params: ExchangeViewParams) -> types.CallToolResult:
        """For the page of the live view, not for models: what is new, and what a person does there."""
        if (seat := self._seats.get(params.view)) is None or seat.principal.id != call.principal.id:
            raise NotFound("There is no such view.", hint=f"{SHOW_BROWSER} shows one.")
        if seat.session.closed:
            raise NotFound("The browser session has ended.", hint=f"{SHOW_BROWSER} shows the next one.")
        if params.picture is not None:
            if (picture := self._journal.of(seat.session).picture(params.picture)) is None:
                raise NotFound("There is no such picture any more.", hint="Choose another one.")
            return types.CallToolResult(content=[_jpeg(picture)])
        transport = self._transport_of(seat, params.page, anew=params.anew)
        for message in params.messages:
            transport.put(json.dumps(message))
        if params.messages:
            return types.CallToolResult(content=[types.TextContent(text="[]")])
        news, frame = await transport.poll(wait=params.wait)
        content: list[types.ContentBlock] = []
        if frame is not None:
            news.append({"type": "frame", "width": frame.width, "height": frame.height})
            content.append(_jpeg(frame.data))
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(news)), *content])

    def _transport_of(self, seat: _Seat, name: str, *, anew: bool) -> _PolledTransport:
        """The connection to a page of the view: a new one where it wants one, or has not asked for long."""
        transport = seat.pages.get(name)
        if transport is not None and anew:
            transport.end()
        if transport is None or transport.closed:
            seat.pages = {other: one for other, one in seat.pages.items() if not one.closed}
            if len(seat.pages) >= MOST_PAGES:
                raise NotActionable("Too many pages show this view.", hint="Close some of them.")
            transport = seat.pages[name] = _PolledTransport()
            begin(self._serve(seat, transport))
        return transport

    async def _serve(self, seat: _Seat, transport: _PolledTransport) -> None:
        await transport.send({"type": "opened"})

        def visible() -> list[BrowserSession]:
            return [] if seat.session.closed else [seat.session]

        try:
            await self.viewer(transport, seat.principal, visible).serve()
        finally:
            transport.end()

    def _leave(self, key: str) -> None:
        for transport in self._seats.pop(key).pages.values():
            transport.end()

    async def close(self) -> None:
        """Show nothing any more."""
        for key in [*self._seats]:
            self._leave(key)

    async def read(self, caller: Context, uri: str) -> types.TextResourceContents | None:
        """The page."""
        if uri != APP_URI or not self._settings_of(principal_of_request(caller)).server.view:
            return None
        meta: dict[str, Any] = {"ui": {"prefersBorder": True}}
        return types.TextResourceContents(uri=APP_URI, mime_type=APP_MIME_TYPE, text=app_page(), _meta=meta)


@cache
def app_page() -> str:
    """The page of the view in one piece, as a client's sandbox wants it: it may load nothing."""

    def read(name: str) -> str:
        return PAGE.joinpath(name).read_text(encoding="utf-8")

    modules = "\n".join(map(read, ("app_transport.js", "task.js", "view.js")))
    script = re.sub(r"(?m)^(import .*;$|export )", "", modules)
    parts: dict[str, str] = {
        '<html lang="en">': f'<html lang="en" class="app" data-version="{__version__}">',
        '<link rel="icon" href="view/icon.svg">\n': "",
        '<link rel="stylesheet" href="view/view.css">': f"<style>\n{read('view.css')}</style>",
        '<script type="module" src="view/view.js"></script>': f'<script type="module">\n{script}</script>',
    }
    page = read("view.html")
    for part, instead in parts.items():
        page = page.replace(part, instead)
    return page


def _jpeg(data: bytes) -> types.ImageContent:
    return types.ImageContent(data=base64.b64encode(data).decode(), mime_type="image/jpeg")
