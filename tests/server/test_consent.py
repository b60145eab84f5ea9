"""What a person is asked in both eras: to consent, and questions that are settled elsewhere or withdrawn."""

import ast
import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import pytest_asyncio
from mcp import Client

import mcp_browser
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server import elicitation
from mcp_browser.server.elicitation import is_yes
from tests.server.task_room import TaskRoom
from tests.support.agents import Desk, data, done, output, refused, text
from tests.support.client import MODERN_FIRST
from tests.support.site import Site

PAGE = "<button onclick=\"this.textContent = 'Paid'\">Pay</button>"


class Room(TaskRoom):
    """A server under a policy, and a person who answers."""

    def __init__(self, manager: BrowserManager, session: BrowserSession, folder: Path) -> None:
        policy = folder / "policy.toml"
        policy.write_text('[[rule]]\nnames = ["Pay"]\n')
        super().__init__(manager, session, Desk(folder), {"tools": {"policy": policy}}, step_timeout=20)
        self.asked: list[str] = []
        self.answer = types.ElicitResult(action="accept", content={"allow": True})

    async def person(self, context: Any, params: Any) -> types.ElicitResult:
        del context
        self.asked.append(params.message)
        return self.answer

    def client(self, era: Any, *, asks: bool = True) -> Client:
        return Client(self.server, mode=era, elicitation_callback=self.person if asks else None)


async def pay_button(client: Client, site: Site, body: str = PAGE) -> int:
    """The index of the button, on a page that is opened."""
    told = text(await client.call_tool("go_to_url", {"url": site.page(body)}))
    return int(told.split('] button "Pay"')[0].rsplit("[", 1)[1])


@pytest_asyncio.fixture(loop_scope="session")
async def room(manager: BrowserManager, session: BrowserSession, tmp_path: Path) -> AsyncIterator[Room]:
    room = Room(manager, session, tmp_path)
    yield room
    await room.agent.close()


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_person_is_asked_and_their_answer_holds(room: Room, site: Site, era: str) -> None:
    async with room.client(era) as client:
        click = {"index": await pay_button(client, site)}
        for answer in (
            types.ElicitResult(action="decline"),
            types.ElicitResult(action="cancel"),
            types.ElicitResult(action="accept", content={"allow": False}),
        ):
            room.answer = answer
            assert "has not said yes; nothing was done" in await refused(client, "click_element", click)
        room.answer = types.ElicitResult(action="accept", content={"allow": True})
        clicked = await client.call_tool("click_element", click)
        assert not clicked.is_error, text(clicked)
        assert "Paid" in text(clicked)
    assert len(room.asked) == 4
    assert room.asked[0].startswith('Allow click_element on button "Pay" at http://')


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_where_nobody_can_be_asked_the_way_to_confirm_is_told(room: Room, site: Site, era: str) -> None:
    async with room.client(era, asks=False) as client:
        click = {"index": await pay_button(client, site)}
        told = await refused(client, "click_element", click)
    assert 'A person\'s yes is needed for click_element on button "Pay"' in told
    assert "elicitation" in told


async def test_an_answer_to_another_call_is_none_to_this_one(room: Room, site: Site) -> None:
    """A client that speaks for itself: states are sealed, and belong to one tool with its arguments."""
    async with room.client("auto") as client:
        first = await pay_button(client, site, PAGE + PAGE.replace(">Pay<", ">Pay twice<"))
        answers: dict[str, Any] = {"consent": {"action": "accept", "content": {"allow": True}}}

        async def ask(index: int, kind: Any, state: str | None = None) -> Any:
            params = types.CallToolRequestParams(
                name="click_element", arguments={"index": index}, input_responses=answers, request_state=state
            )
            return await client.session.send_request(types.CallToolRequest(params=params), kind)

        forged = await ask(first, types.InputRequiredResult)
        assert forged.request_state
        assert not is_yes({"action": "accept", "content": {"allow": "yes"}})
        with pytest.raises(Exception, match="requestState"):
            await ask(first + 1, types.CallToolResult, forged.request_state)


@pytest.mark.parametrize("era", MODERN_FIRST)
@pytest.mark.parametrize("says", ["Yes", "No"])
async def test_the_agent_behind_run_task_asks_too(room: Room, site: Site, era: str, says: str) -> None:
    room.answer = types.ElicitResult(action="accept", content={"answer": says})
    async with room.client(era) as client:
        index = await pay_button(client, site)
        room.desk.follow(output({"click_element": {"index": index}}), done("Ready."))
        result = await client.call_tool("run_task", {"task": "Pay."})
        assert bool(data(result)["errors"]) is (says == "No"), text(result)
        page = text(await client.call_tool("get_state", {}))
    assert len(room.asked) == 1
    assert "Allow click_element" in room.asked[0]
    assert ('"Paid"' in page) is (says == "Yes")


def test_all_input_goes_through_the_gate() -> None:
    """No module but `browser/input.py` takes hold of Playwright's mouse, keyboard or touch."""
    root = Path(mcp_browser.__file__).parent
    named = re.compile(r"\.(?:mouse|keyboard|touchscreen)\b")
    guilty = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if named.search(text := path.read_text())  # A syntax tree takes long to make
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and named.fullmatch(f".{node.attr}")
    }
    assert guilty == {"browser/input.py"}


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
    room: Room, tool: str, arguments: dict[str, Any], status: str
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
    room: Room, monkeypatch: pytest.MonkeyPatch
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
