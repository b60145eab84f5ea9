"""A person takes over the browser of a session; the calls of models wait meanwhile."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, replace

import anyio
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import Condition, begin, within
from mcp_browser.browser.session_services import SessionServices
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import Tabs
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import ActionError, BrowserUnavailable, DeadlineExceeded, NotActionable, TakenOver
from mcp_browser.text import cut, cut_address, quoted

BEGIN_SECONDS = 30.0  # How long a call that runs may take to end before a person gets the browser
READ_SECONDS = 0.4  # How often it is read what secret fields hold
READING_SECONDS = 2.0  # How long that may take
SHORTEST_SECRET = 4  # A shorter text stands in too many words to be taken out of them, characters
LONGEST_NAME = 60  # How much of a person's name is told, characters
LONGEST_NOTE = 2_000
SECRET = "typed by a person"  # By what results name a text that a person has typed into a secret field


@dataclass(frozen=True, slots=True, eq=False)
class TakeoverHolder:
    """Who has the browser: what they are called, since when (seconds since 1970).

    `asked` is what the person was asked to do, if they were; `waiting` says that they have not come yet, and
    that whoever comes may begin.
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
    """Who has the browser of one session, and what is told of it once they have handed it back.

    `changed` wakes whoever waits for a beginning or an end. `seconds` counts how long people have had the
    browser so far; `ended` is when the latest of them handed it back, by the monotonic clock.
    """

    def __init__(
        self, tabs: Tabs, services: SessionServices, *, handed_back: Callable[[str, bool], None]
    ) -> None:
        """`handed_back` takes what the next result says of it, and whether another page is there now."""
        self._tabs = tabs
        self._services = services
        self._handed_back = handed_back
        self._longest_wait = services.settings.limits.takeover_wait
        self._holder: TakeoverHolder | None = None
        self._holding: asyncio.Task[None] | None = None
        self._back: asyncio.Future[str] | None = None
        self._release: asyncio.Future[None] | None = None
        self._clocks: dict[anyio.CancelScope, float] = {}
        self._typed: set[str] = set()
        self._page_before: tuple[object, ...] = ()
        self._url_before = ""
        self._past_seconds = 0.0
        self._taken_at = 0.0
        self.changed = Condition()
        self.ended = -math.inf

    @property
    def active(self) -> TakeoverHolder | None:
        """Who has the browser now; None where nobody has."""
        return self._holder

    @property
    def busy(self) -> bool:
        """Whether calls have to wait: somebody has the browser, is getting it, or is handing it back."""
        return self._holding is not None

    @property
    def seconds(self) -> float:
        now = time.monotonic() - self._taken_at if self._holder is not None else 0.0
        return self._past_seconds + now

    # -- for the person

    async def begin(self, by: str, *, asked: str | None = None) -> TakeoverHolder:
        """Give the browser to a person, once the calls that run have ended.

        Args:
            by: what the person is called in messages to the model.
            asked: what they are asked to do; until somebody begins without that, they are waited for.

        Returns:
            Who has it now, for `end`.

        Raises:
            NotActionable: somebody else has it.
            DeadlineExceeded: a call still runs after `BEGIN_SECONDS`.
        """
        by = " ".join(by.split())[:LONGEST_NAME]
        holder = TakeoverHolder(by, time.time(), asked=asked, waiting=asked is not None)
        if self._holder is not None and self._holder.waiting and not holder.waiting:
            self._holder = replace(holder, asked=self._holder.asked)
            self.changed.wake()
            return self._holder
        if self.busy:
            who = str(self._holder) if self._holder is not None else "The browser changes hands right now"
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
        """Hand the browser back; the next result tells that, the note, and what is different.

        Args:
            note: what the person wants the model to know.
            holder: end only what this `begin` has begun.

        Returns:
            Whether there was anything to end.
        """
        ended, holding, release = self._holder, self._holding, self._release
        if ended is None or holding is None or release is None or holder not in (None, ended):
            return False
        self._past_seconds = self.seconds
        self._holder = None
        try:
            await within(READING_SECONDS, self.read_secrets())
        finally:
            self._hide_typed()
            told, moved = self._told(ended, note)
            self._handed_back(told if moved or note or not ended.waiting else "", moved)
            if not release.done():
                release.set_result(None)
        await asyncio.wait({holding})
        if not ended.waiting and self._back is not None:
            # Whoever was asked has come, and is done.
            back, self._back = self._back, None
            if not back.done():
                back.set_result(cut((note or "").strip(), LONGEST_NOTE))
        return True

    @contextlib.asynccontextmanager
    async def asking(self, by: str, what: str) -> "AsyncGenerator[asyncio.Future[str]]":
        """Within it a person is asked to do something, and the browser is theirs, at once or once they come.

        Yields:
            The note of whoever has come and handed the browser back; or the error of a session that ended.

        Raises:
            DeadlineExceeded: a call still runs after `BEGIN_SECONDS`.
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
            holder = None  # Who has come for it is done with it, too.
        finally:
            if self._back is back:
                self._back = None
                await self.end(holder=holder)
            back.cancel()

    async def read_secrets(self) -> None:
        """Read what secret fields hold, so that no result shows it; before input that may submit a form."""

        async def read(tab: Tab) -> None:
            with contextlib.suppress(ActionError, PlaywrightError, FrameGone):
                self._typed |= await tab.ask(tab.dom.secret_values(), limit=READING_SECONDS)

        await asyncio.gather(*(read(tab) for tab in list(self._tabs.all.values()) if not tab.held))

    # -- for the calls of models

    async def over(self, limit: float | None = None) -> bool:
        """Wait until nobody has the browser, `limit` seconds at most; whether that is so."""
        ends = None if limit is None else time.monotonic() + limit
        while self.busy:
            left = None if ends is None else ends - time.monotonic()
            if left is not None and left <= 0:
                return False
            await self.changed.wait(left)
        return True

    async def let_pass(self) -> None:
        """Wait as a call of a model does.

        Raises:
            TakenOver: a person still has the browser; nothing has been done.
        """
        if not await self.over(self._longest_wait):
            who = str(self._holder) if self._holder is not None else "A person has the browser"
            raise TakenOver(
                f"{who}, and has not handed it back within {self._longest_wait:g} s: nothing was done.",
                hint="Call again later; or tell the user that you wait for them to hand the browser back.",
            )

    @contextlib.contextmanager
    def stops(self, clock: anyio.CancelScope) -> Generator[None]:
        """Within it, the time in which a person has the browser does not count against a limit."""
        self._clocks[clock] = math.inf
        if self._holder is not None:
            self._stop(clock)
        try:
            yield
        finally:
            del self._clocks[clock]

    # -- for the session

    def close(self) -> None:
        """The session ends, whoever has it."""
        if self._holding is not None:
            self._holding.cancel()
        if self._back is not None and not self._back.done():
            self._back.set_exception(BrowserUnavailable("The session was closed.", hint="Start a new one."))

    # -- inside

    async def _hold(
        self, holder: TakeoverHolder, taken: "asyncio.Future[None]", release: "asyncio.Future[None]"
    ) -> None:
        """Keep every call out of the session until it is handed back."""
        try:
            async with self._services.limits.lock.alone():
                self._page_before, self._url_before = self._page(), self._url()
                self._typed.clear()
                self._taken_at = time.monotonic()
                self._holder = holder
                for clock in self._clocks:
                    self._stop(clock)
                taken.set_result(None)
                self.changed.wake()
                while not release.done():
                    reading = begin(self.read_secrets())
                    await asyncio.wait({reading, release}, return_when=asyncio.FIRST_COMPLETED)
                    await asyncio.wait({release}, timeout=READ_SECONDS)
        finally:
            self._holder = self._holding = None
            self.ended = time.monotonic()
            for clock in self._clocks:
                self._start(clock)
            self.changed.wake()

    def _stop(self, clock: anyio.CancelScope) -> None:
        self._clocks[clock] = clock.deadline - anyio.current_time()
        clock.deadline = math.inf

    def _start(self, clock: anyio.CancelScope) -> None:
        if self._clocks[clock] != math.inf:
            clock.deadline = anyio.current_time() + self._clocks[clock]
            self._clocks[clock] = math.inf

    def _page(self) -> tuple[object, ...]:
        tab = self._tabs.current if self._services.context is not None else None
        if tab is None:
            return ()
        return tab.id, tab.activity.document_number, tab.url.partition("#")[0]

    def _url(self) -> str:
        tab = self._tabs.current if self._services.context is not None else None
        return tab.url if tab is not None else ""

    def _told(self, ended: TakeoverHolder, note: str | None) -> tuple[str, bool]:
        """What the model is told, and whether another page is there than the one that it knows."""
        moved = self._page() != self._page_before
        told = f"A person ({ended.by}) had the browser for {round(ended.seconds)} s."
        if ended.waiting:
            told = "A person was asked, and may have worked in the browser meanwhile."
        url, before = self._url(), self._url_before
        if moved and url != before:
            told += f" The page was {cut_address(before) or 'none'} and is {cut_address(url) or 'none'} now."
        elif moved:
            told += f" The page {cut_address(url)} was loaded again."
        if note and note.strip():
            told += f" Their note: {quoted(note.strip(), LONGEST_NOTE)}"
        return told, moved

    def _hide_typed(self) -> None:
        """Hide what was typed in whole; what was read while it was being typed is part of a longer text."""
        typed = {value for value in self._typed if len(value) >= SHORTEST_SECRET}
        self._typed.clear()
        for value in sorted(typed):
            if not any(other != value and other.startswith(value) for other in typed):
                self._services.hide({SECRET: value})
