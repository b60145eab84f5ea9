"""The actions of a person in a session that they have taken over: mouse, keys, addresses, tabs, dialogs."""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, ConfigDict, Field

from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.input import Button, Modifier
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.takeover import LONGEST_NOTE, TakeoverHolder
from mcp_browser.errors import ActionError, NotActionable

LEFT_SECONDS = 20.0  # How long after its page has gone a viewer keeps what it has taken over
LONGEST_TEXT = 20_000  # Characters that come at once, as pasted
BY = "live view"  # Names to the model who has taken over


class ViewMessage(BaseModel):
    """What the page of the view sends for the session that it shows."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Take(ViewMessage):
    type: Literal["take"]


class HandBack(ViewMessage):
    type: Literal["hand_back"]
    note: str = Field(max_length=LONGEST_NOTE)


Coordinate = Annotated[float, Field(ge=0, le=100_000)]
Turn = Annotated[float, Field(ge=-100_000, le=100_000)]


class Mouse(ViewMessage):
    """What the mouse does at a point of the view, CSS pixels; the wheel turns by `dx` and `dy` of them."""

    type: Literal["mouse"]
    event: Literal["move", "down", "up", "wheel"]
    x: Coordinate
    y: Coordinate
    button: Button = "left"
    clicks: int = Field(1, ge=1, le=3)
    dx: Turn = 0
    dy: Turn = 0
    modifiers: tuple[Modifier, ...] = ()


class Keys(ViewMessage):
    """A key, or a combination, as Playwright writes them."""

    type: Literal["keys"]
    keys: str = Field(min_length=1, max_length=60)


class Text(ViewMessage):
    """A text that comes whole: pasted, or from an input method."""

    type: Literal["text"]
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)


class Go(ViewMessage):
    """Open an address, or take a step in the history."""

    type: Literal["go"]
    address: str | None = None
    step: Literal["back", "forward", "reload"] | None = None


class ToTab(ViewMessage):
    type: Literal["tab"]
    id: int


class AnswerDialog(ViewMessage):
    type: Literal["dialog"]
    accept: bool
    text: str | None = None


Input = Mouse | Keys | Text | Go | ToTab | AnswerDialog


@dataclass(eq=False, slots=True)
class _Takeover:
    """Which viewer has a session, and knows which tabs; `leaving` runs while its page is not connected."""

    viewer: str
    holder: TakeoverHolder
    known: set[int]
    leaving: asyncio.TimerHandle | None = None


class Takeovers:
    """The sessions that people have taken over in the view, and by which of its pages."""

    def __init__(self) -> None:
        self._taken: dict[BrowserSession, _Takeover] = {}
        self._connected: Counter[str] = Counter()

    def has(self, session: BrowserSession, viewer: str) -> bool:
        """Whether the viewer has the session."""
        return self._find(session, viewer) is not None

    async def take(self, session: BrowserSession, viewer: str) -> None:
        """Take a session over, once the call that runs in it has ended.

        Raises NotActionable: somebody else has it, or its client may only read; DeadlineExceeded: the call
        goes on; BrowserUnavailable: it cannot be opened.
        """
        if not may_take(session):
            raise NotActionable("This session may only be watched: its client may only read (--read-only).")
        if self.has(session, viewer):
            return
        holder = await session.takeover.begin(BY)
        self._taken[session] = _Takeover(viewer, holder, set(session.tabs))
        await session.ensure_open()

    async def follow(self, session: BrowserSession, viewer: str) -> None:
        """Switch to the tab that the page has opened since, where a person expects to be."""
        if (taken := self._find(session, viewer)) is not None:
            new = session.tabs.keys() - taken.known
            taken.known |= new
            if new and session.tab_in_use is not None and len(session.tabs) > 1:
                with suppress(ActionError, PlaywrightError):
                    await session.switch_tab(max(new))

    async def hand_back(self, session: BrowserSession, viewer: str, note: str | None = None) -> None:
        """Give a session back that the viewer has."""
        if (taken := self._find(session, viewer)) is not None:
            del self._taken[session]
            await session.takeover.end(note or None, holder=taken.holder)

    def came(self, viewer: str) -> None:
        """Note that a page of the viewer is connected."""
        self._connected[viewer] += 1
        for taken in self._taken.values():
            if taken.viewer == viewer and taken.leaving is not None:
                taken.leaving.cancel()
                taken.leaving = None

    def left(self, viewer: str) -> None:
        """Note that a page of the viewer has gone; give its sessions back unless it returns soon."""
        self._connected[viewer] -= 1
        self._connected += Counter()
        if self._connected[viewer]:
            return
        loop = asyncio.get_running_loop()
        for session, taken in self._taken.items():
            if taken.viewer == viewer and taken.leaving is None:
                taken.leaving = loop.call_later(
                    LEFT_SECONDS, lambda one=session: begin(self.hand_back(one, viewer))
                )

    def _find(self, session: BrowserSession, viewer: str) -> _Takeover | None:
        taken = self._taken.get(session)
        if taken is not None and (session.closed or session.takeover.active is not taken.holder):
            # It has ended otherwise.
            del self._taken[session]
            return None
        return taken if taken is not None and taken.viewer == viewer else None


def may_take(session: BrowserSession) -> bool:
    """Whether the settings let the session's client, and so the person, change pages."""
    return not session.settings.tools.read_only


async def perform(message: Input, session: BrowserSession) -> None:
    """Carry out an action of the person who has the session; raises ActionError, PlaywrightError."""
    if session.tab_in_use is None:
        if not isinstance(message, Go):
            raise NotActionable("The browser has ended. Open an address: that starts it again.")
        await session.ensure_open()
    tab = session.current_tab
    match message:
        case ToTab():
            await session.switch_tab(message.id)
        case AnswerDialog():
            await tab.answer_dialog(message.accept, message.text)
        case _ if tab.held:
            raise tab.why_held()
        case Go(address=str(address)):
            await tab.goto(check_url(session.restored(address), session.settings, base=tab.url))
        case Go(step=step):
            await {"back": tab.back, "forward": tab.forward}.get(step or "", tab.reload)()
        case Mouse():
            await _mouse(message, tab, session)
        case Text():
            await tab.input.insert(message.text)
        case Keys(keys=keys):
            if keys in ("Enter", "NumpadEnter"):
                # What is in secret fields goes with the form.
                await session.takeover.read_secrets()
            # The keyboard of the browser knows the letters of one language only.
            unknown = len(keys) == 1 and not keys.isascii()
            await (tab.input.insert(keys) if unknown else tab.input.press(keys))


async def _mouse(message: Mouse, tab: Tab, session: BrowserSession) -> None:
    if tab.cursor != (message.x, message.y):
        await tab.input.move(message.x, message.y)
    async with tab.input.holding(message.modifiers):
        if message.event == "down":
            await tab.input.down(button=message.button, clicks=message.clicks)
        elif message.event == "up":
            await session.takeover.read_secrets()
            await tab.input.up(button=message.button, clicks=message.clicks)
        elif message.event == "wheel":
            await tab.input.wheel(message.dx, message.dy)
