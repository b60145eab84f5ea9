"""Requests that are answered here instead of by the network, or not at all.

Playwright holds up every request of the pages while there are routes; without any it does not.
"""

import asyncio
import contextlib
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
    """Which addresses are meant.

    `/api/` is a part of an address; in `/api/*.json`, a glob, `*` is anything; `re:v\\d+/` is a regular
    expression, found anywhere.
    """

    def __init__(self, text: str) -> None:
        """Read a pattern. Raises InvalidArguments: it is empty, too long, or no regular expression."""
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
        """Whether an address is meant."""
        return self.regex.search(url[:LONGEST_URL]) is not None


def _source(text: str) -> str:
    """The expression for a pattern; Python and JavaScript read it alike."""
    if text.startswith("re:"):
        return text[3:]
    if "*" not in text:
        return re.escape(text)
    glob = ".*".join(re.escape(part) for part in re.split(r"\*+", text))
    return f"^{'' if '://' in text else '.*'}{glob}$"


Handler = Callable[[Route, Request], Awaitable[None]]

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
    """A route: requests to these addresses get this answer, or none. `left` is None where it has no end."""

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
    """The routes of a session; where several fit a request, the newest one counts."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._ids = itertools.count(1)
        self._rules: dict[int, MockRule] = {}
        self._handlers: dict[int, Handler] = {}
        self._log: NetworkLog | None = None

    def rules(self) -> list[MockRule]:
        """The routes there are, oldest first."""
        return list(self._rules.values())

    async def add(
        self, pattern: UrlPattern, *, method: str | None, answer: MockAnswer | None, times: int | None
    ) -> MockRule:
        """Answer requests, or block them where there is no answer; raises InvalidArguments."""
        if len(self._rules) >= MOST:
            raise InvalidArguments(f"There are {MOST} routes already.", hint="Remove some with remove_route.")
        self._log = await self._session.plugin(NetworkLog)
        rule = MockRule(next(self._ids), pattern, method.upper() if method else None, answer, left=times)
        try:
            await self._put(rule, self._session.context)
        except PlaywrightError as error:
            raise InvalidArguments(f"{pattern} cannot be routed: {plain_message(error)}.") from error
        self._rules[rule.id] = rule
        self._session.holds_requests = True
        return rule

    async def remove(self, number: int | None) -> list[MockRule]:
        """Remove one route, or all; those that were removed. Raises NotFound: there is no such route."""
        if number is not None and number not in self._rules:
            there = "; ".join(map(str, self._rules.values())) or "none"
            raise NotFound(f"There is no route {number}.", hint=f"Routes: {there}.")
        gone = [rule for rule in self._rules.values() if number in (None, rule.id)]
        for rule in gone:
            await self._take_away(rule)
        return gone

    async def opened(self, context: BrowserContext) -> None:
        """Route what comes from a new context, too."""
        for rule in self._rules.values():
            await self._put(rule, context)

    async def _put(self, rule: MockRule, context: BrowserContext) -> None:
        async def handle(route: Route, request: Request) -> None:
            # A request whose page goes meanwhile needs no answer.
            with contextlib.suppress(PlaywrightError):
                await self._handle(rule, route, request)

        await context.route(rule.pattern.regex, handle)
        self._handlers[rule.id] = handle

    async def _take_away(self, rule: MockRule) -> None:
        self._rules.pop(rule.id, None)
        self._session.holds_requests = bool(self._rules)
        handler = self._handlers.pop(rule.id, None)
        context = self._session.open_context
        if context is not None and handler is not None:
            with contextlib.suppress(PlaywrightError):
                await context.unroute(rule.pattern.regex, handler)

    async def _handle(self, rule: MockRule, route: Route, request: Request) -> None:
        fits = rule.method in (None, request.method) and rule.left != 0
        if not fits or not may_show(request.url, self._session.settings):
            # What may not be opened goes its usual way, and is refused there: no mock stands in for it.
            await route.fallback()
            return
        rule.used += 1
        if rule.left is not None:
            rule.left -= 1
        answer = rule.answer
        if self._log is not None:
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
    """The headers of a mock, readable by a page of another site: it stands in for a server that allows it."""
    named = {name.lower() for name in headers}
    if origin is None or "access-control-allow-origin" in named:
        return {**headers}
    allowed = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}
    return {**headers, **allowed}
