"""Requests in words, as short as they can be."""

import mimetypes
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp_browser.browser.files.filenames import size_text
from mcp_browser.browser.network.exchange import Exchange, ToldExchange
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import cut

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
    """What `one_line` tells, for programs: `size` in bytes, `duration` in seconds."""
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


def describe(exchange: Exchange, told: ToldExchange, *, body: bytes | None, limit: int) -> str:
    """All of a request and its response, bodies cut to `limit` characters."""
    return "\n".join(_lines(exchange, told, body, limit))


def body_name(url: str, mime_type: str) -> str:
    """A name for the file of a response's body, after its address, as that may be told, and its type."""
    name = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2] or "body"
    kind = mime_type.partition(";")[0].strip()
    suffix = mimetypes.guess_extension(kind) or ""
    return name if "." in name else f"{name}{suffix}"


def _lines(exchange: Exchange, told: ToldExchange, body: bytes | None, limit: int) -> Iterator[str]:
    where = "a service worker" if exchange.by_worker else f"tab {exchange.tab}" if exchange.tab else "no tab"
    yield f"{exchange.method} {told.url} ({exchange.kind}, {where})"
    yield _summary(exchange)
    if exchange.redirected_from is not None:
        yield f"Redirected from request {exchange.redirected_from}."
    if exchange.redirected_to is not None:
        yield f"Redirected to request {exchange.redirected_to}."
    if told.request_headers:
        yield "Request headers:"
        yield from (f"  {name}: {value}" for name, value in told.request_headers)
    if exchange.request_size:
        yield f"Request body ({size_text(exchange.request_size)}):"
        yield cut(told.request_body, limit) if told.request_body is not None else "  (not text)"
    if told.response_headers:
        yield "Response headers:"
        # Several cookies come in one header, each on a line of its own.
        yield from (
            f"  {name}: {line}" for name, value in told.response_headers for line in value.split("\n")
        )
    if exchange.kind == "websocket":
        yield f"Messages (the last {min(len(told.frames), SHOWN_FRAMES)}):"
        frames = list(zip(exchange.frames, told.frames, strict=True))[-SHOWN_FRAMES:]
        yield from (f"  {'→' if frame.sent else '←'} {cut(text, limit // 10)}" for frame, text in frames)
    elif exchange.status is not None:
        yield _body(exchange, told, body, limit)


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


def _body(exchange: Exchange, told: ToldExchange, body: bytes | None, limit: int) -> str:
    if not exchange.done:
        return "Response body: still on its way."
    if exchange.redirected_to is not None or exchange.failure is not None:
        return "Response body: none."
    if not body:
        return f"Response body: {'empty' if body is not None else 'not kept by the browser any more'}."
    size = size_text(len(body))
    if told.response_body is None:
        return f"Response body: {size}, not text; saved as a file."
    saved = "; saved whole as a file" if len(told.response_body) > limit else ""
    return f"Response body ({size}{saved}):\n{cut(told.response_body, limit)}"


def _outcome(exchange: Exchange) -> str:
    if exchange.failure is not None:
        failed = f"failed:{exchange.failure.removeprefix('net::')}"
        return failed if exchange.status is None else f"{exchange.status},{failed}"
    if exchange.kind == "websocket":
        return "closed" if exchange.done else "open"
    return str(exchange.status) if exchange.status is not None else "pending"
