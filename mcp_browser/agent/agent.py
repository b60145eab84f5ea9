"""The loop: look, ask the model, act, remember, until the task is done or cannot be."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from mcp_browser.actions.agent import CALL_USER, agent_actions
from mcp_browser.actions.answer_schema import Schema
from mcp_browser.actions.extracting.task_model import filling_by
from mcp_browser.agent import spans
from mcp_browser.agent.budget import Spending
from mcp_browser.agent.confirming import Confirmer
from mcp_browser.agent.control import Progress
from mcp_browser.agent.decision import AgentBrain
from mcp_browser.agent.executor import ActionOutcome, Look
from mcp_browser.agent.model_retry import Asked, ModelClient
from mcp_browser.agent.opening import open_again, open_start
from mcp_browser.agent.planner import Planner
from mcp_browser.agent.prompting.gui_parser import scale_for
from mcp_browser.agent.prompting.message_manager import MessageManager
from mcp_browser.agent.prompting.style import SMALL_WINDOW, PlannerStyle
from mcp_browser.agent.questions import Question, with_browser
from mcp_browser.agent.record.history import RunSettings, StepRecord
from mcp_browser.agent.run_status import RunStatus
from mcp_browser.agent.side_prompts import read_data
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, ContextTooLong, InvalidOutput, ModelError
from mcp_browser.hosts import Origin
from mcp_browser.llm.messages import Usage
from mcp_browser.settings import AgentSettings
from mcp_browser.text import counted, cut

logger = logging.getLogger(__name__)

LONGEST_FAILURE = 600  # How much of what a step failed of the run's end repeats, characters

REFUSED = (
    "Your result was checked and is not confirmed: {refusal} Go on. Claim success only once the page shows "
    "it; if it cannot be done, use done with success false and say why."
)


@dataclass(kw_only=True)
class Agent(TaskRun):
    """One run of one task in one session.

    `registry` of the controller holds the actions that the task allows; `done` and `call_user` are added.
    `judge_client` asks the model that checks claims; by default that is the run's own, where it can judge.
    `taken_up` is a run that went on in another browser, whose last page is opened again first.
    """

    model_client: ModelClient
    style: PlannerStyle
    settings: AgentSettings
    judge_client: ModelClient | None = None
    state: AgentState = field(default_factory=AgentState)
    taken_up: bool = False

    def __post_init__(self) -> None:
        registry = self.controller.registry.without(())
        registry.include(agent_actions(self.task.output_schema))
        self.controller = Controller(registry, self.controller.settings)
        super().__post_init__()
        self.messages = MessageManager(
            system_prompt=self.style.system_prompt(registry, max_actions=self.settings.max_actions),
            task=self.task.text,
            context=self.task.context,
            secrets=self.secrets.names,
            example=self.style.example(),
            window=self.model_client.model.info.context_window,
            images_kept=self.style.images_kept,
            state=self.state.messages if self.state.messages.messages else None,
        )
        self.state.messages = self.messages.state
        self.planner = Planner(
            task=self.task,
            style=self.style,
            model_client=self.model_client,
            messages=self.messages,
            registry=registry,
            session=self.session,
            secrets=self.secrets,
            control=self.control,
            state=self.state,
        )
        self.run_status = RunStatus(
            self.history,
            self.control,
            self.session.takeover,
            seconds=self.state.seconds,
            resumable=True,
        )
        self.spending = Spending(
            self.task.budget,
            [self.model_client, self.judge_client or self.model_client],
            usage=self.state.usage,
            seconds=lambda: self.run_status.seconds,
        )
        self.confirmer = Confirmer(
            executor=self.executor,
            history=self.history,
            state=self.state,
            secrets=self.secrets,
            judge_client=self._judge(),
            window=self.messages.window,
            seconds=self.settings.step_timeout,
            limit=self.spending.reached_amid_step,
            only_refuses=self._is_small_judge(),
        )
        self.model_client.limit = self.spending.reached_amid_step
        for text in self.state.instructions:
            self.control.instruct(text)
        # Those of the run while it went on in another session.
        self._files_before = self.history.outcome.files if self.history.outcome is not None else ()
        self._answer: ActionOutcome | None = None

    async def run(self) -> TaskOutcome:
        """Work as `TaskRun.run` does, within a span."""
        with spans.of_run(self.history.id, self.model_client.model.info.name, self.task.style) as span:
            try:
                return await super().run()
            finally:
                spans.end_run(span, self.outcome())

    async def _work(self) -> None:
        # A step that was broken off has left no record: its number is given again.
        self.state.step = self.history.steps[-1].number if self.history.steps else 0
        self._save()
        model = self.model_client.model.info
        if self.style.needs_vision and not model.sees:
            self.run_status.end(
                TaskStatus.FAILED, f"{model.name} takes no pictures, and this style needs them."
            )
            return
        await self._open()
        self.history.settings = self._settings_in_force()
        while await self._may_go_on():
            with spans.of_step(self.state.step + 1) as span:
                await self._step()
                spans.end_step(span, self.history.steps[-1])

    def instruct(self, text: str) -> None:
        """Tell the agent something before its next step; a run at work saves it at once."""
        self.control.instruct(text)
        if self.history.status in (TaskStatus.WORKING, TaskStatus.PAUSED):
            self._save()

    @property
    def keeps_pictures(self) -> bool:
        return self.settings.step_pictures

    def outcome(self) -> TaskOutcome:
        """What the run has come to so far."""
        result = self._answer.result if self._answer is not None else None
        return TaskOutcome(
            id=self.history.id,
            status=self.history.status,
            answer=self.secrets.hide(result.extracted_content or "") if result else None,
            data=self.secrets.hide_in((result.data or {}).get("data")) if result else None,
            obstacle=self.run_status.obstacle,
            steps=self.state.step,
            urls=self.history.urls,
            errors=self.history.errors,
            files=(*self._files_before, *self._downloaded()),
            usage=self.spending.usage,
            seconds=round(self.run_status.seconds, 2),
        )

    def _judge(self) -> ModelClient | None:
        """Who judges claims; None where no model is to."""
        named = self.judge_client
        wanted = self.task.judge if self.task.judge is not None else self.settings.judge
        can = named is not None or self.model_client.model.info.judges or self.task.judge
        return (named or self.model_client) if wanted and can else None

    def _is_small_judge(self) -> bool:
        """Whether a small model judges its own claims, without having been asked to by the caller."""
        window = self.model_client.model.info.context_window
        is_small = window is not None and window <= SMALL_WINDOW
        return is_small and self._judge() is self.model_client and not self.task.judge

    def _settings_in_force(self) -> RunSettings:
        settings, model = self.settings, self.model_client.model.info.name
        fallback = self.model_client.fallback
        tab = self.session.tab_in_use
        size = tab.page.viewport_size if tab is not None else None
        return RunSettings(
            fallback_model=fallback.info.name if fallback is not None else None,
            gui_scale=(settings.gui_scale or scale_for(model)) if self.task.style == "gui" else None,
            max_actions=settings.max_actions,
            max_failures=settings.max_failures,
            model_timeout=settings.model_timeout,
            step_timeout=settings.step_timeout,
            viewport=(size["width"], size["height"]) if size is not None else None,
        )

    # -- one step

    async def _step(self) -> None:
        state = self.state
        started = datetime.now(UTC)
        state.step += 1
        reason = self.spending.reached(state.step)
        if state.failures >= self.settings.max_failures:
            reason = f"{state.failures} steps in a row have failed.{self._last_failure()}"
        look: Look | None = None
        asked: Asked | None = None
        outcomes: list[ActionOutcome] = []
        notes: list[str] = []
        failure: str | None = None
        try:
            with (
                anyio.fail_after(self.settings.step_timeout) as self._step_limit,
                self.session.takeover.stops(self._step_limit),
            ):
                await self._tell_look()
                look = await self._look()
                asked = await self.planner.decide(look, reason, notes)
                await self._tell(look, asked)
                with filling_by(self._read_data):
                    await self.executor.act(asked.decision.calls[: self.settings.max_actions], outcomes)
        except TimeoutError:
            failure = f"The step took longer than {self.settings.step_timeout:g} s and was broken off."
        except (ActionError, ModelError) as error:
            failure = self.secrets.hide(str(error))
            if not isinstance(error, ActionError | InvalidOutput) and not self._may_pass(error):
                self.run_status.end(TaskStatus.FAILED, failure)
        if failure is not None:
            notes.append(failure)
        self._note_seen(look, outcomes)
        self.messages.remove_state()
        used = self.spending.count()
        self._remember(asked, outcomes, failure)
        self._record(look=look, asked=asked, outcomes=outcomes, notes=notes, started=started, usage=used)
        if self.history.status is TaskStatus.WORKING:
            try:
                await self._conclude(outcomes, reason)
            finally:
                # What was asked of a model after the step was recorded is its, too.
                used += self.spending.count()
                self.history.steps[-1] = self.history.steps[-1].model_copy(update={"usage": used})
        self._save()

    async def _read_data(self, schema: Schema, page: str) -> Any:
        """What the model reads in a page for `extract_data`; None where it may not, or cannot, be asked."""
        if self.spending.reached_amid_step() is not None:
            return None
        try:
            return await read_data(
                self.model_client, schema, self.secrets.hide(page), window=self.messages.window
            )
        except ModelError as error:
            logger.info("The model was asked for data in vain: %s", error)
            return None

    def _note_seen(self, look: Look | None, outcomes: Sequence[ActionOutcome]) -> None:
        """Keep what pages have shown, to hold the answer against it."""
        seen = self.state.seen
        if look is not None:
            seen.add(f"{look.title}\n{look.text}")
            self.state.pictured = self.state.pictured or bool(look.images)
        for outcome in outcomes:
            if outcome.result is not None and not outcome.result.is_done:
                seen.add(f"{outcome.record.result}\n{outcome.changes}")

    def _last_failure(self) -> str:
        """What the last step failed of, as a further sentence."""
        step = self.history.steps[-1] if self.history.steps else None
        told = [*(action.error for action in step.actions), *step.notes[-1:]] if step is not None else []
        failures = [text for text in told if text]
        return f" The last of them: {cut(failures[-1], LONGEST_FAILURE)}" if failures else ""

    async def _look(self) -> Look:
        sees = self.model_client.model.info.sees
        wanted = self.task.vision if self.task.vision is not None else self.style.needs_vision
        shot = self.folder is not None and self.settings.step_pictures
        return await self.executor.look(picture=wanted and sees, shot=shot)

    def _remember(self, asked: Asked | None, outcomes: Sequence[ActionOutcome], failure: str | None) -> None:
        state = self.state
        self.messages.add_results(outcome.memory for outcome in outcomes)
        if asked is not None:
            left_out = len(asked.decision.calls) - self.settings.max_actions
            if left_out > 0:
                self.messages.add_note(
                    f"Only {counted(self.settings.max_actions, 'action')} a step; not done: {left_out}."
                )
        state.changes = "\n".join(outcome.changes for outcome in outcomes if outcome.changes)
        failed = not outcomes or all(outcome.result is None for outcome in outcomes)
        state.failures = state.failures + 1 if failed else 0
        if failure is not None:
            self.messages.add_results([f"The step failed: {failure}"])

    def _record(  # noqa: PLR0913 - the parts of one record
        self,
        *,
        look: Look | None,
        asked: Asked | None,
        outcomes: Sequence[ActionOutcome],
        notes: Sequence[str],
        started: datetime,
        usage: Usage,
    ) -> None:
        state = self.state
        if asked is not None:
            page = f"{look.url}\n{look.scrolled}\n{look.text}" if look else ""
            state.loops.record([outcome.record for outcome in outcomes], page=page)
        brain = asked.decision.brain if asked else AgentBrain()
        self.history.steps.append(
            StepRecord(
                number=state.step,
                url=look.url if look else "",
                title=look.title if look else "",
                brain=AgentBrain.model_validate(self.secrets.hide_in(brain.model_dump())),
                actions=tuple(outcome.record for outcome in outcomes),
                notes=tuple(notes),
                screenshot=self._picture(state.step, look),
                started=started,
                seconds=round((datetime.now(UTC) - started).total_seconds(), 3),
                usage=usage,
                model=asked.reply.model if asked else self.model_client.model.info.name,
            )
        )

    # -- what follows from a step

    async def _conclude(self, outcomes: Sequence[ActionOutcome], last_because: str | None) -> None:
        last = outcomes[-1] if outcomes else None
        if last is not None and last.result is not None:
            if last.result.is_done:
                await self._finish(last, last_because)
                return
            if last.record.call.name == CALL_USER:
                await self._ask_person(last)
                return
        if self.state.loops.is_stuck:
            self.run_status.end(
                TaskStatus.STUCK, "It went round in circles: the same actions, or an unchanged page."
            )
        elif last_because is not None:
            status = (
                TaskStatus.FAILED
                if self.state.failures > self.settings.max_failures
                else TaskStatus.OUT_OF_BUDGET
            )
            self.run_status.end(status, last_because)

    async def _finish(self, outcome: ActionOutcome, last_because: str | None) -> None:
        assert outcome.result is not None
        self._answer = outcome
        answer = self.secrets.hide(outcome.result.extracted_content or "")
        if not outcome.result.success:
            over = self.spending.reached(self.state.step)
            self.run_status.end(
                TaskStatus.OUT_OF_BUDGET if last_because and over else TaskStatus.FAILED,
                last_because or answer,
            )
            return
        refusal = await self.confirmer.refusal(answer, (outcome.result.data or {}).get("data"))
        if refusal is None:
            self.run_status.end(TaskStatus.SUCCEEDED, None)
            return
        self.state.rejections += 1
        if refusal.final or self.state.rejections > 1 or last_because is not None:
            self.run_status.end(TaskStatus.UNCONFIRMED, f"The result was not confirmed: {refusal.reason}")
            return
        self._answer = None
        self.messages.add_note(REFUSED.format(refusal=refusal.reason))

    async def _ask_person(self, outcome: ActionOutcome) -> None:
        assert outcome.result is not None
        question = Question.of(self.secrets.hide_in(outcome.result.data or {}))
        self.run_status.set(TaskStatus.NEEDS_PERSON)
        self.run_status.obstacle = question.obstacle
        await self._tell_status()
        origin = Origin.of(self.history.urls_in_order[-1]) if self.history.urls else None
        site = str(origin) if origin else None
        asked = question.put(self.watcher, site=site, secrets=self.secrets, control=self.control)
        told = await with_browser(self.session.takeover, question, asked)
        if told is not None:
            self.run_status.obstacle = None
            self.run_status.set(TaskStatus.WORKING)
            self.messages.add_task(told)

    # -- around the steps

    async def _open(self) -> None:
        if not self.state.started:
            await open_start(
                self.executor,
                history=self.history,
                state=self.state,
                secrets=self.secrets,
                messages=self.messages,
                watcher=self.watcher,
            )
        elif self.taken_up:
            self.taken_up = False
            await open_again(
                self.executor, history=self.history, secrets=self.secrets, messages=self.messages
            )

    async def _tell_look(self) -> None:
        tab = self.session.tab_in_use
        url = self.secrets.hide(tab.url) if tab is not None else ""
        steps = self.task.budget.steps
        await self.watcher.progressed(Progress(step=self.state.step, steps=steps, looks=True, url=url))

    async def _tell(self, look: Look, asked: Asked) -> None:
        calls = tuple(self.secrets.hide(str(call)) for call in asked.decision.calls)
        await self.watcher.progressed(
            Progress(
                step=self.state.step,
                steps=self.task.budget.steps,
                goal=self.secrets.hide(asked.decision.brain.next_goal),
                actions=calls,
                url=look.url,
            )
        )

    async def _tell_status(self) -> None:
        url = self.history.steps[-1].url if self.history.steps else ""
        status = self.history.status
        await self.watcher.progressed(
            Progress(step=self.state.step, steps=self.task.budget.steps, status=status, url=url)
        )

    def _may_pass(self, error: ModelError) -> bool:
        if not isinstance(error, ContextTooLong):
            return False
        try:
            self.messages.cut(self.messages.tokens // 2)
        except ContextTooLong:
            return False
        return True

    def _save(self) -> None:
        self.state.seconds, self.state.usage = self.run_status.seconds, self.spending.usage
        self.state.instructions = self.control.instructions
        # Before the history: whoever takes the run up after a kill between the two repeats no step.
        if self.folder is not None:
            self.folder.save_state(self.state)
        super()._save()
