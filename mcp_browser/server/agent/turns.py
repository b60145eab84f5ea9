"""Whose turn it is in a session: one run works in it at a time, and the next one waits."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from mcp_browser.agent.agent import AgentRun
from mcp_browser.agent.control import Progress
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotActionable
from mcp_browser.server.agent.running import Run


class _Turn:
    """A session's turns: who works, and who has worked last."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.holder: str | None = None
        self.last: str | None = None


class Turns:
    """Lets the runs of each session work one after the other."""

    def __init__(self) -> None:
        self._turns: WeakKeyDictionary[BrowserSession, _Turn] = WeakKeyDictionary()

    def is_busy(self, session: BrowserSession) -> bool:
        """Whether a run works in the session."""
        turn = self._turns.get(session)
        return turn is not None and turn.holder is not None

    def check_free(self, session: BrowserSession) -> None:
        """Refuse where a run works in the session.

        Raises:
            NotActionable: one does; the message names it.
        """
        turn = self._turns.get(session)
        if turn is not None and turn.holder is not None:
            raise NotActionable(
                f"Task {turn.holder} works in this session.",
                hint="Wait for it with get_task, or end it with stop_task; if_busy='wait' waits, "
                "if_busy='own_tabs' works beside it.",
            )

    @asynccontextmanager
    async def take(self, run: Run) -> AsyncGenerator[None]:
        """Hold the run's session for it, once nobody else does.

        A run that goes on after another one has worked there opens its own page again.
        """
        turn = self._turns.setdefault(run.agent.session, _Turn())
        if turn.holder is not None:
            steps = run.agent.task.budget.steps
            run.tell(Progress(step=0, steps=steps, goal=f"wait for task {turn.holder}, which works here"))
        async with turn.lock:
            turn.holder = run.id
            if turn.last not in (None, run.id) and run.turn > 1 and isinstance(run.agent, AgentRun):
                run.agent.taken_up = True
            try:
                yield
            finally:
                turn.holder, turn.last = None, run.id
