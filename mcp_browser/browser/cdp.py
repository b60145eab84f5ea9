"""The Chrome DevTools Protocol, with types."""

from typing import Any, cast

from playwright.async_api import CDPSession


async def send(cdp: CDPSession, method: str, **parameters: Any) -> dict[str, Any]:
    """The answer to a command; raises Playwright's Error where it fails."""
    return cast("dict[str, Any]", await cdp.send(method, parameters))  # pyright: ignore[reportUnknownMemberType] (untyped)
