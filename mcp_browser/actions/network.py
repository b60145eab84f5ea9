"""Network requests: list, show, wait for, export, mock, block."""

import asyncio
import contextlib
import json
import mimetypes
import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
from pydantic import Field, field_validator

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, Attachment, list_part
from mcp_browser.actions.waiting import LONGEST_WAIT, stop_at_dialog
from mcp_browser.browser.files.artifacts import size_text
from mcp_browser.browser.network.exchange import Exchange, RedactedExchange, make_har, redact
from mcp_browser.browser.network.log import MockAnswer, NetworkLog, Routes, UrlPattern
from mcp_browser.errors import DeadlineExceeded
from mcp_browser.privacy.hiding import hide, hide_in
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import CHARACTERS_A_TOKEN, counted, cut

LONGEST_URL = 200
SHOWN_FRAMES = 20  # How many messages of a web socket are shown, the newest

_PHASES = (
    ("dns", "domainLookupStart", "domainLookupEnd"),
    ("connect", "connectStart", "connectEnd"),
    ("wait", "requestStart", "responseStart"),
    ("receive", "responseStart", "responseEnd"),
)


def one_line(exchange: Exchange, redactor: Redactor, *, tab: int, page: str) -> str:
    """`12 POST 201 fetch /api/books 1.2 kB 34 ms`: addresses of the page's own site are paths."""
    url = redactor.url(exchange.url)
    origin = "{0.scheme}://{0.netloc}/".format(urlsplit(page))
    if url.startswith(origin) and origin != ":///":
        url = url[len(origin) - 1 :]
    if len(url) > LONGEST_URL:
        url = f"{url[:LONGEST_URL]}…"
    parts = [str(exchange.id), exchange.method, _outcome(exchange), exchange.kind, url]
    if exchange.size is not None:
        parts.append(size_text(exchange.size))
    if exchange.duration is not None:
        parts.append(f"{exchange.duration * 1000:.0f} ms")
    if exchange.source:
        parts.append(f"({exchange.source})")
    if exchange.redirected_to is not None:
        parts.append(f"→ {exchange.redirected_to}")
    if exchange.by_worker:
        parts.append("by a service worker")
    elif exchange.tab not in (None, tab):
        parts.append(f"tab {exchange.tab}")
    return " ".join(parts)


def as_data(exchange: Exchange, redactor: Redactor) -> dict[str, Any]:
    """The content of `one_line` for programs: `size` in bytes, `duration` in seconds."""
    return {
        "id": exchange.id,
        "tab": exchange.tab,
        "method": exchange.method,
        "url": redactor.url(exchange.url),
        "type": exchange.kind,
        "outcome": _outcome(exchange),
        "size": exchange.size,
        "duration": exchange.duration,
        "source": exchange.source,
        "redirected_to": exchange.redirected_to,
        "by_worker": exchange.by_worker,
    }


def _lines(exchange: Exchange, redacted: RedactedExchange, body: bytes | None, limit: int) -> Iterator[str]:
    """A request and its response, bodies cut to `limit` characters."""
    where = "a service worker" if exchange.by_worker else f"tab {exchange.tab}" if exchange.tab else "no tab"
    yield f"{exchange.method} {redacted.url} ({exchange.kind}, {where})"
    yield _summary(exchange)
    if exchange.redirected_from is not None:
        yield f"Redirected from request {exchange.redirected_from}."
    if exchange.redirected_to is not None:
        yield f"Redirected to request {exchange.redirected_to}."
    if redacted.request_headers:
        yield "Request headers:"
        yield from (f"  {name}: {value}" for name, value in redacted.request_headers)
    if exchange.request_size:
        yield f"Request body ({size_text(exchange.request_size)}):"
        yield cut(redacted.request_body, limit) if redacted.request_body is not None else "  (not text)"
    if redacted.response_headers:
        yield "Response headers:"
        # Several cookies come in one header, each on a line of its own.
        yield from (
            f"  {name}: {line}" for name, value in redacted.response_headers for line in value.split("\n")
        )
    if exchange.kind == "websocket":
        yield f"Messages (the last {min(len(redacted.frames), SHOWN_FRAMES)}):"
        frames = list(zip(exchange.frames, redacted.frames, strict=True))[-SHOWN_FRAMES:]
        yield from (f"  {'→' if frame.sent else '←'} {cut(text, limit // 10)}" for frame, text in frames)
    elif exchange.status is not None:
        yield _body(exchange, redacted, body, limit)


