"""What the browser asks the network for: listed, looked at, awaited, exported."""

import asyncio
import json
import re
import time
from collections.abc import Callable

import anyio
from pydantic import Field, field_validator

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.exchange_text import as_data, body_name, describe, one_line
from mcp_browser.actions.listing import list_part
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionResult, Attachment
from mcp_browser.actions.waiting import LONGEST_WAIT, stop_at_dialog
from mcp_browser.browser.network.exchange import Exchange, tell
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.network.url_patterns import UrlPattern
from mcp_browser.errors import DeadlineExceeded
from mcp_browser.privacy.hiding import hide, hide_in
from mcp_browser.text import CHARACTERS_A_TOKEN, counted

network = Registry(group="network")

PREVIEW = 600  # How much of a body is shown of a response that was waited for, characters
ENDING_SECONDS = 1.0  # How long the end of a response is waited for once it has begun, seconds
URL = "part of it, glob with *, or re:…"
STATUS = r"^([1-5]\d\d|[1-5]xx|failed|pending)$"


class UrlFilter(ActionParams):
    """An argument that chooses requests."""

    url: str | None = Field(None, description=URL)

    def matcher(self) -> Callable[[Exchange], bool]:
        """Whether a request is meant.

        Raises:
            InvalidArguments: the URL pattern cannot be read.
        """
        pattern = UrlPattern(self.url) if self.url else None
        return lambda exchange: pattern is None or pattern.matches(exchange.url)


class RequestFilter(UrlFilter):
    """Arguments that choose requests."""

    method: str | None = Field(None, description="GET, POST…")
    status: str | None = Field(None, pattern=STATUS, description="404, 4xx, failed, pending")

    def matcher(self) -> Callable[[Exchange], bool]:
        """Whether a request is meant.

        Raises:
            InvalidArguments: the URL pattern cannot be read.
        """
        has_url = super().matcher()
        method = self.method.upper() if self.method else None

        def matches(exchange: Exchange) -> bool:
            return (
                has_url(exchange)
                and method in (None, exchange.method)
                and (self.status is None or _has_status(exchange, self.status))
            )

        return matches


_MIME_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}")


class GetNetworkRequestsParams(RequestFilter):
    type: str | None = Field(None, description="such as document,fetch,xhr,script,image,websocket")
    part: int = Field(1, description="of a long list")


class GetNetworkRequestParams(ActionParams):
    id: int = Field(description="from get_network_requests")


class WaitForResponseParams(RequestFilter):
    timeout: float = Field(10, gt=0, le=LONGEST_WAIT, description="seconds")

    @field_validator("status")
    @classmethod
    def _is_a_response(cls, value: str | None) -> str | None:
        if value == "pending":
            raise ValueError("a pending request has no response")
        return value


class ExportHarParams(UrlFilter):
    name: str | None = Field(None, description="file name")


@network.action(effect="read", during_dialog=True)
async def get_network_requests(ctx: ActionContext, params: GetNetworkRequestsParams) -> ActionResult:
    """List requests of all tabs, newest first: id, method, status, type, URL, size, time."""
    log = await ctx.session.plugin(NetworkLog)
    matches = params.matcher()
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
async def get_network_request(ctx: ActionContext, params: GetNetworkRequestParams) -> ActionResult:
    """Show a request and its response: headers, timing, bodies."""
    log = await ctx.session.plugin(NetworkLog)
    exchange = log.exchange(params.id)
    await log.complete(exchange)
    body = await log.body(exchange)
    told = tell(exchange, body, ctx.session.redactor())
    limit = ctx.settings.observation.changes_budget * CHARACTERS_A_TOKEN
    attachments: list[Attachment] = []
    if body and (told.response_body is None or len(told.response_body) > limit):
        text = told.response_body
        content = body if text is None else hide(text, ctx.session.hidden).encode()
        attachments.append(
            await _kept(ctx, content, body_name(told.url, exchange.mime_type), exchange.mime_type)
        )
    return ActionResult(
        extracted_content=f"Request {exchange.id}:",
        page_content=describe(exchange, told, body=body, limit=limit),
        attachments=tuple(attachments),
    )


