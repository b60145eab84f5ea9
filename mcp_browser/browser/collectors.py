"""What a page complains of: console errors and uncaught exceptions, since they were last told."""

from collections import Counter
from urllib.parse import urlsplit

from playwright.async_api import ConsoleMessage, Page
from playwright.async_api import Error as PlaywrightError

LONGEST = 160
"""Longest message quoted, in characters."""

SHOWN = 3
"""How many different messages are quoted."""

KINDS = 100
"""How many different messages are kept apart."""

NOT_LOADED = "Failed to load resource: "
ANSWERED = "the server responded with a status of "


class ConsoleErrors:
    """Errors of one tab, counted."""

    def __init__(self, page: Page) -> None:
        """Listen to the page from now on."""
        self._page = page
        self._errors: Counter[str] = Counter()
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)

    def take(self) -> str | None:
        """A sentence about the errors since the last time, or None where there were none."""
        if not self._errors:
            return None
        total = self._errors.total()
        quoted = "; ".join(
            f'"{text}"' + (f" ({times} times)" if times > 1 else "")
            for text, times in self._errors.most_common(SHOWN)
        )
        more = ", …" if len(self._errors) > SHOWN else ""
        self._errors.clear()
        return f"Console: {total} error{'s' if total > 1 else ''}: {quoted}{more}"

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        text, where = message.text, message.location.get("url", "")
        if text.startswith(NOT_LOADED) and where:
            if where == self._page.url or urlsplit(where).path == "/favicon.ico":
                # The document's own status is told with the page; that a site has no icon matters to nobody.
                return
            text = f"{text.removeprefix(NOT_LOADED).removeprefix(ANSWERED)} for {where}"
        self._add(text)

    def _on_page_error(self, error: PlaywrightError) -> None:
        self._add(f"Uncaught {error.name}: {error.message}" if error.name else f"Uncaught {error.message}")

    def _add(self, text: str) -> None:
        text = " ".join(text.split())
        text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        if text in self._errors or len(self._errors) < KINDS:
            self._errors[text] += 1
