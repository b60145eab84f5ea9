"""Which of a proxy's headers count."""

from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_FORWARDED = (
    b"x-forwarded-for",
    b"x-forwarded-proto",
    b"x-forwarded-host",
    b"x-forwarded-port",
    b"forwarded",
)


class ProxyHeaders:
    """ASGI middleware: `client` and `scheme` as a trusted proxy tells them; headers of others are dropped."""

    def __init__(self, app: ASGIApp, *, trusted: tuple[str, ...]) -> None:
        self._app = app
        self._believing = ProxyHeadersMiddleware(cast("Any", app), trusted_hosts=list(trusted))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as it came to the outermost proxy."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else None
        if address in self._believing.trusted_hosts:
            await self._believing(cast("Any", scope), cast("Any", receive), cast("Any", send))
            return
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _FORWARDED]
        await self._app(scope, receive, send)
