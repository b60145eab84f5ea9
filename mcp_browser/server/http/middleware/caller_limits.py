"""How many requests a caller may make, and how many may be open at a time."""

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.server.http.middleware.refusals import OnRefusal, refusal
from mcp_browser.server.principals import Principal, caller_key, principal_of

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


class RateLimit:
    """ASGI middleware that refuses what a caller asks beyond their rate. The anonymous count by address."""

    def __init__(self, app: ASGIApp, *, rate: Callable[[Principal], float], on_refusal: OnRefusal) -> None:
        """Refuse what is beyond `rate` requests a second, which is 0 for who may make any number."""
        self._app = app
        self._rate = rate
        self._buckets = Buckets()
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 429 and when to try again."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        rate = self._rate(principal_of(scope))
        burst = max(1.0, rate * BURST_SECONDS)
        wait = self._buckets.take(caller_key(scope), rate=rate, burst=burst) if rate else 0
        if wait == 0:
            await self._app(scope, receive, send)
            return
        self._on_refusal("rate")
        headers = {"Retry-After": str(math.ceil(wait))}
        await refusal(429, "Too many requests; try again later.", headers=headers)(scope, receive, send)


class OpenLimit:
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
