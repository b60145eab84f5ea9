"""A request with its response, and the same without secrets, with bodies as text."""

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

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

    def redacted() -> RedactedExchange:
        return RedactedExchange(
            url=redactor.url(exchange.url),
            request_headers=redactor.headers(exchange.request_headers),
            response_headers=redactor.headers(exchange.response_headers),
            request_body=None if request_body is None else redactor.body(request_body, request_type),
            response_body=None if response_body is None else redactor.body(response_body, exchange.mime_type),
            frames=tuple(
                frame.text if frame.binary else redactor.body(frame.text) for frame in exchange.frames
            ),
        )

    known = redactor.known
    first = redacted()
    # A secret found in one part may also be in a part before it.
    return first if redactor.known == known else redacted()


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
