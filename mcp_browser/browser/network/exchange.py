"""A request with its response; without secrets, with bodies as text; as an HTTP Archive (HAR 1.2)."""

import contextlib
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import Request, Response

from mcp_browser.privacy.redaction import Redactor

if TYPE_CHECKING:
    from asyncio import Task

FRAMES = 50  # How many frames of a web socket are kept, the newest
_CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
_TEXTUAL = re.compile(r"text/|json|xml|javascript|x-www-form-urlencoded|multipart/form-data|graphql")


@dataclass(frozen=True, slots=True)
class SocketMessage:
    """One message of a web socket, `sent` or received by the page; `time` in seconds since 1970."""

    sent: bool
    text: str
    size: int
    time: float
    binary: bool


@dataclass(slots=True, eq=False)
class Exchange:
    """A request and its response. Sizes in bytes, `duration` in seconds, times in seconds since 1970.

    `source` says where the answer came from if not from the network: `cache`, `service worker`, `mock 1`.
    `failure` is the browser's reason, such as `net::ERR_CONNECTION_REFUSED`.
    """

    id: int
    tab: int | None
    method: str
    url: str
    kind: str
    started: float = field(default_factory=time.time)
    answered_at: float | None = None
    status: int | None = None
    status_text: str = ""
    failure: str | None = None
    duration: float | None = None
    source: str = ""
    redirected_from: int | None = None
    redirected_to: int | None = None
    by_worker: bool = False
    http_version: str = ""
    mime_type: str = ""
    request_headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    response_headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    request_body: bytes | None = None
    response_body: bytes | None = None
    request_size: int = 0
    size: int | None = None
    timing: dict[str, float] = field(default_factory=dict[str, float])
    frames: list[SocketMessage] = field(default_factory=list[SocketMessage])
    secrets: frozenset[str] | None = None
    request: Request | None = None
    response: Response | None = None
    gathering: "Task[None] | None" = None

    @property
    def done(self) -> bool:
        return self.duration is not None

    @property
    def weight(self) -> int:
        """The bytes of its bodies."""
        return len(self.request_body or b"") + len(self.response_body or b"")


class RedactedExchange(NamedTuple):
    """What may be shown of an exchange. A body is None if it is not text, or missing."""

    url: str
    request_headers: list[tuple[str, str]]
    response_headers: list[tuple[str, str]]
    request_body: str | None
    response_body: str | None
    frames: tuple[str, ...]


def redact(exchange: Exchange, body: bytes | None, redactor: Redactor) -> RedactedExchange:
    """What may be shown of an exchange with this response body."""
    request_type = header(exchange.request_headers, "content-type")
    request_body = as_text(exchange.request_body, request_type)
    response_body = as_text(body, exchange.mime_type)

    while True:
        known = redactor.known
        redacted = RedactedExchange(
            url=redactor.url(exchange.url),
            request_headers=redactor.headers(exchange.request_headers),
            response_headers=redactor.headers(exchange.response_headers),
            request_body=None if request_body is None else redactor.body(request_body, request_type),
            response_body=None if response_body is None else redactor.body(response_body, exchange.mime_type),
            frames=tuple(
                frame.text if frame.binary else redactor.body(frame.text) for frame in exchange.frames
            ),
        )
        # A secret found in one part may also be in a part before it.
        if redactor.known == known:
            return redacted


def as_text(body: bytes | None, mime_type: str) -> str | None:
    """A body as text; None if it is not text, such as a picture, a font or an archive."""
    if body is None:
        return None
    charset = _CHARSET.search(mime_type)
    try:
        text = body.decode(charset[1] if charset else "utf-8")
    except (UnicodeDecodeError, LookupError):
        return body.decode("utf-8", "replace") if _TEXTUAL.search(mime_type.lower()) else None
    return text if "\0" not in text else None


def header(headers: list[tuple[str, str]], wanted: str) -> str:
    """The first value of a header, whose name is `wanted` in lower case; empty if there is none."""
    return next((value for name, value in headers if name.lower() == wanted), "")


UNKNOWN = -1  # HAR's value for an unknown size or time
Har = dict[str, Any]


def make_har(
    exchanges: Iterable[tuple[Exchange, RedactedExchange]], *, browser: str, titles: dict[int, str]
) -> Har:
    """An archive of these requests, with their redacted forms; `titles` by the ids of tabs."""
    entries: list[Har] = []
    began: dict[int, float] = {}
    for exchange, shown in exchanges:
        if exchange.tab is not None:
            began.setdefault(exchange.tab, exchange.started)
        entries.append(_entry(exchange, shown))
    name, _, number = browser.partition("/")
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "mcp-browser", "version": version("mcp-browser-server")},
            "browser": {"name": name, "version": number},
            "pages": [
                {
                    "startedDateTime": _time(started),
                    "id": f"tab_{tab}",
                    "title": titles.get(tab, f"Tab {tab}"),
                    "pageTimings": {},
                }
                for tab, started in began.items()
            ],
            "entries": entries,
        }
    }


