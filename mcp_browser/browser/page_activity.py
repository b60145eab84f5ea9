"""Requests and navigations of a tab, by the browser's events: even while a script blocks the page.

Polled, streamed, repeated and unanswered requests are not waited for.
"""

import asyncio
import hashlib
import itertools
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit
from weakref import WeakSet

from playwright.async_api import CDPSession, Frame, Page, Request, Response, WebSocket
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.concurrency import Condition
from mcp_browser.dom.models import AnswerReading

AWAITED = frozenset({"document", "fetch", "script", "xhr"})
"""Kinds of requests whose end is waited for, unlike pictures, media, pings and sockets."""

REQUEST_GRACE = 0.5  # How long the request of a navigation may take to begin, seconds
RUN_SECONDS = 0.05  # How long a loaded script takes to start, seconds; there is no event for it
SOON = 1.0  # A `<meta http-equiv=refresh>` within so many seconds is waited for
FRAME_EVENTS = (
    *("RequestedNavigation", "StartedNavigating", "StoppedLoading"),
    *("ScheduledNavigation", "ClearedScheduledNavigation"),
)
NAVIGATED = ("http", "https", "file", "blob", "data", "about")  # Schemes of addresses that open a page
NO_CONTENT = (204, 205)  # HTTP statuses of answers that leave the current page open

RETAINED = 20  # How many ended requests of a tab are kept, about 11 kB each
RETAINED_SECONDS = 10.0  # How long recent ones are kept in any case
DISPOSAL = {"_parent", "_guid", "_connection", "_objects"}  # What Playwright needs to dispose of an object

requests_in_use: WeakSet[Request] = WeakSet()  # Requests whose details may still be read

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


