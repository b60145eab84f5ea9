"""How much a request may bring, and how long that may take."""

from collections import deque
from collections.abc import Callable

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_browser.server.http.middleware.refusals import OnRefusal, Reason, refusal

SLOWEST_BYTES_A_SECOND = 16 * 1024  # A slower body, after the first seconds, is not waited for
BODIES_AT_ONCE = 8  # How many bodies of the longest kind fit into the memory for all requests


class _Refused(Exception):
    def __init__(self, reason: Reason, status: int, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.status = status
        self.message = message


class BodyLimit:
    """ASGI middleware that reads a body within limits and hands it on whole."""

    def __init__(self, app: ASGIApp, *, longest: int, seconds: float, on_refusal: OnRefusal) -> None:
        """Hand on to `app` what has a body of at most `longest` bytes, the first of them within `seconds`."""
        self._app = app
        self._longest = longest
        self._seconds = seconds
        self._on_refusal = on_refusal
        self._room = longest * BODIES_AT_ONCE
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or refuse it with 408, 413 or 503."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if taken + size > self._longest:
                raise _Refused("body_size", 413, f"The body is longer than {self._longest} bytes.")
            if self._held + size > self._room:
                raise _Refused("room", 503, "Too many long requests at once; try again.")
            taken += size
            self._held += size

        try:
            body = await self._read(scope, receive, take)
        except _Refused as refused:
            self._held -= taken
            self._on_refusal(refused.reason)
            # What is on its way is still read and dropped: who is cut off while sending sees no answer.
            headers = {"body_time": {"Connection": "close"}, "room": {"Retry-After": "1"}}.get(refused.reason)
            await refusal(refused.status, refused.message, headers=headers)(scope, receive, send)
            return
        except BaseException:
            self._held -= taken
            raise

        messages: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

        async def replay() -> Message:
            return messages.popleft() if messages else await receive()

        try:
            # A client that has gone before its body was whole asks for nothing.
            if body is not None:
                await self._app(scope, replay, send)
        finally:
            self._held -= taken

    async def _read(self, scope: Scope, receive: Receive, take: Callable[[int], None]) -> bytes | None:
        """The body; None where the client has gone before it was whole."""
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdecimal() or int(declared) > self._longest:
            raise _Refused("body_size", 413, f"The body is longer than {self._longest} bytes.")
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


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
