"""Requests as an HTTP Archive (HAR 1.2), which developer tools and proxies read."""

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp_browser.browser.network.exchange import Exchange, RedactedExchange, header

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
            case "path" | "domain":
                cookie[key.lower()] = content
            case "httponly":
                cookie["httpOnly"] = True
            case "secure":
                cookie["secure"] = True
            case "expires":
                with contextlib.suppress(ValueError):
                    cookie["expires"] = parsedate_to_datetime(content).isoformat()
            case _:
                pass
    return cookie


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
