"""One open page of the view: has the sessions, the calls and the live picture for it, and takes input."""

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import Field, TypeAdapter, ValidationError

from mcp_browser.agent.recorder import PersonRecorder
from mcp_browser.audit import name_of
from mcp_browser.browser.addresses import may_show
from mcp_browser.browser.concurrency import Condition
from mcp_browser.browser.screencast import Frame
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.takeover import LONGEST_NOTE
from mcp_browser.errors import ActionError
from mcp_browser.privacy.hiding import cut_address, hide, hide_in, redact_addresses
from mcp_browser.server.principals import Principal
from mcp_browser.server.view.card import Steering, TaskCard
from mcp_browser.server.view.journal import Journal, SeenCall
from mcp_browser.server.view.takeovers import (
    HandBack,
    Input,
    Mouse,
    Take,
    Takeovers,
    ViewMessage,
    may_take,
    perform,
)
from mcp_browser.text import cut

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5  # How often tabs, addresses and titles are compared with what was sent
FRAMES_AHEAD = 2  # How many frames are on their way that the page has not drawn yet
PATIENCE_SECONDS = 2.0  # How long a page may take to draw them until no more are asked of the browser
MOST_NEWS = 2_000  # How many messages wait for the page; it has gone where it does not take them
MOST_WAITING = 500  # How much of what a person does waits to be done; more is dropped
LONGEST_TITLE = 200
MOST_SHOWN = 100  # Steps of a recording

NO_MESSAGE = 4400  # What came is no message of this protocol


class Watch(ViewMessage):
    """Show this session. `viewer` is a name that the page has given itself, by chance."""

    type: Literal["watch"]
    session: str
    viewer: str = Field(min_length=16, max_length=64)


class Drawn(ViewMessage):
    type: Literal["drawn"]


class Steer(ViewMessage):
    """Steer the task that works in the session, or answer its question."""

    type: Literal["task"]
    do: Steering
    text: str = Field("", max_length=LONGEST_NOTE)


class Record(ViewMessage):
    """Record what the person does, assert something of what they click next, or end that."""

    type: Literal["record"]
    do: Literal["start", "text", "value", "visible", "stop"]


Message = Watch | Drawn | Take | HandBack | Steer | Record | Input
_MESSAGES: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