def _summary(exchange: Exchange) -> str:
    parts = [f"{_outcome(exchange)} {exchange.status_text}".rstrip()]
    if exchange.http_version:
        parts.append(exchange.http_version)
    if exchange.source:
        parts.append(f"from {exchange.source}")
    if exchange.duration is not None:
        phases = [
            f"{name} {exchange.timing[end] - exchange.timing[start]:.0f}"
            for name, start, end in _PHASES
            if 0 <= exchange.timing.get(start, -1) < exchange.timing.get(end, -1)
        ]
        parts.append(f"{exchange.duration * 1000:.0f} ms" + (f" ({', '.join(phases)})" if phases else ""))
    return ", ".join(parts)


def _body(exchange: Exchange, redacted: RedactedExchange, body: bytes | None, limit: int) -> str:
    if not exchange.done:
        return "Response body: still on its way."
    if exchange.redirected_to is not None or exchange.failure is not None:
        return "Response body: none."
    if not body:
        return f"Response body: {'empty' if body is not None else 'not kept by the browser any more'}."
    size = size_text(len(body))
    if redacted.response_body is None:
        return f"Response body: {size}, not text; saved as a file."
    saved = "; saved whole as a file" if len(redacted.response_body) > limit else ""
    return f"Response body ({size}{saved}):\n{cut(redacted.response_body, limit)}"


def _outcome(exchange: Exchange) -> str:
    if exchange.failure is not None:
        failed = f"failed:{exchange.failure.removeprefix('net::')}"
        return failed if exchange.status is None else f"{exchange.status},{failed}"
    if exchange.kind == "websocket":
        return "closed" if exchange.done else "open"
    return str(exchange.status) if exchange.status is not None else "pending"


network = Registry(group="network")

PREVIEW = 600  # How much of a body is shown of a response that was waited for, characters
ENDING_SECONDS = 1.0  # How long the end of a response is waited for once it has begun, seconds
URL = "part of it, glob with *, or re:…"
STATUS = r"^([1-5]\d\d|[1-5]xx|failed|pending)$"
_MIME_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}")

Matches = Callable[[Exchange], bool]


def _matcher(url: str | None, method: str | None = None, status: str | None = None) -> Matches:
    """Whether a request is meant. Raises InvalidArguments: the URL pattern cannot be read."""
    pattern = UrlPattern(url) if url else None
    method = method.upper() if method else None

    def matches(exchange: Exchange) -> bool:
        match status:
            case None:
                fits = True
            case "failed":
                fits = exchange.failure is not None
            case "pending":
                fits = not exchange.done
            case wanted:
                # `4xx` is every status that begins so.
                fits = str(exchange.status or "").startswith(wanted.removesuffix("xx"))
        fits = fits and method in (None, exchange.method)
        return fits and (pattern is None or pattern.matches(exchange.url))

    return matches


class RequestFilter(ActionParams):
    """Arguments that choose requests."""

    url: str | None = Field(None, description=URL)
    method: str | None = Field(None, description="GET, POST…")
    status: str | None = Field(None, pattern=STATUS, description="404, 4xx, failed, pending")


class GetNetworkRequestsParams(RequestFilter):
    type: str | None = Field(None, description="such as document,fetch,xhr,script,image,websocket")
    part: int = Field(1, description="of a long list")


class WaitForResponseParams(RequestFilter):
    timeout: float = Field(10, gt=0, le=LONGEST_WAIT, description="seconds")

    @field_validator("status")
    @classmethod
    def _is_a_response(cls, value: str | None) -> str | None:
        if value == "pending":
            raise ValueError("a pending request has no response")
        return value


