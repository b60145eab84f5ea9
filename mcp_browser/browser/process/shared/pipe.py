"""DevTools messages through a pair of file descriptors, without waiting for whoever is slow."""

import contextlib
import os
import selectors
from collections.abc import Callable

CHUNK = 262_144
MOST_UNREAD = 256_000_000
"""How much may be left unread at the other end before that counts as gone, bytes."""


class Pipe:
    """DevTools messages, each ended by a zero byte, in and out of two file descriptors."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        ends: tuple[int, int],
        received: Callable[[bytes], None],
        ended: Callable[[], None],
    ) -> None:
        """`ends` are the one to read and the one to write. `ended` is called once, by reading or writing."""
        self._selector = selector
        self._reading, self._writing = ends
        self._received = received
        self._ended = ended
        self._begun = bytearray()
        self._unsent = bytearray()
        self._closed = False
        for end in ends:
            os.set_blocking(end, False)
        selector.register(self._reading, selectors.EVENT_READ, self._read)

    def send(self, message: bytes) -> None:
        """Write a message; what cannot be written yet is written later."""
        if self._closed:
            return
        had_unsent = bool(self._unsent)
        self._unsent += message
        self._unsent.append(0)
        if had_unsent:
            if len(self._unsent) > MOST_UNREAD:
                self._ended()
            return
        self._write()
        if self._unsent and not self._closed:
            self._selector.register(self._writing, selectors.EVENT_WRITE, self._write)

    def close(self) -> None:
        """Close both ends; harmless when they are."""
        if self._closed:
            return
        self._closed = True
        for end in (self._reading, self._writing):
            with contextlib.suppress(KeyError):
                self._selector.unregister(end)
            os.close(end)

    def _read(self) -> None:
        try:
            chunk = os.read(self._reading, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._ended()
            return
        *whole, rest = chunk.split(b"\0")
        for message in whole:
            if self._begun:
                self._begun += message
                complete, self._begun = bytes(self._begun), bytearray()
            else:
                complete = message
            self._received(complete)
            if self._closed:
                return
        self._begun += rest

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._writing, self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._ended()
            return
        with contextlib.suppress(KeyError):
            self._selector.unregister(self._writing)
