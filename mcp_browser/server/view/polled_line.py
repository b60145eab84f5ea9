"""A connection of calls to an open page of the view: the page asks for what is new, again and again."""

import json
import time
from collections import deque
from contextlib import suppress
from typing import Any

import anyio

from mcp_browser.browser.concurrency import Condition
from mcp_browser.browser.screencast import Frame
from mcp_browser.server.view.viewer import LineClosed

POLL_SECONDS = 5.0  # How long a question for what is new waits for it; some clients make one call at a time
SILENT_SECONDS = 30.0  # After which a page that asks no more has gone
MOST_SAID = 500  # How many messages of the page wait; more are dropped
LONGEST_NEWS = 150_000  # Characters of JSON in one answer, about; what is left is told in the next one
MOST_NEWS = 2_000  # How many wait for the page; it has gone where it does not take them

_DRAWN = '{"type": "drawn"}'


class PolledLine:
    """Messages wait until the page asks for them; of frames the newest does."""

    def __init__(self) -> None:
        self._to_viewer, self._said = anyio.create_memory_object_stream[str](MOST_SAID)
        self._news: deque[dict[str, Any]] = deque()
        self._frame: Frame | None = None
        self._undrawn = 0
        self._polls = 0
        self._polled = time.monotonic()
        self._changed = Condition()
        self.closed = False

    # -- for the page

    def say(self, message: str) -> None:
        """Hand on a message of the page, as JSON."""
        self._polled = time.monotonic()
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._to_viewer.send_nowait(message)

    async def poll(self, *, wait: bool) -> tuple[list[dict[str, Any]], Frame | None]:
        """What is new, as far as it fits, and the newest frame; `wait` until there is something."""
        for _ in range(self._undrawn):
            self.say(_DRAWN)
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

    # -- for the viewer

    async def receive(self) -> str:
        """The next message of the page; see `Line`."""
        while True:
            left = self._polled + SILENT_SECONDS - time.monotonic()
            if self.closed or (left <= 0 and not self._polls):
                raise LineClosed
            with anyio.move_on_after(max(left, 1.0)):
                return await self._said.receive()

    async def send(self, message: dict[str, Any]) -> None:
        """Keep a message for the page."""
        if self.closed or len(self._news) >= MOST_NEWS:
            raise LineClosed
        self._news.append(message)
        self._changed.wake()

    async def send_frame(self, frame: Frame) -> None:
        """Keep a frame, in the place of one that the page has not taken."""
        self._frame = frame
        self._undrawn += 1
        self._changed.wake()

    async def close(self, _code: int, reason: str) -> None:
        """Say why it ends, and end."""
        self._news.append({"type": "told", "text": reason})
        self.end()

    def end(self) -> None:
        """Take no more; whoever waits for what is new gets what there is."""
        self.closed = True
        self._changed.wake()

    async def still_admitted(self) -> bool:
        """Each question comes with what lets the client in."""
        return True
