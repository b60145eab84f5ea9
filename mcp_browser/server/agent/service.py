"""Starting runs of the agent, waiting for them with the client, steering them: the work behind the tools."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path

import mcp_types as types

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.assembly import check_not_ended
from mcp_browser.agent.control import Progress
from mcp_browser.agent.record.history import HISTORY_FILE
from mcp_browser.agent.replay import Replay
from mcp_browser.agent.task import TaskStatus
from mcp_browser.errors import InvalidArguments, NotActionable, UnknownSession
from mcp_browser.server.agent.answers import answer, saved_answer, told
from mcp_browser.server.agent.factory import RunMaker
from mcp_browser.server.agent.files import URI
from mcp_browser.server.agent.person import ClientWatcher
from mcp_browser.server.agent.running import Run, Runs
from mcp_browser.server.agent.saved import not_found
from mcp_browser.server.agent.secret_forms import OpenForm
from mcp_browser.server.agent.task_calls import RunCalls
from mcp_browser.server.agent.tools import (
    GetTaskParams,
    InstructParams,
    ReplayTaskParams,
    RunTaskParams,
    TaskParams,
)
from mcp_browser.server.agent.turns import Turns
from mcp_browser.server.ask import is_modern
from mcp_browser.server.calls import Answer, Call, Lease, NeedInput
from mcp_browser.server.handover import ViewLink, no_view
from mcp_browser.server.offer import agent_tools
from mcp_browser.server.principals import Principal
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks.extension import takes_tasks
from mcp_browser.server.tasks.long_calls import handle_of
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)


class AgentRuns:
    """Starts and steers the runs of one server."""

    def __init__(  # noqa: PLR0913 - the parts of a server, most of them by keyword
        self,
        settings: Settings,
        sessions: Sessions,
        registry: Registry,
        *,
        wrote: Callable[[Run, str], None],
        open_form: OpenForm | None = None,
        view_link: ViewLink = no_view,
    ) -> None:
        """Let agents use the actions of `registry`; `wrote` is called with each file a run has written."""
        self._open_form = open_form
        self._view_link = view_link
        self._can_be_polled = "get_task" in agent_tools(settings)
        self._sessions = sessions
        self._maker = RunMaker(settings, registry, wrote)
        self.runs = Runs()
        self._turns = Turns()
        self.calls = RunCalls(self.runs, self._maker.saved)

    # -- the tools

    async def run_task(self, call: Call, params: RunTaskParams) -> Answer:
        """Let the built-in agent do a whole task in this browser, and report."""
        if call.params.request_state is not None:
            # The call of a client that comes back with the answers it was asked for.
            run = self.runs.find(call.params.request_state, call.principal)
            if run is None:
                raise not_found(call.params.request_state)
            run.mailbox.deliver(call.params.input_responses)
            return await self._attend(call, run)
        goes_on = takes_tasks(call.request)
        if not params.wait and not self._can_be_polled and not goes_on:
            raise NotActionable(
                "wait=false is of no use here: get_task is not offered.",
                hint="Wait for the task, or start the server with --tools core,agent.",
            )
        attended = params.wait or goes_on
        if params.task_id is None:
            run = await self._start(call, params, attended=attended)
        else:
            _check_only_tells(params)
            run = await self._take_up(call, params.task_id, text=params.task, attended=attended)
        if goes_on:
            return handle_of(self.calls.add(run))
        return await self._attend(call, run) if params.wait else await answer(run)

    async def get_task(self, call: Call, params: GetTaskParams) -> Answer:
        """Tell how a task stands, and its result once it has ended."""
        run = self.runs.find(params.task_id, call.principal)
        if run is None:
            return await saved_answer(self._maker.saved.find(params.task_id, call.principal))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(params.wait_seconds):
                while run.is_working:
                    await run.news()
        return await answer(run)

    async def pause_task(self, call: Call, params: TaskParams) -> Answer:
        """Hold a task before its next step."""
        run = self._working(call, params)
        run.agent.control.pause()
        return told(run, "It pauses before its next step; resume_task lets it go on.")

    async def resume_task(self, call: Call, params: TaskParams) -> Answer:
        """Let a task go on: a paused one, or one that the end of a server broke off."""
        run = await self._take_up(call, params.task_id)
        if isinstance(run.agent, AgentRun) and run.agent.taken_up:
            return told(run, "It goes on: its last page is opened again, and elements have new indexes.")
        return told(run, "It goes on.")

    async def stop_task(self, call: Call, params: TaskParams) -> Answer:
        """End a task with what it has reached."""
        run = self._working(call, params)
        await run.stop()
        return await answer(run)

    async def add_instructions(self, call: Call, params: InstructParams) -> Answer:
        """Tell a task something, or answer its question; it then goes on."""
        run = await self._take_up(call, params.task_id, text=params.text, resume=False)
        return told(run, "It is told before its next step.")

    async def replay_task(self, call: Call, params: ReplayTaskParams) -> Answer:
        """Do a recorded task again, without a model: as a run of its own."""
        saved = None
        identifier = params.task_id or _task_of(params.history or "")
        if identifier is not None:
            run = self.runs.find(identifier, call.principal)
            if run is not None and run.is_working:
                why = f"The task has not ended ({run.status.value})."
                raise NotActionable(why, hint="Wait with get_task.")
            saved = self._maker.saved.find(identifier, call.principal)
        async with self._sessions.lease(call.request, call.principal, call.handle) as lease:
            if saved is not None:
                recorded = saved.history
            else:
                recorded = await self._maker.history_in(lease.session, params.history or "")
            run = self._maker.replay(call, lease, params, recorded)
            self._begin(call, run)
        if takes_tasks(call.request):
            return handle_of(self.calls.add(run))
        return await self._attend(call, run) if params.wait else await answer(run)

    def folder_for(self, identifier: str, principal: Principal) -> Path:
        """The folder of a run of the caller's, of this server's or of an earlier one's.

        Raises:
            NotFound: there is none.
        """
        return self._maker.saved.folder_for(identifier, principal)

    async def close(self) -> None:
        """Break off what still runs."""
        await self.runs.close()
        self.calls.close()

    # -- starting, and going on

    async def _start(self, call: Call, params: RunTaskParams, *, attended: bool) -> Run:
        # First, so that no session is opened where there is no model.
        model = await self._maker.model(call.request, params.model, attended=attended)
        await self._maker.tidy()
        async with self._sessions.lease(call.request, call.principal, call.handle) as lease:
            if params.if_busy == "refuse":
                self._turns.check_free(lease.session)
            run = self._maker.new(call, await self._place_of(call, params, lease), params, model)
            self._begin(call, run)
        return run

    async def _place_of(self, call: Call, params: RunTaskParams, lease: Lease) -> Lease:
        """Where a new run works: in the session of the call, or beside it where that is wanted."""
        if params.if_busy != "own_tabs" or not self._turns.is_busy(lease.session):
            return lease
        fork = await self._sessions.fork(call.principal, lease.session)
        return replace(fork, told=(IN_OWN_TABS, *fork.told))

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

        Raises:
            NotFound: there is none for this caller.
            NotActionable: it has ended, or cannot go on here; the message says why.
        """
        run = self.runs.find(identifier, call.principal)
        if run is not None and isinstance(run.agent, Replay):
            _check_takes_up_replay(run, told_more=text is not None)
        if run is None or not await self._has_its_session(call, run):
            run = await self._from_folder(call, identifier, attended=attended)
        check_not_ended(run.status)
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
        if run.is_working:
            return True
        if call.handle is not None and call.handle != run.handle:
            return False
        try:
            async with self._sessions.lease(call.request, call.principal, run.handle) as lease:
                return lease.session is run.agent.session
        except UnknownSession:
            return False

    async def _from_folder(self, call: Call, identifier: str, *, attended: bool) -> Run:
        saved = self._maker.saved.find(identifier, call.principal)
        if saved.history.replay_of is not None:
            raise NotActionable("A replay that was broken off does not go on.", hint=AGAIN)
        check_not_ended(saved.history.status)
        model = await self._maker.model(call.request, saved.record.model, attended=attended)
        async with self._sessions.lease(call.request, call.principal, call.handle) as lease:
            run = self._maker.again(call, lease, saved, model)
        earlier = self.runs.find(identifier, call.principal)
        if earlier is not None:
            earlier.claim.release()
        run.claim.take()
        self.runs.add(run)
        return run

    def _begin(self, call: Call, run: Run) -> None:
        run.agent.watcher = ClientWatcher(run, call.request, self._open_form, self._view_link)
        self.runs.add(run)
        run.begin(lambda: self._place(call, run))
        if run.turn > 1:
            self._maker.keep_turn(run)

    @contextlib.asynccontextmanager
    async def _place(self, call: Call, run: Run) -> AsyncGenerator[None]:
        async with (
            self._sessions.lease(call.request, run.principal, run.handle),
            self._turns.take(run),
        ):
            session = run.agent.session
            if (
                run.ephemeral
                and run.turn > 1
                and session.open_context is None
                and isinstance(run.agent, AgentRun)
            ):
                run.agent.taken_up = True
            yield

    def _working(self, call: Call, params: TaskParams) -> Run:
        run = self.runs.find(params.task_id, call.principal)
        if run is None:
            saved = self._maker.saved.find(params.task_id, call.principal)
            raise NotActionable(f"The task does not run ({saved.outcome().status.value}).", hint=RESULT)
        if not run.is_working:
            raise NotActionable(f"The task does not run ({run.status.value}).", hint=RESULT)
        return run

    # -- waiting with the client

    async def _attend(self, call: Call, run: Run) -> Answer:
        report = _Report()
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
                    await report.tell(call, run.progress)
        except asyncio.CancelledError:
            await asyncio.shield(run.cancel())
            raise
        return await answer(run)


