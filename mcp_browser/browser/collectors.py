"""A page's console messages and uncaught errors."""

import asyncio
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from playwright.async_api import ConsoleMessage, Page
from playwright.async_api import Error as PlaywrightError

from mcp_browser.hosts import address_in
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import counted, quoted

LONGEST = 160  # Longest message quoted in a result, in characters
LEAST_QUOTED = 20  # A message is not quoted shorter than this, in characters
ROOM = 200  # Length of the sentence about new messages in a result, in characters
SHOWN = 3  # How many different messages are quoted in a result
KINDS = 100  # How many different messages are distinguished for a result
KEPT = 500  # How many messages of a tab are kept
LONGEST_KEPT = 4_000  # How much of a message is kept, in characters
FRAMES = 12  # How many frames of a stack are kept
NOT_LOADED = "Failed to load resource: "
MOST_AT_ONCE = 1_000  # How many messages a tab may write at once, with all its frames and workers
VALUES = 4  # How many values count as one more message
A_SECOND = 200  # How many more each second
PAUSE = 1.0  # How long messages of a tab that has written more are dropped, seconds
LEFT_OUT = "Messages were left out: the page writes too many."
LEFT_OUT_BY_PAGE = re.compile(r"Further messages of this (page|worker) are left out: it writes too many\.")
BUSY_SECONDS = 10.0  # How much longer a page that has written too much may take to answer
STOPPED = "The page goes on writing too many messages: what its workers do now is stopped."
ANSWERED = "the server responded with a status of "
NOT_ALLOWED = re.compile(r"(?:Access to|Refused to|Loading|Connecting to)[^']*'(\w+://[^']+)'")

Level = Literal["error", "warning", "info", "debug"]

LEVELS: tuple[Level, ...] = ("error", "warning", "info", "debug")  # From the gravest to the least