class Activity:
    """Requests and navigations of one tab."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._numbers = itertools.count(1)
        self._in_flight: dict[Request, InFlight] = {}
        self.endless = EndlessRequests()
        self._changes = Condition()
        self.change = self._changes.wait
        """Waits until something begins or ends, `limit` seconds at most."""
        self._requested_at = 0.0
        self._requested_number = 0
        self._starting = False
        self._scheduled_until = 0.0
        self._answered: Response | None = None
        # HTTP status of the last answer to a request for a new document, even if it opened no page.
        self.answered_status: int | None = None
        self._address = page.url.partition("#")[0]
        self.came = 0  # Number of the last script or answer that has arrived
        self.changed_at = 0.0  # When something last began or ended
        self.watched = False  # Whether an action is under way
        self._watched_from = 0
        self.windows_opening = 0  # How many windows that the page has requested are not open yet
        self.document_number = 0  # Grows with each new document in the tab
        self.frames_number = 0  # Grows with each new document in a frame of the page
        self.loading = False  # Whether the document has begun but its DOM is not complete
        self.status: int | None = None  # HTTP status of the document; None if it did not come over HTTP
        self._sockets: set[WebSocket] = set()
        self._ended: deque[tuple[float, Request]] = deque()  # Oldest first
        page.on("websocket", self._on_socket)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_end)
        page.on("requestfailed", self._on_failed)
        page.on("response", self._on_response)
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_dom_content)

    @property
    def has_socket(self) -> bool:
        """Whether a web socket is open."""
        return any(not socket.is_closed() for socket in self._sockets)

    def watch(self) -> int:
        """An action begins: return a mark, a number before those of all that begins from now on."""
        self.watched = True
        self._watched_from = self.document_number
        return next(self._numbers)

    def in_flight(self, since: int) -> list[InFlight]:
        """The requests to wait for that began after the mark `since`, oldest first."""
        return [
            request
            for request in self._in_flight.values()
            if request.number > since and request.kind in AWAITED and not self.endless.is_endless(request)
        ]

    def _on_socket(self, socket: WebSocket) -> None:
        self._sockets = {known for known in self._sockets if not known.is_closed()} | {socket}

    def navigating(self, since: int) -> bool:
        """Whether a navigation that began after the mark is under way."""
        if any(request.of_page and request.number > since for request in self._in_flight.values()):
            return True
        if self._requested_number > since and self._requested():
            return True
        return time.monotonic() < self._scheduled_until

    def _requested(self) -> bool:
        return self._starting or time.monotonic() - self._requested_at < REQUEST_GRACE

    def navigating_for(self) -> float | None:
        """For how many seconds a navigation has been under way; None if none is."""
        if not (self._in_flight or self._requested_at or self._starting):
            return None
        now = time.monotonic()
        since = [request.since for request in self._in_flight.values() if request.of_page]
        if self._requested():
            since.append(self._requested_at)
        return now - min(since) if since else None

    def begun_since(self, since: int) -> bool:
        """Whether anything to wait for that began after the mark is under way."""
        if self.loading or self.windows_opening:
            return True
        if not (self._in_flight or self._requested_at or self._starting or self._scheduled_until):
            return False
        return self.navigating(since) or bool(self.in_flight(since))

    def only_answers(self, since: int) -> bool:
        """Whether an action has opened a document, and all that is left are unanswered fetches."""
        going_on = self.in_flight(since)
        return (
            self.watched
            and self.document_number > self._watched_from
            and not (self.loading or self.windows_opening or self.navigating(since))
            and all(request.kind in ("fetch", "xhr") and request.answered is None for request in going_on)
        )

    def wake(self) -> None:
        """Wake the waiters: something has changed."""
        self.changed_at = time.monotonic()
        self._changes.wake()

    def follow(self, cdp: CDPSession, main_frame: Callable[[], str | None]) -> None:
        """Follow CDP's events, too; `main_frame` returns the id of the tab's main frame."""

        def on(name: str) -> None:
            def received(event: dict[str, Any]) -> None:
                if event.get("frameId") == main_frame():
                    self._on_frame_event(name, event)

            cdp.on(f"Page.frame{name}", received)

        for name in FRAME_EVENTS:
            on(name)
        cdp.on("Page.windowOpen", self._on_window_opening)

    def _on_frame_event(self, name: str, event: Mapping[str, Any]) -> None:
        match name:
            case "RequestedNavigation":  # A navigation will begin: this precedes its request.
                scheme = urlsplit(str(event.get("url", ""))).scheme
                if event.get("disposition") != "currentTab" or scheme not in NAVIGATED:
                    return
                self._requested_at = time.monotonic()
                self._requested_number = next(self._numbers)
            case "StartedNavigating":  # The request follows when all frames agree.
                if self._requested_at:
                    self._starting = "sameDocument" not in str(event.get("navigationType"))
                return
            case "StoppedLoading":  # A requested navigation was cancelled.
                if not self._starting:
                    return
                self._forget_request()
            case "ScheduledNavigation":  # A form submission, or a refresh; a page that reloads itself polls.
                delay = float(event.get("delay", 0))
                polls = "Refresh" in str(event.get("reason")) and event.get("url") == self._page.url
                if delay > SOON or polls:
                    return
                self._scheduled_until = time.monotonic() + delay + REQUEST_GRACE
            case _:  # A scheduled one has begun, or was cancelled.
                self._scheduled_until = 0.0
        self.wake()

    def _forget_request(self) -> None:
        self._requested_at = 0.0
        self._starting = False

    def _on_window_opening(self, _event: object) -> None:
        """The page is opening a window; its tab follows a moment later."""
        self.windows_opening += 1
        self.wake()

    def window_opened(self) -> None:
        """A window that the page has requested is open, or was a download."""
        self.windows_opening = max(0, self.windows_opening - 1)
        self.wake()

    def forget_navigation(self) -> None:
        """A navigation has opened no page: it was a download, or was stopped."""
        self._forget_request()
        self._scheduled_until = 0.0
        for request in [request for request, known in self._in_flight.items() if known.of_page]:
            del self._in_flight[request]
        self.wake()

    def _on_request(self, request: Request) -> None:
        kind = request.resource_type
        of_page = kind == "document" and self._is_of_page(request)
        if of_page:
            # Of the requests of a redirect only the last one counts.
            before = request.redirected_from
            while before is not None:
                self._in_flight.pop(before, None)
                before = before.redirected_from
            self._forget_request()
            self.answered_status = None
        asked = InFlight(
            number=next(self._numbers), method=request.method, url=request.url, kind=kind, of_page=of_page
        )
        self._in_flight[request] = asked
        if kind in ("fetch", "xhr"):
            body = request.post_data_buffer
            asked.body = hashlib.sha1(body, usedforsecurity=False).hexdigest() if body else None
            is_load = self.watched and self.document_number > self._watched_from
            self.endless.begun(asked, watched=self.watched, is_load=is_load)
        self.wake()

    def _on_end(self, request: Request) -> None:
        self._retain(request)
        known = self._in_flight.get(request)
        if known is not None and known.kind == "script" and not self.loading:
            asyncio.get_running_loop().call_later(RUN_SECONDS, self._end, request)
        else:
            self._end(request)

    def _retain(self, request: Request) -> None:
        """Free the memory of older requests: Playwright's client keeps up to 10,000."""
        now = time.monotonic()
        self._ended.append((now, request))
        while len(self._ended) > RETAINED and self._ended[0][0] < now - RETAINED_SECONDS:
            _, request = self._ended.popleft()
            if request in requests_in_use:
                self._ended.append((now, request))
                continue
            oldest = cast("Any", request)._impl_obj
            for owner in (oldest, *oldest._objects.values()):
                parts = cast("dict[str, Any]", vars(owner))
                for name in parts.keys() - DISPOSAL:
                    del parts[name]

    def _end(self, request: Request) -> None:
        known = self._in_flight.pop(request, None)
        if known is not None:
            self.endless.ended(known)
            if known.kind in ("fetch", "script", "xhr"):
                self.came = next(self._numbers)
        self.wake()

    def _on_failed(self, request: Request) -> None:
        known = self._in_flight.get(request)
        if known is not None and known.of_page:
            answered, self._answered = self._answered, None
            if answered is not None and answered.request == request and answered.status not in NO_CONTENT:
                # An answer that opens no page is a file; the event of the download follows.
                self._requested_at = time.monotonic()
                self._requested_number = known.number
        if known is not None and known.answered is None:
            # It was not answered: the page was left, or the server is unreachable.
            del self._in_flight[request]
            self._retain(request)
            self.wake()
        else:
            self._on_end(request)

    def _on_response(self, response: Response) -> None:
        if response.request.resource_type == "document" and self._is_of_page(response.request):
            self._answered = response
            self.answered_status = response.status
        known = self._in_flight.get(response.request)
        if known is not None:
            self.endless.answered(known, response.headers)
            if known.streams:
                self.wake()

    def _on_navigated(self, frame: Frame) -> None:
        if frame.parent_frame is not None:
            self.frames_number += 1
            return
        answered, self._answered = self._answered, None
        address = frame.url.partition("#")[0]
        if answered is not None and answered.url.partition("#")[0] == address:
            self.status = answered.status
            # It is the page now, although it may not be complete.
            self._in_flight.pop(answered.request, None)
            self._begin_document()
        elif not address.startswith(("http:", "https:")) and address != self._address:
            self.status = None
            self._begin_document()
        # Otherwise the same document has only changed its address.
        self._address = address
        self._forget_request()
        self.wake()

    def _begin_document(self) -> None:
        self.document_number += 1
        self.loading = True
        self.endless.begin_document()
        # Requests of the previous document are dropped; not all of them are reported as failed.
        for request in [request for request, known in self._in_flight.items() if not known.of_page]:
            del self._in_flight[request]

    def _on_dom_content(self, _page: Page) -> None:
        self.loading = False
        self.wake()

    def _is_of_page(self, request: Request) -> bool:
        try:
            return request.is_navigation_request() and request.frame == self._page.main_frame
        except PlaywrightError:
            return True  # The frame is not known yet: only that of a new page.
