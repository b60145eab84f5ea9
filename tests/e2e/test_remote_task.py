"""run_task over HTTP: in the client's own session, and steered by its client only."""

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.support.client import ERAS, Era
from tests.support.remote import client_of, serving
from tests.support.site import Site

pytestmark = pytest.mark.parametrize("era", ERAS)


def output(**action: Any) -> dict[str, Any]:
    thoughts = {"evaluation_previous_goal": "", "memory": "", "next_goal": "go on"}
    return {"current_state": thoughts, "action": [action]}


def text(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


async def test_a_task_works_in_its_clients_session(era: Era, site: Site, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([output(done={"success": True, "text": "Seen."})]))
    flags = ("--http", "--model", f"scripted:{script}", "--tasks-dir", str(tmp_path / "tasks"))
    url = site.page("<h1>Here</h1>")
    async with serving(*flags) as server, client_of(server.url, era) as client:
        await client.list_tools()
        result = await client.call_tool("run_task", {"task": "Look.", "start_url": url})
        assert not result.is_error, text(result)
        data = result.structured_content
        assert data is not None
        handle = {"session": data["session"]} if "session" in data else {}
        state = await client.call_tool("get_state", handle)
        assert "Here" in text(state), "the tools and the agent share one browser"
        async with client_of(server.url, era) as other:
            await other.list_tools()
            begun = await other.call_tool("get_state", {})
            assert "Here" not in text(begun)
