"""The card of an agent's task in the live view, and how a person steers the task there."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from mcp_browser.agent.control import LONGEST_ACTION, Control, Progress
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.task import TaskStatus
from mcp_browser.browser.concurrency import begin, first
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.text import cut

Steering = Literal["pause", "resume", "stop", "tell", "answer"]

MOST_STEPS = 50  # How many of the latest are shown
DONE = "It is done: go on."  # What a person says who only lets a run go on that has ended with a question


class TaskCard(SessionPlugin):
    """The task that works in a session, or has worked there last; `viewers` is how many pages show it."""

    def __init__(self, session: BrowserSession) -> None:
        self._history: AgentHistory | None = None
        self._progress: Progress | None = None
        self._asked: tuple[str, tuple[str, ...], asyncio.Future[str | None]] | None = None
        self.viewers = 0

    def show(
        self,
        history: AgentHistory,
        control: Control,
        stop: Callable[[], Coroutine[Any, Any, None]],
        go_on: Callable[[str], Coroutine[Any, Any, object]] | None = None,
    ) -> None:
        """Show this run from now on; `stop` ends it, `go_on` continues it when it waits."""
        self._history, self._control, self._stop, self._progress = history, control, stop, None
        self._go_on = go_on

    def progressed(self, progress: Progress) -> None:
        """Show the run's next step."""
        self._progress = progress

    async def ask(
        self,
        question: str,
        choices: tuple[str, ...],
        beside: Coroutine[Any, Any, str | None] | None,
        *,
        limit: float | None = None,
    ) -> str | None:
        """What a person answers on a page that shows this, or `beside` it: the first answer, if any."""
        asked: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        answers = [one for one in (beside, asked if self.viewers else None) if one is not None]
        self._asked = question, choices, asked
        try:
            return await first(*answers, seconds=limit) if answers else None
        finally:
            self._asked = None

    def steer(self, what: Steering, text: str) -> None:
        """Steer the run as a person wants."""
        if self._history is None:
            return
        control = self._control
        go_on = self._go_on if self._waits() else None
        match what:
            case "resume" if go_on is not None:
                begin(go_on(DONE))
            case "tell" | "answer" if go_on is not None and text.strip():
                begin(go_on(text))
            case "pause":
                control.pause()
            case "resume":
                control.resume()
            case "stop":
                begin(self._stop())
            case "tell" if text.strip():
                control.instruct(text)
                control.resume()
            case "answer" if self._asked is not None and not self._asked[2].done():
                self._asked[2].set_result(text)
            case _:
                pass

    def _waits(self) -> bool:
        """Whether the run has ended with a question, and can go on here."""
        history = self._history
        asks = history is not None and history.status is TaskStatus.NEEDS_PERSON
        return asks and self._asked is None and self._go_on is not None

    def as_json(self) -> dict[str, Any] | None:
        """Return the state of the run as JSON; None where there is none."""
        history = self._history
        if history is None:
            return None
        steps = [
            {
                "number": step.number,
                "goal": step.brain.next_goal,
                "actions": [cut(str(one.call), LONGEST_ACTION) for one in step.actions],
                "failed": any(one.error for one in step.actions),
            }
            for step in history.steps[-MOST_STEPS:]
        ]
        verdict = next((step.verdict for step in reversed(history.steps) if step.verdict is not None), None)
        outcome, status, ended = history.outcome, history.status, history.status.is_final
        pausing = self._control.paused and status is TaskStatus.WORKING
        return {
            "text": history.task.text,
            "status": "pausing" if pausing else status.value,
            "ended": ended,
            "waits": self._waits(),
            "doing": "" if ended or self._progress is None else str(self._progress),
            "steps": steps,
            "question": None if self._asked is None else {"text": self._asked[0], "choices": self._asked[1]},
            "answer": outcome.answer if ended and outcome else None,
            "obstacle": outcome.obstacle if outcome else None,
            "points": [[one.met, str(one)] for one in verdict.points] if ended and verdict else [],
            "evidence": list(outcome.evidence) if ended and outcome else [],
        }