@dataclass(eq=False)
class Viewer:
    """One open page of the view; `visible` gives the sessions that its person may see.

    Whoever connects the page passes what it says to `take`, sends it `news` and `frames` as they come, which
    `fresh` tells, and calls `end` once it has gone.
    """

    principal: Principal
    visible: Callable[[], list[BrowserSession]]
    journal: Journal
    takeovers: Takeovers
    news: deque[dict[str, Any]] = field(default_factory=deque[dict[str, Any]], init=False)
    frames: deque[Frame] = field(default_factory=deque[Frame], init=False)
    fresh: Condition = field(default_factory=Condition, init=False)
    ended: tuple[int, str] | None = field(default=None, init=False)
    """The code by which a WebSocket is closed, and why."""

    def __post_init__(self) -> None:
        self._life = anyio.CancelScope()
        self._key = ""
        self._watched: BrowserSession | None = None
        self._sent: dict[str, Any] = {}
        self._calls: dict[int, SeenCall] = {}
        self._changed = Condition()
        self._undrawn = 0
        self._drawn = Condition()
        self._shown: Tab | None = None
        self._showing = anyio.CancelScope()
        self._complained = False
        self._card: TaskCard | None = None
        self._to_do, self._doing = anyio.create_memory_object_stream[
            Take | HandBack | Steer | Record | Input
        ](MOST_WAITING)

    async def serve(self) -> None:
        """Serve until the end."""
        try:
            with self._life:
                async with anyio.create_task_group() as tasks:
                    for work in (self._report, self._show, self._act):
                        tasks.start_soon(work)
        finally:
            self.end()
            if self._card is not None:
                self._card.viewers -= 1
            self._watch(None)
            self.takeovers.left(self._key)

    def end(self, code: int = 0, reason: str = "") -> None:
        """Serve the page no more, which has gone unless there is a reason."""
        self.ended = self.ended or (code, reason)
        self._life.cancel()
        self.fresh.wake()

    def tell(self, kind: str, **facts: Any) -> None:
        """Have a message for the page."""
        self.news.append({"type": kind, **facts})
        self.fresh.wake()
        if len(self.news) > MOST_NEWS:
            self.end()

    def drawn(self, frames: int = FRAMES_AHEAD) -> None:
        """Note that the page has drawn frames: others may come."""
        self._undrawn = max(0, self._undrawn - frames)
        self._drawn.wake()

    def take(self, text: str) -> None:
        """Take a message of the page, as JSON; what is none ends it."""
        if self.ended is not None:
            return
        try:
            message = _MESSAGES.validate_json(text)
        except ValidationError:
            self.end(NO_MESSAGE, "This is no message of the view: reload the page.")
            return
        match message:
            case Watch():
                # A takeover belongs to the page and its principal.
                key = f"{self.principal.id} {message.viewer}"
                if key != self._key:
                    self.takeovers.left(self._key)
                    self._key = key
                    self.takeovers.came(key)
                found = (one for one in self.visible() if name_of(one) == message.session)
                self._watch(next(found, None))
            case Drawn():
                self.drawn(1)
            case _:
                with suppress(anyio.WouldBlock):
                    self._to_do.send_nowait(message)

    def _watch(self, session: BrowserSession | None) -> None:
        """Show another session, or none."""
        if self._watched is not None:
            self.journal.of(self._watched).listeners.discard(self._heard)
        self._watched = session
        self._sent.pop("session", None)
        self._calls.clear()
        self._showing.cancel()
        if session is not None:
            calls = self.journal.of(session)
            calls.listeners.add(self._heard)
            self._calls.update((call.number, call) for call in calls.calls)
        self._changed.wake()

    def _heard(self, call: SeenCall) -> None:
        self._calls[call.number] = call
        self._changed.wake()

    async def _report(self) -> None:
        while True:
            sessions = self.visible()
            if self._watched is not None and self._watched not in sessions:
                self._watch(None)
            self._tell_if_new("sessions", [self._summary(one) for one in sessions])
            watched, card, recorder = self._watched, None, None
            if watched is not None:
                await self.takeovers.follow(watched, self._key)
                if (tab := watched.tab_in_use) is not None:
                    # Nothing else asks for it between the calls.
                    await tab.refresh_title()
                card, recorder = await watched.plugin(TaskCard), await watched.plugin(PersonRecorder)
                self._tell_if_new("task", hide_in(card.as_json(), watched.hidden))
            if card is not self._card:
                for one, by in ((self._card, -1), (card, 1)):
                    if one is not None:
                        one.viewers += by
                self._card = card
            if self._key:
                # Before the page has asked for one, none is no end.
                state = self._account(watched, recorder) if watched is not None else None
                self._tell_if_new("session", state)
            if watched is not None and watched.tab_in_use is not self._shown:
                self._showing.cancel()
            while self._calls and watched is self._watched:
                number = next(iter(self._calls))
                call = self._calls.pop(number)
                self.tell("call", call=call.as_json())
            await self._changed.wait(LOOK_SECONDS)

    def _tell_if_new(self, kind: str, facts: Any) -> None:
        if kind not in self._sent or self._sent[kind] != facts:
            self._sent[kind] = facts
            self.tell(kind, **{kind: facts})

    def _summary(self, session: BrowserSession) -> dict[str, Any]:
        """The session's entry in the list."""
        tab = session.tab_in_use
        calls, holder = self.journal.of(session).calls, session.takeover.active
        latest = calls[-1] if calls else None
        return hide_in(
            {
                "id": name_of(session),
                **_shown(tab, session),
                "calls": latest.number if latest is not None else 0,
                "busy": latest is not None and latest.state == "running",
                "taken": str(holder) if holder is not None else None,
            },
            session.hidden,
        )

    def _account(self, session: BrowserSession, recorder: PersonRecorder | None) -> dict[str, Any]:
        """The state of the session that is shown."""
        current = session.tab_in_use
        dialog = current.dialog if current is not None else None
        tabs = [
            {"id": tab.id, **_shown(tab, session), "current": tab is current}
            for tab in session.tabs.values()
            if current is not None and not tab.closed
        ]
        asked = recording = None
        if dialog is not None:
            default = redact_addresses(dialog.default_value)
            text = redact_addresses(str(dialog))
            asked = {"text": text, "prompt": dialog.kind == "prompt", "default": default}
        if recorder is not None and recorder.active:
            steps = [str(step) for step in recorder.steps[-MOST_SHOWN:]]
            recording = {"steps": steps, "checking": recorder.checking}
        holder = session.takeover.active
        state = {
            "id": name_of(session),
            "tabs": tabs,
            "dialog": asked,
            # A person who is waited for may use any page.
            "holder": str(holder) if holder is not None and not holder.waiting else None,
            "asked": holder.asked if holder is not None else None,
            "mine": self.takeovers.has(session, self._key),
            "may_take": may_take(session),
            "recording": recording,
        }
        return hide_in(state, session.hidden)

    # -- the picture

    async def _show(self) -> None:
        """Send the picture of the current tab as it changes, as fast as the page draws it."""
        while True:
            session = self._watched
            tab = self._shown = session.tab_in_use if session is not None else None
            self._showing = anyio.CancelScope()
            with self._showing:
                if tab is not None and not tab.closed:
                    try:
                        await self._send_frames(tab)
                    except ActionError as error:
                        self.tell("told", text=str(error))
                        await anyio.sleep_forever()
                await self._changed.wait(LOOK_SECONDS)

    async def _send_frames(self, tab: Tab) -> None:
        """Send a tab's frames, as long as the page draws them. Raises NotActionable."""
        while not tab.closed:
            while self._undrawn >= FRAMES_AHEAD:
                await self._drawn.wait()
            async with tab.screencast.watch() as frames:
                async for frame in frames:
                    self._undrawn += 1
                    self.frames.append(frame)
                    self.fresh.wake()
                    with anyio.move_on_after(PATIENCE_SECONDS):
                        while self._undrawn >= FRAMES_AHEAD:
                            await self._drawn.wait()
                    if self._undrawn >= FRAMES_AHEAD:
                        break

    # -- what the person does

    async def _act(self) -> None:
        """Carry out the person's actions, one after another."""
        async for message in self._doing:
            if (session := self._watched) is None:
                continue
            try:
                match message:
                    case Take():
                        await self.takeovers.take(session, self._key)
                    case HandBack():
                        await self.takeovers.hand_back(session, self._key, message.note)
                    case Steer():
                        if may_take(session):
                            (await session.plugin(TaskCard)).steer(message.do, message.text)
                    case Record():
                        await self._record(session, message)
                    case _:
                        if self.takeovers.has(session, self._key):
                            await perform(message, session)
                if self._complained and not (isinstance(message, Mouse) and message.event == "move"):
                    self._complain("")
            except ActionError as error:
                # The hint is for the model.
                self._complain(hide(error.message, session.hidden))
            except PlaywrightError as error:
                logger.debug("Not done for a person: %s", error)
            self._changed.wake()

    async def _record(self, session: BrowserSession, message: Record) -> None:
        recorder = await session.plugin(PersonRecorder)
        match message.do:
            case "start":
                await self.takeovers.take(session, self._key)
                await recorder.start()
            case "stop":
                recording = await recorder.stop()
                files = await recorder.keep(recording)
                places = ", ".join(file.place for file in files)
                session.notice(f"A person has recorded what they did: {places}; replay_task does it again.")
                contents = [{"name": name, "text": text} for name, _, text in recording.files()]
                self.tell("recorded", files=contents)
            case "text" | "value" | "visible" as what:
                await recorder.check(None if recorder.checking == what else what)

    def _complain(self, text: str) -> None:
        """Say why something was not done; "" once that is past."""
        self._complained = bool(text)
        self.tell("told", text=text)


def _shown(tab: Tab | None, session: BrowserSession) -> dict[str, str]:
    """The title and the address of a tab, empty without one."""
    if tab is None:
        return {"title": "", "address": ""}
    address = cut_address(tab.url) if may_show(tab.url, session.settings) else "(not allowed)"
    return {"title": cut(redact_addresses(tab.title), LONGEST_TITLE), "address": address}
