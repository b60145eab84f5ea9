"""The calls by which a page of the view within a chat asks for what is new."""

import asyncio
import json
from typing import Any

import mcp_types as types
import pytest

from mcp_browser.browser.screencast import Frame
from mcp_browser.server.limits import fit
from mcp_browser.server.view import app
from mcp_browser.server.view.app import _PolledTransport
from mcp_browser.server.view.journal import LONGEST_RESULT, MOST_CALLS
from mcp_browser.server.view.viewer import TransportClosed


def frame(data: bytes) -> Frame:
    return Frame(data, 0, 1280, 720)


async def test_a_page_gets_what_is_new_once_and_of_frames_the_newest() -> None:
    line = _PolledTransport()
    assert await line.poll(wait=False) == ([], None)
    await line.send({"type": "call"})
    await line.send_frame(frame(b"old"))
    await line.send_frame(frame(b"new"))
    assert await line.poll(wait=True) == ([{"type": "call"}], frame(b"new"))
    # Whoever asks again has drawn both.
    asking = asyncio.create_task(line.poll(wait=True))
    assert [await line.receive(), await line.receive()] == ['{"type": "drawn"}'] * 2
    line.put("of the page")
    assert await line.receive() == "of the page"
    assert not asking.done()
    await line.send({"type": "told"})
    assert await asking == ([{"type": "told"}], None)


async def test_an_answer_stays_within_what_a_result_may_be() -> None:
    line = _PolledTransport()
    calls = [
        {"type": "call", "number": number, "result": "日" * LONGEST_RESULT} for number in range(MOST_CALLS)
    ]
    for call in calls:
        await line.send(call)
    came: list[dict[str, Any]] = []
    while len(came) < len(calls):
        news, _ = await line.poll(wait=True)
        result = types.CallToolResult(content=[types.TextContent(text=json.dumps(news))])
        # Text that is cut would be no JSON.
        assert await fit(result, None) == result
        came += news
    assert came == calls


async def test_a_page_that_asks_no_more_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SILENT_SECONDS", 0.05)
    line = _PolledTransport()
    asking = asyncio.create_task(line.poll(wait=True))
    listening = asyncio.create_task(line.receive())
    await asyncio.sleep(0.2)
    assert not listening.done()
    await line.send({"type": "told"})
    await asking
    with pytest.raises(TransportClosed):
        await asyncio.wait_for(listening, 30)


async def test_a_page_that_takes_nothing_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MOST_NEWS", 2)
    line = _PolledTransport()
    await line.send({"type": "told"})
    await line.send({"type": "told"})
    with pytest.raises(TransportClosed):
        await line.send({"type": "told"})


async def test_an_end_is_told_to_the_page() -> None:
    line = _PolledTransport()
    await line.close(4401, "Your token counts no more.")
    assert await line.poll(wait=True) == ([{"type": "told", "text": "Your token counts no more."}], None)
    with pytest.raises(TransportClosed):
        await line.receive()
