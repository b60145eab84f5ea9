"""What a page says in its console, and the errors that nothing in it has caught."""

import re
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from playwright.async_api import ConsoleMessage, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.redaction import Redactor
from mcp_browser.text import counted, quoted

LONGEST = 160  # Longest message quoted in a result, in characters
SHOWN = 3  # How many different messages are quoted in a result
KINDS = 100  # How many different messages are kept apart for a result
KEPT = 500  # How many messages of a tab are kept
LONGEST_KEPT = 4_000  # How much of a message is kept, in characters
FRAMES = 12  # How many frames of a stack are kept
NOT_LOADED = "Failed to load resource: "
ANSWERED = "the server responded with a status of "

Level = Literal["error", "warning", "info", "debug"]

LEVELS: tuple[Level, ...] = ("error", "warning", "info", "debug")  # From the gravest to the least

_LEVELS: dict[str, Level] = {
    "error": "error",
    "assert": "error",
    "warning": "warning",
    "debug": "debug",
}
_FRAME = re.compile(r"^\s*at (?:(?P<function>.*?) \()?(?P<url>[^\s()]+):(?P<line>\d+):(?P<column>\d+)\)?$")


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a script, line and column from 1; `function` is empty outside of one."""

    url: str
    line: int
    column: int
    function: str = ""


@dataclass(slots=True, eq=False)
class Entry:
    """A message, `times` times in a row; `stack` is an uncaught error's, `time` in seconds since 1970."""

    level: Level
    text: str
    place: Location | None
    stack: tuple[Location, ...] = ()
    times: int = 1
    time: float = 0.0


class Console:
    """The console of one tab. `dropped` is how many older messages are not kept any more."""

    def __init__(
        self,
        page: Page,
        *,
        tell: Literal["errors", "all", "none"] = "errors",
        redactor: Callable[[], Redactor] = Redactor,
    ) -> None:
        """Listen to the page from now on; `tell` is what `take` is to tell, `redactor` without what."""
        self._page = page
        self._tell = tell
        self._redactor = redactor
        self._news: Counter[tuple[Level, str]] = Counter()
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self.dropped = 0
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)

    def entries(self) -> list[Entry]:
        """The messages that are kept, oldest first."""
        return list(self._entries)

    def clear(self) -> int:
        """Forget all messages; how many there were."""
        count = len(self._entries)
        self._entries.clear()
        self._news.clear()
        self.dropped = 0
        return count

    def take(self) -> str | None:
        """A sentence about what is new since the last time, or None where nothing is."""
        if not self._news:
            return None
        redactor = self._redactor()
        total = self._news.total()
        said = "; ".join(
            ("" if self._tell == "errors" else f"{level} ")
            + quoted(redactor.text(text), LONGEST)
            + (f" ({times} times)" if times > 1 else "")
            for (level, text), times in self._news.most_common(SHOWN)
        )
        more = ", …" if len(self._news) > SHOWN else ""
        self._news.clear()
        what = "error" if self._tell == "errors" else "message"
        return f"Console: {counted(total, what)}: {said}{more}"

    def _on_console(self, message: ConsoleMessage) -> None:
        text, location = message.text, message.location
        where = location["url"]
        level = _LEVELS.get(message.type, "info")
        place = Location(where, location["lineNumber"] + 1, location["columnNumber"] + 1) if where else None
        if level == "error" and text.startswith(NOT_LOADED) and where:
            self._keep(level, text, place)
            if where == self._page.url or urlsplit(where).path == "/favicon.ico":
                # The document's own status is told with the page; that a site has no icon matters to nobody.
                return
            text = f"{text.removeprefix(NOT_LOADED).removeprefix(ANSWERED)} for {where}"
        else:
            self._keep(level, text, place)
        self._add(level, text)

    def _on_page_error(self, error: PlaywrightError) -> None:
        text = f"Uncaught {error.name}: {error.message}" if error.name else f"Uncaught {error.message}"
        stack = tuple(places(error.stack or ""))
        self._keep("error", text, stack[0] if stack else None, stack)
        self._add("error", text)

    def _keep(
        self, level: Level, text: str, place: Location | None, stack: tuple[Location, ...] = ()
    ) -> None:
        text = text[:LONGEST_KEPT]
        last = self._entries[-1] if self._entries else None
        if last is not None and (last.level, last.text, last.place) == (level, text, place):
            last.times += 1
            last.time = time.time()
            return
        self.dropped += len(self._entries) == KEPT
        self._entries.append(Entry(level, text, place, stack, time=time.time()))

    def _add(self, level: Level, text: str) -> None:
        if self._tell == "none" or (self._tell == "errors" and level != "error"):
            return
        key = level, " ".join(text[:LONGEST_KEPT].split())
        if key in self._news or len(self._news) < KINDS:
            self._news[key] += 1


def places(stack: str) -> list[Location]:
    """The positions in the text of an error's stack, innermost first; scripts without an address left out."""
    found = [match for line in stack.splitlines() if (match := _FRAME.match(line))]
    found = [match for match in found if not match["url"].startswith("<")]
    return [
        Location(match["url"], int(match["line"]), int(match["column"]), match["function"] or "")
        for match in found[:FRAMES]
    ]
