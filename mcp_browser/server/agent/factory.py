"""Making a run of what a call asks for, or of what an earlier server has left of one."""

import fnmatch
import logging
import time
from collections.abc import Callable, Sequence
from decimal import Decimal

import anyio.to_thread
from mcp.server.context import ServerRequestContext
from pydantic import ValidationError

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.uploads import files_to_give
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.assembly import (
    SCRIPTED,
    actions_for,
    chat_model,
    check_budget,
    check_start,
    style_for,
)
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.record.history import AgentHistory, TaskFolder, new_task_id
from mcp_browser.agent.record.variables import Variables
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.secrets.store import Secrets, load_secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import Budget, Task
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, InvalidArguments, ModelError, NotActionable, SettingsError
from mcp_browser.llm.messages import ChatModel
from mcp_browser.server.agent.running import Run
from mcp_browser.server.agent.sampling import ClientModel
from mcp_browser.server.agent.saved import (
    RECORD_FILE,
    Claim,
    RunRecord,
    SavedRun,
    SavedRuns,
    owner_of,
)
from mcp_browser.server.agent.tools import ReplayTaskParams, RunTaskParams
from mcp_browser.server.ask import Mailbox, capabilities
from mcp_browser.server.calls import Call, Lease
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)

HOW_TO_SET_UP = (
    "No model is set up for run_task. Start the server with --model provider:name and the provider's key in "
    "its usual variable (for example --model anthropic:claude-sonnet-4-5 with ANTHROPIC_API_KEY, after "
    "pip install 'mcp-browser-server[agent]'), with --model-url for a server of your own that speaks "
    "OpenAI's protocol, or use a client that offers sampling. The other tools work without a model."
)

TIDY_SECONDS = 3600.0  # How often folders of old runs are looked for


class Model:
    """A model for a run; the client's own where no other is set up."""

    def __init__(
        self, model: ChatModel, fallback: ChatModel | None, mailbox: Mailbox, judge: ChatModel | None = None
    ) -> None:
        self.model = model
        self.fallback = fallback
        self.judge = judge
        self.mailbox = mailbox

    def judge_client(self, seconds: float) -> ModelClient | None:
        """Who asks the model that judges, where one is named; `seconds` limits each answer."""
        return ModelClient(model=self.judge, seconds=seconds) if self.judge is not None else None

    @property
    def is_clients(self) -> bool:
        return isinstance(self.model, ClientModel)


