"""The broker of a profile: owns its browser, serves its clients, and ends with the last of them.

It is a separate process, so that the browser outlives each client. The pipe of this module is one of two
transports of the divider; the other one is in own_relay.py.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from mcp_browser.browser.process.divide.divider import (
    Divider,
    DividerClient,
    Leaving,
    Parameters,
    PendingCommand,
    TargetSession,
    line,
)

CLOSING_SECONDS = 5.0  # How long the browser may take to close before it is killed
MOST_UNREAD = 256_000_000  # Bytes unread by the other end of a pipe before it counts as gone
_CHUNK = 262_144
_ENDS = 2
_HELLO = 65_536
_LOG_KEPT = 16_384


class SharedTabs(Divider):
    """The policy of a browser that was started for its clients: every tab belongs to one."""

    _first: DividerClient | None = None  # The owner of the browser's first tab, until that is attached
    _had_clients = False

    def __init__(self, to_browser: Callable[[bytes], None]) -> None:
        """Ask the browser to attach to its tabs; `to_browser` takes one message."""
        super().__init__(to_browser)
        self._ask(None, "Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def _join(self, client: DividerClient) -> None:
        """Give the first client the browser's first tab, all others a new window."""
        if self._had_clients:
            self._ask(client, "Target.createTarget", url="about:blank", newWindow=True)
        else:
            self._had_clients, self._first = True, client
        self._find_owners()

    def _command(
        self, client: DividerClient, command: Parameters, method: str, parameters: Parameters
    ) -> None:
        if method in {"Target.closeTarget", "Target.attachToTarget", "Target.activateTarget"}:
            if not self._owns(client, parameters):
                self.refuse(client, command, "No target with given id found", -32602)
                return
        elif method == "Target.createTarget" and any(
            session.kind == "page" and session.owner is not client for session in self._sessions.values()
        ):
            # In the last used window it would hide another client's tab.
            parameters["newWindow"] = True
        self._ask(client, method, command["id"], **parameters)

    def _event(self, message: bytes, *_parsed: object) -> None:
        # A client ignores events of frames and files that it does not know.
        for client in self.clients:
            client.send(message)

    def _answered(self, asked: PendingCommand, said: Parameters) -> bool:
        target = said.get("result", {}).get("targetId")
        if asked.method == "Target.createTarget" and asked.client is not None and target is not None:
            self._owners[target] = asked.client
        return True

    def _heir(self, session: TargetSession) -> DividerClient | None:
        """An unclaimed page belongs to the first client; a worker to the only client.

        A worker serves the pages of all: it must not wait for one of several clients.
        """
        is_page = session.kind == "page"
        asked = is_page and any(asked.method == "Target.createTarget" for asked in self._asked.values())
        if asked or not self.clients:
            raise LookupError
        if not is_page:
            return self.clients[0] if len(self.clients) == 1 else None
        heir, self._first = self._first or self.clients[0], None
        return heir


