"""How long Playwright's own objects of requests are kept."""

import time
from collections import deque
from typing import Any, cast
from weakref import WeakSet

from playwright.async_api import Request

RETAINED = 20  # Of how many ended requests of a tab the objects are kept, about 11 kB each
RETAINED_SECONDS = 10.0  # And of those that ended so recently
DISPOSAL = {"_parent", "_guid", "_connection", "_objects"}  # What Playwright needs to dispose of an object

in_use: WeakSet[Request] = WeakSet()  # Requests of which somebody asks the browser more


class EndedRequests:
    """The ended requests of a tab, oldest first. Playwright's client frees none before the 10,000th."""

    def __init__(self) -> None:
        self._ended: deque[tuple[float, Request]] = deque()

    def add(self, request: Request) -> None:
        """Take in a request that has ended, and free what Playwright's client holds of older ones."""
        now = time.monotonic()
        self._ended.append((now, request))
        while len(self._ended) > RETAINED and self._ended[0][0] < now - RETAINED_SECONDS:
            _, request = self._ended.popleft()
            if request in in_use:
                self._ended.append((now, request))
                continue
            oldest = cast("Any", request)._impl_obj
            for owner in (oldest, *oldest._objects.values()):
                parts = cast("dict[str, Any]", vars(owner))
                for name in parts.keys() - DISPOSAL:
                    del parts[name]
