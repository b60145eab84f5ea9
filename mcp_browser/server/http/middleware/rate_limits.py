"""How many requests a caller may make: a bucket of tokens for each, filled at a steady rate."""

import math
import time
from collections import OrderedDict

from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_browser.server.http.middleware.refusals import OnRefusal, refusal
from mcp_browser.server.principals import caller_key

MOST_BUCKETS = 10_000
BURST_SECONDS = 10  # How many seconds' worth of requests a caller who was quiet may make at once


class Buckets:
    """A bucket for each key. Those used longest ago are forgotten, which fills them again."""

    def __init__(self, *, rate: float, burst: float) -> None:
        """Full buckets of size `burst`, into which `rate` come each second."""
        self._rate = rate
        self._burst = burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one from a bucket; how many seconds to wait where there is none, else 0."""
        now = time.monotonic()
        level, at = self._levels.pop(key, (self._burst, now))
        level = min(self._burst, level + (now - at) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        self._levels[key] = (level if wait else level - 1, now)
        if len(self._levels) > MOST_BUCKETS:
            self._levels.popitem(last=False)
        return wait


class RateLimit:
    """ASGI middleware that refuses what a caller asks beyond their rate. The anonymous count by address."""

    def __init__(self, app: ASGIApp, *, rate: float, on_refusal: OnRefusal) -> None:
        self._app = app
        self._buckets = Buckets(rate=rate, burst=max(1.0, rate * BURST_SECONDS))
        self._on_refusal = on_refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 429 and when to try again."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wait = self._buckets.take(caller_key(scope))
        if wait == 0:
            await self._app(scope, receive, send)
            return
        self._on_refusal("rate")
        headers = {"Retry-After": str(math.ceil(wait))}
        await refusal(429, "Too many requests; try again later.", headers=headers)(scope, receive, send)