@network.action(effect="read", during_dialog=True)
async def get_network_requests(ctx: ActionContext, params: GetNetworkRequestsParams) -> ActionResult:
    """List requests of all tabs, newest first: id, method, status, type, URL, size, time."""
    log = await ctx.session.plugin(NetworkLog)
    matches = _matcher(params.url, params.method, params.status)
    await log.caught_up()
    kinds = {kind.strip().lower() for kind in params.type.split(",")} if params.type else None
    chosen = [
        exchange
        for exchange in reversed(log.exchanges())
        if (kinds is None or exchange.kind in kinds) and matches(exchange)
    ]
    redactor = ctx.session.redactor()
    lines = [one_line(exchange, redactor, tab=ctx.tab.id, page=ctx.tab.url) for exchange in chosen]
    note = f"Recorded since {time.strftime('%H:%M:%S', time.localtime(log.since))}" if log.since else ""
    return list_part(
        ctx,
        lines,
        what="request",
        data=[as_data(exchange, redactor) for exchange in chosen],
        part=params.part,
        dropped=log.dropped,
        note=note,
    )


@network.action(effect="read", during_dialog=True)
async def get_network_request(
    ctx: ActionContext, id: int = Field(description="from get_network_requests")
) -> ActionResult:
    """Show a request and its response: headers, timing, bodies."""
    log = await ctx.session.plugin(NetworkLog)
    exchange = log.exchange(id)
    await log.complete(exchange)
    body = await log.body(exchange)
    redacted = redact(exchange, body, ctx.session.redactor())
    limit, text = ctx.settings.observation.changes_budget * CHARACTERS_A_TOKEN, redacted.response_body
    attachments: tuple[Attachment, ...] = ()
    if body and (text is None or len(text) > limit):
        content = body if text is None else hide(text, ctx.session.hidden).encode()
        name = unquote(urlsplit(redacted.url).path).rstrip("/").rpartition("/")[2] or "body"
        suffix = mimetypes.guess_extension(exchange.mime_type.partition(";")[0].strip()) or ""
        name = name if "." in name else f"{name}{suffix}"
        attachments = (await _kept(ctx, content, name, exchange.mime_type),)
    return ActionResult(
        extracted_content=f"Request {exchange.id}:",
        page_content="\n".join(_lines(exchange, redacted, body, limit)),
        attachments=attachments,
    )


@network.action(effect="read", during_dialog=True, own_time=lambda params: params.timeout)
async def wait_for_response(ctx: ActionContext, params: WaitForResponseParams) -> ActionResult:
    """Wait for a response; one that came since the last action counts."""
    log = await ctx.session.plugin(NetworkLog)
    matches = _matcher(params.url, params.method, params.status)
    since, began = ctx.session.services.acted_at, time.time()

    def answers(exchange: Exchange) -> bool:
        return exchange.answered_at is not None and exchange.answered_at >= since and matches(exchange)

    exchange: Exchange | None = None
    with anyio.move_on_after(params.timeout) as scope:
        while (exchange := next(filter(answers, reversed(log.exchanges())), None)) is None:
            stop_at_dialog(ctx)
            await log.changed.wait(params.timeout)
    if exchange is None:
        raise _nothing_came(log, since, params)
    with anyio.move_on_after(max(0.1, min(ENDING_SECONDS, scope.deadline - anyio.current_time()))):
        while not exchange.done:
            await log.changed.wait(ENDING_SECONDS)
    await log.complete(exchange)
    redactor = ctx.session.redactor()
    redacted = redact(exchange, exchange.response_body, redactor)
    lines = [one_line(exchange, redactor, tab=ctx.tab.id, page=ctx.tab.url)]
    if redacted.response_body:
        more = "…" if len(redacted.response_body) > PREVIEW else ""
        lines.append(redacted.response_body[:PREVIEW] + more)
    before = " before this call" if (exchange.answered_at or began) < began else ""
    return ActionResult(
        extracted_content=f"Request {exchange.id} was answered{before}:", page_content="\n".join(lines)
    )


@network.action(effect="read", during_dialog=True)
async def export_har(
    ctx: ActionContext,
    url: str | None = Field(None, description=URL),
    name: str | None = Field(None, description="file name"),
) -> ActionResult:
    """Save the recorded requests as a HAR file."""
    log = await ctx.session.plugin(NetworkLog)
    exchanges = [*filter(_matcher(url), log.exchanges())]
    await asyncio.gather(*map(log.complete, exchanges))
    redactor = ctx.session.redactor()
    pairs = [(exchange, redact(exchange, exchange.response_body, redactor)) for exchange in exchanges]
    browser = ctx.session.context.browser
    version = f"chromium/{browser.version}" if browser else "chromium/unknown"
    titles = {tab.id: redactor.text(tab.title) for tab in ctx.session.tabs.values() if tab.title}
    archive = hide_in(make_har(pairs, browser=version, titles=titles), ctx.session.hidden)
    content = json.dumps(archive, ensure_ascii=False, indent=1).encode()
    file = await _kept(ctx, content, name or "network", "application/json", suffix=".har")
    return ActionResult(
        extracted_content=f"Saved {counted(len(pairs), 'request')} as {file.path or file.uri}.",
        attachments=(file,),
    )


