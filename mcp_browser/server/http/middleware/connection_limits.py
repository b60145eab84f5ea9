"""How many connections there may be, and how long one may keep the server waiting: uvicorn limits neither."""

import asyncio
import contextlib
import logging
import socket
import sys
from collections import Counter
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle

from mcp_browser.server.http.middleware.request_limits import OnRefusal
from mcp_browser.settings import AccessSettings

logger = logging.getLogger(__name__)

LONGEST_HEAD = 32 * 1024  # Most bytes of a request's first line and headers together
_SPARE_FILES = 512
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
)


class Connections:
    """The connections of one server, and their limits."""

    def __init__(self, settings: AccessSettings, on_refusal: OnRefusal) -> None:
        self._most = settings.max_connections
        self.seconds = settings.client_timeout  # For a head to come, or an answer to be taken
        self.on_refusal = on_refusal
        self.open: dict[GuardedProtocol, str] = {}  # With the address of the client

    def protocol(self) -> type["GuardedProtocol"]:
        """The protocol class that `uvicorn.Config(http=…)` takes."""
        allowed = _allow_files(self._most + _SPARE_FILES)
        # Browsers, files and answers need some, too.
        room = allowed - min(_SPARE_FILES, allowed // 2)
        if room < self._most:
            logger.warning(
                "%d connections at a time, not %d: the system lets this process have %d files (ulimit -n).",
                *(room, self._most, allowed),
            )
            self._most = room
        return type("GuardedProtocolOfServer", (GuardedProtocol,), {"guard": self})

    def admit(self, new: "GuardedProtocol", address: str) -> bool:
        """Whether there is room for one more; an idle one of the address that has most makes room."""
        while len(self.open) >= self._most:
            self.on_refusal("connections")
            idle = [protocol for protocol in self.open if protocol.idle]
            if not idle:
                return False
            # The oldest of the greediest: the sort is stable, and they are in the order in which they came.
            by_address = Counter(self.open.values())
            closed = max(idle, key=lambda protocol: by_address[self.open[protocol]])
            del self.open[closed]
            closed.transport.abort()
        self.open[new] = address
        return True


class GuardedProtocol(H11Protocol):
    """HTTP/1.1 on one connection, with limits for the client's slowness."""

    guard: Connections

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._refused = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._upgraded = False

    @property
    def idle(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return not self._upgraded and (cycle is None or cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Take the connection, or turn it away where there is no room."""
        address = (transport.get_extra_info("peername") or ("",))[0]
        if not self.guard.admit(self, str(address)):
            self._refused = True
            self.transport = transport
            transport.write(_ANSWER)
            transport.close()
            return
        super().connection_made(transport)
        _notice_the_dead(transport.get_extra_info("socket"), self.guard.seconds)
        self._start("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop("head")
        self._stop("write")
        self.guard.open.pop(self, None)
        if not self._refused:
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a head that has come whole ends the wait for it."""
        if self._refused:
            return
        super().data_received(data)
        if not self.idle:
            self._stop("head")

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Give the connection to a WebSocket; it counts until that is closed. Pings find out the dead."""
        self._upgraded = True
        self._stop("head")
        super().handle_websocket_upgrade(event)
        socket = cast("asyncio.Protocol", self.transport.get_protocol())
        lost = socket.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self.guard.open.pop(self, None)
            lost(exc)

        socket.connection_lost = connection_lost

    def on_response_complete(self) -> None:
        """Wait for the next head; the rest of the last body is none."""
        self._start("head")
        super().on_response_complete()
        if not self.idle:
            self._stop("head")

    def pause_writing(self) -> None:
        """Start a timer: the client reads too slowly."""
        super().pause_writing()
        self._start("write")

    def resume_writing(self) -> None:
        """Stop the timer: the client has read the data."""
        super().resume_writing()
        self._stop("write")

    def send_400_response(self, msg: str) -> None:
        """Answer with 400, or 431 for too long a head; only close where an answer has begun."""
        self.guard.on_refusal("request")
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        with contextlib.suppress(h11.LocalProtocolError):
            headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
            head = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
            for event in (head, h11.Data(data=STATUS_PHRASES[status]), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _start(self, timer: str) -> None:
        self._stop(timer)
        self._timers[timer] = self.loop.call_later(self.guard.seconds, self._give_up, timer)

    def _stop(self, timer: str) -> None:
        if timer in self._timers:
            self._timers.pop(timer).cancel()

    def _give_up(self, timer: str) -> None:
        if timer == "write" or self.idle:
            self.guard.on_refusal("stalled")
            self.transport.abort()


def _notice_the_dead(connection: socket.socket | None, seconds: float) -> None:
    """Let the system find out that the other end is gone without a word."""
    if connection is None or connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 2000))


def _allow_files(wanted: int) -> int:
    """Let this process have `wanted` files open, as far as the system allows; how many it then may have."""
    if sys.platform == "win32":
        return wanted
    import resource  # noqa: PLC0415 - not there on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return min(wanted, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
