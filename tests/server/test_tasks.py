"""Tasks in one server: their turns in a session, their files, and MCP's tasks extension."""

import asyncio
import json
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.extension import NotificationBinding
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from pydantic import ConfigDict

from mcp_browser.errors import NotFound
from mcp_browser.server.principals import Principal
from mcp_browser.server.tasks import EXTENSION, TaskNotification
from tests.server.task_room import TaskRoom, room
from tests.support.agents import FIND, WAIT, data, done, output, refused, text, until
from tests.support.client import ERAS, Era
from tests.support.long_calls import LongCallsExtension, ask, begun, ended, state_in
from tests.support.principals import request_of
from tests.support.site import Site

pytestmark = pytest.mark.slow

__all__ = ["room"]


async def test_a_second_task_waits_for_the_first_or_is_refused(room: TaskRoom, site: Site) -> None:
    room.desk.follow(WAIT)
    begun = {"task": "Look.", "start_url": site.page("<h1>First</h1>"), "wait": False}
    async with Client(room.server) as client:
        first = data(await client.call_tool("run_task", begun))["task_id"]
        told = await refused(client, "run_task", {"task": "Look.", "if_busy": "refuse"})
        assert f"Task {first} works in this session." in told
        room.desk.follow(FIND, done("Seen."))
        url = site.page("<h1>Second</h1><button>More</button>")
        second = await client.call_tool("run_task", {"task": "Look.", "start_url": url, "wait": False})
        task = {"task_id": data(second)["task_id"]}
        waits = await client.call_tool("get_task", task)
        while "wait for task" not in text(waits):
            waits = await client.call_tool("get_task", {**task, "wait_seconds": 0.1})
        assert first in text(waits)
        assert room.session.current_tab.url != url, "it has not begun"
        await client.call_tool("stop_task", {"task_id": first})
        ended = await client.call_tool("get_task", {**task, "wait_seconds": 60})
        assert text(ended).startswith("Seen."), text(ended)
        assert room.session.current_tab.url == url


async def test_a_second_task_works_in_tabs_of_its_own_beside_the_first(room: TaskRoom, site: Site) -> None:
    room.desk.follow(WAIT)
    first_page = site.page("<h1>First</h1><script>document.cookie = 'login=ann'</script>")
    begun = {"task": "Look.", "start_url": first_page, "wait": False}
    async with Client(room.server) as client:
        first = {"task_id": data(await client.call_tool("run_task", begun))["task_id"]}
        while not room.session.tabs or room.session.current_tab.url != first_page:
            await client.call_tool("get_task", {**first, "wait_seconds": 0.1})
        await room.session.current_tab.page.wait_for_function("document.cookie")
        click = output({"click_element": {"index": 1}})
        room.desk.follow(click, output({"get_state": {}}), done("Seen."))
        new = site.page("<h1>New</h1><script>history.replaceState(0, '', '?' + document.cookie)</script>")
        url = site.page(f"<a target=_blank href='{new}'>More</a>")
        before = list(room.session.tabs)
        task = {"task": "Look.", "start_url": url, "if_busy": "own_tabs"}
        second = await client.call_tool("run_task", task)
        assert "works in tabs of its own" in text(second)
        assert "Seen." in text(second)
        assert "session" not in data(second)
        assert any(visited.endswith("?login=ann") for visited in data(second)["urls"])
        assert list(room.session.tabs) == before
        assert room.session.current_tab.url == first_page
        own = room.manager.sessions[-1]
        assert own is not room.session
        while own.open_context is not None:
            await client.call_tool("get_task", {**first, "wait_seconds": 0.05})
        assert "working" in text(await client.call_tool("get_task", first))
        await client.call_tool("stop_task", first)


@pytest.fixture(autouse=True)
def _found(room: TaskRoom) -> None:  # pyright: ignore[reportUnusedFunction] - pytest uses it
    room.desk.follow(output({"wait_for": {"seconds": 0.01}}), done("Found."))


async def ran(client: Client) -> types.CallToolResult:
    return await client.call_tool("run_task", {"task": "Look.", "start_url": "about:blank", "vision": True})


