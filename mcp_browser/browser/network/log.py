"""The network log: every request of a session's tabs, frames and workers; routes that mock or block some.

The log keeps the newest requests and, within a limit, their bodies. Bodies of a page's own data (documents,
fetches) are read as they arrive, since Chromium drops them with the page; others are read on demand. While
there are routes, Playwright intercepts every request.
"""

import asyncio
import contextlib
import itertools
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from playwright.async_api import BrowserContext, Page, Request, Response, Route, WebSocket
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import may_show
from mcp_browser.browser.concurrency import Condition
from mcp_browser.browser.network.exchange import FRAMES, Exchange, SocketMessage, as_text, header
from mcp_browser.browser.page_activity import requests_in_use
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import counted

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession

KEPT = 1_000  # How many requests are kept
ASKABLE = 200  # For how many of them the browser is still asked
BODY_BYTES = 1_000_000  # Largest body that is read as it arrives, bytes
BODIES_BYTES = 24_000_000  # Largest size of all bodies that are kept, bytes
LONGEST_URL = 8_000
FRAME_LENGTH = 2_000
DETAIL_SECONDS = 3.0  # How long the browser may take to return a request's details, seconds
CATCHING_UP_SECONDS = 1.0  # How long to wait for details that are being read, seconds
BODY_SECONDS = 20.0  # How long the browser may take to return a long body, seconds
MOST_ROUTES = 50
LONGEST_PATTERN = 500  # Characters
LONGEST_MATCHED = 20_000  # How much of an address a route looks at, characters
DATA = frozenset(("document", "xhr", "fetch", "ping", "eventsource", "other"))  # Kinds read as they arrive


