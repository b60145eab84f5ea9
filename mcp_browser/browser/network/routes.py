"""Requests that are mocked or blocked. While there are routes, Playwright intercepts every request."""

import asyncio
import contextlib
import functools
import itertools
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.async_api import BrowserContext, Request, Route
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.addresses import may_show
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.text import counted

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession


LONGEST = 500  # Longest pattern, characters
LONGEST_URL = 20_000  # How much of an address is looked at, characters


class UrlPattern:
    """An address pattern: a part (`/api/`), a glob (`/api/*.json`) or a regular expression (`re:v\\d+/`)."""

    def __init__(self, text: str) -> None:
        """Parse a pattern. Raises InvalidArguments: it is empty, too long, or no regular expression."""
        if not text or len(text) > LONGEST:
            raise InvalidArguments(f"A URL pattern has 1 to {LONGEST} characters.")
        self.text = text
        try:
            self.regex = re.compile(_source(text))
        except re.error as error:
            raise InvalidArguments(f"{text!r} is not a regular expression: {error}.") from error

    def __str__(self) -> str:
        return self.text

    def matches(self, url: str) -> bool:
        """Whether an address matches."""
        return self.regex.search(url[:LONGEST_URL]) is not None


def _source(text: str) -> str:
    """The regular expression of a pattern, valid in Python and JavaScript."""
    if text.startswith("re:"):
        return text[3:]
    if "*" not in text:
        return re.escape(text)
    glob = ".*".join(re.escape(part) for part in re.split(r"\*+", text))
    return f"^{'' if '://' in text else '.*'}{glob}$"


MOST = 50  # How many routes there may be


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
        if len(self._handlers) >= MOST:
            raise InvalidArguments(f"There are {MOST} routes already.", hint="Remove some with remove_route.")
        self._log = await self._session.plugin(NetworkLog)
        rule = MockRule(next(self._ids), pattern, method.upper() if method else None, answer, left=times)
        handler = functools.partial(self._handle, rule)
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

    async def _handle(self, rule: MockRule, route: Route, request: Request) -> None:
        # A request whose page is gone needs no answer.
        with contextlib.suppress(PlaywrightError):
            await self._respond(rule, route, request)

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
