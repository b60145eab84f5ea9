"""How many requests and streams one caller may have open at a time."""

from collections import Counter
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.server.http.middleware.refusals import OnRefusal, refusal
from mcp_browser.server.principals import Principal, caller_key, principal_of


class ClientLimit:
    """ASGI middleware that keeps room for others: an open stream is not idle, and makes none for them."""

    def __init__(self, app: ASGIApp, *, most: Callable[[Principal], int], on_refusal: OnRefusal) -> None:
        self._app = app
        self._most = most
        self._open: Counter[str] = Counter()
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 429."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        key = caller_key(scope)
        if self._open[key] >= self._most(principal_of(scope)):
            self._on_refusal("connections")
            message = "Too many requests and streams of one client are open; close one first."
            await refusal(429, message, headers={"Retry-After": "5"})(scope, receive, send)
            return
        self._open[key] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
