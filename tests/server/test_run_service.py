"""What a run is made of."""

from pathlib import Path
from typing import Any, cast

import pytest

from mcp_browser.actions import default_registry
from mcp_browser.agent.assembly import RunModels, actions_for
from mcp_browser.agent.task import Task
from mcp_browser.errors import InvalidArguments, NotActionable
from mcp_browser.llm.scripted import ScriptedModel
from mcp_browser.server.runs.client import run_models
from mcp_browser.server.runs.service import RunService
from mcp_browser.server.runs.tools import RunTaskParams
from mcp_browser.settings import AgentSettings, Settings, ToolSettings

NOTHING = cast("Any", None)


@pytest.fixture
def service(tmp_path: Path) -> RunService:
    """One that writes below a folder of its own."""
    settings = Settings(agent=AgentSettings(tasks_dir=tmp_path))
    return RunService(settings, NOTHING, default_registry(), lambda _run, _name: None, NOTHING, NOTHING)


def test_a_task_is_offered_the_actions_that_it_names_and_no_others() -> None:
    task = Task(text="Click.", allowed_actions=("click_element", "call_user"))
    offered = actions_for(task, default_registry(), ToolSettings())
    assert [action.name for action in offered] == ["click_element"]


def test_a_start_outside_the_tasks_domains_is_refused_before_a_run_begins(service: RunService) -> None:
    params = RunTaskParams.model_validate(
        {"task": "Do.", "start_url": "https://other.org/", "allowed_domains": ["example.com"]}
    )
    models = RunModels(ScriptedModel(["Hm."]))
    with pytest.raises(InvalidArguments, match=r"start_url: .*outside"):
        service._new(NOTHING, NOTHING, params, models)


async def test_a_script_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    settings = AgentSettings(tasks_dir=tmp_path, model=f"scripted:{tmp_path / 'missing.json'}")
    with pytest.raises(NotActionable, match=r"missing\.json"):
        await run_models(settings, NOTHING, None, attended=True)
