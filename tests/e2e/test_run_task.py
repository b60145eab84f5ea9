"""run_task as a client meets it, over stdio: a scripted model, the client's own, and none."""

import asyncio
import base64
import json
import os
import re
import signal
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client

from mcp_browser.server.tool_groups import AGENT_TOOLS
from tests.support.agents import COUNTER, FIND, WAIT, Desk, data, done, names, output, text, until, verdict
from tests.support.agents import refused as refusal
from tests.support.client import MODERN_FIRST, Era
from tests.support.site import Site

VALUE = "correct horse battery"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Where the agent of the client's server works."""
    desk = Desk(tmp_path_factory.mktemp("agent"))
    desk.follow(done("Nothing was to be done."))
    return desk


@pytest.fixture(scope="module", params=MODERN_FIRST)
async def client(request: pytest.FixtureRequest, desk: Desk) -> AsyncGenerator[Client]:
    """A client of either era that can be asked nothing."""
    async with desk.client(request.param) as client:
        yield client


@pytest.fixture
def fresh(tmp_path: Path) -> Desk:
    """A desk for a server of one test."""
    return Desk(tmp_path)


def noting() -> tuple[list[str], Any]:
    """The messages of a call's progress, and the callback that notes them."""
    told: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is None or progress <= total
        told.append(message or "")

    return told, note


@pytest.mark.smoke
async def test_a_task_is_done_in_the_same_browser(client: Client, desk: Desk, site: Site) -> None:
    url = site.page(COUNTER)
    desk.follow(FIND, done("There is a button."))
    told, note = noting()
    arguments = {"task": "Is there a button?", "start_url": url}
    result = await client.call_tool("run_task", arguments, progress_callback=note)
    assert not result.is_error, text(result)
    assert text(result).startswith("There is a button.")
    found = data(result)
    wanted = {"status": "succeeded", "answer": "There is a button.", "urls": [url], "steps": 2}
    assert wanted.items() <= found.items()
    assert any("find the button" in line and url in line for line in told)
    state = await client.call_tool("get_state", {})
    assert "Count 0" in text(state), "the tools and the agent share one browser"
    assert desk.history(found["task_id"])["status"] == "succeeded"


async def test_a_task_can_be_started_and_asked_for(client: Client, desk: Desk, site: Site) -> None:
    assert set(AGENT_TOOLS) <= names((await client.list_tools()).tools)
    desk.follow(FIND, done("Ready."))
    arguments = {"task": "Look.", "start_url": site.page(COUNTER), "wait": False}
    started = await client.call_tool("run_task", arguments)
    assert not started.is_error
    task = {"task_id": data(started)["task_id"]}
    result = await client.call_tool("get_task", {**task, "wait_seconds": 30})
    assert text(result).startswith("Ready."), text(result)
    for tool in ("get_task", "resume_task", "stop_task"):
        assert "no task" in await refusal(client, tool, {"task_id": "../nothing"})
    for tool, told in {"pause_task": "not run", "resume_task": "has ended", "stop_task": "not run"}.items():
        assert told in await refusal(client, tool, task)


async def test_a_task_is_paused_told_resumed_stopped_resumed(client: Client, desk: Desk, site: Site) -> None:
    desk.follow(FIND)
    arguments = {"task": "Look for ever.", "start_url": site.page(COUNTER), "wait": False}
    started = await client.call_tool("run_task", arguments)
    task = {"task_id": data(started)["task_id"]}
    await client.call_tool("pause_task", task)

    async def status() -> str:
        return data(await client.call_tool("get_task", task))["status"]

    async with asyncio.timeout(40):
        while await status() != "paused":
            pass
        assert not (await client.call_tool("add_instructions", {**task, "text": "Hurry."})).is_error
        await client.call_tool("resume_task", task)
        while await status() == "paused":
            pass
    await client.call_tool("pause_task", task)
    stopped = await client.call_tool("stop_task", task)
    assert data(stopped)["status"] == "stopped"
    assert not (await client.call_tool("get_state", {})).is_error
    await client.call_tool("resume_task", task)
    ended = await client.call_tool("get_task", {**task, "wait_seconds": 30})
    assert data(ended)["status"] == "stuck", "it has gone on to its end"


async def test_a_cancelled_call_ends_the_task_not_the_browser(client: Client, desk: Desk, site: Site) -> None:
    desk.follow(WAIT)
    url, seen, before = site.page(COUNTER), len(site.requests), set(desk.tasks.iterdir())
    calling = asyncio.create_task(client.call_tool("run_task", {"task": "Wait.", "start_url": url}))
    await until(lambda: len(site.requests) > seen)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    (task,) = set(desk.tasks.iterdir()) - before
    await until(lambda: desk.history(task.name).get("status") == "cancelled")
    again = await client.call_tool("go_to_url", {"url": url})
    assert "Count 0" in text(again)


