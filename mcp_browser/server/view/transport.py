"""Sends messages to an open page of the view and back: one protocol over two transports.

A page of the server has a WebSocket (`server/http/view/view.py`). The page of an MCP App can only call tools:
it polls for what is new.
"""

import json
import time
from collections import deque
from contextlib import suppress
from typing import Any, Protocol

import anyio

from mcp_browser.browser.concurrency import Condition
from mcp_browser.browser.screencast import Frame

POLL_SECONDS = 5.0  # How long a poll waits for something new; some clients make one call at a time
SILENT_SECONDS = 30.0  # After which a page that polls no more has gone
MOST_SAID = 500  # How many messages of the page wait; more are dropped
LONGEST_NEWS = 150_000  # Characters of JSON in one answer, about; what is left comes in the next one
MOST_NEWS = 2_000  # How many wait for the page; it has gone where it does not take them

_DRAWN = '{"type": "drawn"}'


class TransportClosed(Exception):
    """The page has gone."""


class ViewTransport(Protocol):
    """Connects a page to the server; each method but `close` raises `TransportClosed` once it has gone."""

    async def receive(self) -> str:
        """Return the next message of the page, as JSON; what is no text is empty."""
        ...

    async def send(self, message: dict[str, Any], /) -> None:
        """Send the page a message."""
        ...

    async def send_frame(self, frame: Frame, /) -> None:
        """Send the page a frame; it answers once it has drawn it."""
        ...

    async def close(self, code: int, reason: str, /) -> None:
        """End it, as a WebSocket is ended."""
        ...

    async def still_admitted(self) -> bool:
        """Whether what has admitted the page still counts."""
        return True


class PolledTransport(ViewTransport):
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
            self.put(_DRAWN)
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
        """Return the next message of the page, as JSON; what is no text is empty."""
        while True:
            left = self._polled + SILENT_SECONDS - time.monotonic()
            if self.closed or (left <= 0 and not self._polls):
                raise TransportClosed
            with suppress(anyio.EndOfStream), anyio.move_on_after(max(left, 1.0)):
                return await self._from_page.receive()

    async def send(self, message: dict[str, Any]) -> None:
        """Keep a message until the page asks."""
        if self.closed or len(self._news) >= MOST_NEWS:
            raise TransportClosed
        self._news.append(message)
        self._changed.wake()

    async def send_frame(self, frame: Frame) -> None:
        """Send the page a frame; it answers once it has drawn it."""
        self._frame = frame
        self._undrawn += 1
        self._changed.wake()

    async def close(self, _code: int, reason: str) -> None:
        """Say why it ends, then end it."""
        self._news.append({"type": "told", "text": reason})
        self.end()
