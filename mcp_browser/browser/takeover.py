"""A person takes over the browser of a session, while the calls of models wait."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, replace

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import Condition, begin, within
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import Tabs
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, NotActionable, TakenOver
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import cut, quoted

BEGIN_SECONDS = 30.0  # How long a person waits for a running call to end
READ_SECONDS = 0.4  # How often secret fields are read
READING_SECONDS = 2.0  # How long that may take
SHORTEST_SECRET = 4  # A shorter text occurs in too many words to be hidden, characters
LONGEST_NAME = 60  # How much of a person's name is shown, characters
LONGEST_NOTE = 2_000  # Of a person's note to the model, characters
SECRET = "typed by a person"  # The name in results of a text that a person has typed into a secret field


@dataclass(frozen=True, slots=True, eq=False)
class TakeoverHolder:
    """Who has the browser: their name, and since when (seconds since 1970).

    `asked` is what the person was asked to do, if they were; `waiting`: nobody has begun yet; anybody may.
    """

    by: str
    since: float
    asked: str | None = None
    waiting: bool = False

    def __str__(self) -> str:
        if self.waiting:
            return f"A person is being asked ({quoted(self.asked or '', LONGEST_NAME)})"
        return f"A person ({self.by}) has taken over the browser"

    @property
    def seconds(self) -> float:
        return time.time() - self.since


class Takeover:
    """Who has the browser of one session, and the message to the model when they have handed it back.

    `changed` wakes waiters at each beginning and end. `seconds` is how long people had the browser so far;
    `ended` is when the last of them handed it back, by the monotonic clock. `in_window`: they see its window.
    """

    def __init__(self, tabs: Tabs, services: SessionServices, *, in_window: bool) -> None:
        self._tabs = tabs
        self._services = services
        self.in_window = in_window and services.settings.browser.browser_endpoint is None
        self._longest_wait = services.settings.limits.takeover_wait
        self.active: TakeoverHolder | None = None  # Who has the browser now
        self._holding: asyncio.Task[None] | None = None
        self._back: asyncio.Future[str] | None = None
        self._release: asyncio.Future[None] | None = None
        self._clocks: dict[anyio.CancelScope, float] = {}
        self._typed: set[str] = set()
        self._place_before: tuple[str, tuple[object, ...]] = ("", ())
        self._past_seconds = 0.0
        self._taken_at = 0.0
        self.changed = Condition()
        self.ended = -math.inf

    @property
    def busy(self) -> bool:
        """Whether calls have to wait: somebody has the browser, or a takeover begins or ends."""
        return self._holding is not None

    @property
    def seconds(self) -> float:
        now = time.monotonic() - self._taken_at if self.active is not None else 0.0
        return self._past_seconds + now

    async def begin(self, by: str, *, asked: str | None = None) -> TakeoverHolder:
        """Give the browser to a person, once running calls have ended; return the holder, for `end`.

        `by` is the person's name in messages. `asked` is what they are asked to do: it then waits until
        somebody begins without. Raises NotActionable: another has it; DeadlineExceeded: a call still runs.
        """
        by = " ".join(by.split())[:LONGEST_NAME]
        holder = TakeoverHolder(by, time.time(), asked=asked, waiting=asked is not None)
        if self.active is not None and self.active.waiting and not holder.waiting:
            self.active = replace(holder, asked=self.active.asked)
            self.changed.wake()
            return self.active
        if self.busy:
            who = str(self.active) if self.active is not None else "The browser changes hands right now"
            raise NotActionable(f"{who}.", hint="Try again once it is handed back.")
        loop = asyncio.get_running_loop()
        taken: asyncio.Future[None] = loop.create_future()
        self._release = loop.create_future()
        holding = self._holding = begin(self._hold(holder, taken, self._release))
        try:
            await asyncio.wait({taken}, timeout=BEGIN_SECONDS)
            if not taken.done():
                raise DeadlineExceeded(
                    f"A call still runs in the session after {BEGIN_SECONDS:g} s.", hint="Try again."
                )
        finally:
            if not taken.done():
                holding.cancel()
                taken.cancel()
        return holder

    async def end(self, note: str | None = None, *, holder: TakeoverHolder | None = None) -> bool:
        """End the takeover; the next result has a message with the note and what has changed.

        With `holder`, end only that of its `begin`. Returns whether there was anything to end.
        """
        ended, holding, release = self.active, self._holding, self._release
        if ended is None or holding is None or release is None or holder not in (None, ended):
            return False
        self._past_seconds = self.seconds
        self.active = None
        try:
            await within(READING_SECONDS, self.read_secrets())
        finally:
            # Not their beginnings, which were read during typing.
            typed = {value for value in self._typed if len(value) >= SHORTEST_SECRET}
            self._typed.clear()
            for value in sorted(typed):
                if not any(other != value and other.startswith(value) for other in typed):
                    self._services.hide({SECRET: value})
            message, moved = self._summary(ended, note)
            if moved or note or not ended.waiting:
                self._services.notice(message)
            if moved:
                self._tabs.moved = message
            self._services.acted_at = time.time()
            if not release.done():
                release.set_result(None)
        await asyncio.wait({holding})
        if not ended.waiting and self._back is not None:
            # The person who was asked is done.
            back, self._back = self._back, None
            if not back.done():
                back.set_result(cut((note or "").strip(), LONGEST_NOTE))
        return True

    @contextlib.asynccontextmanager
    async def asking(self, by: str, what: str) -> "AsyncGenerator[asyncio.Future[str]]":
        """A context in which a person is asked to do something, and has the browser.

        Yields their note once they end it, or the error of a session that ended. Raises DeadlineExceeded.
        """
        while True:
            await self.over()
            with contextlib.suppress(NotActionable):
                asked = await self.begin(by, asked=what)
                break
        back = self._back = asyncio.get_running_loop().create_future()
        holder: TakeoverHolder | None = asked
        try:
            yield back
            holder = None  # End the takeover of the person who came, too.
        finally:
            if self._back is back:
                self._back = None
                await self.end(holder=holder)
            back.cancel()

    async def read_secrets(self) -> None:
        """Read secret fields, so that no result shows their values; call it before a form is submitted."""

        async def read(tab: Tab) -> None:
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                self._typed |= await tab.ask(tab.dom.secret_values(), limit=READING_SECONDS)

        await asyncio.gather(*(read(tab) for tab in list(self._tabs.all.values()) if not tab.held))

    async def over(self, limit: float | None = None) -> bool:
        """Wait until nobody has the browser, `limit` seconds at most; whether nobody has."""
        ends = None if limit is None else time.monotonic() + limit
        while self.busy:
            left = None if ends is None else ends - time.monotonic()
            if left is not None and left <= 0:
                return False
            await self.changed.wait(left)
        return True

    async def let_pass(self) -> None:
        """Wait until nobody has the browser; raise TakenOver after the time limit for calls."""
        if not await self.over(self._longest_wait):
            who = str(self.active) if self.active is not None else "A person has the browser"
            raise TakenOver(
                f"{who}, and has not handed it back within {self._longest_wait:g} s: nothing was done.",
                hint="Call again later; or tell the user that you wait for them to hand the browser back.",
            )

    @contextlib.contextmanager
    def stops(self, clock: anyio.CancelScope) -> Generator[None]:
        """A context in which the time of a takeover does not count against a limit."""
        self._clocks[clock] = math.inf
        if self.active is not None:
            self._stop(clock)
        try:
            yield
        finally:
            del self._clocks[clock]

    def close(self) -> None:
        """End any takeover: the session ends."""
        if self._holding is not None:
            self._holding.cancel()
        if self._back is not None and not self._back.done():
            self._back.set_exception(BrowserUnavailable("The session was closed.", hint="Start a new one."))

    async def _hold(
        self, holder: TakeoverHolder, taken: "asyncio.Future[None]", release: "asyncio.Future[None]"
    ) -> None:
        """Hold the session's lock until the browser is handed back."""
        choosing: set[Tab] = set()
        try:
            async with self._services.limits.lock:
                self._place_before = self._place()
                self._typed.clear()
                self._taken_at = time.monotonic()
                self.active = holder
                for clock in self._clocks:
                    self._stop(clock)
                taken.set_result(None)
                self.changed.wake()
                while not release.done():
                    new = set(self._tabs.all.values() if self.in_window else ()) - choosing
                    for tab in new:
                        tab.choose_files(by_person=True)
                    choosing |= new
                    reading = begin(self.read_secrets())
                    await asyncio.wait({reading, release}, return_when=asyncio.FIRST_COMPLETED)
                    await asyncio.wait({release}, timeout=READ_SECONDS)
        finally:
            for tab in {one for one in choosing if not one.closed}:
                tab.choose_files(by_person=False)
            self.active = self._holding = None
            self.ended = time.monotonic()
            for clock, left in self._clocks.items():
                if left != math.inf:
                    clock.deadline = anyio.current_time() + left
                    self._clocks[clock] = math.inf
            self.changed.wake()

    def _stop(self, clock: anyio.CancelScope) -> None:
        self._clocks[clock] = clock.deadline - anyio.current_time()
        clock.deadline = math.inf

    def _place(self) -> tuple[str, tuple[object, ...]]:
        """The address of the current tab, and what identifies its document."""
        tab = self._tabs.current
        if tab is None or self._services.context is None:
            return "", ()
        return tab.url, (tab.id, tab.activity.document_number, tab.url.partition("#")[0])

    def _summary(self, ended: TakeoverHolder, note: str | None) -> tuple[str, bool]:
        """The message to the model, and whether the page is another one than before the takeover."""
        (before, page_before), (url, page) = self._place_before, self._place()
        moved = page != page_before
        message = f"A person ({ended.by}) had the browser for {round(ended.seconds)} s."
        if ended.waiting:
            message = "A person was asked, and may have worked in the browser meanwhile."
        if moved and url != before:
            was, now = (cut_address(one) or "none" for one in (before, url))
            message += f" The page was {was} and is {now} now."
        elif moved:
            message += f" The page {cut_address(url)} was loaded again."
        if note and note.strip():
            message += f" Their note: {quoted(note.strip(), LONGEST_NOTE)}"
        return message, moved