class NetworkLog(SessionPlugin):
    """The requests of a session, oldest first. `dropped` counts older ones that are not kept any more."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._ids = itertools.count(1)
        self._kept: dict[int, Exchange] = {}
        self._by_request: WeakKeyDictionary[Request, Exchange] = WeakKeyDictionary()
        self._weight = 0
        self.changed = Condition()  # Wakes at each event
        self._tasks: set[asyncio.Task[None]] = set()
        self.dropped = 0
        self.since: float | None = None  # When recording began if pages were open before, seconds since 1970

    # -- for actions

    def exchanges(self) -> list[Exchange]:
        """The requests that are kept, oldest first."""
        return list(self._kept.values())

    def exchange(self, number: int) -> Exchange:
        """The request of that number. Raises NotFound: there is none, or it is not kept any more."""
        if number in self._kept:
            return self._kept[number]
        hint = "List them with get_network_requests."
        if 0 < number <= self.dropped:
            raise NotFound(f"Request {number} is not kept any more: only the last {KEPT} are.", hint=hint)
        raise NotFound(f"There is no request {number}.", hint=hint)

    async def complete(self, exchange: Exchange) -> None:
        """Read what the browser still has of a request: headers, sizes, a short body."""
        if exchange.gathering is not None:
            await asyncio.wait({exchange.gathering}, timeout=DETAIL_SECONDS)
        elif exchange.request is not None:
            await self._gather(exchange)

    async def caught_up(self) -> None:
        """Wait a moment for the details of requests that have just ended."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CATCHING_UP_SECONDS)

    async def body(self, exchange: Exchange) -> bytes | None:
        """The whole body of a response, of any length; None if there is none, or it is gone."""
        if exchange.response_body is not None or exchange.response is None or not _has_body(exchange):
            return exchange.response_body
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(BODY_SECONDS):
                return await exchange.response.body()
        return None

    def mark(self, request: Request, source: str) -> None:
        """Note where the answer to a request will come from."""
        if (exchange := self._by_request.get(request)) is not None:
            exchange.source = source

    def secrets(self) -> frozenset[str]:
        """The secrets that exchanges contain under their names; other requests may repeat them elsewhere."""
        found: set[str] = set()
        for exchange in self._kept.values():
            if exchange.secrets is None:
                redactor = Redactor()
                redactor.url(exchange.url)
                redactor.headers(exchange.request_headers)
                redactor.headers(exchange.response_headers)
                kind = header(exchange.request_headers, "content-type")
                redactor.body(as_text(exchange.request_body, kind) or "", kind)
                if not exchange.done or exchange.gathering is not None:
                    found |= redactor.known
                    continue
                exchange.secrets = redactor.known
            found |= exchange.secrets
        return frozenset(found)

    # -- as a plugin

    async def opened(self, context: BrowserContext) -> None:
        """Listen to all pages and workers of a context."""
        self._by_request.clear()
        if self.since is None and not self._kept and any(page.url != "about:blank" for page in context.pages):
            self.since = time.time()
        context.on("request", self._on_request)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_end)
        context.on("requestfailed", lambda request: self._on_end(request, failed=True))
        context.on("page", self._on_page)
        for page in context.pages:
            self._on_page(page)

    async def closed(self) -> None:
        """Cancel what is being read."""
        for task in self._tasks:
            task.cancel()
        self._by_request.clear()

    # -- events

    def _on_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._on_socket(page, socket))

    def _on_request(self, request: Request) -> None:
        if request.url.startswith(("data:", "blob:")):
            return  # They never reach the network, and may be very long.
        before = self._by_request.get(request.redirected_from) if request.redirected_from else None
        exchange = Exchange(
            id=next(self._ids),
            tab=self._tab_of(request),
            method=request.method,
            url=request.url[:LONGEST_URL],
            kind=request.resource_type,
            by_worker=request.service_worker is not None,
            request_headers=list(request.headers.items()),
            request=request,
            redirected_from=before.id if before is not None else None,
        )
        self._add(exchange)
        if before is not None:
            before.redirected_to = exchange.id
        body = request.post_data_buffer
        if body is not None:
            exchange.request_body = body[:BODY_BYTES]
            exchange.request_size = len(body)
            self._weigh(exchange.weight)
        self._by_request[request] = exchange
        requests_in_use.add(request)
        self.changed.wake()

    def _on_response(self, response: Response) -> None:
        if (exchange := self._by_request.get(response.request)) is None:
            return
        exchange.response = response
        exchange.answered_at = time.time()
        exchange.status = response.status
        exchange.status_text = response.status_text
        headers = response.headers
        exchange.response_headers = list(headers.items())
        exchange.mime_type = headers.get("content-type", "")
        if response.from_service_worker:
            exchange.source = exchange.source or "service worker"
        self.changed.wake()

    def _on_end(self, request: Request, *, failed: bool = False) -> None:
        if (exchange := self._by_request.get(request)) is None:
            return
        if exchange.tab is None:
            exchange.tab = self._tab_of(request)
        exchange.timing = {**cast("dict[str, float]", request.timing)}
        end = exchange.timing.get("responseEnd", -1)
        exchange.duration = end / 1000 if end >= 0 else time.time() - exchange.started
        if exchange.timing.get("startTime", 0) > 0:
            exchange.started = exchange.timing["startTime"] / 1000
        if failed:
            # A download, or an answer without content, also "fails" with its status.
            exchange.failure = request.failure or "failed"
            exchange.answered_at = time.time()
        elif exchange.kind in DATA or exchange.method != "GET":
            self._start_gathering(exchange)
        self.changed.wake()

    def _on_socket(self, page: Page, socket: WebSocket) -> None:
        tab, url = self._tab_of_page(page), socket.url[:LONGEST_URL]
        exchange = Exchange(id=next(self._ids), tab=tab, method="GET", url=url, kind="websocket")
        self._add(exchange)

        def ended(failure: str | None = None) -> None:
            exchange.failure = exchange.failure or failure
            exchange.duration = time.time() - exchange.started
            self.changed.wake()

        socket.on("framesent", lambda payload: self._on_frame(exchange, payload, sent=True))
        socket.on("framereceived", lambda payload: self._on_frame(exchange, payload, sent=False))
        socket.on("socketerror", lambda error: ended(str(error)))
        socket.on("close", lambda _socket: ended())
        self.changed.wake()

    def _on_frame(self, exchange: Exchange, payload: str | bytes, *, sent: bool) -> None:
        text = payload if isinstance(payload, str) else payload[: FRAME_LENGTH // 2].hex()
        binary = isinstance(payload, bytes)
        frame = SocketMessage(sent, text[:FRAME_LENGTH], len(payload), time.time(), binary)
        exchange.frames.append(frame)
        del exchange.frames[:-FRAMES]
        exchange.size = (exchange.size or 0) + len(payload)
        self.changed.wake()

    # -- keeping

    def _add(self, exchange: Exchange) -> None:
        self._kept[exchange.id] = exchange
        if len(self._kept) > KEPT:
            oldest = self._kept.pop(next(iter(self._kept)))
            self._weight -= oldest.weight
            self._let_go(oldest)
            self.dropped += 1
        older = self._kept.get(exchange.id - ASKABLE)
        if older is not None and older.done and older.request is not None:
            self._start_gathering(older, last=True)

    def _weigh(self, more: int) -> None:
        """Count a body; drop the oldest ones above the limit, with the objects to read them again."""
        self._weight += more
        if self._weight <= BODIES_BYTES:
            return
        for exchange in self._kept.values():
            if exchange.weight and self._weight > BODIES_BYTES:
                self._weight -= exchange.weight
                exchange.request_body = exchange.response_body = None
                self._let_go(exchange)

    def _let_go(self, exchange: Exchange) -> None:
        """Release Playwright's objects, which also hold posted data."""
        if exchange.request is not None:
            self._by_request.pop(exchange.request, None)
            requests_in_use.discard(exchange.request)
        exchange.request = exchange.response = None

    def _start_gathering(self, exchange: Exchange, *, last: bool = False) -> None:
        exchange.gathering = task = asyncio.create_task(self._gather(exchange, last=last))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _gather(self, exchange: Exchange, *, last: bool = False) -> None:
        """Read headers, sizes and a short body; `last`: no body, and release Playwright's objects."""
        request, response = exchange.request, exchange.response
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(DETAIL_SECONDS):
                if request is not None and response is not None and not (last and exchange.http_version):
                    exchange.request_headers = _pairs(await request.headers_array())
                    exchange.response_headers = _pairs(await response.headers_array())
                    exchange.http_version = await response.http_version()
                    if exchange.done:
                        await self._measure(exchange, request)
                        if not last:
                            await self._keep_body(exchange, response)
        if last:
            self._let_go(exchange)
        exchange.gathering = None
        self.changed.wake()

    async def _measure(self, exchange: Exchange, request: Request) -> None:
        if exchange.source.startswith("mock"):
            return  # Chromium's size is another one; the body has the right one.
        size = (await request.sizes())["responseBodySize"]
        if size >= 0:
            exchange.size = size
        else:
            exchange.source = exchange.source or "cache"  # Nothing was transferred, not even headers.

    async def _keep_body(self, exchange: Exchange, response: Response) -> None:
        if not _has_body(exchange) or exchange.response_body is not None:
            return
        announced = dict(exchange.response_headers).get("content-length", "")
        if max(exchange.size or 0, int(announced) if announced.isdigit() else 0) > BODY_BYTES:
            return
        body = await response.body()
        if len(body) <= BODY_BYTES and exchange.id in self._kept:
            exchange.response_body = body
            if exchange.size is None and exchange.source != "cache":
                exchange.size = len(body)
            self._weigh(len(body))

    def _tab_of(self, request: Request) -> int | None:
        try:
            return self._tab_of_page(request.frame.page)
        except PlaywrightError:
            return None  # A request of a service worker, or the first one of a new page.

    def _tab_of_page(self, page: Page) -> int | None:
        return next((tab.id for tab in self._session.tabs.values() if tab.page is page), None)


def _has_body(exchange: Exchange) -> bool:
    return exchange.done and exchange.failure is None and exchange.redirected_to is None


def _pairs(headers: Iterable[Any]) -> list[tuple[str, str]]:
    return [(header["name"], header["value"]) for header in headers]


class UrlPattern:
    """An address pattern: a part (`/api/`), a glob (`/api/*.json`) or a regular expression (`re:v\\d+/`)."""

    def __init__(self, text: str) -> None:
        """Parse a pattern. Raises InvalidArguments: it is empty, too long, or no regular expression."""
        if not text or len(text) > LONGEST_PATTERN:
            raise InvalidArguments(f"A URL pattern has 1 to {LONGEST_PATTERN} characters.")
        self.text = text
        try:
            self.regex = re.compile(_source(text))
        except re.error as error:
            raise InvalidArguments(f"{text!r} is not a regular expression: {error}.") from error

    def __str__(self) -> str:
        return self.text

    def matches(self, url: str) -> bool:
        """Whether an address matches."""
        return self.regex.search(url[:LONGEST_MATCHED]) is not None


def _source(text: str) -> str:
    """The regular expression of a pattern, valid in Python and JavaScript."""
    if text.startswith("re:"):
        return text[3:]
    if "*" not in text:
        return re.escape(text)
    glob = ".*".join(re.escape(part) for part in re.split(r"\*+", text))
    return f"^{'' if '://' in text else '.*'}{glob}$"


@dataclass(frozen=True, slots=True)
class MockAnswer:
    """The answer that a mock gives after `delay` seconds."""

    status: int
    headers: Mapping[str, str]
    body: str
    delay: float = 0


@dataclass(slots=True, eq=False)
class MockRule:
    """A route: matching requests get this answer, or are blocked. `left` is None if uses are not limited."""

    id: int
    pattern: UrlPattern
    method: str | None
    answer: MockAnswer | None
    left: int | None = None
    used: int = 0

    def __str__(self) -> str:
        what = "block" if self.answer is None else f"mock {self.answer.status}"
        delay = f" after {self.answer.delay:g} s" if self.answer is not None and self.answer.delay else ""
        left = f", {counted(self.left, 'time')} more" if self.left is not None else ""
        uses = f"used {counted(self.used, 'time')}{left}"
        return f"{self.id}: {what} {self.method or 'any method'} {self.pattern}{delay} ({uses})"


class Routes(SessionPlugin):
    """The routes of a session; of several that match, the newest one applies."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._ids = itertools.count(1)
        self._handlers: dict[MockRule, Callable[[Route, Request], Awaitable[None]]] = {}
        self._log: NetworkLog  # Of the first route on

    def rules(self) -> list[MockRule]:
        """All routes, oldest first."""
        return list(self._handlers)

    async def add(
        self, pattern: UrlPattern, *, method: str | None, answer: MockAnswer | None, times: int | None
    ) -> MockRule:
        """Answer requests, or block them if there is no answer; raises InvalidArguments."""
        if len(self._handlers) >= MOST_ROUTES:
            raise InvalidArguments(
                f"There are {MOST_ROUTES} routes already.", hint="Remove some with remove_route."
            )
        self._log = await self._session.plugin(NetworkLog)
        rule = MockRule(next(self._ids), pattern, method.upper() if method else None, answer, left=times)

        async def handler(route: Route, request: Request) -> None:
            # A request whose page is gone needs no answer.
            with contextlib.suppress(PlaywrightError):
                await self._respond(rule, route, request)

        try:
            await self._session.context.route(pattern.regex, handler)
        except PlaywrightError as error:
            raise InvalidArguments(f"{pattern} cannot be routed: {plain_message(error)}.") from error
        self._handlers[rule] = handler
        self._session.services.holds_requests = True
        return rule

    async def remove(self, number: int | None) -> list[MockRule]:
        """Remove one route, or all, and return them. Raises NotFound: there is no such route."""
        gone = [rule for rule in self._handlers if number in (None, rule.id)]
        if number is not None and not gone:
            there = "; ".join(map(str, self._handlers)) or "none"
            raise NotFound(f"There is no route {number}.", hint=f"Routes: {there}.")
        for rule in gone:
            await self._take_away(rule)
        return gone

    async def opened(self, context: BrowserContext) -> None:
        """Add the routes to a new context."""
        for rule, handler in list(self._handlers.items()):
            await context.route(rule.pattern.regex, handler)

    async def _take_away(self, rule: MockRule) -> None:
        handler = self._handlers.pop(rule, None)
        self._session.services.holds_requests = bool(self._handlers)
        context = self._session.open_context
        if context is not None and handler is not None:
            with contextlib.suppress(PlaywrightError):
                await context.unroute(rule.pattern.regex, handler)

    async def _respond(self, rule: MockRule, route: Route, request: Request) -> None:
        fits = rule.method in (None, request.method) and rule.left != 0
        if not fits or not may_show(request.url, self._session.settings):
            # An address that may not be opened is not mocked: it is refused as usual.
            await route.fallback()
            return
        rule.used += 1
        if rule.left is not None:
            rule.left -= 1
        answer = rule.answer
        self._log.mark(request, f"{'block' if answer is None else 'mock'} {rule.id}")
        if answer is None:
            await route.abort("blockedbyclient")
        else:
            if answer.delay:
                await asyncio.sleep(answer.delay)
            headers = _allow_origin(answer.headers, request.headers.get("origin"))
            await route.fulfill(status=answer.status, headers=headers, body=answer.body)
        if rule.left == 0:
            await self._take_away(rule)


def _allow_origin(headers: Mapping[str, str], origin: str | None) -> dict[str, str]:
    """The headers of a mock, with those that let pages of other sites read it."""
    named = {name.lower() for name in headers}
    if origin is None or "access-control-allow-origin" in named:
        return {**headers}
    allowed = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}
    return {**headers, **allowed}
