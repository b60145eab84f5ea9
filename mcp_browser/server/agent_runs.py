"""Starting runs of the agent, waiting for them with the client, steering them: the work behind the tools."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import anyio.to_thread
import mcp_types as types
from platformdirs import user_state_path

from mcp_browser.actions.agent import DONE
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.registry import Registry
from mcp_browser.agent.agent import Agent
from mcp_browser.agent.asking import Asker
from mcp_browser.agent.control import Progress
from mcp_browser.agent.gui_style import GuiStyle
from mcp_browser.agent.history import AgentHistory, TaskFolder, new_task_id
from mcp_browser.agent.secrets import Secrets, load_secrets
from mcp_browser.agent.styles import PlannerStyle, StructuredStyle
from mcp_browser.agent.task import Budget, Task, TaskOutcome, TaskStatus
from mcp_browser.controller import Controller
from mcp_browser.errors import InvalidArguments, ModelError, NotActionable
from mcp_browser.llm.model import ChatModel
from mcp_browser.server.agent_tools import GetTaskParams, InstructParams, RunTaskParams, TaskParams
from mcp_browser.server.ask import Mailbox, capabilities, is_modern
from mcp_browser.server.calls import Answer, Call, NeedInput, SessionSource
from mcp_browser.server.runs import Run, Runs
from mcp_browser.server.sampling import ClientModel
from mcp_browser.settings import Settings

HOW_TO_SET_UP = (
    "No model is set up for run_task. Start the server with --model provider:name and the provider's key in "
    "its usual variable (for example --model anthropic:claude-sonnet-4-5 with ANTHROPIC_API_KEY, after "
    "pip install 'mcp-browser[agent]'), with --model-url for a server of your own that speaks OpenAI's "
    "protocol, or use a client that offers sampling. The other tools work without a model."
)

STRUCTURED_EXCLUDED = ("screenshot",)
"""Actions that make no sense for an agent which sees the page at each step anyway."""


SCRIPTED = "scripted:"
"""Begins the name of a model that follows a script in a file."""


class AgentRuns:
    """Starts and steers the runs of one server."""

    def __init__(self, settings: Settings, sessions: SessionSource, registry: Registry) -> None:
        """Let agents use the actions of `registry`."""
        self._settings = settings
        self._sessions = sessions
        self._registry = registry
        self._secrets: Secrets | None = None
        self.runs = Runs()

    # -- the tools

    async def run_task(self, call: Call, params: RunTaskParams) -> Answer:
        """Let the built-in agent do a whole task in this browser, and report."""
        if call.params.request_state is not None:
            # The call of a client that comes back with the answers it was asked for.
            run = self.runs.get(call.params.request_state, call.principal)
            run.mailbox.deliver(call.params.input_responses)
            return await self._attend(call, run)
        run = await self._start(call, params)
        if not params.wait:
            return _answer(run)
        return await self._attend(call, run)

    async def get_task(self, call: Call, params: GetTaskParams) -> Answer:
        """Tell how a task stands, and its result once it has ended."""
        run = self.runs.get(params.task_id, call.principal)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(params.wait_seconds):
                while run.is_working:
                    await run.news()
        return _answer(run)

    async def pause_task(self, call: Call, params: TaskParams) -> Answer:
        """Hold a task before its next step."""
        run = self._working(call, params)
        run.agent.control.pause()
        return _told(run, "It pauses before its next step; resume_task lets it go on.")

    async def resume_task(self, call: Call, params: TaskParams) -> Answer:
        """Let a paused task go on."""
        run = self.runs.get(params.task_id, call.principal)
        run.agent.control.resume()
        if not run.is_working:
            self._go_on(call, run)
        return _told(run, "It goes on.")

    async def stop_task(self, call: Call, params: TaskParams) -> Answer:
        """End a task with what it has reached."""
        run = self._working(call, params)
        await run.cancel()
        return _answer(run)

    async def add_instructions(self, call: Call, params: InstructParams) -> Answer:
        """Tell a task something; it goes on where it waited for that."""
        run = self.runs.get(params.task_id, call.principal)
        if run.status.is_final:
            raise NotActionable(f"The task has ended ({run.status.value}).", hint="Start another one.")
        run.agent.control.instruct(params.text)
        if not run.is_working:
            self._go_on(call, run)
        return _told(run, "It is told before its next step.")

    # -- starting

    async def close(self) -> None:
        """End what still runs."""
        await self.runs.close()

    async def _start(self, call: Call, params: RunTaskParams) -> Run:
        mailbox = Mailbox()
        settings = self._settings.agent
        try:
            model = await self._model(call, params, mailbox)
            fallback = await self._provider(settings.fallback_model) if settings.fallback_model else None
        except ModelError as error:
            raise NotActionable(str(error)) from error
        if params.max_cost is not None and not model.info.priced:
            raise InvalidArguments(
                f"The price of {model.info.name} is not known, so max_cost cannot be kept.",
                hint="Limit max_tokens instead.",
            )
        task = self._task(params)
        style: PlannerStyle = GuiStyle(settings.gui_scale) if task.style == "gui" else StructuredStyle()
        registry = self._actions(task)
        history = AgentHistory(id=new_task_id(), task=task, model=model.info.name)
        run = Run(
            agent=Agent(
                task=task,
                history=history,
                controller=Controller(registry, self._settings),
                session=call.session,
                asker=Asker(model=model, fallback=fallback, seconds=settings.model_timeout),
                style=style,
                settings=settings,
                secrets=self._all_secrets().only(task.secrets),
                folder=TaskFolder(self._folder / history.id),
            ),
            principal=call.principal,
            mailbox=mailbox,
        )
        run.agent.watcher = _Client(run, asks=bool(capabilities(call.request).elicitation))
        self.runs.add(run)
        self._go_on(call, run)
        return run

    def _go_on(self, call: Call, run: Run) -> None:
        handle = call.lease.handle if call.lease is not None else None
        request, principal = call.request, run.principal
        run.begin(lambda: self._sessions.lease(request, principal, handle))

    def _task(self, params: RunTaskParams) -> Task:
        settings = self._settings.agent
        return Task(
            text=params.task,
            start_url=params.start_url,
            context=params.context,
            budget=Budget(
                steps=params.max_steps or settings.max_steps,
                seconds=params.max_seconds,
                tokens=params.max_tokens,
                cost=params.max_cost,
            ),
            vision=params.vision,
            style=params.style,
            allowed_domains=tuple(params.allowed_domains),
            allowed_actions=tuple(params.allowed_actions),
            secrets=tuple(params.secrets),
            output_schema=params.output_schema,
            judge=params.judge,
            planner_interval=params.planner_interval,
        )

    def _actions(self, task: Task) -> Registry:
        """The actions that a task may use."""
        registry = self._registry
        if task.style == "gui":
            registry = default_registry().only({"core", "mouse"})
        if unknown := [name for name in task.allowed_actions if name not in registry and name != DONE]:
            known = ", ".join(action.name for action in registry)
            raise InvalidArguments(f"There is no action {unknown[0]!r}.", hint=f"Actions: {known}.")
        if task.allowed_actions:
            needed = {*task.allowed_actions, "get_state", "go_back", "close_tab", "go_to_url"}
            registry = registry.without(action.name for action in registry if action.name not in needed)
        return registry

    async def _model(self, call: Call, params: RunTaskParams, mailbox: Mailbox) -> ChatModel:
        if params.model is not None and params.model.startswith(SCRIPTED):
            # A script is a file of the server's, which its clients have no business with.
            raise InvalidArguments("A scripted model can only be set up where the server is started.")
        name = params.model or self._settings.agent.model
        if name is not None:
            return await self._provider(name)
        sampling = capabilities(call.request).sampling
        if sampling is None:
            raise ModelError(HOW_TO_SET_UP)
        if not params.wait:
            raise ModelError(
                "The client's own model can only be asked while the call waits.", hint="Use wait=true."
            )
        return ClientModel(mailbox, takes_tools=sampling.tools is not None)

    async def _provider(self, name: str) -> ChatModel:
        # Imported late: models bring many packages along.
        from mcp_browser.llm.providers import provider_model  # noqa: PLC0415
        from mcp_browser.llm.scripted import load_script  # noqa: PLC0415

        settings = self._settings.agent
        if name.startswith(SCRIPTED):
            return await anyio.to_thread.run_sync(load_script, Path(name.removeprefix(SCRIPTED)))
        return await provider_model(
            name,
            base_url=settings.model_url,
            mode=settings.model_output,
            context_window=settings.model_window if name == settings.model else None,
            temperature=settings.model_temperature,
        )

    def _all_secrets(self) -> Secrets:
        if self._secrets is None:
            path = self._settings.agent.secrets
            self._secrets = load_secrets(path) if path is not None else Secrets()
        return self._secrets

    @property
    def _folder(self) -> Path:
        return self._settings.agent.tasks_dir or user_state_path("mcp-browser") / "tasks"

    def _working(self, call: Call, params: TaskParams) -> Run:
        run = self.runs.get(params.task_id, call.principal)
        if not run.is_working:
            raise NotActionable(
                f"The task has ended ({run.status.value}).", hint="get_task tells its result."
            )
        return run

    # -- waiting with the client

    async def _attend(self, call: Call, run: Run) -> Answer:
        """Wait for the end of a run; tell its progress, and pass its questions to the client."""
        try:
            async with run.attend():
                while run.is_working:
                    if run.mailbox.waiting:
                        if is_modern(call.request):
                            raise NeedInput(
                                types.InputRequiredResult(
                                    input_requests=dict(run.mailbox.requests()), request_state=run.id
                                )
                            )
                        await run.mailbox.pass_on(call.request)
                        continue
                    await run.news()
                    await _report(call, run)
        except asyncio.CancelledError:
            await asyncio.shield(run.cancel())
            raise
        return _answer(run)


class _Client:
    """The watcher of a run whose person is behind an MCP client."""

    def __init__(self, run: Run, *, asks: bool) -> None:
        self._run = run
        self._asks = asks

    async def progressed(self, progress: Progress) -> None:
        self._run.told(progress)

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        if not self._asks or not self._run.attended:
            return None
        answer: dict[str, Any] = {"type": "string", "title": "Answer"}
        if choices:
            answer["enum"] = list(choices)
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        params = types.ElicitRequestFormParams(message=question, requested_schema=schema)
        response = await self._run.mailbox.ask(types.ElicitRequest(params=params))
        if not isinstance(response, types.ElicitResult) or response.action != "accept":
            return None
        return str((response.content or {}).get("answer", ""))


async def _report(call: Call, run: Run) -> None:
    progress = run.progress
    if progress is not None:
        await call.request.session.report_progress(progress.step, progress.steps, str(progress))


def _told(run: Run, text: str) -> types.CallToolResult:
    data = {"task_id": run.id, "status": run.status.value}
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=data)


def _answer(run: Run) -> types.CallToolResult:
    """How a run stands, as a result; an error where it has ended without success."""
    outcome = run.outcome or run.agent.outcome()
    waits = run.is_working or run.status in (TaskStatus.PAUSED, TaskStatus.WORKING)
    lines = _lines(run, outcome, waits=waits)
    if run.failure:
        lines.insert(0, run.failure)
    return types.CallToolResult(
        content=[types.TextContent(text="\n".join(lines))],
        structured_content={"task_id": run.id, **outcome.model_dump(mode="json", exclude={"id"})},
        is_error=not waits and not outcome.succeeded,
    )


def _lines(run: Run, outcome: TaskOutcome, *, waits: bool) -> list[str]:
    said = outcome.status.value.replace("_", " ")
    lines: list[str] = []
    if outcome.succeeded:
        lines.append(outcome.answer or "Done.")
    elif waits:
        lines.append(f"Task {run.id} is {said}. {run.progress or ''}".rstrip())
        lines.append("get_task tells how it stands; pause_task, stop_task and add_instructions steer it.")
    else:
        lines.append(f"The task is not done ({said}): {outcome.obstacle or 'no reason is known'}")
        if outcome.answer:
            lines.append(f"What it reported: {outcome.answer}")
        if outcome.status is TaskStatus.NEEDS_PERSON:
            lines.append(f'Answer with add_instructions(task_id="{run.id}", text=…); it then goes on.')
    for error in outcome.errors[-3:]:
        lines.append(f"Error on the way: {error.splitlines()[0][:300]}")
    lines.append(f"{outcome.steps} steps, {outcome.usage}, {outcome.seconds:.0f} s. Task {run.id}.")
    return lines
