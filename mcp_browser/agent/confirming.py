"""Check a claim of success: by facts, then by a model that judges the evidence of the run."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import ValidationError

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.agent.evidence_texts import Seen, account, excerpt, listed, values_claimed, values_in
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.model_client import ModelClient, output_form_of
from mcp_browser.agent.prompting.output import object_in
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.record.evidence import Evidence, Passage, Verdict
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.errors import ActionError, ContextTooLong, InvalidOutput, ModelError, ModelRefused
from mcp_browser.llm.messages import LEAST_CHARACTERS_A_TOKEN, system, user
from mcp_browser.text import cut, one_line, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.observation import DialogAnswer

MOST_FACTS = 20
LONGEST_QUOTE = 160
_INVALID = re.compile(
    r'^ *\*?\[\d+\] [\w ]+ "((?:[^"\\]|\\.)*)"(?:[^"\n]|"(?:[^"\\]|\\.)*")*? invalid\b', re.MULTILINE
)


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


ANSWER_SHARE, EVIDENCE_SHARE, PAGE_SHARE = 0.1, 0.35, 0.2
"""The most that a judge reads, as shares of the model's window; the rest is for task, picture, verdict."""

_POINT = output_form_of(
    "Point", "", {"asked": {"type": "string"}, "evidence": {"type": "string"}, "met": {"type": "boolean"}}
)
VERDICT_FORM = output_form_of(
    "Verdict",
    "The points of the task, and whether each is met.",
    {"points": {"type": "array", "items": _POINT.json_schema, "minItems": 1}},
)

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
        wrong, problem = None, self.state.start_problem
        # Data that does not fit its schema never gets here.
        if self.history.task.output_schema is not None and data in (None, ""):
            wrong = "the data that the task requires is missing."
        elif problem is not None and all(url.startswith("chrome-error:") for url in self.history.urls):
            wrong = f"the start page never opened, and no other page was seen: {problem}"
        if wrong is not None:
            return Unconfirmed(wrong)
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

    def _facts(self, answer: str, data: Any, page: Passage) -> tuple[str, ...]:
        """The facts against a claim; `page` is the last one."""
        acted = [one for one in self.history.actions() if one.call.name not in (DONE, CALL_USER)]
        found = [*_failed(acted), *self._unfounded([*values_in(data), *values_claimed(answer)], page)]
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

    def _unfounded(self, values: Iterable[str], page: Passage) -> Iterator[str]:
        """Values of the claim, and values sent, that no page showed by itself.

        Goes through the run in order: what a page shows only after the agent wrote it is the agent's.
        """
        pages, agent, sent = Seen(), Seen(), list[tuple[str, str, str]]()

        def read(*passages: Passage) -> None:
            for passage in passages:
                words, shown = Seen((passage.text,)).words, passage.origin in ("page", "file")
                (pages if shown else agent).words |= words - (agent.words - pages.words)

        for step in self.history.steps:
            if step.page is not None:
                read(step.page)
            for action in step.actions:
                if action.call.name in (DONE, CALL_USER):
                    continue
                evidence = action.evidence or Evidence()
                elements = {record.argument for record in action.elements}
                given = {name: one for name, one in action.call.arguments.items() if name not in elements}
                agent.words |= Seen(values_in(given)).words
                read(Passage(text=action.result, origin=evidence.result_from), *evidence.passages)
                beside = (
                    *evidence.console,
                    *evidence.dialogs,
                    *(f"{one.url} {one.outcome}" for one in evidence.sent),
                )
                read(*(Passage(text=str(text)) for text in beside))
                sent += [(one.url, name, value) for one in evidence.sent for name, value in one.fields]
        read(page)
        task = self.history.task
        # What pictures showed is not recorded.
        note = " (pictures are not in the record)" if self.state.pictured else ""
        asked = Seen((*self.state.told, task.text, task.context or "", task.start_url or ""))
        for value in dict.fromkeys(values):
            if not asked.has(value) and not pages.has(value):
                where = "only in what the agent itself introduced" if agent.has(value) else "nowhere"
                yield f"The claim's {quoted(value)} appears {where}{note}."
        for url, name, value in sent:
            if value.strip() and agent.has(value) and not asked.has(value) and not pages.has(value):
                yield f"Sent to {one_line(url)}: {quoted(name)} as {quoted(value)}, which nobody asked for."

    async def _verdict(self, answer: str, data: Any) -> Verdict:
        """The judge's verdict; without a judge, the facts alone."""
        client, task = self.judge_client, self.history.task
        sees = client is not None and client.model.info.sees and task.vision is not False
        page = await self._settled(picture=sees)
        against = self._facts(answer, data, page.passage)
        if client is None:
            return Verdict(facts=against)
        # Answer, evidence and page are cut to their shares of the model's window.
        room = (client.model.info.context_window or self.window) * LEAST_CHARACTERS_A_TOKEN
        answer = cut(answer, int(room * ANSWER_SHARE))
        if data is not None:
            answer += f"\nData: {cut(json.dumps(data, ensure_ascii=False), int(room * ANSWER_SHARE))}"
        wanted = f"{task.text}\n{answer}"
        asked = [
            f"Task: {task.text}",
            *([f"Context: {task.context}"] if task.context else []),
            listed("Said by a person meanwhile:", self.state.told),
            f"Claim: {answer}",
            "",
            "What happened:",
            account(self.history, wanted=wanted, room=int(room * EVIDENCE_SHARE)),
            "",
            listed("Facts that may speak against the claim:", against),
            "The last page:",
            excerpt(page.text, wanted, int(room * PAGE_SHARE)),
        ]
        request, rules = "\n".join(asked), system(prompt("judge"))
        try:
            reply = await client.ask([rules, user(request, *page.images)], form=VERDICT_FORM)
        except ModelError as error:
            # Many a model takes no pictures and is not known for it; its server's words for that differ.
            refused = isinstance(error, ModelRefused | ContextTooLong) or "image" in str(error).lower()
            if not (page.images and refused):
                raise
            reply = await client.ask([rules, user(request)], form=VERDICT_FORM)
        try:
            return Verdict.model_validate({**object_in(reply), "facts": against})
        except (InvalidOutput, ValidationError):
            return Verdict(facts=against)

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
