"""Who keeps what they have taken over in the live view."""

import asyncio

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import NotActionable
from mcp_browser.server.view import takeovers
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.settings import Settings, ToolSettings


async def test_whoever_leaves_hands_back_unless_they_come_again(
    manager: BrowserManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await manager.open_session(isolated=True)
    people = Takeovers()
    await people.take(session, "alice")
    assert people.has(session, "alice")
    assert not people.has(session, "bob")
    with pytest.raises(NotActionable, match="has taken over the browser"):
        await people.take(session, "bob")
    people.left("alice")
    people.came("alice")
    await people.hand_back(session, "bob", "I have it not")
    assert people.has(session, "alice")
    monkeypatch.setattr(takeovers, "LEFT_SECONDS", 0.01)
    people.left("alice")
    async with asyncio.timeout(30):
        await session.takeover.over()
    assert not people.has(session, "alice")
    await people.take(session, "bob")
    await people.hand_back(session, "bob", "Go on.")
    assert any("Go on." in notice for notice in session.take_notices())
    await session.close()


async def test_what_may_only_be_read_is_not_taken_over(manager: BrowserManager) -> None:
    settings = Settings(tools=ToolSettings(read_only=True))
    session = await manager.open_session(isolated=True, settings=settings)
    with pytest.raises(NotActionable, match="only be watched"):
        await Takeovers().take(session, "alice")
    await session.close()
