"""The keeper of a profile: owns its browser, lets clients work with it, and ends with the last of them.

It belongs to none of them, so that none takes the browser along when it ends, in whatever way.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import time
from pathlib import Path

from mcp_browser.browser.process.shared.joining import DOWNLOADS, PATIENCE, SOCKET
from mcp_browser.browser.process.shared.pipe import CHUNK, Pipe
from mcp_browser.browser.process.shared.targets import Leaving, Targets

CLOSING_SECONDS = 5.0
"""How long the browser may take to close before it is killed."""

_ENDS = 2
_HELLO = 65_536
_LOG_KEPT = 16_384


class Member:
    """A client of the keeper: its DevTools pipe, and the connection by which it came."""

    def __init__(self, line: socket.socket, pid: int) -> None:
        self.line = line
        self.pid = pid
        self.pipe: Pipe | None = None

    def send(self, message: bytes) -> None:
        """Give it a DevTools message."""
        if self.pipe is not None:
            self.pipe.send(message)

    def say(self, text: bytes) -> None:
        """Say something to the process that has come for it."""
        with contextlib.suppress(OSError):
            self.line.send(text)


class Keeper:
    """Serves the clients of one profile, whose folder is the current one, until the last has gone."""

    def __init__(self, *, lock: int, browser: int, pipe: tuple[int, int], log: int, terms: str) -> None:
        """Take over a browser that starts.

        Args:
            lock: file descriptor of the profile's lock, which is held.
            browser: the browser's process id; it leads a process group.
            pipe: file descriptors to read from the browser and to write to it.
            log: file descriptor of what the browser writes to standard error.
            terms: what the browser was started with, and a client has to want.
        """
        self._browser = browser
        self._terms = terms
        self._lock = lock
        self._selector = selectors.DefaultSelector()
        self._members: list[Member] = []
        self._log = b""
        self._gone = False
        self._closing_until: float | None = None
        self._stopped = False
        self._alone_until = time.monotonic() + PATIENCE
        self._pipe = Pipe(self._selector, pipe, self._hear_browser, self._lost)
        self._targets = Targets(self._pipe.send)
        os.set_blocking(log, False)
        self._selector.register(log, selectors.EVENT_READ, lambda: self._read_log(log))
        self._listener = self._listen()

    def run(self) -> None:
        """Serve until the last client has gone, or the browser has ended."""
        for number in (signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._stop)
        try:
            while not self._gone:
                wait = 1.0
                if self._closing_until is not None:
                    wait = self._closing_until - time.monotonic()
                    if wait <= 0:
                        break
                for key, _ in self._selector.select(wait):
                    now = self._selector.get_map().get(key.fd)
                    # What was handled before may have closed it, and another may have got its number.
                    if now is not None and now.data == key.data:
                        key.data()
                nobody_came = not self._members and time.monotonic() > self._alone_until
                if self._stopped or nobody_came:
                    self._close()
        finally:
            self._end()

    # -- clients

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        Path(SOCKET).unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(SOCKET)
        finally:
            os.umask(before)
        listener.listen(128)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        return listener

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            line, _ = self._listener.accept()
            line.setblocking(False)
            self._selector.register(line, selectors.EVENT_READ, lambda: self._greet(line))

    def _greet(self, line: socket.socket) -> None:
        """Hear who has come: a client with its pipe, or somebody who asks who is here."""
        self._selector.unregister(line)
        try:
            text, ends, _, _ = socket.recv_fds(line, _HELLO, _ENDS)
        except OSError:
            text, ends = b"", []
        try:
            hello = json.loads(text)
            pid, terms = int(hello["pid"]), str(hello["terms"])
        except (ValueError, KeyError, TypeError):
            terms = pid = None
        if len(ends) != _ENDS or pid is None or terms is None:
            for end in ends:
                os.close(end)
            with contextlib.suppress(OSError):
                line.send(json.dumps([member.pid for member in self._members]).encode())
            line.close()
            return
        member = Member(line, pid)
        if terms != self._terms:
            member.say(b"refused " + json.dumps([terms, self._terms]).encode() + b"\n")
            for end in ends:
                os.close(end)
            line.close()
            return
        member.say(b"taken\n" + self._log)
        self._members.append(member)
        self._selector.register(line, selectors.EVENT_READ, lambda: self._part(member))
        member.pipe = Pipe(
            self._selector,
            (ends[0], ends[1]),
            lambda message: self._hear(member, message),
            lambda: self._part(member),
        )

    def _hear(self, member: Member, message: bytes) -> None:
        try:
            self._targets.from_client(member, message)
        except (ValueError, TypeError, KeyError, Leaving):
            self._part(member)

    def _part(self, member: Member) -> None:
        """A client has gone, or its process has: close its tabs, or the browser after the last one."""
        if member not in self._members:
            return
        self._members.remove(member)
        if member.pipe is not None:
            member.pipe.close()
        self._selector.unregister(member.line)
        self._targets.leave(member)
        if self._members:
            member.line.close()
        else:
            # Its process ends when this one does, so that who waits for it finds the profile free.
            self._close()

    # -- the browser

    def _hear_browser(self, message: bytes) -> None:
        self._targets.from_browser(message)

    def _read_log(self, log: int) -> None:
        text = b""
        with contextlib.suppress(OSError):
            text = os.read(log, CHUNK)
        if not text:
            self._selector.unregister(log)
            os.close(log)
            return
        self._log = (self._log + text)[-_LOG_KEPT:]
        for member in self._members:
            member.say(text)

    def _close(self) -> None:
        if self._closing_until is None:
            self._closing_until = time.monotonic() + CLOSING_SECONDS
            self._stop_listening()
            self._targets.end()

    def _stop(self, *_signal: object) -> None:
        self._stopped = True

    def _lost(self) -> None:
        self._gone = True

    def _stop_listening(self) -> None:
        if self._listener.fileno() >= 0:
            Path(SOCKET).unlink(missing_ok=True)
            self._selector.unregister(self._listener)
            self._listener.close()

    def _end(self) -> None:
        """End the browser and give the profile free. The clients' lines close with this process."""
        self._stop_listening()
        self._pipe.close()
        if self._closing_until is None:
            for member in self._members:
                if member.pipe is not None:
                    member.pipe.close()
        deadline = self._closing_until or time.monotonic() + CLOSING_SECONDS
        while not self._has_ended():
            if time.monotonic() > deadline:
                with contextlib.suppress(OSError):
                    os.killpg(self._browser, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self._browser, 0)
                break
            time.sleep(0.005)
        with contextlib.suppress(OSError):
            # What is left of its group, after a crash.
            os.killpg(self._browser, signal.SIGKILL)
        shutil.rmtree(DOWNLOADS, ignore_errors=True)
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    def _has_ended(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self._browser, os.WNOHANG) != (0, 0)
        return True