class Pipe:
    """DevTools messages, each ended by a zero byte, through two file descriptors; never blocks."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        ends: tuple[int, int],
        received: Callable[[bytes], None],
        ended: Callable[[], None],
    ) -> None:
        """`ends` are the one to read and the one to write. `ended` is called when the other end closes."""
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
        """Write a message, now or as soon as possible."""
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
        """Close both ends, if they are open."""
        if self._closed:
            return
        self._closed = True
        for end in (self._reading, self._writing):
            with contextlib.suppress(KeyError):
                self._selector.unregister(end)
            os.close(end)

    def _read(self) -> None:
        chunk = _read(self._reading)
        if chunk is None:
            return
        if not chunk:
            self._ended()
            return
        first, *others = chunk.split(b"\0")
        self._begun += first
        for following in others:
            complete, self._begun = bytes(self._begun), bytearray(following)
            self._received(complete)
            if self._closed:
                return

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


class ProfileClient(Pipe):
    """A client of the broker: its DevTools pipe, and the connection of the process that sent it."""

    def __init__(
        self, broker: "ProfileBroker", connection: socket.socket, pid: int, ends: tuple[int, int]
    ) -> None:
        super().__init__(
            broker.selector,
            ends,
            lambda message: broker.receive(self, message),
            lambda: broker.disconnect(self),
        )
        self.connection = connection
        self.pid = pid

    def inform(self, text: bytes) -> None:
        """Write to the process that sent the pipe and waits."""
        with contextlib.suppress(OSError):
            self.connection.send(text)


class ProfileBroker:
    """Serves the clients of one profile, whose folder is the current one, until the last has gone."""

    def __init__(  # noqa: PLR0913 - what the process that started the browser knows, by keyword
        self,
        *,
        lock: int,
        browser: int,
        pipe: tuple[int, int],
        log: int,
        terms: str,
        place: str,
        downloads: str,
        start_seconds: float,
    ) -> None:
        """Take over a browser that starts, whose process has the id `browser` and leads a group.

        File descriptors are `lock`, the profile's, which is held, `pipe`, to read from the browser and to
        write to it, and `log`, which has what it writes to standard error. A client's terms have to equal
        `terms`. `place` is the path of the socket to listen at, `downloads` the folder of the browser's
        downloads, removed at the end. The first client is waited for `start_seconds`.
        """
        self._browser = browser
        self._terms = terms
        self._place = Path(place)
        self._downloads = downloads
        self._lock = lock
        self.selector = selectors.DefaultSelector()
        self._clients: list[ProfileClient] = []
        self._log = b""
        self._gone = self._stopped = False
        self._closing_until: float | None = None
        self._alone_until = time.monotonic() + start_seconds
        self._pipe = Pipe(self.selector, pipe, self._from_browser, self._lost)
        self._tabs = SharedTabs(self._pipe.send)
        os.set_blocking(log, False)
        self.selector.register(log, selectors.EVENT_READ, lambda: self._read_log(log))
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
                for key, _ in self.selector.select(wait):
                    now = self.selector.get_map().get(key.fd)
                    # A handler before may have closed it, and its number may be reused.
                    if now is not None and now.data == key.data:
                        key.data()
                if self._stopped or (not self._clients and time.monotonic() > self._alone_until):
                    self._close()
        finally:
            self._end()

    # -- clients

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._place.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(str(self._place))
        finally:
            os.umask(before)
        listener.listen(128)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, self._accept)
        return listener

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, lambda: self._greet(connection))

    def _greet(self, connection: socket.socket) -> None:
        """Take a client with its pipe, or answer a process that asks for the clients."""
        self.selector.unregister(connection)
        text, ends = b"", list[int]()
        try:
            text, ends, _, _ = socket.recv_fds(connection, _HELLO, _ENDS)
            hello = json.loads(text)
            pid, terms = int(hello["pid"]), str(hello["terms"])
            reading, writing = ends
        except (OSError, ValueError, KeyError, TypeError):
            answer = json.dumps([client.pid for client in self._clients])
        else:
            if terms == self._terms:
                client = ProfileClient(self, connection, pid, (reading, writing))
                client.inform(b"taken\n" + self._log)
                self._clients.append(client)
                self.selector.register(connection, selectors.EVENT_READ, lambda: self.disconnect(client))
                return
            answer = f"refused {json.dumps([terms, self._terms])}\n"
        for end in ends:
            os.close(end)
        with contextlib.suppress(OSError):
            connection.send(answer.encode())
        connection.close()

    def receive(self, client: ProfileClient, message: bytes) -> None:
        """Take a message of a client."""
        try:
            self._tabs.from_client(client, message)
        except (ValueError, TypeError, KeyError, Leaving):
            self.disconnect(client)

    def disconnect(self, client: ProfileClient) -> None:
        """A client or its process has ended: close its tabs, or the browser after the last client."""
        if client not in self._clients:
            return
        self._clients.remove(client)
        client.close()
        self.selector.unregister(client.connection)
        self._tabs.leave(client)
        if self._clients:
            client.connection.close()
        else:
            # Its process ends with this one, so that the profile is free once it has ended.
            self._close()

    # -- the browser

    def _from_browser(self, message: bytes) -> None:
        self._tabs.from_browser(message)

    def _read_log(self, log: int) -> None:
        text = _read(log)
        if not text:
            self.selector.unregister(log)
            os.close(log)
            return
        self._log = (self._log + text)[-_LOG_KEPT:]
        for client in self._clients:
            client.inform(text)

    def _close(self) -> None:
        if self._closing_until is None:
            self._closing_until = time.monotonic() + CLOSING_SECONDS
            self._stop_listening()
            self._pipe.send(line({"id": -1, "method": "Browser.close"}))

    def _stop(self, *_signal: object) -> None:
        self._stopped = True

    def _lost(self) -> None:
        self._gone = True

    def _stop_listening(self) -> None:
        if self._listener.fileno() >= 0:
            self._place.unlink(missing_ok=True)
            self.selector.unregister(self._listener)
            self._listener.close()

    def _end(self) -> None:
        """End the browser and release the profile. The clients' connections close with this process."""
        self._stop_listening()
        self._pipe.close()
        if self._closing_until is None:
            for client in self._clients:
                client.close()
        deadline = self._closing_until or time.monotonic() + CLOSING_SECONDS
        while not self._has_ended() and time.monotonic() < deadline:
            time.sleep(0.005)
        with contextlib.suppress(OSError):
            # Also the rest of its group after a crash.
            os.killpg(self._browser, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._browser, 0)
        shutil.rmtree(self._downloads, ignore_errors=True)
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    def _has_ended(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self._browser, os.WNOHANG) != (0, 0)
        return True


def _read(descriptor: int) -> bytes | None:
    """What can be read now: None if that is nothing yet, b"" if the other end has closed."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""
