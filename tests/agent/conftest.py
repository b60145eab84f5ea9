"""A browser for the agent's tests, and models that follow a script."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.async_api import Page

from mcp_browser.actions import default_registry
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.control import NobodyWatches
from mcp_browser.agent.model_client import ModelClient
from mcp_browser.agent.prompting.style import GuiStyle, StructuredStyle
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.record.variables import Variables
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.agent.task import Task, TaskOutcome
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.llm.messages import ChatModel, Message
from mcp_browser.llm.scripted import ScriptedModel, Speaker
from mcp_browser.settings import AgentSettings
from tests.support.agents import CONFIRMED, COUNTER, done, output
from tests.support.site import Site

__all__ = ["COUNTER", "done", "output"]


def index_of(messages: Sequence[Message], role: str, name: str) -> int:
    """The index of an element in the page that the model was shown last."""
    found = re.findall(rf'\[(\d+)\] {role} "{re.escape(name)}"', messages[-1].text)
    assert found, messages[-1].text
    return int(found[-1])


def clicking(messages: Sequence[Message], role: str, name: str) -> dict[str, Any]:
    """The action that clicks what the model was shown."""
    return {"click_element": {"index": index_of(messages, role, name)}}


def filling(messages: Sequence[Message], role: str, name: str, text: str) -> dict[str, Any]:
    """The action that types into what the model was shown."""
    return {"input_text": {"index": index_of(messages, role, name), "text": text}}


def click(role: str, name: str) -> Speaker:
    """A model's answer that clicks what it sees."""
    return lambda messages: output(clicking(messages, role, name))


def fill(role: str, name: str, text: str) -> Speaker:
    """A model's answer that types into what it sees."""
    return lambda messages: output(filling(messages, role, name, text))


def make_agent(
    session: BrowserSession, model: ChatModel | list[Any], task: Task | str = "Do it.", **parts: Any
) -> AgentRun:
    """An agent with a model, or with a script of one, whose judge then confirms what it claims.

    `parts` are those of its task, its models and its run, and its settings.
    """
    given = Task.model_fields.keys() & parts.keys() - {"secrets"}
    if not isinstance(parts.get("judge"), bool):
        given -= {"judge"}
    fields = {name: parts.pop(name) for name in given}
    task = Task(text=task, **fields) if isinstance(task, str) else task
    run = {name: parts.pop(name) for name in ("secrets", "watcher", "state") if name in parts}
    folder, registry, history = (parts.pop(name, None) for name in ("folder", "registry", "history"))
    fallback, judge = parts.pop("fallback", None), parts.pop("judge", None)
    if isinstance(model, list):
        model = ScriptedModel(model)
        judge = judge or (ScriptedModel([CONFIRMED]) if task.judge is None else None)
    return AgentRun(
        history=history or AgentHistory(id="t", task=task),
        controller=Controller(registry or default_registry(), session.settings),
        session=session,
        model_client=ModelClient(model=model, fallback=fallback, first_wait=0.01),
        style=StructuredStyle() if task.style == "structured" else GuiStyle(scale="thousandths"),
        settings=AgentSettings.model_validate(parts),
        judge_client=ModelClient(model=judge) if judge is not None else None,
        folder=TaskFolder(folder) if folder else None,
        **run,
    )


class Stage:
    """A session and a site, and agents that work there."""

    def __init__(self, session: BrowserSession, site: Site) -> None:
        self.session = session
        self.site = site

    @property
    def page(self) -> Page:
        return self.session.current_tab.page

    def agent(
        self, model: ChatModel | list[Any], task: Task | str = "Do it.", *, page: str = "", **parts: Any
    ) -> AgentRun:
        """An agent whose first page is this one of the site."""
        start = {"start_url": self.site.page(page)} if page else {}
        return make_agent(self.session, model, task, **start, **parts)

    async def run(
        self, model: ChatModel | list[Any], task: Task | str = "Do it.", **parts: Any
    ) -> tuple[AgentRun, TaskOutcome]:
        """An agent that has worked, and what it has come to."""
        agent = self.agent(model, task, **parts)
        return agent, await agent.run()

    def replay(self, recorded: AgentHistory, **options: Any) -> Replay:
        return replay(self.session, recorded, **options)


@pytest.fixture
def stage(session: BrowserSession, site: Site) -> Stage:
    return Stage(session, site)


class Person(NobodyWatches):
    """A person who answers every question the same; `asked` is what they were asked."""

    def __init__(self, answer: str | None = None) -> None:
        self._answer = answer
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        self.asked.append((question, choices))
        return self._answer


def kept(name: str, value: str, *hosts: str) -> Secrets:
    """One secret, for these hosts."""
    return Secrets({name: Secret.model_validate({"value": value, "origins": hosts or ("127.0.0.1",)})})


class Silent:
    """A model that never answers; `asked` tells that it was asked."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def __call__(self, _messages: Sequence[Message]) -> Any:
        self.asked.set()
        return await asyncio.Future()


async def cancel(running: "asyncio.Task[Any]") -> None:
    """Cancel a run, which ends with that."""
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


def replay(session: BrowserSession, recorded: AgentHistory, **options: Any) -> Replay:
    """A replay of a history in this session."""
    variables = Variables(recorded, options.pop("variables", {}))
    return Replay(
        recorded=recorded,
        history=AgentHistory(id="again", task=recorded.task, replay_of=recorded.id),
        controller=Controller(default_registry(), session.settings),
        session=session,
        variables=variables,
        **options,
    )


def told(agent: AgentRun, request: int) -> str:
    """All texts of a request to the scripted model of an agent, counted from 0."""
    return "\n".join(message.text for message in script(agent).requests[request])


def script(agent: AgentRun) -> ScriptedModel:
    """The scripted model of an agent."""
    assert isinstance(agent.model_client.model, ScriptedModel)
    return agent.model_client.model


def offered(agent: AgentRun, request: int) -> set[str]:
    """The actions in the form of a request."""
    form = script(agent).forms[request]
    assert form is not None
    return {*form.json_schema["properties"]["action"]["items"]["properties"]}
