"""A person who fills in the pages that a server asks on."""

from dataclasses import dataclass

import httpx2


@dataclass(frozen=True)
class Page:
    status: int
    text: str
    headers: dict[str, str]  # By their names in lower case


async def get(url: str) -> Page:
    return await _sent("GET", url)


async def post(url: str, **fields: str) -> Page:
    """Send a filled-in form, as a browser does."""
    return await _sent("POST", url, fields, {"Origin": "/".join(url.split("/", 3)[:3])})


async def _sent(
    method: str, url: str, fields: dict[str, str] | None = None, headers: dict[str, str] | None = None
) -> Page:
    async with httpx2.AsyncClient(timeout=20, follow_redirects=True) as client:
        answer = await client.request(method, url, data=fields, headers=headers)
    return Page(answer.status_code, answer.text, dict(answer.headers))
