"""MCP's tasks extension: run_task is answered with a handle, and asked for from then on."""

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.extension import NotificationBinding
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict

from mcp_browser.server.principals import Principal
from mcp_browser.server.tasks import EXTENSION, TaskNotification
from tests.actions.conftest import folders, manager, session, shared_session
from tests.server.task_room import TaskRoom, room
from tests.support.agents import FIND, WAIT, done, output, text, until
from tests.support.long_calls import LongCallsExtension, ask, begun, ended, state_in

pytestmark = pytest.mark.slow

__all__ = ["folders", "manager", "room", "session", "shared_session"]

QUESTION = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})


async def elicit(_context: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
    """Declares that the client can ask its person; long calls ask in their own way."""
    raise AssertionError("the question comes with the state of the call")


def client_of(room: TaskRoom, **options: Any) -> Client:
    return Client(room.server, extensions=[LongCallsExtension()], **options)


async def test_a_call_is_answered_at_once_and_ends_with_its_result(room: TaskRoom) -> None:
    room.desk.follow(done("Found."))
    async with client_of(room) as client:
        assert client.server_capabilities is not None
        assert client.server_capabilities.extensions == {EXTENSION: {}}
        handle = await begun(client, task="Look.")
        assert handle.status == "working"
        state = await ended(client.session, handle.task_id)
        result = types.CallToolResult.model_validate(state["result"])
        assert text(result).startswith("Found.")
        assert state["createdAt"] <= state["lastUpdatedAt"]
        assert state["createdAt"].endswith("Z")
        assert state["ttlMs"] >= 3_600_000
        assert state["pollIntervalMs"] == 1000
        await ask(client.session, "tasks/cancel", handle.task_id)
        assert (await ask(client.session, "tasks/get", handle.task_id))["status"] == "completed"


async def test_what_is_not_done_is_completed_with_an_error(room: TaskRoom) -> None:
    room.desk.follow(done("It is sold out.", success=False))
    async with client_of(room) as client:
        handle = await begun(client, task="Buy it.")
        state = await ended(client.session, handle.task_id)
        assert state["status"] == "completed"
        assert state["result"]["isError"]


async def test_a_question_is_answered_by_its_key(room: TaskRoom) -> None:
    room.desk.follow(QUESTION, done("Red."))
    async with client_of(room, elicitation_callback=elicit) as client:
        handle = await begun(client, task="Choose.")
        state = await state_in(client.session, handle.task_id, "input_required")
        ((key, asked),) = state["inputRequests"].items()
        assert asked["method"] == "elicitation/create"
        assert asked["params"]["message"] == "Which colour?"
        answer = {"action": "accept", "content": {"answer": "Red"}}
        await ask(client.session, "tasks/update", handle.task_id, inputResponses={"nothing": answer})
        assert (await ask(client.session, "tasks/get", handle.task_id))["status"] == "input_required"
        await ask(client.session, "tasks/update", handle.task_id, inputResponses={key: answer})
        state = await ended(client.session, handle.task_id)
        assert state["status"] == "completed"
        assert "Red" in (room.desk.tasks / handle.task_id / "state.json").read_text()


async def test_instructions_answer_a_question_too(room: TaskRoom) -> None:
    room.desk.follow(QUESTION, done("Red."))
    async with client_of(room, elicitation_callback=elicit) as client:
        handle = await begun(client, task="Choose.")
        await state_in(client.session, handle.task_id, "input_required")
        await client.call_tool("add_instructions", {"task_id": handle.task_id, "text": "Take the red one."})
        state = await ended(client.session, handle.task_id)
        assert state["result"]["structuredContent"]["answer"] == "Red."
        assert "Take the red one." in (room.desk.tasks / handle.task_id / "state.json").read_text()


async def test_a_cancelled_call_stops_within_a_second(room: TaskRoom) -> None:
    room.desk.follow(WAIT)
    async with client_of(room) as client:
        handle = await begun(client, task="Wait.")
        async with asyncio.timeout(2):
            acknowledged = await ask(client.session, "tasks/cancel", handle.task_id)
            assert acknowledged.keys() <= {"resultType", "_meta"}
            state = await ended(client.session, handle.task_id)
        assert state["status"] == "cancelled"
        assert not state.keys() & {"result", "error", "inputRequests"}


async def test_what_goes_on_is_another_call(room: TaskRoom) -> None:
    room.desk.follow(QUESTION, done("Red."))
    async with client_of(room) as client:
        first = await begun(client, task="Choose.")
        state = await ended(client.session, first.task_id)
        assert state["result"]["structuredContent"]["status"] == "needs_person"
        second = await begun(client, task="Red.", task_id=first.task_id)
        assert second.task_id != first.task_id
        assert (await ended(client.session, second.task_id))["result"]["structuredContent"][
            "answer"
        ] == "Red."
        assert (await ask(client.session, "tasks/get", first.task_id))["result"] == state["result"]


async def test_a_stream_tells_how_a_call_stands_until_it_ends(room: TaskRoom) -> None:
    room.desk.follow(FIND, FIND, done("Found."))
    told: list[dict[str, Any]] = []
    acknowledged: list[Any] = []

    async def hear(message: Any) -> None:
        if isinstance(message, types.SubscriptionsAcknowledgedNotification):
            acknowledged.append(message)

    async def state(params: Any) -> None:
        told.append(params.model_dump(exclude_none=True, by_alias=True))

    class Following(LongCallsExtension):
        def notifications(self) -> Any:
            return [binding_of(state)]

    async with Client(room.server, extensions=[Following()], message_handler=hear) as client:
        handle = await begun(client, task="Look.")
        wanted = types.SubscriptionFilter.model_validate({"taskIds": [handle.task_id, "nothing"]})
        request = types.SubscriptionsListenRequest(
            params=types.SubscriptionsListenRequestParams(notifications=wanted)
        )
        listening = asyncio.create_task(client.session.send_request(request, types.SubscriptionsListenResult))
        await until(lambda: told and told[-1]["status"] == "completed")
        listening.cancel()
        assert told[-1]["result"]["structuredContent"]["answer"] == "Found."
        assert {state["taskId"] for state in told} == {handle.task_id}


class Params(types.NotificationParams):
    """Whatever comes."""

    model_config = ConfigDict(extra="allow")


def binding_of(handler: Any) -> Any:
    """Hands the extension's notifications to `handler`."""
    method = TaskNotification.model_fields["method"].default
    return NotificationBinding(method=method, params_type=Params, handler=handler)


async def code_of(work: Any) -> int:
    with pytest.raises(MCPError) as refused:
        await work
    return refused.value.code


async def test_what_cannot_be_asked_is_an_error_of_the_protocol(room: TaskRoom) -> None:
    room.desk.follow(done("Found."))
    async with client_of(room) as client:
        handle = await begun(client, task="Look.")
        assert await code_of(ask(client.session, "tasks/get", "nothing")) == types.INVALID_PARAMS
        assert await code_of(ask(client.session, "tasks/cancel", "nothing")) == types.INVALID_PARAMS
    async with Client(room.server) as other:
        missing = types.MISSING_REQUIRED_CLIENT_CAPABILITY
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert await code_of(ask(other.session, method, handle.task_id)) == missing
        result = await other.call_tool("run_task", {"task": "Look."})
        assert text(result).startswith("Found."), "others wait for the result"
    async with Client(room.server, mode="legacy") as legacy:
        assert await code_of(ask(legacy.session, "tasks/get", handle.task_id)) == types.METHOD_NOT_FOUND
    assert await room.agent.find_call(handle.task_id, Principal(name="alice", id="alice")) is None


async def test_a_call_of_an_earlier_server_has_ended(room: TaskRoom) -> None:
    room.desk.follow(FIND, WAIT)
    async with client_of(room) as client:
        handle = await begun(client, task="Look.")
        await until(lambda: room.desk.history(handle.task_id).get("steps"))
    await room.agent.close()
    later = TaskRoom(room.manager, room.session, room.desk)
    later.desk.follow(done("Found."))
    async with client_of(later) as client:
        state = await ask(client.session, "tasks/get", handle.task_id)
        assert state["status"] == "completed"
        assert state["result"]["isError"]
        assert state["result"]["structuredContent"]["status"] == "interrupted"
        again = await begun(client, task="Go on.", task_id=handle.task_id)
        assert again.task_id != handle.task_id
        state = await ended(client.session, again.task_id)
        assert state["result"]["structuredContent"]["answer"] == "Found."
    await later.agent.close()