_LEVELS: dict[str, Level] = {"error": "error", "assert": "error", "warning": "warning", "debug": "debug"}
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
    """The console of one tab. `dropped` counts older messages that are not kept any more."""

    def __init__(
        self,
        page: Page,
        *,
        report: Literal["errors", "all", "none"] = "errors",
        redactor: Callable[[], Redactor] = Redactor,
        flooded: Callable[[], None] = lambda: None,
    ) -> None:
        """Listen to the page; `report` is what `take` reports, `redactor` takes secrets out of that.

        `flooded` is called when the page keeps writing so much that it slows down all others.
        """
        self._page = page
        self._report = report
        self._redactor = redactor
        self.news: Counter[tuple[str, str]] = Counter()  # Messages, by level and text
        self.failed: Counter[tuple[str, str]] = Counter()  # Failed loads from other sites, by "host" and host
        self._reported: set[tuple[str, str]] = set()  # Both
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self.dropped = 0
        self._flooded = flooded
        self._flooded_at = float("-inf")
        self._stopped = self._listening = False
        self._left = float(MOST_AT_ONCE)
        self._paused_at = float("-inf")
        self._listen()

    @property
    def deadline(self) -> float:
        """How much longer the page may take to answer because it floods the console, seconds."""
        return BUSY_SECONDS if time.monotonic() - self._flooded_at < BUSY_SECONDS else 0.0

    def stop(self) -> None:
        """Stop listening: the session ends."""
        self._stopped = True
        self._unlisten()

    def _listen(self) -> None:
        if not self._stopped:
            self._listening = True
            self._counted_at = time.monotonic()
            self._page.on("console", self._on_console)
            self._page.on("pageerror", self._on_page_error)

    def _unlisten(self) -> None:
        if self._listening:
            self._listening = False
            self._page.remove_listener("console", self._on_console)
            self._page.remove_listener("pageerror", self._on_page_error)

    def _count(self, values: int = 0) -> bool:
        """Count a message of so many `values`; False if it and those of the next `PAUSE` are left out.

        The limits in the page do not reach a worker that loops from its start. While nobody listens, the
        driver drops messages; workers that still write after the pause are stopped.
        """
        now = time.monotonic()
        self._left = min(MOST_AT_ONCE, self._left + (now - self._counted_at) * A_SECOND)
        self._counted_at = now
        if self._left >= 1:
            self._left -= 1 + values // VALUES
            return True
        goes_on = now - self._paused_at < 2 * PAUSE
        self._paused_at = self._flooded_at = now
        self._unlisten()
        asyncio.get_running_loop().call_later(max(PAUSE, -self._left / A_SECOND), self._listen)
        self._keep("warning", STOPPED if goes_on else LEFT_OUT, None)
        self._add(self.news, "warning", STOPPED if goes_on else LEFT_OUT)
        if goes_on:
            self._flooded()
        return False

    def entries(self) -> list[Entry]:
        """The messages that are kept, oldest first."""
        return list(self._entries)

    def clear(self) -> int:
        """Forget all messages; return how many there were."""
        count, self.dropped = len(self._entries), 0
        for kept in (self._entries, self.news, self.failed, self._reported):
            kept.clear()
        return count

    def take(self, room: int = ROOM) -> str | None:
        """A sentence of at most `room` characters about `news` and `failed`; None if both are empty.

        Unless all messages are wanted, each is reported once. Failed loads from other sites are counted.
        """
        if not self.news and not self.failed:
            return None
        redactor = self._redactor()
        what = "error" if self._report == "errors" else "message"
        counts = [counted(self.news.total(), what)] if self.news else []
        if self.failed:
            counts.append(f"{counted(self.failed.total(), 'third-party load')} failed")
        note = f"Console: {', '.join(counts)}"
        left = len(self.news)
        for (level, text), times in self.news.most_common(SHOWN):
            begin = ": " if left == len(self.news) else "; "
            begin += "" if self._report == "errors" else f"{level} "
            end = f" ({times} times)" if times > 1 else ""
            space = room - len(note + begin + end + '"…", …')
            if space < LEAST_QUOTED:
                break
            said = redactor.text(text)
            quote = quoted(said, min(LONGEST, space))
            # Escaping may double its length.
            quote = quote if len(quote) <= space + len('"…"') else quoted(said, space // 2)
            note += begin + quote + end
            left -= 1
        if self._report != "all" and len(self._reported) < KEPT:
            self._reported |= {*self.news, *self.failed}
        self.news.clear()
        self.failed.clear()
        return f"{note}{', …' if left else ''}"

    def _on_console(self, message: ConsoleMessage) -> None:
        if not self._count(len(message.args)):
            return
        text, location = message.text, message.location
        if message.type == "warning" and LEFT_OUT_BY_PAGE.fullmatch(text):
            self._flooded_at = time.monotonic()
        where = location["url"]
        level = _LEVELS.get(message.type, "info")
        place = Location(where, location["lineNumber"] + 1, location["columnNumber"] + 1) if where else None
        self._keep(level, text, place)
        if level == "error" and text.startswith(NOT_LOADED) and where:
            if where == self._page.url or urlsplit(where).path == "/favicon.ico":
                return  # The page's status is reported with the page; a missing icon does not matter.
            text = f"{text.removeprefix(NOT_LOADED).removeprefix(ANSWERED)} for {where}"
            failed = where
        else:
            refused = NOT_ALLOWED.match(text) if level == "error" else None
            failed = refused[1] if refused else ""
        host = urlsplit(failed).hostname
        if not host or _site(host) == _site(urlsplit(self._page.url).hostname or ""):
            self._add(self.news, level, text)
        else:
            self._add(self.failed, "host", host)

    def _on_page_error(self, error: PlaywrightError) -> None:
        if not self._count():
            return
        text = f"Uncaught {error.name}: {error.message}" if error.name else f"Uncaught {error.message}"
        stack = tuple(places(error.stack or ""))
        self._keep("error", text, stack[0] if stack else None, stack)
        self._add(self.news, "error", text)

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

    def _add(self, kinds: Counter[tuple[str, str]], kind: Level | Literal["host"], text: str) -> None:
        if self._report == "none" or (self._report == "errors" and kind not in ("error", "host")):
            return
        key = kind, " ".join(text[:LONGEST_KEPT].split())
        if key not in self._reported and (key in kinds or len(kinds) < KINDS):
            kinds[key] += 1


def _site(host: str) -> str:
    """The part that the hosts of one site share, roughly: the last two labels."""
    return host if address_in(host) else ".".join(host.split(".")[-2:])


def places(stack: str) -> list[Location]:
    """The positions in the text of a stack, innermost first, without scripts that have no address."""
    found = [match for line in stack.splitlines() if (match := _FRAME.match(line))]
    return [
        Location(match["url"], int(match["line"]), int(match["column"]), match["function"] or "")
        for match in found
        if not match["url"].startswith("<")
    ][:FRAMES]
