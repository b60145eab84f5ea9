"""A task of the agent as its session's page shows it, and what a person says to it there."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from mcp_browser.agent.control import LONGEST_ACTION, Progress
from mcp_browser.agent.task import TaskStatus
from mcp_browser.agent.task_run import TaskRun
from mcp_browser.browser.concurrency import begin
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.text import cut

Steering = Literal["pause", "resume", "stop", "tell", "answer"]

MOST_STEPS = 50  # How many of the latest are shown


class TaskCard(SessionPlugin):
    """The task that works in a session, or has worked there last; `viewers` is how many pages show it."""

    def __init__(self, session: BrowserSession) -> None:
        self._run: TaskRun | None = None
        self._progress: Progress | None = None
        self._asked: tuple[str, tuple[str, ...], asyncio.Future[str]] | None = None
        self.viewers = 0

    def show(self, run: TaskRun, stop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Show this run from now on, which `stop` ends."""
        self._run, self._stop, self._progress = run, stop, None

    def progressed(self, progress: Progress) -> None:
        """Show what the run is about to do."""
        self._progress = progress

    async def ask(self, question: str, choices: tuple[str, ...]) -> str:
        """What a person answers on the page; the question stands until this is cancelled."""
        asked = self._asked = question, choices, asyncio.get_running_loop().create_future()
        try:
            return await asked[2]
        finally:
            if self._asked is asked:
                self._asked = None

    def steer(self, what: Steering, text: str) -> None:
        """Do what a person wants of the run."""
        if self._run is None:
            return
        control = self._run.control
        match what:
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

    def told(self) -> dict[str, Any] | None:
        """What is told of the run, as JSON; None where there is none."""
        if self._run is None:
            return None
        history = self._run.history
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
        outcome = self._run.outcome()
        control, status = self._run.control, history.status
        ended = status.is_final
        return {
            "text": history.task.text,
            "status": "pausing" if control.paused and status is TaskStatus.WORKING else status.value,
            "ended": ended,
            "doing": "" if ended or self._progress is None else str(self._progress),
            "steps": steps,
            "question": None if self._asked is None else {"text": self._asked[0], "choices": self._asked[1]},
            "answer": outcome.answer if ended else None,
            "obstacle": outcome.obstacle,
            "points": [[one.met, str(one)] for one in verdict.points] if ended and verdict else [],
            "evidence": list(outcome.evidence) if ended else [],
        }
