"""Check a claim of success: by facts, then by a model that judges the evidence of the run."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.agent.claims.seen import Seen, values_claimed, values_in
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.record.evidence import Evidence, Passage, Verdict
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.side_prompts import Claim, judge
from mcp_browser.agent.state import AgentState
from mcp_browser.errors import ActionError, ModelError
from mcp_browser.text import one_line, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.observation import DialogAnswer

MOST_FACTS = 20
LONGEST_QUOTE = 160
_INVALID = re.compile(r'^\s*\*?\[\d+\] [\w ]+ "((?:[^"\\]|\\.)*)".*\binvalid\b', re.MULTILINE)


def facts(  # noqa: PLR0913 - what there is to hold it against
    history: AgentHistory, *, people: Sequence[str], answer: str, data: Any, page: Passage, pictured: bool
) -> tuple[str, ...]:
    """The facts against a claim.

    `people` is what was said beside the task, `page` the last page, `pictured` whether the model had
    pictures, whose words are not recorded.
    """
    acted = [one for one in history.actions() if one.call.name not in (DONE, CALL_USER)]
    note = " (pictures are not in the record)" if pictured else ""
    values = (*values_in(data), *values_claimed(answer))
    found = [*_failed(acted), *_unfounded(history, people, page, values, note)]
    found += [f"The last page marks {quoted(one)} as invalid." for one in _INVALID.findall(page.text)]
    if not any(one.evidence is not None and not one.error for one in acted):
        found.append("Nothing was done on any page: it was only looked at.")
    elif all(one.changed is False for one in acted if not one.error):
        found.append("No action changed what a page shows.")
    if acted and (error := acted[-1].error):
        found.append(f"The last action failed: {acted[-1].call.name}: {one_line(error, LONGEST_QUOTE)}")
    if not answer.strip():
        found.append("The answer is empty.")
    return tuple(dict.fromkeys(found))[:MOST_FACTS]


def _failed(acted: Sequence[ActionRecord]) -> Iterator[str]:
    dialogs: dict[str, DialogAnswer] = {}
    for action in acted:
        evidence = action.evidence or Evidence()
        dialogs |= {f"{one.kind} {one.message}": one for one in evidence.dialogs}
        for sent in evidence.sent:
            if sent.failed or (sent.method != "GET" and sent.status is None):
                yield f"{sent.method} {one_line(sent.url)} was answered: {sent.outcome}."
        yield from (f"Download: {file}." for file in evidence.downloads if file.error or file.size is None)
    yield from (f"Dialog: {one}." for one in dialogs.values() if not one.accepted)


def _unfounded(
    history: AgentHistory, people: Sequence[str], page: Passage, values: Iterable[str], note: str
) -> Iterator[str]:
    """Values of the claim, and values sent, that no page showed by itself.

    Goes through the run in order: what a page shows only after the agent wrote it is the agent's.
    """
    pages, agent, sent = Seen(), Seen(), list[tuple[str, str, str]]()

    def read(*passages: Passage) -> None:
        for passage in passages:
            words = Seen((passage.text,)).words
            (pages if passage.origin == "page" else agent).words |= words - (agent.words - pages.words)

    for step in history.steps:
        if step.page is not None:
            read(step.page)
        for action in step.actions:
            if action.call.name in (DONE, CALL_USER):
                continue
            evidence = action.evidence or Evidence()
            agent.words |= Seen(values_in(action.call.arguments)).words
            read(Passage(text=action.result, origin=evidence.result_from), *evidence.passages)
            beside = (
                *evidence.console,
                *evidence.dialogs,
                *(f"{one.url} {one.outcome}" for one in evidence.sent),
            )
            read(*(Passage(text=str(text)) for text in beside))
            sent += [(one.url, name, value) for one in evidence.sent for name, value in one.fields]
    read(page)
    task = history.task
    asked = Seen((*people, task.text, task.context or "", task.start_url or ""))
    for value in dict.fromkeys(values):
        if not asked.has(value) and not pages.has(value):
            where = "only in what the agent itself introduced" if agent.has(value) else "nowhere"
            yield f"The claim's {quoted(value)} appears {where}{note}."
    for url, name, value in sent:
        if value.strip() and agent.has(value) and not asked.has(value) and not pages.has(value):
            yield f"Sent to {one_line(url)}: {quoted(name)} as {quoted(value)}, which nobody asked for."


SETTLE_SECONDS = 3.0  # How long the page and its requests may take to settle before they are judged
SETTLE_POLL = 0.1

NOBODY = "nobody has checked it: no model judged the claim (--judge-model names one)."


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Why a claim is not confirmed; `final` if going on cannot change that."""

    reason: str
    final: bool = False


@dataclass(kw_only=True)
class Confirmer:
    """Checks the claims of one run; `judge_client` is the model that judges, if any.

    `limit` returns the limit of the run that is reached: no model may be asked then.
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
        """Why the claim is not confirmed; None if it is."""
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
        """Why a claim is wrong without a judge; data that does not fit its schema never gets here."""
        if self.history.task.output_schema is not None and data in (None, ""):
            return "the data that the task requires is missing."
        seen = any(not url.startswith("chrome-error:") for url in self.history.urls)
        if self.state.start_problem is not None and not seen:
            return f"the start page never opened, and no other page was seen: {self.state.start_problem}"
        return None

    async def _verdict(self, answer: str, data: Any) -> Verdict:
        """The judge's verdict; without a judge, the facts alone."""
        client, history, people = self.judge_client, self.history, self.state.told
        sees = client is not None and client.model.info.sees and history.task.vision is not False
        page = await self._settled(picture=sees)
        given: dict[str, Any] = {"people": people, "answer": answer, "data": data}
        against = facts(history, page=page.passage, pictured=self.state.pictured, **given)
        if client is None:
            return Verdict(facts=against)
        claim = Claim(history=history, facts=against, **given)
        window = client.model.info.context_window or self.window
        try:
            return await judge(client, claim, page, window=window)
        except ModelError:
            if not page.images:
                raise
            # Many a model takes no pictures and is not known for it; its server's words for that differ.
            return await judge(client, claim, replace(page, images=()), window=window)

    async def _settled(self, *, picture: bool) -> Look:
        """The page, once two looks in a row are the same and no request is pending."""
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