async def _kept(
    ctx: ActionContext, content: bytes, name: str, mime_type: str, *, suffix: str = ""
) -> Attachment:
    kind = mime_type.partition(";")[0].strip()
    kind = kind if _MIME_TYPE.fullmatch(kind) else "application/octet-stream"
    (file,) = ctx.attach(await ctx.keep(content, name, mime_type=kind, kind="network", suffix=suffix))
    return file


def _nothing_came(log: NetworkLog, since: float, params: WaitForResponseParams) -> DeadlineExceeded:
    recent = [exchange for exchange in log.exchanges() if exchange.started >= since]
    same = [*filter(_matcher(params.url), recent)] if params.url else []
    what = f"{params.method or 'any'} request for {params.url or 'any address'}"
    if same:
        one = same[-1]
        outcome = one.failure or one.status or "no answer yet"
        hint = f"Request {one.id} was for such an address: {one.method}, {outcome}."
    else:
        hint = f"{counted(len(recent), 'other request')} came meanwhile: see get_network_requests."
    return DeadlineExceeded(f"Waited {params.timeout:g} s in vain for an answer to: {what}.", hint=hint)


LONGEST_DELAY = 60
LONGEST_BODY = 2_000_000


class BlockRouteParams(ActionParams):
    url: str = Field(description=URL)
    method: str | None = Field(None, description="only this one")
    times: int | None = Field(None, ge=1, description="default: until removed")


class MockRouteParams(BlockRouteParams):
    status: int = Field(200, ge=200, le=599, description="HTTP status")
    body: str = Field("", max_length=LONGEST_BODY, repr=False, description="of the response")
    headers: dict[str, str] = Field(default_factory=dict[str, str], description="of the response")
    delay: float = Field(0, ge=0, le=LONGEST_DELAY, description="seconds")


@network.action(reach="page", during_dialog=True)
async def mock_route(ctx: ActionContext, params: MockRouteParams) -> str:
    """Answer requests to a URL yourself instead of the server."""
    headers = params.headers
    if not any(name.lower() == "content-type" for name in headers):
        headers = {"Content-Type": _type_of(params.body), **headers}
    return await _add(ctx, params, MockAnswer(params.status, headers, params.body, params.delay))


@network.action(reach="page", during_dialog=True)
async def block_route(ctx: ActionContext, params: BlockRouteParams) -> str:
    """Let requests to a URL fail."""
    return await _add(ctx, params, None)


@network.action(effect="read", during_dialog=True)
async def list_routes(ctx: ActionContext) -> str:
    """List mocks and blocks."""
    return _all(await ctx.session.plugin(Routes))


@network.action(reach="page", during_dialog=True)
async def remove_route(ctx: ActionContext, id: int | None = Field(None, description="default: all")) -> str:
    """Remove mocks and blocks."""
    routes = await ctx.session.plugin(Routes)
    removed = "; ".join(map(str, await routes.remove(id))) or "nothing"
    return f"Removed {removed}. {_all(routes)}"


async def _add(ctx: ActionContext, params: BlockRouteParams, answer: MockAnswer | None) -> str:
    routes = await ctx.session.plugin(Routes)
    rule = await routes.add(UrlPattern(params.url), method=params.method, answer=answer, times=params.times)
    return f"Route {rule}. It holds for requests from now on, in all tabs."


def _all(routes: Routes) -> str:
    rules = routes.rules()
    return "Routes: " + "; ".join(map(str, rules)) + "." if rules else "There are no routes."


def _type_of(body: str) -> str:
    start = body.lstrip()[:1]
    if start in ("{", "["):
        with contextlib.suppress(ValueError):
            json.loads(body)
            return "application/json"
    return f"text/{'html' if start == '<' else 'plain'}; charset=utf-8"