async def test_a_question_nobody_can_answer_is_told_and_answered_later(client: Client, desk: Desk) -> None:
    desk.follow(output({"call_user": {"question": "What is the code?"}}), done("In."))
    result = await client.call_tool("run_task", {"task": "Log in."})
    assert result.is_error
    assert text(result).startswith("The task is not done (needs person): What is the code?")
    task = {"task_id": data(result)["task_id"]}
    await client.call_tool("add_instructions", {**task, "text": "It is 1234."})
    ended = await client.call_tool("get_task", {**task, "wait_seconds": 30})
    assert text(ended).startswith("In."), text(ended)
    assert "It is 1234." in (desk.tasks / task["task_id"] / "state.json").read_text()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "task"),
    ({"task": ""}, "task"),
    ({"task": "x", "allowed_actions": ["fly"]}, "fly"),
    ({"task": "x", "secrets": ["pin"]}, "pin"),
    ({"task": "x", "output_schema": {"type": "nothing"}}, "JSON schema"),
    ({"task": "x", "model": "nobody:nothing"}, "nobody"),
    ({"task": "x", "model": "scripted:/etc/passwd"}, "where the server is started"),
    ({"task": "x", "task_id": "nothing"}, "no task"),
    ({"task": "x", "task_id": "nothing", "max_steps": 9}, "max_steps cannot be given with task_id"),
    ({"task": "x", "task_id": "nothing", "output_schema": {}}, "output_schema cannot be given"),
    ({"task": "x", "max_cost": 1}, "so max_cost cannot be kept"),
]


async def test_wrong_arguments_are_told(client: Client) -> None:
    for arguments, told in WRONG:
        assert told in await refusal(client, "run_task", arguments)


# -- with clients, and servers, of their own


async def test_by_default_it_says_at_once_how_to_set_a_model_up(fresh: Desk) -> None:
    async with fresh.client("auto", "--tasks-dir", str(fresh.tasks)) as client:
        tools = (await client.list_tools()).tools
        assert names(tools) & set(AGENT_TOOLS) == {"run_task"}
        wire = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        assert len(json.dumps(wire, separators=(",", ":"))) < 14_000
        assert "--model" in await refusal(client, "run_task", {"task": "Do."})
        assert "--tools core,agent" in await refusal(client, "run_task", {"task": "Do.", "wait": False})


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_the_clients_own_model_and_its_person_are_asked(fresh: Desk, era: Era, site: Site) -> None:
    asked: list[types.CreateMessageRequestParams] = []
    questions: list[str] = []

    async def sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        asked.append(params)
        answer = done("Counted.")
        if "You judge" in (params.system_prompt or ""):
            answer = verdict(("The button was clicked once.", True))
        elif len(asked) == 1:
            answer = output({"call_user": {"question": "How often?", "choices": ["Once", "Twice"]}})
        elif len(asked) == 2:
            assert "The person answered: Once" in params.model_dump_json()
            last = params.messages[-1].content_as_list[-1]
            assert isinstance(last, types.TextContent)
            (index,) = re.findall(r'\[(\d+)\] button "More"', last.text)
            answer = output({"click_element": {"index": int(index)}})
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text=json.dumps(answer)), model="mine"
        )

    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "Once"})

    flags = ["--tasks-dir", str(fresh.tasks)]
    callbacks: dict[str, Any] = {"sampling_callback": sample, "elicitation_callback": elicit}
    async with fresh.client(era, *flags, **callbacks) as client:
        result = await client.call_tool("run_task", {"task": "Count.", "start_url": site.page(COUNTER)})
        assert not result.is_error, text(result)
        assert text(result).startswith("Counted.")
        assert questions == ["How often?"]
        assert "JSON schema" in (asked[0].system_prompt or "")
        assert "Count 1" in text(await client.call_tool("get_state", {}))


@pytest.mark.slow
async def test_a_task_of_a_killed_server_goes_on_in_another_one(fresh: Desk, site: Site) -> None:
    fresh.follow(FIND, WAIT)
    url = site.page(COUNTER)
    async with fresh.client("auto") as client:
        arguments = {"task": "Look.", "start_url": url, "wait": False}
        task = {"task_id": data(await client.call_tool("run_task", arguments))["task_id"]}
        await until(lambda: fresh.history(task["task_id"]).get("steps"))
        os.kill(fresh.pid, signal.SIGKILL)
    seen = len(site.requests)
    fresh.follow(done("Found."))
    async with fresh.client("auto") as client:
        left = await client.call_tool("get_task", task)
        assert data(left)["status"] == "interrupted"
        assert "resume_task" in text(left)
        resumed = await client.call_tool("resume_task", task)
        assert not resumed.is_error, text(resumed)
        assert "new indexes" in text(resumed)
        ended = await client.call_tool("get_task", {**task, "wait_seconds": 30})
        assert text(ended).startswith("Found."), text(ended)
        assert len(site.requests) > seen, "its page was opened again"
        steps = fresh.history(task["task_id"])["steps"]
        goals = [step["brain"]["next_goal"] for step in steps]
        assert (goals[0], goals[-1]) == ("find the button", "report"), "both servers' steps are there"
        assert [step["number"] for step in steps] == list(range(1, data(ended)["steps"] + 1)), steps
        assert "Count 0" in text(await client.call_tool("get_state", {}))
        told = (fresh.tasks / task["task_id"] / "state.json").read_text()
        assert f"the page {url} was opened again" in told


