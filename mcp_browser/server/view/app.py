"""The live view as an MCP App: a page that clients show within the chat, and that calls the server's tools.

https://github.com/modelcontextprotocol/ext-apps, revision 2026-01-26 (SEP-1865).
"""

import asyncio
import base64
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import Any

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE
from pydantic import Field, JsonValue

from mcp_browser import __version__
from mcp_browser.actions.registry import ActionParams
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.concurrency import begin
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
from mcp_browser.server.view.viewer import Viewer
from mcp_browser.settings import Settings

PAGE = resources.files("mcp_browser.server.view") / "page"
KEY_META = "mcp-browser/view"  # Where a result's `_meta` has what lets its page in: models do not read it
KEY_BYTES = 24
MOST_SEATS = 20  # How many calls have shown a session, and still count
MOST_PAGES = 8  # How many pages of one such call are open
LONGEST_EXCHANGE = 200  # Messages

POLL_SECONDS = 5.0  # How long a poll waits for something new; some clients make one call at a time
SILENT_SECONDS = 30.0  # After which a page that polls no more has gone
LONGEST_NEWS = 150_000  # Characters of JSON in one answer, about; what is left comes in the next one


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


class _PolledPage:
    """A page that polls what its viewer has; where it has been silent for long, it has gone."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._silence = asyncio.get_running_loop().call_later(SILENT_SECONDS, viewer.end)

    def heard(self) -> None:
        """Note that it is there."""
        self._silence.cancel()
        self._silence = asyncio.get_running_loop().call_later(SILENT_SECONDS, self.viewer.end)

    async def poll(self, *, wait: bool) -> tuple[list[dict[str, Any]], Frame | None]:
        """Return the news that fit, and the newest frame; `wait` until there is something."""
        viewer = self.viewer
        # A page that polls again has drawn the frames.
        viewer.drawn()
        self._silence.cancel()
        try:
            if wait and not viewer.news and not viewer.frames and viewer.ended is None:
                await viewer.fresh.wait(POLL_SECONDS)
        finally:
            self.heard()
        news: list[dict[str, Any]] = []
        room = LONGEST_NEWS
        while viewer.news and room > 0:
            news.append(viewer.news.popleft())
            room -= len(json.dumps(news[-1]))
        if viewer.ended is not None and viewer.ended[1]:
            news.append({"type": "told", "text": viewer.ended[1]})
        frame = viewer.frames[-1] if viewer.frames else None
        viewer.frames.clear()
        return news, frame


@dataclass(eq=False, slots=True)
class _Seat:
    """A call that has shown a session: its caller, and the open pages by their names."""

    principal: Principal
    session: BrowserSession
    pages: dict[str, _PolledPage] = field(default_factory=dict[str, _PolledPage])

    def visible(self) -> list[BrowserSession]:
        """The sessions that its pages may show."""
        return [] if self.session.closed else [self.session]


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
        page = self._page_of(seat, params.page, anew=params.anew)
        for message in params.messages:
            page.viewer.take(json.dumps(message))
        if params.messages:
            page.heard()
            return types.CallToolResult(content=[types.TextContent(text="[]")])
        news, frame = await page.poll(wait=params.wait)
        content: list[types.ContentBlock] = []
        if frame is not None:
            news.append({"type": "frame", "width": frame.width, "height": frame.height})
            content.append(_jpeg(frame.data))
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(news)), *content])

    def _page_of(self, seat: _Seat, name: str, *, anew: bool) -> _PolledPage:
        """An open page of the view: a new one where it wants one, or has not asked for long."""
        page = seat.pages.get(name)
        if page is not None and anew:
            page.viewer.end()
        if page is None or page.viewer.ended is not None:
            seat.pages = {other: one for other, one in seat.pages.items() if one.viewer.ended is None}
            if len(seat.pages) >= MOST_PAGES:
                raise NotActionable("Too many pages show this view.", hint="Close some of them.")
            viewer = self.viewer(seat.principal, seat.visible)
            viewer.tell("opened")
            begin(viewer.serve())
            page = seat.pages[name] = _PolledPage(viewer)
        return page

    def _leave(self, key: str) -> None:
        for page in self._seats.pop(key).pages.values():
            page.viewer.end()

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
