"""Limits how many of Playwright's request objects are kept."""

import time
from collections import deque
from typing import Any, cast
from weakref import WeakSet

from playwright.async_api import Request

RETAINED = 20  # How many ended requests of a tab are kept, about 11 kB each
RETAINED_SECONDS = 10.0  # How long recent ones are kept in any case
DISPOSAL = {"_parent", "_guid", "_connection", "_objects"}  # What Playwright needs to dispose of an object

in_use: WeakSet[Request] = WeakSet()  # Requests whose details may still be read


class EndedRequests:
    """The ended requests of a tab, oldest first; Playwright's client keeps up to 10,000."""

    def __init__(self) -> None:
        self._ended: deque[tuple[float, Request]] = deque()

    def add(self, request: Request) -> None:
        """Add a request that has ended, and free the memory of older ones."""
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
