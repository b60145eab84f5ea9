"""Questions to a client of the handshake era that are settled elsewhere, or withdrawn."""

import asyncio
import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server import elicitation
from tests.server.task_room import TaskRoom, room
from tests.support.agents import Desk, data, done, output, text

__all__ = ["room"]

QUESTION = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})


class Silent:
    """A person who never answers, and hears when the question is withdrawn."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.withdrawn = asyncio.Event()

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        del context, params
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.withdrawn.set()
        raise AssertionError


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [("add_instructions", {"text": "Take the red one."}, "succeeded"), ("stop_task", {}, "stopped")],
)
async def test_a_call_returns_when_its_question_is_settled_by_another_one(
    room: TaskRoom, tool: str, arguments: dict[str, Any], status: str
) -> None:
    room.desk.follow(QUESTION, done("Red."))
    person = Silent()
    async with asyncio.timeout(20), Client(room.server, mode="legacy", elicitation_callback=person) as client:
        calling = asyncio.create_task(client.call_tool("run_task", {"task": "Choose."}))
        await person.asked.wait()
        (task,) = (path.name for path in room.desk.tasks.iterdir())
        await client.call_tool(tool, {"task_id": task, **arguments})
        result = await calling
        assert data(result)["status"] == status, text(result)
        if tool == "add_instructions":
            assert "Take the red one." in (room.desk.tasks / task / "state.json").read_text()
        await person.withdrawn.wait()


async def test_a_call_returns_when_nobody_has_answered_in_time(
    room: TaskRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation, "PERSON_SECONDS", 0.05)
    room.desk.follow(QUESTION, done("Red."))
    person = Silent()
    async with asyncio.timeout(20), Client(room.server, mode="legacy", elicitation_callback=person) as client:
        result = await client.call_tool("run_task", {"task": "Choose."})
        assert data(result)["status"] == "needs_person"
        assert "Which colour?" in text(result)
        await person.withdrawn.wait()


async def test_the_clients_model_is_asked_again_when_it_does_not_answer_in_time(
    manager: BrowserManager, session: BrowserSession, tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    room = TaskRoom(manager, session, desk, model=None, model_timeout=0.3)
    asked = 0

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        nonlocal asked
        del context, params
        asked += 1
        if asked == 1:
            await asyncio.Event().wait()
        answer = types.TextContent(text=json.dumps(done("At last.")))
        return types.CreateMessageResult(role="assistant", content=answer, model="mine")

    async with asyncio.timeout(20), Client(room.server, mode="legacy", sampling_callback=sample) as client:
        result = await client.call_tool("run_task", {"task": "Do.", "judge": False})
        assert "What it reported: At last." in text(result), text(result)
    await room.agent.close()
