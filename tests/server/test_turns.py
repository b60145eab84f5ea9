"""Two tasks in one session: one works at a time, or each in tabs of its own."""

import pytest
from mcp import Client

from tests.actions.conftest import folders, manager, session, shared_session
from tests.server.task_room import TaskRoom, room
from tests.support.agents import FIND, WAIT, data, done, output, refused, text
from tests.support.site import Site

pytestmark = pytest.mark.slow

__all__ = ["folders", "manager", "room", "session", "shared_session"]


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
