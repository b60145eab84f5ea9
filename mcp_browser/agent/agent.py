"""The agent's loop: look, ask the model, act, remember, until the task ends."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import anyio

from mcp_browser.actions.agent import CALL_USER, agent_actions
from mcp_browser.actions.answer_schema import Schema
from mcp_browser.actions.extracting.filling import filling_by
from mcp_browser.agent import spans
from mcp_browser.agent.confirming import NOBODY, Confirmer
from mcp_browser.agent.control import Question
from mcp_browser.agent.executor import ActionOutcome, Look
from mcp_browser.agent.model_client import ModelClient
from mcp_browser.agent.prompting.gui_parser import scale_for
from mcp_browser.agent.prompting.message_manager import MessageManager
from mcp_browser.agent.prompting.style import SMALL_WINDOW, PlannerStyle
from mcp_browser.agent.record.history import STATE_FILE, RunSettings, StepRecord
from mcp_browser.agent.secrets.store import Secret
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import ActionCall, AgentBrain, Decision, TaskOutcome, TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, ContextTooLong, InvalidOutput, ModelError
from mcp_browser.hosts import Origin
from mcp_browser.llm.messages import Usage
from mcp_browser.settings import AgentSettings
from mcp_browser.text import counted, cut

logger = logging.getLogger(__name__)

LONGEST_FAILURE = 600  # How much of the last step's failure the reason of the run's end repeats, characters

REFUSED = (
    "Your result was checked against what happened in the browser, and is not confirmed. {reason} The task "
    "is as it was: do nothing that it does not ask for. Report again what is so; where a point cannot be "
    "met, use done with success false and say why."
)
PERSON_ACTED = "The person has worked in the browser and handed it back. {note}"
TAKEN_UP = (
    "You were broken off, and now go on. {opened} Indexes of before are of no use. What your last step did "
    "may not stand above: look before you repeat it."
)


@dataclass(slots=True)
class _Step:
    """A step so far; `last_because` is why it is the last one, if it is."""

    last_because: str | None
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    look: Look | None = None
    answer: Decision | None = None
    outcomes: list[ActionOutcome] = field(default_factory=list[ActionOutcome])
    notes: list[str] = field(default_factory=list[str])
    failure: str | None = None


@dataclass(kw_only=True)
class AgentRun(TaskRun):
    """One run of one task in one session: `run` calls `step`, which calls `query` and `execute`.

    The controller's `registry` holds the actions that the task allows; `done` and `call_user` are added.
    `judge_client` asks the model that checks claims, by default the run's own if it can judge. `initial` are
    actions before the model's first; `on_step` is called with each recorded step. `taken_up` is set if the
    run continues in another browser; its last page is then opened again.
    """

    resumable: ClassVar[bool] = True

    model_client: ModelClient
    style: PlannerStyle
    settings: AgentSettings
    judge_client: ModelClient | None = None
    state: AgentState = field(default_factory=AgentState)
    taken_up: bool = False
    initial: Sequence[ActionCall] = ()
    on_step: Callable[[StepRecord], Awaitable[None] | None] | None = None

    def __post_init__(self) -> None:
        registry = self.controller.registry.without(())
        registry.include(agent_actions(self.task.output_schema))
        self.controller = Controller(registry, self.controller.settings)
        self.step_pictures = self.settings.step_pictures
        super().__post_init__()
        self.messages = MessageManager(
            system_prompt=self.style.system_prompt(max_actions=self.settings.max_actions),
            task=self.task.text,
            context=self.task.context,
            secrets=self.secrets.names,
            example=self.style.example,
            window=self.model_client.model.info.context_window,
            images_kept=self.style.images_kept,
            state=self.state.messages,
        )
        self._unrecorded = Usage()  # That no recorded step has yet
        for client in filter(None, (self.model_client, self.judge_client)):
            client.limit, client.spent = self._limit_reached, self._count_usage
        self._confirmer = Confirmer(
            executor=self.executor,
            history=self.history,
            state=self.state,
            secrets=self.secrets,
            judge_client=self._judge(),
            window=self.messages.window,
            seconds=self.settings.step_timeout,
        )
        for text in self.state.instructions:
            self.control.instruct(text)
        self._answer: ActionOutcome | None = None

    async def run(self) -> TaskOutcome:
        """Work as `TaskRun.run` does, within a span."""
        with spans.of_run(self.history.id, self.model_client.model.info.name, self.task.style) as span:
            try:
                return await super().run()
            finally:
                spans.end(span, self.outcome())

    async def _work(self) -> None:
        # A step that was broken off has left no record: its number is given again.
        self.state.step = self.history.steps[-1].number if self.history.steps else 0
        self._save()
        model = self.model_client.model.info
        if self.style.by_pictures and not model.sees:
            self.end(TaskStatus.FAILED, f"{model.name} takes no pictures, and this style needs them.")
            return
        await self._open_page()
        fallback, tab = self.model_client.fallback, self.session.tab_in_use
        size = tab.page.viewport_size if tab is not None else None
        limits = {"max_actions", "max_failures", "model_timeout", "step_timeout"}
        self.history.settings = RunSettings(
            fallback_model=fallback.info.name if fallback is not None else None,
            gui_scale=(self.settings.gui_scale or scale_for(model.name))
            if self.task.style == "gui"
            else None,
            viewport=(size["width"], size["height"]) if size is not None else None,
            **self.settings.model_dump(include=limits),
        )
        while await self._may_go_on():
            with spans.of_step(self.state.step + 1) as span:
                await self.step()
                spans.end(span, self.history.steps[-1])
            await self._report_recorded()

    async def step(self) -> None:
        """Look at the page, ask the model, act, record the step, and end the run if it is over."""
        state, timeout = self.state, self.settings.step_timeout
        state.step += 1
        self._note_late_evidence()
        step = _Step(self._limit_reached(state.step))
        if state.failures >= self.settings.max_failures:
            errors = [
                text
                for last in self.history.steps[-1:]
                for text in (*(action.error for action in last.actions), *last.notes[-1:])
                if text
            ]
            said = f" The last of them: {cut(errors[-1], LONGEST_FAILURE)}" if errors else ""
            step.last_because = f"{state.failures} steps in a row have failed.{said}"
        try:
            with anyio.fail_after(timeout) as self._step_limit, self.session.takeover.stops(self._step_limit):
                tab = self.session.tab_in_use
                url = self.secrets.hide(tab.url) if tab is not None else ""
                await self._report(state.step, looks=True, url=url)
                step.look = await self._look()
                step.answer = await self.query(step.look, step.last_because, step.notes)
                await self.execute(step.look, step.answer, step.outcomes)
        except TimeoutError:
            step.failure = f"The step took longer than {timeout:g} s and was broken off."
        except (ActionError, ModelError) as error:
            step.failure = self.secrets.hide(str(error))
            if not isinstance(error, ActionError | InvalidOutput) and not self._can_shorten(error):
                self.end(TaskStatus.FAILED, step.failure)
        self._record_step(step)
        if self.history.status is TaskStatus.WORKING:
            try:
                await self._conclude(step)
            finally:
                # Add the usage of requests made after the step was recorded.
                last = self.history.steps[-1]
                used, self._unrecorded = last.usage + self._unrecorded, Usage()
                self.history.steps[-1] = last.model_copy(update={"usage": used})
        self._save()

    async def query(self, look: Look, last_because: str | None, notes: list[str]) -> Decision:
        """Ask the model what to do; `last_because` is why this is the last step. Raises ModelError."""
        for text in self.control.take_instructions():
            self.messages.add_task(text)
            self.state.told.append(text)
        # Asked for once a step: it is given once at each stage.
        state = self._state_text(look, last_because, self.state.loops.nudge())
        if last_because is None:
            await self._think_ahead(state, look)
        page = self.session.current_tab.page
        turn = self.style.turn(self.controller.registry, page, look, only_done=last_because is not None)
        self.messages.add_state(state, look.images)
        self.model_client.notice = lambda text: notes.append(self.secrets.hide(text))
        conversation = self.messages.messages(turn.form)
        answer = await self.model_client.decide(conversation, form=turn.form, read=turn.read)
        self.messages.calibrate(answer.reply.usage, turn.form)
        self.messages.add_output(turn.remembered(answer))
        return answer

    async def execute(self, look: Look, answer: Decision, outcomes: list[ActionOutcome]) -> None:
        """Report the model's decision and carry it out; each action is added to `outcomes` when done."""
        calls, hide = answer.calls, self.secrets.hide
        goal, actions = hide(answer.brain.next_goal), tuple(hide(str(call)) for call in calls)
        await self._report(self.state.step, goal=goal, actions=actions, url=look.url)
        with filling_by(self._read_data):
            await self.executor.act(calls[: self.settings.max_actions], outcomes)

    def instruct(self, text: str) -> None:
        """Give the agent an instruction for its next step; a running task is saved at once."""
        self.control.instruct(text)
        if self.history.status in (TaskStatus.WORKING, TaskStatus.PAUSED):
            self._save()

    def outcome(self) -> TaskOutcome:
        """Return the outcome so far."""
        result = self._answer.result if self._answer is not None else None
        return self._outcome(
            answer=self.secrets.hide(result.extracted_content or "") if result else None,
            data=self.secrets.hide_in((result.data or {}).get("data")) if result else None,
            steps=self.state.step,
        )

    # -- before the steps

    async def _open_page(self) -> None:
        """Open the task's first page and do the actions before the model's, once.

        In another browser, open the last page again.
        """
        if not self.state.started:
            self.state.started = True
            if self.task.start_url is not None:
                url = self.secrets.hide(self.task.start_url)
                await self._report(0, goal="open the start page", url=url)
                self.state.start_problem = problem = await self._problem_of_opening(self.task.start_url)
                if problem is not None:
                    self.messages.remember(f"The start page could not be opened: {problem}")
            if self.initial:
                started, outcomes = datetime.now(UTC), list[ActionOutcome]()
                for call in self.initial:
                    await self.executor.act([call], outcomes)
                self.messages.remember(*(outcome.memory for outcome in outcomes))
                self._record(0, None, started, actions=tuple(outcome.record for outcome in outcomes))
                await self._report_recorded()
        elif self.taken_up:
            self.taken_up = False
            opened = "The browser is another one, and no page was open."
            url = self.history.urls_in_order[-1] if self.history.urls else self.task.start_url
            if url is not None:
                problem = await self._problem_of_opening(url)
                ended = f"could not be opened: {problem}" if problem is not None else "was opened again."
                opened = f"The browser may be another one; the page {url} {ended}"
            self.messages.remember(TAKEN_UP.format(opened=opened))

    async def _report_recorded(self) -> None:
        if self.on_step is not None and (waits := self.on_step(self.history.steps[-1])) is not None:
            await waits

    async def _problem_of_opening(self, url: str) -> str | None:
        try:
            await self.executor.open(url)
        except ActionError as error:
            return self.secrets.hide(str(error))
        return None

    # -- parts of a step

    async def _look(self) -> Look:
        wanted = self.task.vision if self.task.vision is not None else self.style.by_pictures
        picture = wanted and self.model_client.model.info.sees
        look = await self.executor.look(picture=picture, shot=self._wants_shot)
        self.state.pictured = self.state.pictured or bool(look.images)
        return look

    def _state_text(self, look: Look, last_because: str | None, nudge: str | None) -> str:
        lines = [f"Step {self.state.step} of at most {self.task.budget.steps}."]
        evidence = [action.evidence for step in self.history.steps[-1:] for action in step.actions]
        passages = [passage for one in evidence if one is not None for passage in one.passages]
        if changes := [passage.text for passage in passages if passage.origin != "person"]:
            lines += ["Your last actions changed:", *changes]
        if self.style.by_pictures:
            lines.append(f"The page now: {look.url}")
        else:
            lines += ["The page now:", look.text]
        if nudge:
            lines.append(nudge)
        if last_because is not None:
            lines.append(f"This is your last step: {last_because} {self.style.last_words}")
        return "\n".join(lines)

    async def _think_ahead(self, state: str, look: Look) -> None:
        """Summarize a long memory and make a plan if due; the step goes on if that fails."""
        try:
            if old := self.messages.to_sum_up():
                memories = [one.message for one in old]
                summary = await self.model_client.sum_up(memories, self.task.text)
                self.messages.replace_by_summary(old, summary)
            every = self.task.planner_interval
            due = every > 0 and self.state.step % every == 1 % every
            if self.state.loops.plan_is_due() or due:
                self.messages.add_state(state, look.images)
                plan = await self.model_client.plan(self.messages.messages())
                self.messages.remember(f"A plan to follow from here:\n{plan}")
        except ModelError as error:
            logger.info("Thinking ahead failed: %s", error)

    async def _read_data(self, schema: Schema, page: str) -> Any:
        """What the model reads in a page for `extract_data`; None if it cannot be asked."""
        if self._limit_reached() is not None:
            return None
        page = self.secrets.hide(page)
        try:
            return await self.model_client.read_data(schema, page, window=self.messages.window)
        except ModelError as error:
            logger.info("The model could not be asked for data: %s", error)
            return None

    def _record_step(self, step: _Step) -> None:
        """Put the results of a step into the model's memory, the run's state and the history."""
        state, outcomes, most = self.state, step.outcomes, self.settings.max_actions
        look, answer = step.look, step.answer
        actions, brain = tuple(outcome.record for outcome in outcomes), AgentBrain()
        self.messages.remove_state()
        self.messages.remember(*(outcome.memory for outcome in outcomes))
        if answer is not None:
            brain = answer.brain
            if (left_out := len(answer.calls) - most) > 0:
                self.messages.remember(f"Only {counted(most, 'action')} a step; not done: {left_out}.")
            page = f"{look.url}\n{look.scrolled}\n{look.text}" if look is not None else ""
            state.loops.record(actions, page=page)
        failed = not outcomes or all(outcome.result is None for outcome in outcomes)
        state.failures = state.failures + 1 if failed else 0
        if step.failure is not None:
            step.notes.append(step.failure)
            self.messages.remember(f"The step failed: {step.failure}")
        used, self._unrecorded = self._unrecorded, Usage()
        self._record(
            state.step,
            look,
            step.started,
            brain=AgentBrain.model_validate(self.secrets.hide_in(brain.model_dump())),
            actions=actions,
            notes=tuple(step.notes),
            usage=used,
            model=answer.reply.model if answer is not None else self.model_client.model.info.name,
        )

    def _can_shorten(self, error: ModelError) -> bool:
        """Whether the conversation was too long, and was cut to half."""
        if not isinstance(error, ContextTooLong):
            return False
        try:
            self.messages.cut(self.messages.tokens // 2)
        except ContextTooLong:
            return False
        return True

    # -- what follows from a step

    async def _conclude(self, step: _Step) -> None:
        last = step.outcomes[-1] if step.outcomes else None
        if last is not None and last.result is not None:
            if last.result.is_done:
                await self._finish(last, step.last_because)
                return
            if last.record.call.name == CALL_USER:
                await self._ask_person(last.result.data or {})
                return
        if self.state.loops.is_stuck:
            self.end(TaskStatus.STUCK, "It went round in circles: the same actions, or an unchanged page.")
        elif step.last_because is not None:
            has_failed = self.state.failures > self.settings.max_failures
            self.end(TaskStatus.FAILED if has_failed else TaskStatus.OUT_OF_BUDGET, step.last_because)

    async def _finish(self, outcome: ActionOutcome, last_because: str | None) -> None:
        assert outcome.result is not None
        self._answer = outcome
        answer = self.secrets.hide(outcome.result.extracted_content or "")
        if not outcome.result.success:
            over = last_because and self._limit_reached(self.state.step)
            self.end(TaskStatus.OUT_OF_BUDGET if over else TaskStatus.FAILED, last_because or answer)
            return
        unconfirmed = await self._confirmer.check(answer, (outcome.result.data or {}).get("data"))
        if unconfirmed is None:
            self.end(TaskStatus.SUCCEEDED)
            return
        self.state.rejections += 1
        if unconfirmed == NOBODY or self.state.rejections > 1 or last_because is not None:
            self.end(TaskStatus.UNCONFIRMED, f"The result was not confirmed: {unconfirmed}")
            return
        self._answer = None
        self.messages.remember(REFUSED.format(reason=unconfirmed))

    async def _ask_person(self, data: dict[str, Any]) -> None:
        question = Question.of(self.secrets.hide_in(data))
        self._set_status(TaskStatus.NEEDS_PERSON)
        self.obstacle = question.obstacle
        await self._report_status()
        with contextlib.ExitStack() as after:  # The question is withdrawn once the takeover has ended.
            async with self.session.takeover.asking("the user", question.text) as back:
                asking = asyncio.create_task(self._answer_to(question))
                after.callback(asking.cancel)
                await asyncio.wait({asking, back}, return_when=asyncio.FIRST_COMPLETED)
                answer = PERSON_ACTED.format(note=back.result()).strip() if back.done() else asking.result()
        if answer is not None:
            self.obstacle = None
            self._set_status(TaskStatus.WORKING)
            self.messages.add_task(answer)
            self.state.told.append(answer)
            self.history.note_answer(answer)

    async def _answer_to(self, question: Question) -> str | None:
        """The person's answer for the model; a secret is kept for pages of the site only."""
        answer = None
        origin = Origin.of(self.history.urls_in_order[-1]) if self.history.urls else None
        if (name := question.secret) is None:
            answer = await self.watcher.ask_person(question.text, question.choices)
        elif origin is None:
            return "The person was not asked: open the page first on which the secret is to be typed."
        elif (value := await self.watcher.ask_secret(question.text, site := str(origin))) is not None:
            self.secrets.add(name, Secret(value=value, origins=(site,)))
            return (
                f"The person has given it. You cannot read it: type <secret>{name}</secret> in its place, on "
                f"pages of {site} only."
            )
        if answer is None and self.control.instructions:
            answer = " ".join(self.control.take_instructions())
        return None if answer is None else f"The person answered: {self.secrets.hide(answer)}"

    def _judge(self) -> ModelClient | None:
        """The client of the model that judges claims; None if none does."""
        info, wanted = self.model_client.model.info, self.task.judge
        if not (self.settings.judge if wanted is None else wanted):
            return None
        # The smallest models confirm nearly everything: their own claims only where the caller wants that.
        can = info.judges and not (info.context_window or SMALL_WINDOW + 1) <= SMALL_WINDOW
        return self.judge_client or (self.model_client if can or wanted else None)

    def _count_usage(self, used: Usage) -> None:
        self._unrecorded += used

    def _limit_reached(self, step: int | None = None) -> str | None:
        """The limit that is reached, as a sentence; without `step`, only limits that hold amid a step."""
        used = self.history.usage + self._unrecorded
        return self.task.budget.reached(used, seconds=self.seconds, step=step)

    def _save(self) -> None:
        self.state.instructions = list(self.control.instructions)
        # Before the history: a run resumed after a kill between the two repeats no step.
        if self.folder is not None:
            self.folder.write(STATE_FILE, self.state.model_dump_json().encode())
        super()._save()
