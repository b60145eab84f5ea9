"""run_task as a client meets it, over stdio: a scripted model, the client's own, and none."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.support.client import ERAS, Era
from tests.support.site import Site

COUNTER = """<button onclick="out.textContent = 'Count ' + ++n">More</button><p id=out>Count 0</p>
<script>let n = 0</script>"""

pytestmark = pytest.mark.parametrize("era", ERAS)


def output(*actions: dict[str, Any], goal: str = "go on") -> dict[str, Any]:
    thoughts = {"evaluation_previous_goal": "", "memory": "", "next_goal": goal}
    return {"current_state": thoughts, "action": list(actions)}


def done(text: str, *, success: bool = True) -> dict[str, Any]:
    return output({"done": {"success": success, "text": text}}, goal="report")


FIND = output({"find_elements": {"text": "More"}}, goal="find the button")


@asynccontextmanager
async def connected(
    era: Era, folder: Path, script: list[Any] | None = None, *flags: str, **callbacks: Any
) -> AsyncGenerator[Client]:
    """A client of a server whose agent follows a script."""
    options = ["--tasks-dir", str(folder / "tasks"), *flags]
    if script is None:
        options += ["--tools", "core,agent"]
    else:
        (folder / "script.json").write_text(json.dumps(script))
        options += ["--model", f"scripted:{folder / 'script.json'}"]
    command = ["-m", "mcp_browser", "--stdio", "--headless", "--isolated", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MCP_BROWSER_")}
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)
    async with Client(server, mode=era, read_timeout_seconds=60, **callbacks) as client:
        yield client


def text(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


async def test_a_task_is_done_in_the_same_browser(era: Era, tmp_path: Path, site: Site) -> None:
    url = site.page(COUNTER)
    async with connected(era, tmp_path, [FIND, done("There is a button.")]) as client:
        told: list[str] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            assert total is None or progress <= total
            told.append(message or "")

        result = await client.call_tool(
            "run_task", {"task": "Is there a button?", "start_url": url}, progress_callback=note
        )
        assert not result.is_error, text(result)
        assert text(result).startswith("There is a button.")
        data = result.structured_content
        assert data is not None
        assert data["status"] == "succeeded"
        assert data["answer"] == "There is a button."
        assert data["urls"] == [url]
        assert data["steps"] == 2
        assert any("find the button" in line and url in line for line in told)
        state = await client.call_tool("get_state", {})
        assert "Count 0" in text(state), "the tools and the agent share one browser"
        history = json.loads((tmp_path / "tasks" / data["task_id"] / "history.json").read_text())
        assert history["status"] == "succeeded"


async def test_a_secret_that_a_task_has_typed_is_in_no_result(era: Era, tmp_path: Path, site: Site) -> None:
    value = "correct horse battery"
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(f'[login]\nvalue = "{value}"\ndomains = ["127.0.0.1"]\n')
    secrets.chmod(0o600)
    url = site.page("<label>Name <input id=name oninput='out.textContent = value'></label><p id=out></p>")
    typed = output({"send_keys": {"keys": "Tab"}}, {"send_keys": {"keys": "<secret>login</secret>"}})
    script = [typed, done("Typed.")]
    async with connected(era, tmp_path, script, "--secrets", str(secrets)) as client:
        arguments = {"task": "Type it.", "start_url": url, "secrets": ["login"]}
        ran = await client.call_tool("run_task", arguments)
        assert not ran.is_error, text(ran)
        for tool, given in {
            "get_state": {},
            "find_elements": {"role": "textbox"},
            "extract_content": {},
        }.items():
            result = await client.call_tool(tool, given)
            assert "login" in text(result), "its name stands there"
            assert value not in result.model_dump_json()
        for file in (tmp_path / "tasks").rglob("*.json"):
            assert value not in file.read_text()


async def test_what_is_not_done_is_an_error_that_says_why(era: Era, tmp_path: Path, site: Site) -> None:
    async with connected(era, tmp_path, [done("It is sold out.", success=False)]) as client:
        result = await client.call_tool("run_task", {"task": "Buy it.", "start_url": site.page("Sold out")})
        assert result.is_error
        assert "not done" in text(result)
        assert "It is sold out." in text(result)
        assert result.structured_content is not None
        assert result.structured_content["status"] == "failed"


async def test_a_limit_of_steps_is_an_error(era: Era, tmp_path: Path, site: Site) -> None:
    async with connected(era, tmp_path, [FIND]) as client:
        arguments = {"task": "Count.", "start_url": site.page(COUNTER), "max_steps": 2}
        result = await client.call_tool("run_task", arguments)
        assert result.is_error
        assert "2 steps" in text(result)
        assert not (await client.call_tool("get_state", {})).is_error


async def test_without_a_model_it_says_at_once_how_to_set_one_up(era: Era, tmp_path: Path) -> None:
    async with connected(era, tmp_path) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"run_task", "get_task", "pause_task", "resume_task", "stop_task", "add_instructions"} <= names
        result = await client.call_tool("run_task", {"task": "Do."})
        assert result.is_error
        assert "--model" in text(result)


async def test_a_task_can_be_started_and_asked_for(era: Era, tmp_path: Path, site: Site) -> None:
    async with connected(era, tmp_path, [FIND, done("Ready.")]) as client:
        arguments = {"task": "Look.", "start_url": site.page(COUNTER), "wait": False}
        started = await client.call_tool("run_task", arguments)
        assert not started.is_error
        assert started.structured_content is not None
        task = started.structured_content["task_id"]
        result = await client.call_tool("get_task", {"task_id": task, "wait_seconds": 30})
        assert text(result).startswith("Ready."), text(result)
        unknown = await client.call_tool("get_task", {"task_id": "nothing"})
        assert unknown.is_error


async def test_a_task_is_paused_told_resumed_and_stopped(era: Era, tmp_path: Path, site: Site) -> None:
    async with connected(era, tmp_path, [FIND]) as client:
        arguments = {"task": "Look for ever.", "start_url": site.page(COUNTER), "wait": False}
        started = await client.call_tool("run_task", arguments)
        assert started.structured_content is not None
        task = {"task_id": started.structured_content["task_id"]}
        await client.call_tool("pause_task", task)

        async def status() -> str:
            data = (await client.call_tool("get_task", task)).structured_content
            assert data is not None
            return data["status"]

        async with asyncio.timeout(20):
            while await status() != "paused":
                pass
        assert not (await client.call_tool("add_instructions", {**task, "text": "Hurry."})).is_error
        await client.call_tool("resume_task", task)
        async with asyncio.timeout(20):
            while await status() == "paused":
                pass
        stopped = await client.call_tool("stop_task", task)
        assert stopped.structured_content is not None
        assert stopped.structured_content["status"] in ("cancelled", "stuck")
        assert not (await client.call_tool("get_state", {})).is_error


async def test_a_cancelled_call_ends_the_task_and_leaves_the_browser(
    era: Era, tmp_path: Path, site: Site
) -> None:
    wait = output({"wait": {"seconds": 30}})
    async with connected(era, tmp_path, [wait]) as client:
        url, seen = site.page(COUNTER), len(site.requests)
        calling = asyncio.create_task(client.call_tool("run_task", {"task": "Wait.", "start_url": url}))
        await until(lambda: len(site.requests) > seen)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        (task,) = (tmp_path / "tasks").iterdir()
        await until(lambda: (task / "history.json").exists() and '"cancelled"' in read(task / "history.json"))
        again = await client.call_tool("go_to_url", {"url": url})
        assert "Count 0" in text(again)


async def test_the_clients_own_model_is_asked_where_no_other_is_set_up(
    era: Era, tmp_path: Path, site: Site
) -> None:
    asked: list[types.CreateMessageRequestParams] = []

    async def sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        asked.append(params)
        last = params.messages[-1].content_as_list[-1]
        assert isinstance(last, types.TextContent)
        answer = done("Counted.")
        if len(asked) == 1:
            (index,) = re.findall(r'\[(\d+)\] button "More"', last.text)
            answer = output({"click_element": {"index": int(index)}})
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text=json.dumps(answer)), model="mine"
        )

    async with connected(era, tmp_path, None, sampling_callback=sample) as client:
        result = await client.call_tool("run_task", {"task": "Count.", "start_url": site.page(COUNTER)})
        assert not result.is_error, text(result)
        assert text(result).startswith("Counted.")
        assert "JSON schema" in (asked[0].system_prompt or "")
        assert "Count 1" in text(await client.call_tool("get_state", {}))


async def test_the_person_is_asked_through_the_client(era: Era, tmp_path: Path, site: Site) -> None:
    questions: list[str] = []

    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "Red"})

    ask = output({"call_user": {"question": "Which colour?", "choices": ["Red", "Blue"]}})
    async with connected(era, tmp_path, [ask, done("Red.")], elicitation_callback=elicit) as client:
        result = await client.call_tool("run_task", {"task": "Choose."})
        assert not result.is_error, text(result)
        assert questions == ["Which colour?"]


async def test_a_question_that_nobody_can_answer_is_told_and_the_task_goes_on_when_it_is(
    era: Era, tmp_path: Path
) -> None:
    ask = output({"call_user": {"question": "What is the code?"}})
    async with connected(era, tmp_path, [ask, done("In.")]) as client:
        result = await client.call_tool("run_task", {"task": "Log in."})
        assert result.is_error
        assert "What is the code?" in text(result)
        assert result.structured_content is not None
        task = result.structured_content["task_id"]
        assert result.structured_content["status"] == "needs_person"
        await client.call_tool("add_instructions", {"task_id": task, "text": "It is 1234."})
        ended = await client.call_tool("get_task", {"task_id": task, "wait_seconds": 30})
        assert text(ended).startswith("In."), text(ended)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "task"),
    ({"task": ""}, "task"),
    ({"task": "x", "allowed_actions": ["fly"]}, "fly"),
    ({"task": "x", "secrets": ["pin"]}, "pin"),
    ({"task": "x", "output_schema": {"type": "nothing"}}, "JSON schema"),
    ({"task": "x", "model": "nobody:nothing"}, "nobody"),
    ({"task": "x", "model": "scripted:/etc/passwd"}, "where the server is started"),
]


async def test_wrong_arguments_are_told(era: Era, tmp_path: Path) -> None:
    async with connected(era, tmp_path, [FIND]) as client:
        for arguments, told in WRONG:
            result = await client.call_tool("run_task", arguments)
            assert result.is_error
            assert told in text(result)


async def until(condition: Callable[[], bool]) -> None:
    """Let others work until something is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - files have no event
            await asyncio.sleep(0.02)


def read(path: Path) -> str:
    return path.read_text()
