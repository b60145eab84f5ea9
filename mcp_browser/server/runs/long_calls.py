"""Runs as long calls, for clients that declare the tasks extension."""

import asyncio
from datetime import datetime

import mcp_types as types

from mcp_browser.agent.task import TaskStatus
from mcp_browser.errors import NotFound
from mcp_browser.server.limits import fit
from mcp_browser.server.principals import Principal
from mcp_browser.server.runs.results import answer, saved_answer
from mcp_browser.server.runs.run import Run, Runs
from mcp_browser.server.runs.saved import SavedRuns
from mcp_browser.server.tasks import LongCall


class RunCall(LongCall):
    """One turn of a run: from a call that let it work until it stops.

    Its client attends all the while: it asks how things stand, and finds the questions there. A call that
    lets the run go on later is another one, with an identifier of its own, since one that has ended stays so.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.turn = run.turn
        # The number of the turn is part of it from the second on.
        name = run.id if run.turn == 1 else f"{run.id}.{run.turn}"
        super().__init__(name, self._attend(), mailbox=run.mailbox, created=run.created)

    @property
    def updated(self) -> datetime:
        return self.run.updated

    @property
    def doing(self) -> str:
        if self.run.status is TaskStatus.PAUSED:
            step = "It is paused."
        else:
            step = str(self.run.progress) if self.run.progress is not None else "It begins."
        return " ".join([*self.run.lease.told, step])

    async def cancel(self) -> None:
        """End the run."""
        if self.status in ("working", "input_required"):
            await self.run.cancel()

    async def _attend(self) -> types.CallToolResult:
        run = self.run
        async with run.attend():
            while run.is_working and run.turn == self.turn:
                await run.news()
        if run.status is TaskStatus.CANCELLED:
            raise asyncio.CancelledError
        return await fit(answer(run), None)


class RunCalls:
    """The long calls of the runs of one service."""

    def __init__(self, runs: Runs, saved: SavedRuns) -> None:
        self._runs = runs
        self._saved = saved
        self._calls: dict[str, RunCall] = {}

    def add(self, run: Run) -> RunCall:
        """Return a call for the turn of a run that has just begun, or the one that it has already."""
        kept = [call for call in self._calls.values() if any(call.run is run for run in self._runs)]
        self._calls = {call.id: call for call in kept}
        of_turn = [call for call in kept if call.run is run and call.turn == run.turn]
        call = of_turn[0] if of_turn else RunCall(run)
        self._calls[call.id] = call
        return call

    async def find(self, identifier: str, principal: Principal) -> LongCall | None:
        """Return the call of that identifier; None where this caller has none."""
        call = self._calls.get(identifier)
        if call is not None:
            return call if call.run.principal == principal else None
        if self._runs.find(identifier, principal) is not None:
            # It was not begun as a long call.
            return None
        try:
            run = self._saved.find(identifier, principal)
        except NotFound:
            return None
        # An earlier server had it: it has ended, and its folder holds the result.
        ended: asyncio.Future[types.CallToolResult] = asyncio.get_running_loop().create_future()
        ended.set_result(await fit(saved_answer(run), None))
        return LongCall(identifier, ended, created=run.history.created)

    def close(self) -> None:
        """Wait for no results any more."""
        for call in self._calls.values():
            call.end()
