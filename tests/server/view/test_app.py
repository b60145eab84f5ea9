"""Whom a call lets in that shows the browser in a chat."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.actions.registry import Registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.server.principals import SettingsOf
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.server.view import app
from mcp_browser.server.view.app import KEY_META, ViewApp
from mcp_browser.server.view.journal import Journal
from mcp_browser.settings import ServerSettings, Settings
from tests.support.app_host import shows_apps
from tests.support.servers import server_of


async def called(client: Client, name: str, **arguments: Any) -> types.CallToolResult:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    return result


@asynccontextmanager
async def watched(manager: BrowserManager) -> AsyncGenerator[Client]:
    """A client whose server has sessions of many clients, and the view."""
    settings = Settings(server=ServerSettings(view=True))
    sessions = RemoteSessions(manager, SettingsOf(settings))
    view = ViewApp(SettingsOf(settings), Journal(manager))
    server = server_of(Controller(Registry(), settings), sessions, view.tools(settings))
    async with Client(server, extensions=[shows_apps()]) as client:
        yield client
    await view.close()
    await sessions.stop(1)


async def exchanged(client: Client, shown: types.CallToolResult, **more: Any) -> types.CallToolResult:
    """What a page is answered that the result has let in."""
    key = (shown.meta or {})[KEY_META]
    return await called(client, "exchange_view", view=key, page="a-name-of-its-own", **more)


async def test_many_calls_that_show_one_session_leave_room_for_others(
    manager: BrowserManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MOST_SEATS", 2)
    async with watched(manager) as client:
        shown = [await called(client, "show_browser") for _ in range(2)]
        session = (shown[1].meta or {})["mcp-browser/session"]
        shown += [await called(client, "show_browser", session=session) for _ in range(2)]
        answers = [await exchanged(client, one) for one in shown]
        assert [answer.is_error for answer in answers] == [False, True, False, False]


async def test_a_page_that_may_have_lost_answers_is_told_all_again(manager: BrowserManager) -> None:
    async with watched(manager) as client:
        shown = await called(client, "show_browser")
        told = ""
        while '"sessions"' not in told:
            told += str((await exchanged(client, shown, wait=True)).content)
        assert "opened" in told
        asking = asyncio.create_task(exchanged(client, shown, wait=True))
        await asyncio.sleep(0.1)
        again = await exchanged(client, shown, wait=True, anew=True)
        assert "opened" in str(again.content)
        # Who still waits at the connection before is answered.
        assert "opened" not in str((await asyncio.wait_for(asking, 10)).content)
