"""What a run is made of."""

from pathlib import Path
from typing import Any, cast

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.agent.task import Task
from mcp_browser.errors import InvalidArguments, NotActionable
from mcp_browser.llm.scripted import ScriptedModel
from mcp_browser.server.agent.factory import Model, RunMaker
from mcp_browser.server.agent.tools import RunTaskParams
from mcp_browser.server.ask import Mailbox
from mcp_browser.settings import AgentSettings, Settings


@pytest.fixture
def maker(tmp_path: Path) -> RunMaker:
    """One that writes below a folder of its own."""
    settings = Settings(agent=AgentSettings(tasks_dir=tmp_path))
    return RunMaker(settings, default_registry(), lambda _run, _name: None)


def test_a_task_is_offered_the_actions_that_it_names_and_no_others(maker: RunMaker) -> None:
    task = Task(text="Click.", allowed_actions=("click_element", "call_user"))
    assert [action.name for action in maker._controller(task).registry] == ["click_element"]


def test_a_start_outside_the_tasks_domains_is_refused_before_a_run_begins(maker: RunMaker) -> None:
    params = RunTaskParams.model_validate(
        {"task": "Do.", "start_url": "https://other.org/", "allowed_domains": ["example.com"]}
    )
    nothing = cast("Any", None)
    with pytest.raises(InvalidArguments, match=r"start_url: .*outside"):
        maker.new(nothing, nothing, params, Model(ScriptedModel(["Hm."]), None, Mailbox()))


async def test_a_script_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    settings = Settings(
        agent=AgentSettings(tasks_dir=tmp_path, model=f"scripted:{tmp_path / 'missing.json'}")
    )
    maker = RunMaker(settings, default_registry(), lambda _run, _name: None)
    with pytest.raises(NotActionable, match=r"missing\.json"):
        await maker.model(cast("Any", None), None, attended=True)