@network.action(effect="read", during_dialog=True, own_time=lambda params: params.timeout)
async def wait_for_response(ctx: ActionContext, params: WaitForResponseParams) -> ActionResult:
    """Wait for a response; one that came since the last action counts."""
    log = await ctx.session.plugin(NetworkLog)
    matches = params.matcher()
    since = ctx.session.acted_at
    began = time.time()
    exchange: Exchange | None = None
    with anyio.move_on_after(params.timeout) as scope:
        while exchange is None:
            exchange = _answered(log, since, matches)
            if exchange is None:
                stop_at_dialog(ctx)
                await log.change(limit=params.timeout)
    if exchange is None:
        raise _nothing_came(log, since, params)
    with anyio.move_on_after(max(0.1, min(ENDING_SECONDS, scope.deadline - anyio.current_time()))):
        while not exchange.done:
            await log.change(limit=ENDING_SECONDS)
    await log.complete(exchange)
    told = tell(exchange, exchange.response_body, ctx.session.redactor())
    redactor = ctx.session.redactor()
    lines = [one_line(exchange, redactor, tab=ctx.tab.id, page=ctx.tab.url)]
    if told.response_body:
        more = "…" if len(told.response_body) > PREVIEW else ""
        lines.append(told.response_body[:PREVIEW] + more)
    before = " before this call" if (exchange.answered_at or began) < began else ""
    return ActionResult(
        extracted_content=f"Request {exchange.id} was answered{before}:", page_content="\n".join(lines)
    )


@network.action(effect="read", during_dialog=True)
async def export_har(ctx: ActionContext, params: ExportHarParams) -> ActionResult:
    """Save the recorded requests as a HAR file."""
    # Imported late: only who asks for an archive needs it.
    from mcp_browser.browser.network.har import make_har  # noqa: PLC0415

    log = await ctx.session.plugin(NetworkLog)
    matches = params.matcher()
    exchanges = [*filter(matches, log.exchanges())]
    await asyncio.gather(*map(log.complete, exchanges))
    redactor = ctx.session.redactor()
    told = [(exchange, tell(exchange, exchange.response_body, redactor)) for exchange in exchanges]
    browser = ctx.session.context.browser
    version = f"chromium/{browser.version}" if browser else "chromium/unknown"
    titles = {tab.id: redactor.text(tab.title) for tab in ctx.session.tabs.values() if tab.title}
    archive = hide_in(make_har(told, browser=version, titles=titles), ctx.session.hidden)
    content = json.dumps(archive, ensure_ascii=False, indent=1).encode()
    file = await _kept(ctx, content, params.name or "network", "application/json", suffix=".har")
    return ActionResult(
        extracted_content=f"Saved {counted(len(told), 'request')} as {file.path or file.uri}.",
        attachments=(file,),
    )


async def _kept(
    ctx: ActionContext, content: bytes, name: str, mime_type: str, *, suffix: str = ""
) -> Attachment:
    kind = mime_type.partition(";")[0].strip()
    kind = kind if _MIME_TYPE.fullmatch(kind) else "application/octet-stream"
    (file,) = ctx.attach(await ctx.keep(content, name, mime_type=kind, kind="network", suffix=suffix))
    return file


def _has_status(exchange: Exchange, wanted: str) -> bool:
    match wanted:
        case "failed":
            return exchange.failure is not None
        case "pending":
            return not exchange.done
        case _:
            status = str(exchange.status or "")
            return status == wanted or (wanted.endswith("xx") and status[:1] == wanted[0])


def _answered(log: NetworkLog, since: float, matches: Callable[[Exchange], bool]) -> Exchange | None:
    for exchange in reversed(log.exchanges()):
        if exchange.answered_at is not None and exchange.answered_at >= since and matches(exchange):
            return exchange
    return None


def _nothing_came(log: NetworkLog, since: float, params: WaitForResponseParams) -> DeadlineExceeded:
    recent = [exchange for exchange in log.exchanges() if exchange.started >= since]
    pattern = UrlPattern(params.url) if params.url else None
    same = [exchange for exchange in recent if pattern is not None and pattern.matches(exchange.url)]
    what = f"{params.method or 'any'} request for {params.url or 'any address'}"
    if same:
        one = same[-1]
        became = one.failure or one.status or "no answer yet"
        hint = f"Request {one.id} was for such an address: {one.method}, {became}."
    else:
        hint = f"{counted(len(recent), 'other request')} came meanwhile: see get_network_requests."
    return DeadlineExceeded(f"Waited {params.timeout:g} s in vain for an answer to: {what}.", hint=hint)