class RunMaker:
    """Makes the runs of one server."""

    def __init__(self, settings: Settings, registry: Registry, wrote: Callable[[Run, str], None]) -> None:
        self._settings = settings
        self._wrote = wrote
        self._registry = registry
        self._secrets: Secrets | None = None
        self._tidy_at = 0.0
        self.saved = SavedRuns.of(settings.agent)

    async def tidy(self) -> None:
        """Delete folders of old runs, once in a while."""
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_SECONDS
        settings = self._settings.agent
        deleted = await anyio.to_thread.run_sync(
            lambda: self.saved.prune(days=settings.tasks_days, megabytes=settings.tasks_mb)
        )
        if deleted:
            logger.info("Deleted the folders of %d old tasks", len(deleted))

    def new(self, call: Call, lease: Lease, params: RunTaskParams, model: Model) -> Run:
        """A run of what a call asks for, in the session lent to it.

        Raises:
            InvalidArguments: there is no such action or secret, a limit of cost that cannot be kept, or a
                start_url outside allowed_domains.
        """
        task = self._task(params)
        check_budget(task.budget, model.model.info)
        check_start(task, self._settings)
        history = AgentHistory(id=new_task_id(), task=task, model=model.model.info.name)
        run = self._run(call, lease, model, history, AgentState())
        self._write_record(call, history, model=params.model)
        return run

    def replay(self, call: Call, lease: Lease, params: ReplayTaskParams, recorded: AgentHistory) -> Run:
        """A run that does a recorded one again, in the session lent to the call.

        Raises:
            InvalidArguments: there is no such variable or secret, or one is missing.
        """
        task = recorded.task.model_copy(update={"secrets": tuple(params.secrets)})
        history = AgentHistory(id=new_task_id(), task=task, settings=recorded.settings, replay_of=recorded.id)
        path = self.saved.folder_of(history.id)
        replay = Replay(
            recorded=recorded,
            history=history,
            controller=Controller(
                actions_for(recorded.task, self._registry, self._settings.tools), self._settings
            ),
            session=lease.session,
            variables=Variables(recorded, params.variables),
            secrets=self._secrets_of(call).only(params.secrets),
            step_pictures=self._settings.agent.step_pictures,
            element_seconds=params.element_seconds,
        )
        # Only now: what cannot be begun leaves nothing behind.
        replay.folder = TaskFolder(path, lambda name: self._wrote(run, name))
        self._write_record(call, history)
        run = Run(
            agent=replay,
            principal=call.principal,
            mailbox=Mailbox(),
            claim=Claim(path),
            handle=lease.handle,
            told=lease.told,
        )
        return run

    async def history_in(self, session: BrowserSession, file: str) -> AgentHistory:
        """The history that a file holds: one that the session may upload.

        Raises:
            ActionError: there is no such file, it may not be read, or it holds no history.
        """
        (path,) = await files_to_give(ActionContext(session=session, settings=self._settings), [file])
        content = await anyio.to_thread.run_sync(path.read_bytes)
        try:
            return AgentHistory.model_validate_json(content)
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise InvalidArguments(
                f"{path.name} holds no history of a task: {where or 'it'}: {problem['msg']}."
            ) from None

    def _write_record(self, call: Call, history: AgentHistory, *, model: str | None = None) -> None:
        record = RunRecord(owner=owner_of(call.principal), model=model)
        TaskFolder(self.saved.folder_of(history.id)).write(RECORD_FILE, record.model_dump_json().encode())

    def again(self, call: Call, lease: Lease, saved: SavedRun, model: Model) -> Run:
        """A run that goes on where the saved one ended, in the session lent to the call.

        Raises:
            NotFound: its state cannot be read.
            InvalidArguments: an action or a secret that it had is not there any more.
        """
        state: AgentState = TaskFolder(saved.folder).state(AgentState)
        run = self._run(call, lease, model, saved.history, state, taken_up=True)
        run.turn = saved.record.turns
        return run

    def keep_turn(self, run: Run) -> None:
        """Write down that a run goes on once more.

        Raises:
            NotFound: its folder has gone.
        """
        saved = self.saved.find(run.id, run.principal)
        record = saved.record.model_copy(update={"turns": run.turn})
        TaskFolder(saved.folder).write(RECORD_FILE, record.model_dump_json().encode())

    def _run(  # noqa: PLR0913 - the parts of a run
        self,
        call: Call,
        lease: Lease,
        model: Model,
        history: AgentHistory,
        state: AgentState,
        *,
        taken_up: bool = False,
    ) -> Run:
        settings, task = self._settings.agent, history.task
        path = self.saved.folder_of(history.id)
        agent = AgentRun(
            history=history,
            controller=self._controller(task),
            session=lease.session,
            model_client=ModelClient(
                model=model.model, fallback=model.fallback, seconds=settings.model_timeout
            ),
            style=style_for(task, model.model.info, settings),
            settings=settings,
            judge_client=model.judge_client(settings.model_timeout),
            secrets=self._secrets_of(call).only(task.secrets),
            folder=TaskFolder(path, lambda name: self._wrote(run, name)),
            state=state,
            taken_up=taken_up,
        )
        run = Run(
            agent=agent,
            principal=call.principal,
            mailbox=model.mailbox,
            claim=Claim(path),
            asks_client=model.is_clients,
            handle=lease.handle,
            ephemeral=lease.ephemeral,
            told=lease.told,
        )
        return run

    def _task(self, params: RunTaskParams) -> Task:
        return Task(
            text=params.task,
            start_url=params.start_url,
            context=params.context,
            budget=Budget(
                steps=params.max_steps or self._settings.agent.max_steps,
                seconds=params.max_seconds,
                tokens=params.max_tokens,
                cost=Decimal(str(params.max_cost)) if params.max_cost is not None else None,
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

    def _controller(self, task: Task) -> Controller:
        return Controller(actions_for(task, self._registry, self._settings.tools), self._settings)

    async def model(self, request: ServerRequestContext, name: str | None, *, attended: bool) -> Model:
        """The model for a run; an `attended` one has a client there to answer, if it is asked.

        Raises:
            NotActionable: there is none; the message says how to set one up.
            InvalidArguments: it cannot be named in a call.
        """
        if name is not None and name.startswith(SCRIPTED):
            # A script is a file of the server's, which its clients have no business with.
            raise InvalidArguments("A scripted model can only be set up where the server is started.")
        settings, mailbox = self._settings.agent, Mailbox()
        allowed = settings.allowed_models
        if name is not None and name != settings.model and not _fits_one(name, allowed):
            hint = f"Models that may be named: {', '.join(allowed)}. Or leave `model` out."
            raise InvalidArguments(f"The model {name[:100]!r} may not be used here.", hint=hint)
        try:
            model = await self._own_or_clients(request, name, mailbox, attended=attended)
            fallback = (
                await chat_model(settings.fallback_model, settings) if settings.fallback_model else None
            )
            judge = await chat_model(settings.judge_model, settings) if settings.judge_model else None
        except (ModelError, SettingsError) as error:
            raise NotActionable(str(error)) from error
        return Model(model, fallback, mailbox, judge)

    async def _own_or_clients(
        self, request: ServerRequestContext, name: str | None, mailbox: Mailbox, *, attended: bool
    ) -> ChatModel:
        name = name or self._settings.agent.model
        if name is not None:
            return await chat_model(name, self._settings.agent)
        sampling = capabilities(request).sampling
        if sampling is None:
            raise ModelError(HOW_TO_SET_UP)
        if not attended:
            raise ModelError(
                "The client's own model can only be asked while a call waits.",
                hint="Use run_task with wait=true; with its task_id to go on with a task.",
            )
        return ClientModel(mailbox, takes_tools=sampling.tools is not None)

    def _secrets_of(self, call: Call) -> Secrets:
        """The secrets that the caller may use."""
        if self._secrets is None:
            path = self._settings.agent.secrets
            try:
                self._secrets = load_secrets(path) if path is not None else Secrets()
            except SettingsError as error:
                logger.warning("%s", error)
                text = "The server's secrets could be read at its start and cannot be now."
                raise ActionError(text, hint="The server's log says why.") from error
        return self._secrets.of(call.principal.label)


def _fits_one(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name fits one of these globs, or there are none."""
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
