"""Whether a claim of success is believed: a model judges it by the evidence of the run, and nobody else."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcp_browser.agent.claims.facts import facts
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.record.evidence import Verdict
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.side_prompts import Claim, judge
from mcp_browser.agent.state import AgentState
from mcp_browser.errors import ActionError, ModelError

SETTLE_SECONDS = 3.0  # How long page and requests may take to come to rest before they are judged as they are
SETTLE_POLL = 0.1

NOBODY = "nobody has checked it: no model judged the claim (--judge-model names one)."


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Why a claim is not confirmed; `final` where going on would change nothing about that."""

    reason: str
    final: bool = False


@dataclass(kw_only=True)
class Confirmer:
    """Checks the claims of one run. `judge_client` is the model that judges; None where none is to.

    `limit` returns which limit of the run is reached, so that no model may be asked any more.
    """

    executor: Executor
    history: AgentHistory
    state: AgentState
    secrets: Secrets
    judge_client: ModelClient | None
    window: int
    seconds: float
    limit: Callable[[], str | None]

    async def check(self, answer: str, data: Any) -> Unconfirmed | None:
        """Why the claim is not confirmed; None where it is."""
        if (certain := self._certain(data)) is not None:
            return Unconfirmed(certain)
        try:
            with anyio.fail_after(self.seconds):
                if self.judge_client is not None and (limit := self.limit()) is not None:
                    return Unconfirmed(f"it could not be judged: {limit}")
                verdict = await self._verdict(answer, data)
        except TimeoutError:
            return Unconfirmed(f"it could not be checked: that took longer than {self.seconds:g} s.")
        except (ActionError, ModelError) as error:
            return Unconfirmed(f"it could not be checked: {self.secrets.hide(str(error))}")
        verdict = Verdict.model_validate(self.secrets.hide_in(verdict.model_dump()))
        self.history.steps[-1] = self.history.steps[-1].model_copy(update={"verdict": verdict})
        if self.judge_client is None:
            return Unconfirmed(NOBODY, final=True)
        return None if verdict.confirmed else Unconfirmed(verdict.reason)

    def _certain(self, data: Any) -> str | None:
        """What ends a claim before anybody judges; data that does not fit its schema never comes here."""
        if self.history.task.output_schema is not None and data in (None, ""):
            return "the data that the task requires is missing."
        seen = any(not url.startswith("chrome-error:") for url in self.history.urls)
        if self.state.start_problem is not None and not seen:
            return f"the start page never opened, and no other page was seen: {self.state.start_problem}"
        return None

    async def _verdict(self, answer: str, data: Any) -> Verdict:
        """What the judge says; where there is none, the facts alone."""
        client, history, people = self.judge_client, self.history, self.state.told
        sees = client is not None and client.model.info.sees and history.task.vision is not False
        page = await self._settled(picture=sees)
        told: dict[str, Any] = {"people": people, "answer": answer, "data": data}
        against = facts(history, page=page.passage, pictured=self.state.pictured, **told)
        if client is None:
            return Verdict(facts=against)
        claim = Claim(history=history, facts=against, **told)
        window = client.model.info.context_window or self.window
        try:
            return await judge(client, claim, page, window=window)
        except ModelError:
            if not page.images:
                raise
            # Many a model takes no pictures and is not known for it; its server's words for that differ.
            return await judge(client, claim, replace(page, images=()), window=window)

    async def _settled(self, *, picture: bool) -> Look:
        """The page, once two looks in a row show the same and no request is under way."""
        ends = time.monotonic() + SETTLE_SECONDS
        look = await self.executor.look(picture=False)
        while True:
            await anyio.sleep(SETTLE_POLL)
            before, look = look, await self.executor.look(picture=picture)
            waits = look.text != before.text or (self.executor.watch and self.executor.watch.is_open())
            if not waits or time.monotonic() >= ends:
                break
        if (late := self.executor.late_evidence()) is not None:
            self.history.complete(late)
        return look
