"""Runs of the agent as long calls, for clients that declare the tasks extension."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import mcp_types as types

from mcp_browser.agent.task import TaskStatus
from mcp_browser.errors import NotFound
from mcp_browser.server.agent.answers import answer, saved_answer
from mcp_browser.server.agent.running import KEPT_SECONDS, Run, Runs
from mcp_browser.server.agent.saved import SavedRun, SavedRuns
from mcp_browser.server.principals import Principal
from mcp_browser.server.tasks.long_calls import CallState, LongCall


class RunCall:
    """One turn of a run: from a call that let it work until it stops.

    Its client attends all the while: it asks how things stand, and finds the questions there. A call that
    lets the run go on later is another one, with an identifier of its own, since one that has ended stays so.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._turn = run.turn
        self._result: types.CallToolResult | None = None
        self._cancelled = False
        self._attending = asyncio.create_task(self._attend())

    @property
    def id(self) -> str:
        """The run's identifier, and the turn's number from the second on."""
        return self.run.id if self._turn == 1 else f"{self.run.id}.{self._turn}"

    def is_of(self, run: Run) -> bool:
        """Whether it is of this run's present turn."""
        return self.run is run and self._turn == run.turn

    @property
    def created(self) -> datetime:
        return self.run.created

    @property
    def updated(self) -> datetime:
        return self.run.updated

    @property
    def seconds(self) -> float:
        """How long it is kept for sure: from its beginning until some time after what has happened last."""
        return (self.run.updated - self.run.created).total_seconds() + KEPT_SECONDS

    @property
    def state(self) -> CallState:
        if self._cancelled:
            return CallState(status="cancelled", message="It was cancelled.")
        if self._result is not None:
            return CallState(status="completed", result=self._result)
        questions = self.run.mailbox.requests()
        if questions:
            return CallState(status="input_required", questions=dict(questions))
        return CallState(status="working", message=" ".join([*self.run.told, self._doing]))

    @property
    def _doing(self) -> str:
        if self.run.status is TaskStatus.PAUSED:
            return "It is paused."
        return str(self.run.progress) if self.run.progress is not None else "It begins."

    def deliver(self, responses: Mapping[str, Any]) -> None:
        """Pass the client's answers on to what has asked."""
        self.run.mailbox.deliver(responses)

    async def cancel(self) -> None:
        """End the run."""
        if self._result is None:
            await self.run.cancel()

    async def changed(self) -> None:
        """Wait until something has happened."""
        await self.run.news()

    def end(self) -> None:
        """Attend no more."""
        self._attending.cancel()

    async def _attend(self) -> None:
        run = self.run
        async with run.attend():
            while run.is_working and run.turn == self._turn:
                await run.news()
        self._cancelled = run.status is TaskStatus.CANCELLED
        self._result = await answer(run)
        run.tell()


class SavedCall:
    """A call of an earlier server, as its run's folder tells of it: it has ended, and its result says how."""

    def __init__(self, run: SavedRun, result: types.CallToolResult) -> None:
        self.id = run.history.id
        self.created = self.updated = run.history.created
        self.seconds = KEPT_SECONDS
        self.state = CallState(status="completed", result=result)

    def deliver(self, responses: Mapping[str, Any]) -> None:
        """Nothing is asked."""

    async def cancel(self) -> None:
        """Nothing runs."""

    async def changed(self) -> None:
        """Nothing will ever happen."""
        await asyncio.Event().wait()


class RunCalls:
    """The long calls of the agent's runs."""

    def __init__(self, runs: Runs, saved: SavedRuns) -> None:
        self._runs = runs
        self._saved = saved
        self._calls: dict[str, RunCall] = {}

    def add(self, run: Run) -> RunCall:
        """A call for the turn of a run that has just begun, or for one that it has already."""
        kept = [call for call in self._calls.values() if any(call.run is run for run in self._runs)]
        self._calls = {call.id: call for call in kept}
        of_turn = [call for call in self._calls.values() if call.is_of(run)]
        call = of_turn[0] if of_turn else RunCall(run)
        self._calls[call.id] = call
        return call

    async def find(self, identifier: str, principal: Principal) -> LongCall | None:
        """The call of that identifier; None where this caller has none."""
        call = self._calls.get(identifier)
        if call is not None:
            return call if call.run.principal == principal else None
        if self._runs.find(identifier, principal) is not None:
            # It was not begun as a long call.
            return None
        try:
            saved = self._saved.find(identifier, principal)
        except NotFound:
            return None
        return SavedCall(saved, await saved_answer(saved))

    def close(self) -> None:
        """Attend nothing more."""
        for call in self._calls.values():
            call.end()
