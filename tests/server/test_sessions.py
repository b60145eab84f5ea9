"""The browser sessions of remote clients, without a browser."""

from types import SimpleNamespace
from typing import Any

import pytest

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import LimitReached, UnknownSession
from mcp_browser.server.principals import Principal, SettingsOf
from mcp_browser.server.resources import SessionFiles
from mcp_browser.server.sessions import remote
from mcp_browser.server.sessions.remote import UNUSED_KEPT, RemoteSessions
from mcp_browser.settings import SessionSettings, Settings
from tests.support.principals import request_of

REQUEST: Any = SimpleNamespace(request=None)  # Of the modern protocol, which has no sessions of its own
ALICE, BOB, CAROL = (Principal(name=name, id=name) for name in ("alice", "bob", "carol"))


async def call(sessions: RemoteSessions, principal: Principal, handle: str | None = None) -> str:
    """Call once, in the session of that handle or in a new one; the session's handle."""
    async with sessions.lease(REQUEST, principal, handle) as lease:
        return str(lease.handle)


async def test_few_sessions_stay_that_no_call_has_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "UNUSED_SECONDS", 0)
    manager = BrowserManager(Settings())
    sessions = RemoteSessions(manager, SettingsOf(manager.settings))
    named = await call(sessions, ALICE)
    await call(sessions, ALICE, named)
    bobs = await call(sessions, BOB)
    unnamed = [await call(sessions, ALICE) for _ in range(UNUSED_KEPT + 2)]
    for handle in unnamed[:2]:
        with pytest.raises(UnknownSession, match="no call had named it"):
            sessions.find(handle, ALICE)
    for handle in (named, *unnamed[2:]):
        assert sessions.find(handle, ALICE)
    assert sessions.find(bobs, BOB)
    await sessions.stop(0)
    await manager.close()


async def test_room_is_made_of_sessions_that_no_call_has_named(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = SessionSettings(max_sessions=3, max_sessions_per_client=2)
    manager = BrowserManager(Settings(sessions=limits))
    sessions = RemoteSessions(manager, SettingsOf(manager.settings))
    named = await call(sessions, ALICE)
    await call(sessions, ALICE, named)
    unnamed, newer = await call(sessions, ALICE), await call(sessions, ALICE)
    with pytest.raises(UnknownSession, match="closed to make room"):
        sessions.find(unnamed, ALICE)
    await call(sessions, BOB)
    with pytest.raises(LimitReached, match="as many as this server allows"):
        await call(sessions, CAROL)
    monkeypatch.setattr(remote, "UNUSED_SECONDS", 0)
    await call(sessions, CAROL)
    with pytest.raises(UnknownSession, match="closed to make room"):
        sessions.find(newer, ALICE)
    assert sessions.find(named, ALICE)
    await sessions.stop(0)
    await manager.close()


async def test_who_has_a_session_hears_that_its_files_end_with_it() -> None:
    manager = BrowserManager(Settings(), remote=True)
    sessions = RemoteSessions(manager, SettingsOf(manager.settings))
    files = SessionFiles(manager, sessions)
    heard: list[tuple[str, str, bool]] = []

    def hear(principal: Principal) -> None:
        files.listen(request_of(principal), lambda uri, listed: heard.append((principal.name, uri, listed)))

    hear(ALICE)
    hear(BOB)
    held = await sessions.open(ALICE)
    file = await held.session.artifacts.add(b"x", "a.txt")
    await sessions.end(held, "The session was closed.")
    assert heard == [("alice", file.uri, True)] * 2
    assert files.listed(request_of(ALICE)) == []
    assert not sessions.may_read(ALICE, held.session)
    await manager.close()
