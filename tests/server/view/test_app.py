"""The server's side of the live view: whom it lets in, what a page gets, and who has taken over."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.actions.registry import Registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.screencast import Frame
from mcp_browser.controller import Controller
from mcp_browser.errors import NotActionable
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import ANONYMOUS, SettingsOf
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.server.view import app, takeovers, viewer
from mcp_browser.server.view.app import KEY_META, ViewApp, _PolledPage
from mcp_browser.server.view.journal import LONGEST_RESULT, MOST_CALLS, Journal
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.server.view.viewer import FRAMES_AHEAD, Viewer
from mcp_browser.settings import ServerSettings, Settings, ToolSettings
from tests.support.agents import until
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


@pytest.fixture
async def page() -> _PolledPage:
    """A page whose viewer sees nothing by itself."""
    nothing: Any = None
    return _PolledPage(Viewer(ANONYMOUS, list, nothing, Takeovers()))


def frame(data: bytes) -> Frame:
    return Frame(data, 0, 1280, 720)


async def test_a_page_gets_what_is_new_once_and_of_frames_the_newest(page: _PolledPage) -> None:
    assert await page.poll(wait=False) == ([], None)
    page.viewer.tell("call")
    page.viewer.frames += [frame(b"old"), frame(b"new")]
    page.viewer._undrawn = FRAMES_AHEAD
    assert await page.poll(wait=True) == ([{"type": "call"}], frame(b"new"))
    assert page.viewer._undrawn == 0, "whoever asks again has drawn those before"
    asking = asyncio.create_task(page.poll(wait=True))
    await asyncio.sleep(0.1)
    assert not asking.done()
    page.viewer.tell("told")
    assert await asking == ([{"type": "told"}], None)


async def test_an_answer_stays_within_what_a_result_may_be(page: _PolledPage) -> None:
    text = "日" * LONGEST_RESULT
    calls = [{"type": "call", "number": number, "result": text} for number in range(MOST_CALLS)]
    page.viewer.news.extend(calls)
    came: list[dict[str, Any]] = []
    while len(came) < len(calls):
        news, _ = await page.poll(wait=True)
        result = types.CallToolResult(content=[types.TextContent(text=json.dumps(news))])
        # Text that is cut would be no JSON.
        assert await fit(result, None) == result
        came += news
    assert came == calls


async def test_a_page_that_asks_no_more_has_gone(page: _PolledPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SILENT_SECONDS", 0.05)
    page.heard()
    asking = asyncio.create_task(page.poll(wait=True))
    await asyncio.sleep(0.2)
    assert page.viewer.ended is None
    page.viewer.tell("told")
    await asking
    await until(lambda: page.viewer.ended)


async def test_a_page_that_takes_nothing_has_gone(page: _PolledPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "MOST_NEWS", 2)
    page.viewer.tell("told")
    page.viewer.tell("told")
    assert page.viewer.ended is None
    page.viewer.tell("told")
    assert page.viewer.ended is not None


async def test_an_end_is_told_to_the_page_and_nothing_is_taken_after_it(page: _PolledPage) -> None:
    page.viewer.take('{"type": "nonsense"}')
    page.viewer.take('{"type": "watch", "session": "one", "viewer": "0123456789abcdef"}')
    why = "This is no message of the view: reload the page."
    assert page.viewer.ended == (4400, why)
    assert await page.poll(wait=True) == ([{"type": "told", "text": why}], None)
    assert not page.viewer.takeovers._connected


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