IN_OWN_TABS = (
    "Another task works in the session: this one works in tabs of its own, with a copy of its logins."
)
RESULT = "get_task tells its result."
LEAST_PROGRESS = 0.001  # By how many steps progress rises where something is told and no step was taken
GOING_ON = frozenset({"task", "task_id", "wait"})  # The arguments of run_task that may go with a task_id
AGAIN = "Start it again with replay_task."


def _task_of(address: str) -> str | None:
    found = URI.fullmatch(address)
    return found["task"] if found is not None and found["name"] == HISTORY_FILE else None


def _check_only_tells(params: RunTaskParams) -> None:
    """Raise InvalidArguments where a call that goes on with a task gives it anew what it began with."""
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


def _check_takes_up_replay(run: Run, *, told_more: bool) -> None:
    if told_more:
        raise NotActionable("A replay does what was recorded: it cannot be told more.", hint="Use run_task.")
    if not run.is_working:
        raise NotActionable(f"The replay has ended ({run.status.value}).", hint=AGAIN)


class _Report:
    """Progress as a call's client gets it: it always rises, and tells each thing once."""

    def __init__(self) -> None:
        self._amount = -1.0
        self._told = ""

    async def tell(self, call: Call, progress: Progress | None) -> None:
        if progress is None or str(progress) == self._told:
            return
        self._told = str(progress)
        self._amount = max(progress.amount, self._amount + LEAST_PROGRESS)
        await call.request.session.report_progress(
            self._amount, max(progress.steps, self._amount), self._told
        )
