"""Which requests of a tab are not waited for: polled, streamed, repeated or unanswered ones."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mcp_browser.dom.models import AnswerReading

POLLS = 3  # An address that the page has requested this often outside of actions is polled
POLLS_MEANWHILE = 5  # The same for all its requests, if at least one was outside of actions
REPEATS = 2  # A request is repeated once so many equal ones have been answered
AT_ONCE = 0.2  # A long poll is sent again within so many seconds of its answer
LONG_POLL_SECONDS = 2.0  # How long its answers must have taken in all
STREAM_SECONDS = 0.25  # After so long since its headers, the page is asked how it reads an answer
UNREAD_SECONDS = 1.0  # How long after its headers an answer without a known reader is waited for
MOST_REMEMBERED = 200  # Addresses that are remembered from one page to the next
LONGEST_PATH = 60
STAMP = re.compile(r"\d{6,}")

STREAMS = frozenset(
    {"application/json-seq", "application/stream+json", "multipart/x-mixed-replace", "text/event-stream"}
)
"""Media types of endless answers."""


@dataclass(slots=True, eq=False)
class InFlight:
    """A request that has not ended; `number` grows with its start."""

    number: int
    method: str
    url: str
    kind: str
    of_page: bool
    body: str | None = None
    since: float = field(default_factory=time.monotonic)
    answered: float | None = None  # When its headers came
    sized: bool = False  # Whether they have the answer's length
    streams: bool = False  # Whether they announce a stream
    is_repeated: bool = False  # Whether equal requests have been answered
    hangs: bool = False  # Whether such a request was not answered before

    @property
    def address(self) -> str:
        """Method and URL without query."""
        return f"{self.method} {self.location}"

    @property
    def location(self) -> str:
        """Its URL without query and fragment."""
        return self.url.partition("#")[0].partition("?")[0]

    @property
    def question(self) -> tuple[str, str, str | None]:
        """Method, URL and body, without time stamps in the URL."""
        return self.method, STAMP.sub("", self.url), self.body

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        path = parts.path or "/"
        return f"{self.method} {path if len(path) <= LONGEST_PATH else path[:28] + '…' + path[-28:]}"


Question = tuple[str, str, str | None]


class EndlessRequests:
    """Learns from a tab's requests which ones need not be waited for."""

    def __init__(self) -> None:
        self._count_anew()
        self._learned_at = 0.0
        # Kept from one page to the next, oldest first:
        self._polled: dict[str, None] = {}
        self._hanging: dict[str, None] = {}
        self._long_polled: dict[str, None] = {}

    def _count_anew(self) -> None:
        self._asked_alone: Counter[str] = Counter()
        self._asked_watched: Counter[str] = Counter()
        self._answers: Counter[Question] = Counter()
        self._ended_at: dict[Question, tuple[float, float]] = {}
        self._long_polls: Counter[Question] = Counter()
        self._readings: dict[str, AnswerReading] = {}

    def begin_document(self) -> None:
        """Another page: count anew."""
        for address in self._asked_alone:
            if self._is_polled(address):
                _remember(self._polled, address)
        self._count_anew()

    def begun(self, request: InFlight, *, watched: bool, is_load: bool) -> None:
        """A script has sent a request: during an action (`watched`), while its new page loads (`is_load`)."""
        question, address = request.question, request.address
        ended, lasted = self._ended_at.get(question, (0.0, 0.0))
        if request.since - ended < AT_ONCE:
            self._long_polls[question] += round(lasted * 1000)
            if self._long_polls[question] >= LONG_POLL_SECONDS * 1000:
                _remember(self._long_polled, address)
        request.hangs = address in self._long_polled or (is_load and address in self._hanging)
        asked = self._asked_alone[address] + self._asked_watched[address]
        request.is_repeated = self._answers[question] >= REPEATS or (asked > 0 and address in self._polled)
        (self._asked_watched if watched else self._asked_alone)[address] += 1

    def answered(self, request: InFlight, headers: Mapping[str, str]) -> None:
        """The headers of an answer have arrived."""
        request.answered = time.monotonic()
        request.sized = "content-length" in headers
        request.streams = headers.get("content-type", "").partition(";")[0].strip().lower() in STREAMS

    def ended(self, request: InFlight) -> None:
        """A request has ended."""
        now = time.monotonic()
        self._answers[request.question] += 1
        self._ended_at[request.question] = now, now - request.since
        self._hanging.pop(request.address, None)

    def given_up(self, requests: Iterable[InFlight]) -> None:
        """These did not end in time: until they are answered, no page load waits for them again."""
        for request in requests:
            if request.answered is None:
                request.hangs = True
                _remember(self._hanging, request.address)

    def learn(self, readings: Mapping[str, AnswerReading]) -> None:
        """Take in how the page reads the answers of URLs without queries."""
        self._readings |= readings
        self._learned_at = time.monotonic()

    def is_doubtful(self, request: InFlight) -> bool:
        """Whether the page has to be asked how it reads the answer."""
        if request.kind == "script":
            return request.answered is None and time.monotonic() - request.since > STREAM_SECONDS
        answered = request.answered
        if request.kind in ("fetch", "xhr") and self._learned_at < request.since:
            return True
        return answered is not None and not request.sized and time.monotonic() - answered > STREAM_SECONDS

    def is_endless(self, request: InFlight) -> bool:
        """Whether the end of a request need not be waited for."""
        if request.streams or request.is_repeated or self._is_polled(request.address):
            return True
        reading = self._readings.get(request.location)
        if reading == "unread" and request.kind in ("fetch", "xhr"):
            return True
        if request.answered is None or request.kind == "script":
            return request.hangs or reading == "elsewhere"
        if request.sized or request.kind == "document":
            return False
        if reading is None:
            return self._learned_at - request.answered > UNREAD_SECONDS
        return reading == "pieces" and time.monotonic() - request.answered > STREAM_SECONDS

    def _is_polled(self, address: str) -> bool:
        alone = self._asked_alone[address]
        return alone >= POLLS or (alone > 0 and alone + self._asked_watched[address] >= POLLS_MEANWHILE)


def _remember(addresses: dict[str, None], address: str) -> None:
    addresses.pop(address, None)
    addresses[address] = None
    if len(addresses) > MOST_REMEMBERED:
        del addresses[next(iter(addresses))]
