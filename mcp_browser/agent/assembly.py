"""Make a run from its task and the settings: its models, style and actions."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.catalog import default_registry, read_only
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.several import DO_ACTIONS
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.executor import Domains
from mcp_browser.agent.model_client import ModelClient
from mcp_browser.agent.prompting.style import GuiStyle, PlannerStyle, StructuredStyle
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.task import Task, TaskStatus
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, InvalidArguments, NoModel, NotActionable
from mcp_browser.llm.messages import ChatModel, ModelInfo
from mcp_browser.llm.scripted import load_script
from mcp_browser.settings import AgentSettings, Settings, ToolSettings

SCRIPTED = "scripted:"  # Begins the name of a model that follows a script in a file
CAN_GO_ON = frozenset({TaskStatus.CANCELLED, TaskStatus.STOPPED})
"""Ends after which a run can go on all the same: it was not done, and nothing spoke against it."""

ALWAYS = (DONE, CALL_USER)  # What every agent may do


@dataclass(frozen=True, slots=True)
class RunModels:
    """The models of a run: `judge` checks its claims, by default `model` itself."""

    model: ChatModel
    fallback: ChatModel | None = None
    judge: ChatModel | None = None


def agent_run(
    history: AgentHistory, models: RunModels, registry: Registry, settings: Settings, **parts: Any
) -> AgentRun:
    """Make a run of the task in `history`; `parts` are its others. Raises InvalidArguments."""
    task, seconds, judge = history.task, settings.agent.model_timeout, models.judge
    model = models.model.info
    style: PlannerStyle = StructuredStyle(window=model.context_window)
    if task.style == "gui":
        style = GuiStyle(settings.agent.gui_scale, model=model.name)
    return AgentRun(
        history=history,
        controller=Controller(actions_for(task, registry, settings.tools), settings),
        model_client=ModelClient(model=models.model, fallback=models.fallback, seconds=seconds),
        judge_client=ModelClient(model=judge, seconds=seconds) if judge is not None else None,
        style=style,
        settings=settings.agent,
        **parts,
    )


async def with_settings_models(model: ChatModel, settings: AgentSettings, *, judge: Any = None) -> RunModels:
    """A model with the fallback and the judge, by default the settings'; raises as `chat_model` does."""
    others = [
        await chat_model(name, settings) if name else None
        for name in (settings.fallback_model, judge or settings.judge_model)
    ]
    return RunModels(model, *others)


async def chat_model(name: Any, settings: AgentSettings) -> ChatModel:
    """The model of that name: `provider:name`, `scripted:FILE`, or one at the settings' own address.

    A `ChatModel` is returned as it is; a model of pydantic-ai's is wrapped. Raises SettingsError if a script
    cannot be read, or the name or the address is wrong; ModelError if its package is missing, or of no use.
    """
    if hasattr(name, "ask") and hasattr(name, "info"):
        return name
    if isinstance(name, str) and name.startswith(SCRIPTED):
        return await anyio.to_thread.run_sync(load_script, Path(name.removeprefix(SCRIPTED)))
    try:
        # A thread: the import takes a second, and the browser's other callers should not wait.
        providers = await anyio.to_thread.run_sync(importlib.import_module, "mcp_browser.llm.providers")
    except ImportError:
        raise NoModel(
            "Models need more packages.", hint="Install them: pip install 'mcp-browser-server[agent]'."
        ) from None
    if isinstance(name, str):
        return await providers.provider_model(name, settings)
    return providers.own_model(name, settings)


def actions_for(task: Task, registry: Registry, settings: ToolSettings) -> Registry:
    """The actions of `registry` that a task may use; a vision agent has its own. Raises InvalidArguments."""
    registry = registry.without((DO_ACTIONS,))  # It gives a list at each step anyway
    if task.style == "gui":
        left_out = (DO_ACTIONS, *settings.exclude_actions)
        registry = default_registry().only({"core", "mouse"}).without(left_out)
        if settings.read_only:
            registry = read_only(registry)
    if unknown := [name for name in task.allowed_actions if name not in registry and name not in ALWAYS]:
        known = ", ".join(action.name for action in registry)
        raise InvalidArguments(f"There is no action {unknown[0]!r}.", hint=f"Actions: {known}.")
    left_out = {action.name for action in registry} - {*task.allowed_actions}
    return registry.without(left_out) if task.allowed_actions else registry


def actions_of(recorded: AgentHistory, registry: Registry, settings: ToolSettings) -> Registry:
    """The actions to replay a recording: a person may do more than is offered. Raises InvalidArguments."""
    registry = actions_for(recorded.task, registry, settings)
    if recorded.model:
        return registry
    done = {one.call.name for one in recorded.actions()} - {one.name for one in registry}
    known = default_registry().without(settings.exclude_actions)
    more = known.without([one.name for one in known if one.name not in done])
    both = Registry()
    for part in (registry, read_only(more) if settings.read_only else more):
        both.include(part)
    return both


def check_task(task: Task, model: ModelInfo, settings: Settings) -> None:
    """Raise InvalidArguments for a first page outside the domains, or a limit of an unknown cost."""
    if task.budget.cost is not None and not model.priced:
        raise InvalidArguments(
            f"The price of {model.name} is not known, so max_cost cannot be kept.",
            hint="Limit max_tokens instead.",
        )
    try:
        if task.start_url is not None:
            Domains(task.allowed_domains).check(task.start_url, settings)
    except ActionError as error:
        raise InvalidArguments(f"start_url: {error}") from error


def check_not_ended(status: TaskStatus) -> None:
    """Raise NotActionable if a run has ended for good."""
    if status.is_final and status not in CAN_GO_ON:
        raise NotActionable(f"The task has ended ({status.value}).", hint="Start another one.")
