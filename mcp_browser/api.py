"""The agent for programs: it opens what it needs, and closes that again."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.assembly import (
    RunModels,
    agent_run,
    chat_model,
    check_not_ended,
    check_task,
    with_settings_models,
)
from mcp_browser.agent.control import Control, NobodyWatches, Watcher
from mcp_browser.agent.record.history import AgentHistory, StepRecord, TaskFolder, new_task_id
from mcp_browser.agent.secrets.store import Secret, Secrets, load_secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import ActionCall, Budget, Task, TaskOutcome
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.site_data import with_storage_state
from mcp_browser.errors import NoModel
from mcp_browser.llm.messages import ChatModel
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.settings import Settings

OnStep = Callable[[StepRecord], Awaitable[None] | None]

HOW_TO_NAME_ONE = 'Name one: model="anthropic:claude-sonnet-4-5", or settings with one.'


class Agent:
    """An agent for one task, in a browser session that is lent to it or of its own.

    `history` holds all that it has done, step by step; `control` pauses and stops it, and takes instructions.
    """

    def __init__(  # noqa: PLR0913 - what an agent is made of, by keyword
        self,
        task: str | Task,
        *,
        model: Any = None,
        judge: Any = None,
        start_url: str | None = None,
        output_schema: type[BaseModel] | Mapping[str, Any] | None = None,
        session: BrowserSession | None = None,
        registry: Registry | None = None,
        settings: Settings | None = None,
        secrets: Mapping[str, Secret] | None = None,
        watcher: Watcher | None = None,
        folder: Path | str | None = None,
        initial_actions: Sequence[Mapping[str, Mapping[str, Any]]] = (),
        on_step: OnStep | None = None,
    ) -> None:
        """Nothing is started yet.

        Args:
            task: what is to be done and reported; a `Task` has limits, domains and more.
            model: `provider:name`, `scripted:FILE`, a model of pydantic-ai's, or anything that is a
                `ChatModel`; by default the settings' one.
            judge: the model that checks claims, named likewise; by default the settings' one, else `model`.
            start_url: the page to begin on.
            output_schema: the form of the answer's `data`: a Pydantic model, or a JSON schema.
            session: where it works; by default a clean one of its own, closed at the end of a run.
            registry: the actions that it may use; by default those that the settings ask for.
            settings: by default those of the session.
            secrets: what it may type without reading it, by name, beside those of the settings' file that
                the task names.
            watcher: gets each step, and is asked what only a person can answer.
            folder: where the history is kept after each step, with pictures, a report and a script.
            initial_actions: done before the model is asked, such as `[{"go_to_url": {"url": "…"}}]`.
            on_step: called with each step as it is recorded, with page, actions and evidence; may be async.
        """
        settings = settings or (session.settings if session is not None else Settings())
        if isinstance(task, str):
            task = Task(text=task, budget=Budget(steps=settings.agent.max_steps))
        if start_url is not None:
            task = task.model_copy(update={"start_url": start_url})
        if output_schema is not None:
            is_model = isinstance(output_schema, type)
            schema = output_schema.model_json_schema() if is_model else dict(output_schema)
            task = task.model_copy(update={"output_schema": schema})
        self.history = AgentHistory(id=new_task_id(), task=task)
        self.control = Control()
        self._state = AgentState()
        self._model, self._judge = model, judge
        self._models: RunModels | None = None
        self._initial = [ActionCall(name=name, arguments=dict(given)) for one in initial_actions
                         for name, given in one.items()]  # fmt: skip
        self._on_step = on_step
        self._session = session
        self._worked_in: BrowserSession | None = None
        self._settings = settings
        self._registry = registry
        self._given_secrets = dict(secrets or {})
        self.watcher = watcher or NobodyWatches()
        self._folder = Path(folder) if folder is not None else None

    @classmethod
    def resume(cls, folder: Path | str, **options: Any) -> Self:
        """An agent that goes on with the run in a folder, at its next `run`; `options` as for a new one.

        Raises:
            NotFound: there is no run in it that can be read.
        """
        kept = TaskFolder.read(Path(folder))
        history = kept.history()
        agent = cls(history.task, folder=folder, **options)
        agent.history = history
        agent._state = kept.state(AgentState)
        return agent

    def lend(self, session: BrowserSession) -> None:
        """Let it work in this session, which stays open after a run."""
        self._session = session

    async def run(self, *, tell: str | None = None) -> TaskOutcome:
        """Work until the task ends, needs a person, or is cancelled; then close what was opened for it.

        A run that needs a person, or was broken off, goes on where it stood when this is called again, with
        `tell` as a further instruction.

        Raises:
            NotActionable: the task has ended.
            NoModel: there is no model.
            ActionError: there is no browser, or the task names what there is not.
        """
        history, settings = self.history, self._settings
        check_not_ended(history.status)
        models = await self.models()
        model = models.model
        check_task(history.task, model.info, settings)
        history.model = model.info.name
        if tell is not None:
            self.control.instruct(tell)
        async with contextlib.AsyncExitStack() as stack:
            session = self._session
            if session is None:
                session = BrowserSession(settings)
                state = with_storage_state(settings.browser, {}, isolated=session.isolated)
                session.context_options.update(state)
                await stack.enter_async_context(session)
            run = agent_run(
                history,
                models,
                self._registry or load_actions(settings.tools),
                settings,
                session=session,
                initial=self._initial,
                on_step=self._on_step,
                secrets=self._secrets(),
                folder=TaskFolder(self._folder) if self._folder is not None else None,
                watcher=self.watcher,
                control=self.control,
                state=self._state,
                taken_up=self._state.started and session is not self._worked_in,
            )
            self._worked_in = session
            return await run.run_and_write_up()

    async def models(self) -> RunModels:
        """The model that is asked, the fallback and the judge; raises as `chat_model` does."""
        if self._models is None:
            model = await self.chat_model()
            self._models = await with_settings_models(model, self._settings.agent, judge=self._judge)
        return self._models

    async def chat_model(self) -> ChatModel:
        """The model that is asked.

        Raises:
            ModelError: there is none, or it cannot be used.
            SettingsError: its name or its address is wrong.
        """
        named = self._model if self._model is not None else self._settings.agent.model
        if named is None:
            raise NoModel("There is no model for the agent.", hint=HOW_TO_NAME_ONE)
        settings = self._settings.agent
        if isinstance(named, str):
            # Its address, its window and the like are those of the settings.
            settings = settings.model_copy(update={"model": named})
        return await chat_model(named, settings)

    def _secrets(self) -> Secrets:
        names = self.history.task.secrets
        found = load_secrets(self._settings.agent.secrets if names else None)
        for name, secret in self._given_secrets.items():
            found.add(name, secret)
        return found.only(dict.fromkeys((*names, *self._given_secrets)))
