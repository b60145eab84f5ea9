"""A turn with the model: sum up and plan where that is due, then ask for a decision on the page."""

import logging
from dataclasses import dataclass

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.control import Control
from mcp_browser.agent.executor import Look
from mcp_browser.agent.model_retry import ModelAnswer, ModelClient
from mcp_browser.agent.prompting.message_manager import MessageManager
from mcp_browser.agent.prompting.style import PlannerStyle
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.side_prompts import make_plan, sum_up
from mcp_browser.agent.state import AgentState
from mcp_browser.agent.task import Task
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ModelError

logger = logging.getLogger(__name__)


@dataclass(kw_only=True, frozen=True)
class Planner:
    """Keeps the conversation with the model of one run; `registry` holds the actions that it may choose."""

    task: Task
    style: PlannerStyle
    model_client: ModelClient
    messages: MessageManager
    registry: Registry
    session: BrowserSession
    secrets: Secrets
    control: Control
    state: AgentState

    async def decide(self, look: Look, last_because: str | None, notes: list[str]) -> ModelAnswer:
        """Ask the model what to do on the page; `last_because` is why this is the last step, where it is.

        Raises:
            ModelError: there is no decision.
        """
        for text in self.control.take_instructions():
            self.messages.add_task(text)
            self.state.told.append(text)
        # ModelAnswer for once a step: it is told once at each stage.
        state = self._state_text(look, last_because, self.state.loops.nudge())
        if last_because is None:
            await self._think_ahead(state, look)
        page = self.session.current_tab.page
        turn = self.style.turn(self.registry, page, look, only_done=last_because is not None)
        self.messages.add_state(state, look.images)
        self.model_client.notice = lambda text: notes.append(self.secrets.hide(text))
        conversation = self.messages.messages(turn.form)
        asked = await self.model_client.decide(conversation, form=turn.form, read=turn.read)
        self.messages.calibrate(asked.reply.usage, turn.form)
        self.messages.add_output(turn.remembered(asked.reply, asked.decision))
        return asked

    def _state_text(self, look: Look, last_because: str | None, nudge: str | None) -> str:
        budget = self.task.budget
        lines = [f"Step {self.state.step} of at most {budget.steps}."]
        if self.state.changes:
            lines += ["Your last actions changed:", self.state.changes]
        if self.style.shows_snapshot:
            lines += ["The page now:", look.text]
        else:
            lines.append(f"The page now: {look.url}")
        if nudge:
            lines.append(nudge)
        if last_because is not None:
            lines.append(f"This is your last step: {last_because} {self.style.last_words}")
        return "\n".join(lines)

    async def _think_ahead(self, state: str, look: Look) -> None:
        """Sum up a long memory, and make a plan where one is due; a model that fails here is done without."""
        try:
            if self.messages.wants_compaction:
                old = self.messages.to_sum_up()
                self.messages.replace_by_summary(await sum_up(self.model_client, old, self.task))
            every = self.task.planner_interval
            due = every > 0 and self.state.step % every == 1 % every
            if self.state.loops.plan_is_due() or due:
                self.messages.add_state(state, look.images)
                plan = await make_plan(self.model_client, self.messages.messages())
                self.messages.add_note(f"A plan to follow from here:\n{plan}")
        except ModelError as error:
            logger.info("Thinking ahead failed: %s", error)