async def test_a_task_is_done_again_without_a_model(client: Client, desk: Desk, site: Site) -> None:
    url = site.page(COUNTER, path="/counted")
    shown = text(await client.call_tool("go_to_url", {"url": url}))
    (index,) = re.findall(r'\[(\d+)\] button "More"', shown)
    desk.follow(output({"click_element": {"index": int(index)}}, goal="count"), done("Counted."))
    recorded = data(await client.call_tool("run_task", {"task": "Count."}))["task_id"]
    told, note = noting()
    site.page(COUNTER.replace("<button", "<p><button id=more"), path="/counted")
    again = await client.call_tool("replay_task", {"task_id": recorded}, progress_callback=note)
    assert not again.is_error, text(again)
    assert data(again)["data"]["replay_of"] == recorded
    (departure,) = data(again)["data"]["departures"]
    assert departure.startswith('click_element: button "More" was found by its role and name, as [')
    assert departure in text(again)
    assert any("count" in line for line in told)
    assert "Count 1" in text(await client.call_tool("get_state", {}))
    history = await client.read_resource(f"browser://tasks/{recorded}/history.json")
    (content,) = history.contents
    assert isinstance(content, types.TextResourceContents)
    site.page("Closed", path="/counted")
    given = f"data:application/json;base64,{base64.b64encode(content.text.encode()).decode()}"
    failed = await client.call_tool("replay_task", {"history": given, "element_seconds": 0.1})
    assert failed.is_error
    assert 'Nothing on the page is like button "More".' in text(failed)
    replay = data(failed)["task_id"]
    assert desk.history(replay)["replay_of"] == recorded
    assert (desk.tasks / replay / "report.html").exists()
    for tool in ("resume_task", "add_instructions"):
        arguments = {"task_id": replay} | ({"text": "More."} if tool == "add_instructions" else {})
        assert "replay" in text(await client.call_tool(tool, arguments))


async def test_what_cannot_be_replayed_is_told(client: Client, desk: Desk) -> None:
    desk.tasks.mkdir(exist_ok=True)
    before = set(desk.tasks.iterdir())
    for arguments, why in [
        ({}, "either task_id or history"),
        ({"task_id": "no-such-task"}, "There is no task"),
        ({"history": "data:,nothing"}, "holds no history"),
        ({"history": "/etc/passwd"}, "not in a folder that files may be uploaded from"),
        ({"history": "browser://tasks/no-such-task/history.json"}, "There is no task"),
    ]:
        result = await client.call_tool("replay_task", arguments)
        assert result.is_error
        assert why in text(result), arguments
    assert set(desk.tasks.iterdir()) == before


SECRET_QUESTION = output({"call_user": {"question": "Your password?", "secret": "login"}})
LOGIN = "<label>Password <input id=word autofocus></label>"
TYPED = output({"send_keys": {"keys": "Tab"}}, {"send_keys": {"keys": "<secret>login</secret>"}})


@pytest.mark.parametrize("era", MODERN_FIRST)
async def test_a_secret_is_given_on_the_servers_page_or_not_at_all(fresh: Desk, era: Era, site: Site) -> None:
    fresh.follow(SECRET_QUESTION, TYPED, done("In."))
    urls: list[str] = []
    visits: list[asyncio.Task[httpx2.Response]] = []
    completed: list[Any] = []
    declines: list[bool] = []

    async def give(url: str) -> httpx2.Response:
        async with httpx2.AsyncClient(headers={"Origin": url.rpartition("/ask/")[0]}) as http:
            return await http.post(url, data={"answer": VALUE})

    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestURLParams), "never a form of the client's"
        if declines:
            return types.ElicitResult(action="decline")
        urls.append(params.url)
        # The browser is another program than the client, whose question may be withdrawn once it is answered.
        visits.append(asyncio.create_task(give(params.url)))
        return types.ElicitResult(action="accept")

    async def hear(message: Any) -> None:
        if isinstance(message, types.ElicitCompleteNotification):
            completed.append(message.params.elicitation_id)

    async with fresh.client(era, elicitation_callback=elicit, message_handler=hear) as client:
        result = await client.call_tool("run_task", {"task": "Log in.", "start_url": site.page(LOGIN)})
        assert data(result)["answer"] == "In.", text(result)
        assert len(completed) == (era == "legacy")
        state = await client.call_tool("get_state", {})
        for told in (result.model_dump_json(), state.model_dump_json(), (await visits[0]).text):
            assert VALUE not in told
        for file in fresh.tasks.rglob("*.*"):
            assert VALUE.encode() not in file.read_bytes()
        (url,) = urls
        assert len(url.rpartition("/")[2]) == 32, "192 bits of chance"
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(url)
        declines.append(True)
        result = await client.call_tool("run_task", {"task": "Log in.", "start_url": site.page(LOGIN)})
        assert data(result)["status"] == "needs_person"
        assert "--secrets" in text(result)