def _entry(exchange: Exchange, shown: RedactedExchange) -> Har:
    timings = _timings(exchange)
    entry: Har = {
        "startedDateTime": _time(exchange.started),
        "time": sum(value for name, value in timings.items() if value >= 0 and name != "ssl"),
        "request": _request(exchange, shown),
        "response": _response(exchange, shown),
        "cache": {},
        "timings": timings,
        "_resourceType": exchange.kind,
        "_number": exchange.id,
    }
    if exchange.tab is not None:
        entry["pageref"] = f"tab_{exchange.tab}"
    if exchange.failure:
        entry["response"]["_error"] = exchange.failure
    if exchange.source:
        entry["comment"] = f"answered from {exchange.source}"
    if exchange.kind == "websocket":
        entry["_webSocketMessages"] = [
            {
                "type": "send" if frame.sent else "receive",
                "time": frame.time,
                "opcode": 2 if frame.binary else 1,
                "data": text,
            }
            for frame, text in zip(exchange.frames, shown.frames, strict=True)
        ]
    return entry


def _request(exchange: Exchange, shown: RedactedExchange) -> Har:
    request: Har = {
        "method": exchange.method,
        "url": shown.url,
        "httpVersion": exchange.http_version or "unknown",
        "cookies": _cookies(shown.request_headers),
        "headers": _named(shown.request_headers),
        "queryString": _named(parse_qsl(urlsplit(shown.url).query, keep_blank_values=True)),
        "headersSize": UNKNOWN,
        "bodySize": exchange.request_size,
    }
    if exchange.request_size:
        kind = header(shown.request_headers, "content-type")
        data: Har = {"mimeType": kind, "text": shown.request_body or ""}
        if shown.request_body is None:
            data["comment"] = "The body is not text, or not kept any more."
        elif kind.startswith("application/x-www-form-urlencoded"):
            data["params"] = _named(parse_qsl(shown.request_body, keep_blank_values=True))
        request["postData"] = data
    return request


def _response(exchange: Exchange, shown: RedactedExchange) -> Har:
    body = exchange.response_body
    content: Har = {
        "size": len(body) if body is not None else exchange.size or 0,
        "mimeType": exchange.mime_type or "x-unknown",
    }
    if shown.response_body is not None:
        content["text"] = shown.response_body
    elif exchange.status is not None:
        content["comment"] = "The body is not text, or was not to be had any more."
    return {
        # A request that has had no answer has status 0.
        "status": exchange.status or 0,
        "statusText": exchange.status_text,
        "httpVersion": exchange.http_version or "unknown",
        "cookies": _set_cookies(shown.response_headers),
        "headers": _named(shown.response_headers),
        "content": content,
        "redirectURL": header(shown.response_headers, "location"),
        "headersSize": UNKNOWN,
        "bodySize": exchange.size if exchange.size is not None else (0 if exchange.source else UNKNOWN),
    }


def _timings(exchange: Exchange) -> dict[str, float]:
    """Milliseconds of each phase; -1 for a phase that did not occur."""
    points = exchange.timing

    def between(start: str, end: str) -> float:
        first, last = points.get(start, -1), points.get(end, -1)
        return round(last - first, 3) if 0 <= first <= last else UNKNOWN

    first = [
        points[name]
        for name in ("domainLookupStart", "connectStart", "requestStart")
        if points.get(name, -1) >= 0
    ]
    wait = between("requestStart", "responseStart")
    whole = round((exchange.duration or 0) * 1000, 3)
    return {
        "blocked": round(min(first), 3) if first else UNKNOWN,
        "dns": between("domainLookupStart", "domainLookupEnd"),
        "connect": between("connectStart", "connectEnd"),
        "ssl": between("secureConnectionStart", "connectEnd"),
        "send": 0,
        "wait": wait if wait >= 0 else whole,
        "receive": max(0, between("responseStart", "responseEnd")) if wait >= 0 else 0,
    }


def _named(pairs: Iterable[tuple[str, str]]) -> list[Har]:
    return [{"name": name, "value": value} for name, value in pairs]


def _cookies(headers: list[tuple[str, str]]) -> list[Har]:
    pairs = [pair.partition("=") for pair in header(headers, "cookie").split(";") if "=" in pair]
    return _named((name.strip(), value.strip()) for name, _, value in pairs)


def _set_cookies(headers: list[tuple[str, str]]) -> list[Har]:
    lines = [line for name, value in headers if name.lower() == "set-cookie" for line in value.split("\n")]
    return [_set_cookie(*line.split(";")) for line in lines if "=" in line]


def _set_cookie(first: str, *attributes: str) -> Har:
    name, _, value = first.partition("=")
    cookie: Har = {"name": name.strip(), "value": value.strip()}
    for attribute in attributes:
        key, _, content = attribute.strip().partition("=")
        match key.lower():
            case "path" | "domain" as name:
                cookie[name] = content
            case "httponly" | "secure" as name:
                cookie["secure" if name == "secure" else "httpOnly"] = True
            case "expires":
                with contextlib.suppress(ValueError):
                    cookie["expires"] = parsedate_to_datetime(content).isoformat()
            case _:
                pass
    return cookie


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
