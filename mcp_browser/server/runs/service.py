"""Starts runs of the agent, waits for them with the client, steers them: the work behind the tools."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from mcp_browser.actions.files import files_to_give
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.agent import assembly
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.record.history import HISTORY_FILE, AgentHistory, TaskFolder, new_task_id
from mcp_browser.agent.record.variables import Variables, example_of
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.secrets.store import Secrets, load_secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import Budget, Task, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, InvalidArguments, NotActionable, SettingsError, UnknownSession
from mcp_browser.llm.messages import ChatModel
from mcp_browser.server.calls import Answer, Call, SessionLease
from mcp_browser.server.elicitation import Mailbox, OpenForm, ViewLink
from mcp_browser.server.runs.client import ClientModel, ClientWatcher, run_models
from mcp_browser.server.runs.files import URI
from mcp_browser.server.runs.runs import Run, Runs, SessionTurn, answer, message, saved_answer
from mcp_browser.server.runs.saved import FolderLock, SavedRuns, not_found, outcome_of
from mcp_browser.server.runs.tools import (
    GetTaskParams,
    InstructParams,
    ReplayTaskParams,
    RunTaskParams,
    TaskParams,
)
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks import takes_tasks
from mcp_browser.server.tool_groups import agent_tools
from mcp_browser.server.view.card import TaskCard
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)

IN_OWN_TABS = (
    "Another task works in the session: this one works in tabs of its own, with a copy of its logins."
)
AGAIN = "Start it again with replay_task."
TIDY_SECONDS = 3600.0  # How often folders of old runs are looked for
LEAST_PROGRESS = 0.001  # By how many steps progress rises with a message for which no step was taken
GOING_ON = frozenset({"task", "task_id", "wait"})  # The arguments of run_task that may go with a task_id


@dataclass(eq=False)
class RunService:
    """Starts and steers the runs of callers with the same settings.

    Agents use the actions of `registry`; `wrote` is called with each file that a run has written.
    """

    settings: Settings
    sessions: Sessions
    registry: Registry
    wrote: Callable[[Run, str], None]
    open_form: OpenForm | None
    view_link: ViewLink | None

    def __post_init__(self) -> None:
        self._secrets: Secrets | None = None
        self._tidy_at = 0.0
        self._turns: WeakKeyDictionary[BrowserSession, SessionTurn] = WeakKeyDictionary()
        self.saved = SavedRuns.of(self.settings.agent)
        self.runs = Runs(self.saved)

    # -- the tools

    async def run_task(self, call: Call, params: RunTaskParams) -> Answer:
        """Start a task or go on with one, and wait for it where that is wanted."""
        if call.params.request_state is not None:
            # The call of a client that comes back with the answers it was asked for.
            if (run := self.runs.find(call.params.request_state, call.principal)) is None:
                raise not_found(call.params.request_state)
            run.mailbox.deliver(call.params.input_responses)
            return await self._attend(call, run)
        attended = params.wait or takes_tasks(call.request)
        if not attended and "get_task" not in agent_tools(self.settings):
            raise NotActionable(
                "wait=false is of no use here: get_task is not offered.",
                hint="Wait for the task, or start the server with --tools core,agent.",
            )
        if params.task_id is None:
            run = await self._start(call, params, attended=attended)
        else:
            _check_only_instructs(params)
            run = await self._take_up(call, params.task_id, text=params.task, attended=attended)
        return await self._answer(call, run, wait=params.wait)

    async def get_task(self, call: Call, params: GetTaskParams) -> Answer:
        """Return how a task stands, and its result once it has ended."""
        if (run := self.runs.find(params.task_id, call.principal)) is None:
            return saved_answer(self.saved.find(params.task_id, call.principal))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(params.wait_seconds):
                while run.is_working:
                    await run.mailbox.news.wait()
        return answer(run)

    async def pause_task(self, call: Call, params: TaskParams) -> Answer:
        """Hold a task before its next step."""
        run = self._working(call, params)
        run.agent.control.pause()
        return message(run, "It pauses before its next step; resume_task lets it go on.")

    async def resume_task(self, call: Call, params: TaskParams) -> Answer:
        """Let a task go on: a paused one, or one that the end of a server broke off."""
        run = await self._take_up(call, params.task_id)
        if isinstance(run.agent, AgentRun) and run.agent.taken_up:
            return message(run, "It goes on: its last page is opened again, and elements have new indexes.")
        return message(run, "It goes on.")

    async def stop_task(self, call: Call, params: TaskParams) -> Answer:
        """End a task with what it has reached."""
        run = self._working(call, params)
        await run.stop()
        return answer(run)

    async def add_instructions(self, call: Call, params: InstructParams) -> Answer:
        """Instruct a task, or answer its question; it then goes on."""
        run = await self._take_up(call, params.task_id, text=params.text, resume=False)
        return message(run, "It is told before its next step.")

    async def replay_task(self, call: Call, params: ReplayTaskParams) -> Answer:
        """Do a recorded task again, without a model: as a run of its own."""
        async with self.sessions.lease(call.request, call.principal, call.handle) as lease:
            recorded = await self._recorded(call, lease.session, params.history, params.task_id)
            task = recorded.task.model_copy(update={"secrets": tuple(params.secrets)})
            replay = Replay(
                recorded=recorded,
                history=AgentHistory(
                    id=new_task_id(), task=task, settings=recorded.settings, replay_of=recorded.id
                ),
                controller=Controller(
                    assembly.actions_of(recorded, self.registry, self.settings.tools), self.settings
                ),
                session=lease.session,
                variables=Variables(recorded, params.variables),
                secrets=self._secrets_of(call).only(params.secrets),
                step_pictures=self.settings.agent.step_pictures,
                element_seconds=params.element_seconds,
            )
            run = self._run(call, lease, replay)
            self.saved.write_record(run.id, call.principal)
            self._begin(call, run)
        return await self._answer(call, run, wait=params.wait)

    # -- starting, and going on

    async def _start(self, call: Call, params: RunTaskParams, *, attended: bool) -> Run:
        # First, so that no session is opened where there is no model.
        models = await run_models(self.settings.agent, call.request, params.model, attended=attended)
        await self._tidy()
        async with self.sessions.lease(call.request, call.principal, call.handle) as lease:
            turn = self._turn_in(lease.session)
            if params.if_busy == "refuse" and turn.holder is not None:
                raise NotActionable(
                    f"Task {turn.holder} works in this session.",
                    hint="Wait for it with get_task, or end it with stop_task; if_busy='wait' waits, "
                    "if_busy='own_tabs' works beside it.",
                )
            if params.if_busy == "own_tabs" and turn.holder is not None:
                fork = await self.sessions.fork(call.principal, lease.session)
                lease = replace(fork, notes=(IN_OWN_TABS, *fork.notes))  # noqa: PLW2901
            if params.example is not None:
                example = example_of(await self._recorded(call, lease.session, params.example))
                context = "\n\n".join(filter(None, (params.context, example)))
                params = params.model_copy(update={"context": context})
            run = self._new(call, lease, params, models)
            self._begin(call, run)
        return run

    async def _take_up(
        self,
        call: Call,
        identifier: str,
        *,
        text: str | None = None,
        resume: bool = True,
        attended: bool = False,
    ) -> Run:
        """Continue a run that works, waits, was broken off, or an earlier server left; `resume` a paused one.

        Raises NotFound; NotActionable: it has ended, or cannot go on here; the message says why.
        """
        if (run := self.runs.find(identifier, call.principal)) is not None and isinstance(run.agent, Replay):
            if text is not None:
                why = "A replay does what was recorded: it cannot be told more."
                raise NotActionable(why, hint="Use run_task.")
            if not run.is_working:
                raise NotActionable(f"The replay has ended ({run.status.value}).", hint=AGAIN)
        if run is None or not await self._has_its_session(call, run):
            run = await self._from_folder(call, identifier, attended=attended)
        assembly.check_not_ended(run.status)
        if run.asks_client and not run.is_working and not attended:
            raise NotActionable(
                "This task asks the client's own model, which is only there while a call waits.",
                hint=f'Go on with run_task(task_id="{run.id}", task="…").',
            )
        if text is not None:
            assert isinstance(run.agent, AgentRun), "a replay is refused above"
            run.agent.instruct(text)
            if run.status is TaskStatus.NEEDS_PERSON:
                # That is the answer: the person need not give it a second time.
                run.mailbox.refuse_all()
        if resume:
            run.agent.control.resume()
        if not run.is_working:
            self._begin(call, run)
        return run

    async def _has_its_session(self, call: Call, run: Run) -> bool:
        if run.is_working or call.handle not in (None, run.lease.handle):
            return run.is_working
        with contextlib.suppress(UnknownSession):
            async with self.sessions.lease(call.request, call.principal, run.lease.handle) as lease:
                return lease.session is run.agent.session
        return False

    async def _from_folder(self, call: Call, identifier: str, *, attended: bool) -> Run:
        """Make a run that goes on where a saved one ended.

        Raises NotFound: there is none, or its state cannot be read; InvalidArguments: an action or a secret
        that it had is not there any more.
        """
        saved = self.saved.find(identifier, call.principal)
        if saved.history.replay_of is not None:
            raise NotActionable("A replay that was broken off does not go on.", hint=AGAIN)
        assembly.check_not_ended(saved.history.status)
        models = await run_models(self.settings.agent, call.request, saved.record.model, attended=attended)
        async with self.sessions.lease(call.request, call.principal, call.handle) as lease:
            state: AgentState = TaskFolder(saved.folder).state(AgentState)
            run = self._by_agent(call, lease, models, saved.history, state)
        run.turn = saved.record.turns
        if (earlier := self.runs.find(identifier, call.principal)) is not None:
            earlier.lock.release()
        run.lock.take()
        self.runs.add(run)
        return run

    def _begin(self, call: Call, run: Run) -> None:
        run.agent.watcher = ClientWatcher(run, call.request, self.open_form, self.view_link)
        self.runs.add(run)
        run.begin(lambda: self._hold_session(call, run))
        if run.turn > 1:
            self.saved.write_turn(run.id, run.principal, run.turn)

    @contextlib.asynccontextmanager
    async def _hold_session(self, call: Call, run: Run) -> AsyncGenerator[None]:
        async with (
            self.sessions.lease(call.request, run.principal, run.lease.handle),
            self._turn_in(run.agent.session).take(run),
        ):
            card = await run.agent.session.plugin(TaskCard)
            history, control = run.agent.history, run.agent.control
            card.show(history, control, run.stop, lambda text: self._take_up(call, run.id, text=text))
            yield

    def _turn_in(self, session: BrowserSession) -> SessionTurn:
        return self._turns.setdefault(session, SessionTurn())

    def _working(self, call: Call, params: TaskParams) -> Run:
        if (run := self.runs.find(params.task_id, call.principal)) is not None and run.is_working:
            return run
        found = run or outcome_of(self.saved.find(params.task_id, call.principal).history)
        raise NotActionable(
            f"The task does not run ({found.status.value}).", hint="get_task tells its result."
        )

    # -- waiting with the client

    async def _answer(self, call: Call, run: Run, *, wait: bool) -> Answer:
        if takes_tasks(call.request):
            return self.runs.call_of(run).handle()
        return await self._attend(call, run) if wait else answer(run)

    async def _attend(self, call: Call, run: Run) -> Answer:
        amount, last = -1.0, ""

        async def report() -> None:
            """Send the run's progress: it always rises, and each message is sent once."""
            nonlocal amount, last
            progress = run.progress
            if progress is not None and str(progress) != last:
                last = str(progress)
                amount = max(progress.amount, amount + LEAST_PROGRESS)
                total = max(progress.steps, amount)
                await call.request.session.report_progress(amount, total, last)

        try:
            async with run.attend():
                await run.mailbox.attend(
                    call.request, lambda: not run.is_working, state=run.id, on_news=report
                )
        except asyncio.CancelledError:
            await asyncio.shield(run.cancel())
            raise
        return answer(run)

    # -- making a run

    def _new(self, call: Call, lease: SessionLease, params: RunTaskParams, models: assembly.RunModels) -> Run:
        """Make a run of a call in the leased session; raises InvalidArguments."""
        limits = {name: getattr(params, f"max_{name}") for name in ("seconds", "tokens", "cost")}
        steps = params.max_steps or self.settings.agent.max_steps
        budget = Budget.model_validate({"steps": steps, **limits})
        same = params.model_dump(include=Task.model_fields.keys() & RunTaskParams.model_fields.keys())
        task = Task.model_validate({**same, "text": params.task, "budget": budget})
        assembly.check_task(task, models.model.info, self.settings)
        history = AgentHistory(id=new_task_id(), task=task, model=models.model.info.name)
        run = self._by_agent(call, lease, models, history)
        self.saved.write_record(history.id, call.principal, model=params.model)
        return run

    def _by_agent(
        self,
        call: Call,
        lease: SessionLease,
        models: assembly.RunModels,
        history: AgentHistory,
        state: AgentState | None = None,
    ) -> Run:
        """Make a run of the agent, which goes on from its `state` where it has been at work before."""
        agent = assembly.agent_run(
            history,
            models,
            self.registry,
            self.settings,
            session=lease.session,
            secrets=self._secrets_of(call).only(history.task.secrets),
            state=state or AgentState(),
            taken_up=state is not None,
        )
        return self._run(call, lease, agent, models.model)

    def _run(self, call: Call, lease: SessionLease, agent: TaskRun, model: ChatModel | None = None) -> Run:
        """Make a run with its folder, which one that cannot begin does not leave behind."""
        path = self.saved.folder / agent.history.id
        asks_client = isinstance(model, ClientModel)
        run = Run(
            agent=agent,
            principal=call.principal,
            mailbox=model.mailbox if asks_client else Mailbox(),
            lock=FolderLock(path),
            lease=lease,
            asks_client=asks_client,
        )
        agent.folder = TaskFolder(path, lambda name: self.wrote(run, name))
        return run

    async def _recorded(
        self, call: Call, session: BrowserSession, history: str | None, task_id: str | None = None
    ) -> AgentHistory:
        """A recorded history, by the task or by a file that the session may upload; raises ActionError."""
        found = URI.fullmatch(history or "")
        if task_id is None and found is not None and found["name"] == HISTORY_FILE:
            task_id = found["task"]
        if task_id is not None:
            if (run := self.runs.find(task_id, call.principal)) is not None and run.is_working:
                raise NotActionable(
                    f"The task has not ended ({run.status.value}).", hint="Wait with get_task."
                )
            return self.saved.find(task_id, call.principal).history
        ctx = ActionContext(session=session, settings=self.settings)
        (path,) = await files_to_give(ctx, [history or ""])
        try:
            return AgentHistory.model_validate_json(await asyncio.to_thread(path.read_bytes))
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise InvalidArguments(
                f"{path.name} holds no history of a task: {where or 'it'}: {problem['msg']}."
            ) from None

    def _secrets_of(self, call: Call) -> Secrets:
        if self._secrets is None:
            try:
                self._secrets = load_secrets(self.settings.agent.secrets)
            except SettingsError as error:
                logger.warning("%s", error)
                text = "The server's secrets could be read at its start and cannot be now."
                raise ActionError(text, hint="The server's log says why.") from error
        return self._secrets.of(call.principal.label)

    async def _tidy(self) -> None:
        """Delete folders of old runs, once in a while."""
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_SECONDS
        days, megabytes = self.settings.agent.tasks_days, self.settings.agent.tasks_mb
        if deleted := await asyncio.to_thread(self.saved.prune, days=days, megabytes=megabytes):
            logger.info("Deleted the folders of %d old tasks", len(deleted))


def _check_only_instructs(params: RunTaskParams) -> None:
    """Raise InvalidArguments where a call with task_id changes the set-up of the task."""
    given = [
        name
        for name, field in RunTaskParams.model_fields.items()
        if name not in GOING_ON and getattr(params, name) != field.get_default(call_default_factory=True)
    ]
    if given:
        raise InvalidArguments(
            f"A task goes on as it was set up: {', '.join(given)} cannot be given with task_id.",
            hint="Leave that out, or start another task without task_id.",
        )
