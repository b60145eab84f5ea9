"""Two tasks in one session: one works at a time."""

import pytest
from mcp import Client

from tests.actions.conftest import folders, manager, session, shared_session
from tests.server.task_room import TaskRoom, room
from tests.support.agents import FIND, WAIT, data, done, text
from tests.support.site import Site

pytestmark = pytest.mark.slow

__all__ = ["folders", "manager", "room", "session", "shared_session"]


async def test_a_second_task_waits_for_the_first_or_is_refused(room: TaskRoom, site: Site) -> None:
    room.desk.follow(WAIT)
    begun = {"task": "Look.", "start_url": site.page("<h1>First</h1>"), "wait": False}
    async with Client(room.server) as client:
        first = data(await client.call_tool("run_task", begun))["task_id"]
        refused = await client.call_tool("run_task", {"task": "Look.", "if_busy": "refuse"})
        assert refused.is_error
        assert f"Task {first} works in this session." in text(refused)
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