@pytest.mark.parametrize("era", ERAS)
async def test_a_task_leaves_its_history_its_report_and_its_pictures(room: TaskRoom, era: Era) -> None:
    async with Client(room.server, mode=era) as client:
        result = await ran(client)
        assert text(result).startswith("Found.")
        folder = f"browser://tasks/{data(result)['task_id']}"
        assert data(result)["history"] == f"{folder}/history.json"
        listed = {file.name: file for file in (await client.list_resources()).resources}
        written = ["history.json", "report.html", "script.py"]
        assert list(listed) == [*written, "step-001.jpg", "step-002.jpg", "step-end.jpg"]
        links = [str(part.uri) for part in result.content if isinstance(part, types.ResourceLink)]
        assert links == [f"{folder}/{name}" for name in written]
        for name, file in listed.items():
            assert str(file.uri) == f"{folder}/{name}"
            (contents,) = (await client.read_resource(str(file.uri))).contents
            assert contents.mime_type == file.mime_type
            assert isinstance(contents, types.BlobResourceContents) == (file.mime_type == "image/jpeg")
        (history,) = (await client.read_resource(links[0])).contents
        assert isinstance(history, types.TextResourceContents)
        assert json.loads(history.text)["status"] == "succeeded"
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert templates == ["browser://tasks/{id}/{name}{?offset,length}"]


async def test_what_is_the_servers_own_is_not_read(room: TaskRoom) -> None:
    names = ["state.json", "run.json", ".lock", "..", "../x", "%2e%2e%2f%2e%2e%2fscript.json", "no.json", ""]
    async with Client(room.server) as client:
        task = data(await ran(client))["task_id"]
        for name in (*names, "a" * 5000, "%00", "%F0%9F%98%80" * 100):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(f"browser://tasks/{task}/{name}")
            assert refused.value.code == types.INVALID_PARAMS, name


async def test_another_client_neither_sees_nor_reads_them(room: TaskRoom) -> None:
    async with Client(room.server) as client:
        task = data(await ran(client))["task_id"]
        room.source.owned = False
        assert (await client.list_resources()).resources == [], "it is another connection's"
    other = request_of(Principal(name="alice", id="alice"))
    assert room.agent.files.listed(other) == []
    with pytest.raises(NotFound):
        await room.agent.files.read(other, f"browser://tasks/{task}/history.json")


async def test_clients_hear_when_a_file_of_theirs_comes_or_changes(room: TaskRoom) -> None:
    async with Client(room.server, mode="auto") as client:
        first = data(await ran(client))["task_id"]
        uri = f"browser://tasks/{first}/history.json"
        room.desk.follow(done("Again."))
        with anyio.fail_after(20):
            async with client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as changes:
                await ran(client)
                assert await anext(changes) == ResourcesListChanged()
        room.desk.follow(FIND)
        with anyio.fail_after(20):
            task = await client.call_tool("run_task", {"task": "Look on and on.", "wait": False})
            uri = data(task)["history"]
            async with client.listen(resource_subscriptions=[uri]) as changes:
                assert await anext(changes) == ResourceUpdated(uri)


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
        assert (state["ttlMs"] >= 3_600_000, state["pollIntervalMs"]) == (True, 1000)
        await ask(client.session, "tasks/cancel", handle.task_id)
        assert (await ask(client.session, "tasks/get", handle.task_id))["status"] == "completed"


async def test_a_question_is_answered_by_its_key_and_what_is_not_done_is_an_error(
    room: TaskRoom,
) -> None:
    room.desk.follow(QUESTION, done("It is sold out.", success=False))
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
        assert state["result"]["isError"]
        assert "not done (failed): It is sold out." in state["result"]["content"][0]["text"]
        assert "Red" in (room.desk.tasks / handle.task_id / "state.json").read_text()


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
        answered = (await ended(client.session, second.task_id))["result"]["structuredContent"]
        assert answered["answer"] == "Red."
        assert (await ask(client.session, "tasks/get", first.task_id))["result"] == state["result"]


async def test_a_stream_tells_how_a_call_stands_until_it_ends(room: TaskRoom) -> None:
    room.desk.follow(FIND, FIND, done("Found."))
    told: list[dict[str, Any]] = []

    async def state(params: Any) -> None:
        told.append(params.model_dump(exclude_none=True, by_alias=True))

    class Following(LongCallsExtension):
        def notifications(self) -> Any:
            method = TaskNotification.model_fields["method"].default
            return [NotificationBinding(method=method, params_type=Params, handler=state)]

    async with Client(room.server, extensions=[Following()]) as client:
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
