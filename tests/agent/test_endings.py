"""How a run ends, and what is left of it, when something gets in its way."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.agent.record import report
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import Budget, Task, TaskStatus
from mcp_browser.llm.messages import Message
from mcp_browser.llm.scripted import ScriptedModel
from tests.agent.conftest import COUNTER, Silent, Stage, cancel, click, clicking, done, output, script, told
from tests.support.agents import until

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


@pytest.mark.parametrize("claim", ["", ", success='false'", ", success='true'"])
async def test_a_vision_agent_over_its_budget_succeeds_where_it_says_so(stage: Stage, claim: str) -> None:
    lines = [f"Thought: t\nAction: finished(content='The login page.'{claim})"]
    agent, outcome = await stage.run(lines, page=COUNTER, style="gui", budget=Budget(steps=1))
    assert outcome.status is (TaskStatus.SUCCEEDED if "true" in claim else TaskStatus.OUT_OF_BUDGET)
    assert outcome.answer == "The login page."
    assert "success='true'" in script(agent).requests[0][-1].text


async def test_a_run_is_saved_before_its_first_step_with_what_it_is_still_to_be_told(
    stage: Stage, tmp_path: Path
) -> None:
    task = Task(text="Count.", start_url=stage.site.page(COUNTER))
    agent = stage.agent([done("Counted.")], task, folder=tmp_path)
    agent.control.pause()
    agent.instruct("Count twice.")
    running = asyncio.create_task(agent.run())
    await until((tmp_path / "state.json").exists)
    agent.instruct("And report.")
    # What a killed process leaves is what is in the folder now.
    history, state = TaskFolder(tmp_path).history(), TaskFolder(tmp_path).state(AgentState)
    await cancel(running)
    assert history.steps == []
    assert not history.status.is_final
    again = stage.agent([done("Counted.")], task, history=history, state=state)
    outcome = await again.run()
    assert (outcome.succeeded, outcome.steps) == (True, 1)
    assert all(words in told(again, 0) for words in ("Count twice.", "And report."))


async def test_a_step_that_takes_too_long_tells_what_it_has_done(stage: Stage) -> None:
    def click_and_wait(messages: Sequence[Message]) -> dict[str, Any]:
        return output(clicking(messages, "button", "More"), {"wait_for": {"seconds": 60}})

    agent, _ = await stage.run([click_and_wait, done()], page=COUNTER, step_timeout=3)
    clicked, waited = agent.history.steps[0].actions
    assert clicked.error is None
    assert "broken off" in (waited.error or "")
    broken_off = f"{waited.call}: It was broken off"
    for words in ("Clicked", broken_off, "The step failed: The step took longer than 3 s"):
        assert words in told(agent, 1)


async def test_a_judge_that_does_not_answer_is_not_waited_for_longer_than_a_step(stage: Stage) -> None:
    _, outcome = await stage.run(
        [done("None."), Silent()], page=COUNTER, judge=True, budget=Budget(steps=1), step_timeout=2
    )
    assert outcome.status is TaskStatus.UNCONFIRMED
    assert "could not be checked: that took longer than 2 s" in (outcome.obstacle or "")


async def test_a_task_that_is_too_long_for_the_model_says_so(stage: Stage) -> None:
    agent, outcome = await stage.run(ScriptedModel([done()], context_window=12_000), "word " * 50_000)
    assert outcome.status is TaskStatus.FAILED
    assert "Use a model with a larger window, or a shorter task." in (outcome.obstacle or "")
    assert len(agent.history.steps) == outcome.steps == 1
    assert agent.history.steps[0].notes == (outcome.obstacle,)


async def test_a_nudge_reaches_the_agent_though_a_plan_is_made(stage: Stage) -> None:
    page = stage.site.page("<button>Nothing</button>")
    count = click("button", "Nothing")

    def say(messages: Sequence[Message]) -> Any:
        if "You plan for an agent" in messages[0].text:
            return "Go on."
        return done() if "last step" in messages[-1].text else count(messages)

    agent, _ = await stage.run(
        ScriptedModel([say]), start_url=page, planner_interval=1, budget=Budget(steps=7)
    )
    asked = [request for request in script(agent).requests if "You plan for" not in request[0].text]
    assert any("You have done the same action for 3 steps" in request[-1].text for request in asked)


async def test_a_run_tells_its_own_files_only(stage: Stage) -> None:
    url = stage.site.page("<a href='data:text/plain,x' download=list.txt>List</a>")
    wait = output({"wait_for_download": {}})
    outcomes = [
        await stage.agent(lines, start_url=url).run()
        for lines in ([click("link", "List"), wait, done()], [done()])
    ]
    assert [len(outcome.files) for outcome in outcomes] == [1, 0]


async def test_a_stopped_run_is_no_cancelled_one_and_goes_on(stage: Stage) -> None:
    silent = Silent()
    agent = stage.agent([silent, done("Counted.")], "Count.", page=COUNTER)
    running = asyncio.create_task(agent.run())
    await silent.asked.wait()
    agent.control.stop()
    await cancel(running)
    assert agent.outcome().status is TaskStatus.STOPPED
    assert (await agent.run()).succeeded


async def test_nothing_waits_while_a_run_is_written_up(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = threading.Event()

    def slow(_history: AgentHistory, _folder: Path) -> str:
        # Only the loop can let this go on.
        assert seen.wait(20)
        return "report"

    monkeypatch.setattr(report, "render_report", slow)
    agent, _ = await stage.run([done()], folder=tmp_path)
    writing = asyncio.create_task(agent.write_up())
    await asyncio.sleep(0)
    seen.set()
    await writing
    assert (tmp_path / "report.html").read_text() == "report"
