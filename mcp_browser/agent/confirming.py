"""Whether a claim of success is believed: by the rules first, then by a model that judges."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcp_browser.agent.claims.rules import Doubt, SuccessClaim, doubts
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.record.history import JUDGED, AgentHistory
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.side_prompts import judge
from mcp_browser.agent.state import AgentState
from mcp_browser.browser.observation import Effect
from mcp_browser.errors import ActionError, ModelError

JUDGED_STEPS = 30  # How many of the last actions the judge reads
SETTLE_SECONDS = 3.0  # How long the last page may take to come to rest before it is judged as it is
SETTLE_POLL = 0.1


UNSURE = (
    "no one but the model itself has confirmed it, and a model with so small a window is not trusted with "
    "that: name another one with --judge-model."
)


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Why a claim is not confirmed; `final` where going on would change nothing about that."""

    reason: str
    final: bool = False


@dataclass(kw_only=True)
class Confirmer:
    """Checks the claims of one run. `judge_client` is the model that judges; None where none is to.

    `limit` returns which limit of the run is reached, so that no model may be asked any more. `only_refuses`:
    the judge's yes does not count. A model of 1.5 billion parameters said yes six times to its own claims in
    40 episodes of the agent's benchmark, each time wrongly.
    """

    executor: Executor
    history: AgentHistory
    state: AgentState
    secrets: Secrets
    judge_client: ModelClient | None
    window: int
    seconds: float
    limit: Callable[[], str | None]
    only_refuses: bool = False

    async def check(self, answer: str, data: Any) -> Unconfirmed | None:
        """Why the claim is not confirmed; None where it is."""
        try:
            with anyio.fail_after(self.seconds):
                reason = await self._reason(answer, data)
        except TimeoutError:
            reason = f"it could not be checked: that took longer than {self.seconds:g} s."
        except (ActionError, ModelError) as error:
            reason = f"it could not be checked: {self.secrets.hide(str(error))}"
        if reason is not None:
            return Unconfirmed(reason)
        return Unconfirmed(UNSURE, final=True) if self.only_refuses else None

    async def _reason(self, answer: str, data: Any) -> str | None:
        client = self.judge_client
        sees = client is not None and client.model.info.sees and self.history.task.vision is not False
        if (known := doubts(self._claim(answer, data, None))) and known[0].certain:
            return known[0].reason
        page = await self._settled(picture=sees)
        found = doubts(self._claim(answer, data, page))
        if client is None or (found and found[0].certain):
            return found[0].reason if found else None
        if (limit := self.limit()) is not None:
            return f"it could not be judged: {limit}"
        return await self._judged(client, answer, page, found)

    async def _judged(self, client: ModelClient, answer: str, page: Look, found: list[Doubt]) -> str | None:
        steps = [f"{action.call}: {action.error or action.result}" for action in self.history.actions()]
        ask = functools.partial(
            judge,
            client,
            self.history.task,
            answer,
            steps=steps[-JUDGED_STEPS:],
            window=client.model.info.context_window or self.window,
            doubts=[doubt.reason for doubt in found],
        )
        try:
            verdict = await ask(look=page)
        except ModelError:
            if not page.images:
                raise
            # Many a model takes no pictures and is not known for it; its server's words for that differ.
            verdict = await ask(look=replace(page, images=()))
        last = self.history.steps[-1]
        reason = self.secrets.hide(verdict.reason)
        self.history.steps[-1] = last.model_copy(update={"notes": (*last.notes, f"{JUDGED}{reason}")})
        return None if verdict.confirmed else reason or "the judge gave no reason."

    def _claim(self, answer: str, data: Any, page: Look | None) -> SuccessClaim:
        state = self.state
        if page is not None:
            state.seen.add(f"{page.title}\n{page.text}")
        registry = self.executor.controller.registry

        def effect(name: str) -> Effect:
            known = name in registry and registry[name].reach != "view"
            return registry[name].effect if known else "read"

        return SuccessClaim(
            task=self.history.task,
            instructions=state.told,
            answer=answer,
            data=data,
            actions=tuple(self.history.actions()),
            effect=effect,
            pages=[url for url in self.history.urls if not url.startswith("chrome-error:")],
            page=page.text if page is not None else None,
            seen=state.seen,
            start_problem=state.start_problem,
            pictured=state.pictured,
        )

    async def _settled(self, *, picture: bool) -> Look:
        """The page, once two looks in a row show the same."""
        ends = time.monotonic() + SETTLE_SECONDS
        look = await self.executor.look(picture=False)
        while True:
            await anyio.sleep(SETTLE_POLL)
            before, look = look, await self.executor.look(picture=picture)
            if look.text == before.text or time.monotonic() >= ends:
                return look
