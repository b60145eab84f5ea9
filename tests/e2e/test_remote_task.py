"""run_task over HTTP: in the client's own session, and steered by its client only."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.text import clean_text
from tests.e2e.test_one_channel import assert_pathless
from tests.support.agents import COUNTER, FIND, Desk, data, done, output, text
from tests.support.long_calls import LongCallsExtension
from tests.support.remote import RemoteServer, client_of, serving
from tests.support.site import Site

QUESTION = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Where the server's agent works."""
    return Desk(tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="module")
async def server(desk: Desk) -> AsyncGenerator[RemoteServer]:
    """A server for everybody."""
    async with serving("--http", *desk.flags) as server:
        yield server


def named(result: types.CallToolResult) -> dict[str, Any]:
    """The argument that names the session of a result."""
    return {"session": data(result)["session"]}


async def test_a_client_of_the_tasks_extension_asks_how_its_task_stands(
    server: RemoteServer, desk: Desk, site: Site
) -> None:
    desk.follow(FIND, QUESTION, done("Red."))
    asked: list[dict[str, Any]] = []

    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question)
        return {"action": "accept", "content": {"answer": "Red"}}

    async def elicit(_context: Any, _params: types.ElicitRequestParams) -> types.ElicitResult:
        raise AssertionError("the question comes with the state of the task")

    extension = LongCallsExtension(answer)
    async with client_of(server.url, extensions=[extension], elicitation_callback=elicit) as client:
        await client.list_tools()
        arguments = {"task": "Choose.", "start_url": site.page(COUNTER)}
        result = await client.call_tool("run_task", arguments)
        assert data(result)["answer"] == "Red."
        assert [question["params"]["message"] for question in asked] == ["Which colour?"]
        statuses = list(dict.fromkeys(state["status"] for state in extension.states))
        assert statuses == ["working", "input_required", "completed"]
        assert "New browser session" in extension.states[0]["statusMessage"]
        assert (result.meta or {})["mcp-browser/session"] == data(result)["session"]
        state = await client.call_tool("get_state", named(result))
        assert "Count 0" in text(state)


async def files_of(client: Client, result: types.CallToolResult) -> list[str]:
    """What the files hold that a task's result links to."""
    links = [block.uri for block in result.content if isinstance(block, types.ResourceLink)]
    assert links
    read = [(await client.read_resource(uri)).contents[0] for uri in links]
    return [content.text for content in read if isinstance(content, types.TextResourceContents)]


async def test_no_task_tells_where_the_server_has_its_files_or_what_nobody_sees(
    server: RemoteServer, desk: Desk, site: Site, tmp_path: Path
) -> None:
    desk.follow(output({"click_element": {"index": 1}}), done("Got it."))
    async with client_of(server.url, "legacy") as client:
        unseen = "\U000e0041\u202e"
        link = f"<a id='a{unseen}' title='{unseen}' href='/download/a.txt?text=mine'>Fi{unseen}le</a>"
        url = site.page(link, title=f"Files{unseen}")
        result = await client.call_tool("run_task", {"task": "Get the file.", "start_url": url})
        state = await client.call_tool("get_state", named(result))
        assert 'link "File"' in text(state), "the tools and the agent share one browser"
        (address,) = data(result)["files"]
        assert address.startswith("browser://")
        for told in (result.model_dump_json(), *await files_of(client, result)):
            assert_pathless(told)
            assert clean_text(told) == told

    program = tmp_path / "browser"
    program.touch(0o700)
    async with (
        serving("--http", "--executable", str(program), "--max-failures", "1", *desk.flags) as browserless,
        client_of(browserless.url, "legacy") as client,
        client_of(browserless.url, extensions=[(extension := LongCallsExtension())]) as modern,
    ):
        program.unlink()
        result = await client.call_tool("run_task", {"task": "Look."})
        assert "There is no browser at (a file of the server)" in text(result)
        again = await client.call_tool("get_task", {"task_id": data(result)["task_id"]})
        await modern.list_tools()
        await modern.call_tool("run_task", {"task": "Look."})
        states = str(extension.states)
        assert "There is no browser" in states
        for told in (
            *(result.model_dump_json(), again.model_dump_json(), states),
            *await files_of(client, result),
        ):
            assert_pathless(told)
