"""The files of tasks as resources: for the client that has started the task, and for no other."""

import json

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from mcp_browser.errors import NotFound
from mcp_browser.server.principals import Principal
from tests.actions.conftest import folders, manager, session, shared_session
from tests.server.task_room import TaskRoom, room
from tests.support.agents import FIND, data, done, output, text
from tests.support.client import ERAS, Era
from tests.support.principals import request_of

pytestmark = pytest.mark.slow

__all__ = ["folders", "manager", "room", "session", "shared_session"]


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


@pytest.mark.parametrize(
    "name",
    [
        *("state.json", "run.json", ".lock", "..", "../x", "%2e%2e%2f%2e%2e%2fscript.json", "no.json", ""),
        *("a" * 5000, "%00", "%F0%9F%98%80" * 100),
    ],
)
async def test_what_is_the_servers_own_is_not_read(room: TaskRoom, name: str) -> None:
    async with Client(room.server) as client:
        task = data(await ran(client))["task_id"]
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"browser://tasks/{task}/{name}")
        assert refused.value.code == types.INVALID_PARAMS


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
