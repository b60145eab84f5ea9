"""The calls of browser sessions as people see them: arguments, results, times, and a picture after each."""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError
from mcp_browser.rendering import render_error, render_result
from mcp_browser.text import cut

logger = logging.getLogger(__name__)

MOST_CALLS = 200  # How many calls of a session are kept
MOST_BYTES = 64_000_000  # Of the pictures of all sessions together; the oldest go
LONGEST_RESULT = 6_000  # Characters
PICTURE_SECONDS = 5.0  # How long the picture after a call may take

State = Literal["running", "ok", "error", "cancelled"]


@dataclass(eq=False, slots=True)
class SeenCall:
    """One call: its arguments without what may be secret, its result as the model reads it."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    started: float  # Seconds since 1970
    state: State = "running"
    seconds: float | None = None
    result: str = ""
    picture: bytes | None = None  # The page after it as JPEG, as long as that is kept

    def as_json(self) -> dict[str, Any]:
        """The call as the page gets it."""
        return {**asdict(self), "picture": self.picture is not None}


@dataclass(eq=False, slots=True)
class SessionCalls:
    """The latest calls of one session, and who listens to them."""

    calls: deque[SeenCall] = field(default_factory=lambda: deque[SeenCall](maxlen=MOST_CALLS))
    listeners: set[Callable[[SeenCall], None]] = field(default_factory=set[Callable[[SeenCall], None]])
    picturing: bool = False

    def picture(self, number: int) -> bytes | None:
        """The picture after a call; None if there is none, or none any more."""
        return next((call.picture for call in self.calls if call.number == number), None)

    def notify(self, call: SeenCall) -> None:
        """Report that a call has begun, ended or got its picture."""
        for listener in list(self.listeners):
            listener(call)


class Journal:
    """Follows all sessions of a server, from their beginning."""

    def __init__(self, manager: BrowserManager) -> None:
        self._of: dict[BrowserSession, SessionCalls] = {}
        self._pictured: deque[SeenCall] = deque()
        for session in manager.sessions:
            self._follow(session)
        manager.when_new.append(self._follow)
        manager.when_ended.append(self._forget_ended)

    def of(self, session: BrowserSession) -> SessionCalls:
        """The calls of a session."""
        return self._of.get(session) or SessionCalls()

    def _follow(self, session: BrowserSession) -> None:
        self._of[session] = SessionCalls()
        session.watcher = partial(self._began, session)

    def _forget_ended(self, session: BrowserSession) -> None:
        if session.closed and (seen := self._of.pop(session, None)) is not None:
            for call in seen.calls:
                call.picture = None
            self._pictured = deque(call for call in self._pictured if call.picture is not None)

    def _began(
        self, session: BrowserSession, tool: str, arguments: Mapping[str, Any]
    ) -> Callable[[Any], None]:
        seen, began = self.of(session), time.monotonic()
        number = seen.calls[-1].number + 1 if seen.calls else 1
        call = SeenCall(number, tool, arguments, time.time())
        seen.calls.append(call)
        seen.notify(call)

        def ended(outcome: Any) -> None:
            call.seconds = round(time.monotonic() - began, 3)
            call.state, call.result = _account(outcome, session)
            seen.notify(call)
            if call.state != "cancelled" and not seen.picturing:
                seen.picturing = True
                begin(self._picture(session, seen, call))

        return ended

    async def _picture(self, session: BrowserSession, seen: SessionCalls, call: SeenCall) -> None:
        """Keep the view of the current tab, unless it cannot be pictured now."""
        tab = session.tab_in_use
        try:
            if tab is not None and not tab.held:
                with anyio.move_on_after(PICTURE_SECONDS):
                    async with tab.screencast.watch() as frames:
                        async for frame in frames:
                            call.picture = frame.data
                            break
        except (PlaywrightError, ActionError) as error:
            logger.debug("No picture after %s: %s", call.tool, error)
        finally:
            seen.picturing = False
        if call.picture is None:
            return
        self._pictured.append(call)
        while sum(len(one.picture or b"") for one in self._pictured) > MOST_BYTES:
            self._pictured.popleft().picture = None
        seen.notify(call)


def _account(outcome: Any, session: BrowserSession) -> tuple[State, str]:
    """How a call ended, and its result as the model reads it."""
    match outcome:
        case ActionResult():
            text = render_result(outcome, settings=session.settings, secrets=session.hidden)[0]
            return ("error" if outcome.error else "ok"), cut(text, LONGEST_RESULT)
        case ActionError():
            return "error", cut(render_error(outcome, secrets=session.hidden), LONGEST_RESULT)
        case Exception():
            return "error", "Internal error; the server's log has the details."
        case _:
            return "cancelled", ""
