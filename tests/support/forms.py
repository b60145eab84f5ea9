"""A person who fills in the pages that a server asks on."""

import asyncio
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    status: int
    text: str
    headers: dict[str, str]


async def get(url: str) -> Page:
    return await asyncio.to_thread(_fetch, url, None)


async def post(url: str, **fields: str) -> Page:
    """Send a filled-in form, as a browser does."""
    return await asyncio.to_thread(_fetch, url, urllib.parse.urlencode(fields).encode())


def _fetch(url: str, body: bytes | None) -> Page:
    parts = urllib.parse.urlsplit(url)
    headers = {"Origin": f"{parts.scheme}://{parts.netloc}"} if body is not None else {}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - a server of the test's own
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - likewise
            return Page(answer.status, answer.read().decode(), _lowered(answer.headers.items()))
    except urllib.error.HTTPError as error:
        return Page(error.code, error.read().decode(), _lowered(error.headers.items()))


def _lowered(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
