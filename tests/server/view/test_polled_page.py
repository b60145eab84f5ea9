"""The calls by which a page of the view within a chat asks for what is new."""

import asyncio
import json
from typing import Any

import mcp_types as types
import pytest

from mcp_browser.browser.screencast import Frame
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.view import app, viewer
from mcp_browser.server.view.app import _PolledPage
from mcp_browser.server.view.journal import LONGEST_RESULT, MOST_CALLS
from mcp_browser.server.view.takeovers import Takeovers
from mcp_browser.server.view.viewer import FRAMES_AHEAD, Viewer
from tests.support.agents import until


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
