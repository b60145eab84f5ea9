"""Limits: of connections, which uvicorn does not limit; for each caller of bodies, requests and streams."""

import asyncio
import contextlib
import logging
import math
import socket
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

import anyio
import h11
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle

from mcp_browser.server.principals import SettingsOf, caller_key, principal_of
from mcp_browser.settings import AccessSettings

logger = logging.getLogger(__name__)

MIB = 1024 * 1024
SLOWEST_BYTES_A_SECOND = 16 * 1024  # A slower body, after the first seconds, is not waited for
BODIES_AT_ONCE = 8  # How many bodies of the longest kind fit into the memory for all requests

Reason = Literal[
    "request",
    "host",
    "origin",
    "token_in_url",
    "unauthenticated",
    "issuer_unreachable",
    "insufficient_scope",
    "rate",
    "body_size",
    "body_time",
    "room",
    "connections",
    "stalled",
]
"""Why a request was refused or a connection closed."""

OnRefusal = Callable[[Reason], None]  # Called for each request that is refused
JSONRPC_REFUSED = -32000


def refusal(
    status: int, message: str, *, headers: Mapping[str, str] | None = None, error: str | None = None
) -> Response:
    """An answer that gives the reason, in JSON that both OAuth and JSON-RPC clients can read.

    `message` says how to go on, and repeats nothing of the request; `error` is the OAuth error code.
    """
    body: dict[str, object] = {"error": error, "error_description": message}
    if error is None:
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": JSONRPC_REFUSED, "message": message}}
    return JSONResponse(body, status_code=status, headers={"Cache-Control": "no-store", **(headers or {})})


class _Refused(Exception):
    """A body is not taken; the arguments are the reason, the status and the message."""


class BodyLimit:
    """ASGI middleware that reads a body within limits and passes it on whole."""

    def __init__(self, app: ASGIApp, *, settings: AccessSettings, on_refusal: OnRefusal) -> None:
        self._app = app
        self._longest = settings.max_body * MIB
        self._too_long = f"The body is longer than {settings.max_body} MiB (--max-body)."
        self._seconds = settings.client_timeout  # For the first byte to come
        self._on_refusal = on_refusal
        self._room = self._longest * BODIES_AT_ONCE
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or refuse it with 408, 413 or 503."""
        headers = Headers(raw=scope.get("headers", []))
        has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        if scope["type"] != "http" or not has_body:
            await self._app(scope, receive, send)
            return
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if taken + size > self._longest:
                raise _Refused("body_size", 413, self._too_long)
            if self._held + size > self._room:
                raise _Refused("room", 503, "Too many long requests at once; try again.")
            taken += size
            self._held += size

        try:
            body = await self._read(headers.get("content-length", "0"), receive, take)
            # A client that has gone before its body was whole asks for nothing.
            if body is not None:
                messages: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

                async def replay() -> Message:
                    return messages.popleft() if messages else await receive()

                await self._app(scope, replay, send)
        except _Refused as refused:
            # Others may have the room while the answer is sent.
            self._held, taken = self._held - taken, 0
            reason, status, message = refused.args
            self._on_refusal(reason)
            # The rest of the body is read and dropped: a client that is cut off while sending sees no answer.
            headers = {"body_time": {"Connection": "close"}, "room": {"Retry-After": "1"}}.get(reason)
            await refusal(status, message, headers=headers)(scope, receive, send)
        finally:
            self._held -= taken

    async def _read(self, declared: str, receive: Receive, take: Callable[[int], None]) -> bytes | None:
        """The body; None where the client has gone before it was whole."""
        if not declared.isdecimal() or int(declared) > self._longest:
            raise _Refused("body_size", 413, self._too_long)
        body = bytearray()
        with anyio.move_on_after(self._seconds) as timer:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part: bytes = message.get("body", b"")
                take(len(part))
                body += part
                if not message.get("more_body", False):
                    return bytes(body)
                timer.deadline += len(part) / SLOWEST_BYTES_A_SECOND
        raise _Refused("body_time", 408, "The body did not come in time.")


MOST_BUCKETS = 10_000
BURST_SECONDS = 10  # How many seconds' worth of requests a caller who was quiet may make at once


class Buckets:
    """A bucket of tokens for each key. Those used longest ago are forgotten, which fills them again."""

    def __init__(self) -> None:
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, *, rate: float, burst: float) -> float:
        """Take one from a bucket; how many seconds to wait where there is none, else 0.

        A bucket is full at first, and holds `burst`; `rate` come into it each second.
        """
        now = time.monotonic()
        level, at = self._levels.pop(key, (burst, now))
        level = min(burst, level + (now - at) * rate)
        wait = 0.0 if level >= 1 else (1 - level) / rate
        self._levels[key] = (level if wait else level - 1, now)
        if len(self._levels) > MOST_BUCKETS:
            self._levels.popitem(last=False)
        return wait


def caller_limits(app: ASGIApp, settings_of: SettingsOf, on_refusal: OnRefusal) -> ASGIApp:
    """ASGI middleware that limits the rate of each caller, and what it has open at a time.

    It refuses with 429 and when to try again. An open stream is not idle, and makes no room for others.
    Anonymous callers count by address.
    """
    buckets, at_work = Buckets(), Counter[str]()

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        key, limits = caller_key(scope), settings_of(principal_of(scope)).access
        most = limits.max_connections_per_client or max(1, limits.max_connections // 2)
        reason: Reason = "rate"
        wait, message = 0.0, "Too many requests; try again later."
        if at_work[key] >= most:
            reason, wait = "connections", 5.0
            message = "Too many requests and streams of one client are open; close one first."
        elif rate := limits.rate_limit:
            wait = buckets.take(key, rate=rate, burst=max(1.0, rate * BURST_SECONDS))
        if wait:
            on_refusal(reason)
            await refusal(429, message, headers={"Retry-After": str(math.ceil(wait))})(scope, receive, send)
            return
        at_work[key] += 1
        try:
            await app(scope, receive, send)
        finally:
            at_work[key] -= 1
            if not at_work[key]:
                del at_work[key]

    return serve


# -- connections

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
