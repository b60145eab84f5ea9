"""Limits for each caller: the length of a body, requests a second, open streams; and the refusal."""

import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Literal

import anyio
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_browser.server.principals import SettingsOf, caller_key, principal_of
from mcp_browser.settings import AccessSettings

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
