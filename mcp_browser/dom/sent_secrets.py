"""What secret fields held when a form wrote it into an address."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable

from playwright.async_api import CDPSession, Page, Request
from playwright.async_api import Error as PlaywrightError

from mcp_browser.dom.cdp import evaluate

MOST_KEPT = 20  # A page may make as many forms as it likes
MOST_PAIRS = 100

Notify = Callable[[str], None]


class SentSecrets:
    """Reports each name with its value that a page's forms have written into an address, as they stand there.

    The page script says what forms gather; a page that has no secret field is not asked.
    """

    def __init__(self, page: Page, notify: Notify) -> None:
        self._notify = notify
        self._notified: set[str] = set()
        self._pairs: deque[str] = deque(maxlen=MOST_KEPT)
        self._addresses: deque[str] = deque(maxlen=MOST_KEPT)
        self._hearing: set[asyncio.Task[None]] = set()
        page.on("request", self._on_request)

    def hear(self, cdp: CDPSession, context: int, call: str) -> None:
        """Wait, beside all else, for what forms gather in a document; `call` asks its page script for it."""
        task = asyncio.create_task(self._hear(cdp, context, call))
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)

    async def _hear(self, cdp: CDPSession, context: int, call: str) -> None:
        # The document goes, or its page script is none.
        with contextlib.suppress(PlaywrightError, KeyError):
            for _ in range(MOST_PAIRS):
                answer = await evaluate(cdp, context, call)
                self._pairs.extend(json.loads(answer["result"]["value"])["pairs"])
                self._compare()

    def _on_request(self, request: Request) -> None:
        if "=" in request.url and request.is_navigation_request():
            self._addresses.append(request.url)
            self._compare()

    def _compare(self) -> None:
        for pair in set(self._pairs) - self._notified:
            if len(self._notified) < MOST_PAIRS and any(pair in address for address in self._addresses):
                self._notified.add(pair)
                self._notify(pair)
