"""Check a claim of success: by facts, then by a model that judges the evidence of the run."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import anyio
from pydantic import ValidationError

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.agent.executor import Executor, Look
from mcp_browser.agent.model_client import ModelClient, output_form_of
from mcp_browser.agent.prompting.style import object_in, prompt
from mcp_browser.agent.record.history import ActionRecord, AgentHistory, Evidence, Passage, Verdict, leaves
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.state import AgentState
from mcp_browser.errors import ActionError, ContextTooLong, InvalidOutput, ModelError, ModelRefused
from mcp_browser.llm.messages import LEAST_CHARACTERS_A_TOKEN, system, user
from mcp_browser.text import cut, one_line, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.observation import DialogAnswer


LONGEST_WORD = 40
ENOUGH = 0.5  # The share of a value's words that must have been seen

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_VALUE = re.compile(
    r"(?<![\w.])(?:[$€£¥]\s?)?(\d+(?:[.,'\u2019\u00a0\u202f]\d+)+|\d{3,})(?![\w])"
    r"|[\"“«„「]([^\"”“»\n」]{3,80})[\"”»“」]|\b([\w.+-]+@[\w-]+\.[\w.]+)\b|(https?://[^\s\"'<>)]+)"
)
THOUSANDS = 3  # Digits of a group in large numbers


class Seen:
    """Words and numbers of texts."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.words = {word for text in texts for word in parts(text)}

    def has(self, value: str) -> bool:
        """Whether the value, or most of its words, is there. Numbers are compared however written."""
        if value.casefold() in self.words:
            return True
        if number := _NUMBER.fullmatch(value.strip().lstrip("+-")):
            return not self.words.isdisjoint(_forms(number[0]))
        words = [word[:LONGEST_WORD] for word in _WORD.findall(value.casefold())]
        known = sum(word in self.words for word in words)
        # Scripts without spaces have no words to count.
        return not words or known >= ENOUGH * len(words) or any(not word.isascii() for word in words)


def values_claimed(answer: str) -> Iterator[str]:
    """The values that an answer claims: numbers of three digits or with a fraction, quotes, addresses."""
    for found in _VALUE.finditer(answer):
        yield found[1] or found[2] or found[3] or found[4]


def values_in(data: Any) -> Iterator[str]:
    """The texts and numbers in a value of JSON."""
    for _, value in leaves(data):
        if value is not None and not isinstance(value, bool) and str(value).strip():
            yield str(value)


def parts(text: str) -> Iterator[str]:
    """The words of a text, and its numbers in all forms that they may be written in."""
    folded = text.casefold()
    for word in _WORD.findall(folded):
        yield word[:LONGEST_WORD]
    for number in _NUMBER.findall(folded):
        # Numbers that stand beside each other may be one, in groups, or several.
        for part in {number, *number.split()}:
            yield from _forms(part)


def _forms(number: str) -> set[str]:
    """What a number may mean, written alike: 12.50 is 12.5, and 1,250 is 1250 or 1.25."""
    groups = re.findall(r"\d+", number)
    whole, last = "".join(groups[:-1]), groups[-1]
    if len(groups) == 1:
        return {_plain(last)}
    forms = {f"{_plain(whole)}.{last}".rstrip("0").rstrip(".")}
    if len(last) == THOUSANDS and (len(groups) > 2 or len(whole) <= THOUSANDS):  # noqa: PLR2004
        forms.add(_plain(whole + last))
    return forms


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


LONGEST_CALL = 400
LEAST_PASSAGE = 200
_ORIGINS = {
    "page": "from the page",
    "agent": "written or computed by the agent itself, no page says it",
    "person": "from a person",
    "file": "from a file",
}
_FRAME = ("<page ", "</page>")


@dataclass(slots=True)
class _Text:
    """A passage on its way into the account, under a heading."""

    heading: str
    text: str


def account(history: AgentHistory, *, wanted: str, room: int) -> str:
    """The evidence in about `room` characters, or more if what is never left out needs more.

    Long texts are cut to the lines most relevant to `wanted`, the task and the claim.
    """
    pieces = [*_pieces(history)]
    texts = [piece for piece in pieces if isinstance(piece, _Text)]
    left = room - sum(len(piece) + 1 for piece in pieces if isinstance(piece, str))
    # The shortest first: what they do not need is for the others.
    for count, text in zip(
        range(len(texts), 0, -1), sorted(texts, key=lambda one: len(one.text)), strict=True
    ):
        share = max(LEAST_PASSAGE, (left // count) - len(text.heading))
        text.text = excerpt(text.text, wanted, share)
        left -= len(text.text) + len(text.heading)
    return "\n".join(
        piece if isinstance(piece, str) else f"{piece.heading}\n{piece.text}" for piece in pieces
    )


def excerpt(text: str, wanted: str, room: int) -> str:
    """The lines of a text most relevant to `wanted`, in order, within `room` characters."""
    if len(text) <= room:
        return text
    lines = [cut(line, room) for line in text.splitlines()]
    words = set(parts(wanted))
    found = [words.intersection(parts(line)) for line in lines]
    often = Counter(word for line in found for word in line)
    # A word counts the more, the fewer lines have it; frames stay, and else what comes first.
    rank = [
        (not line.startswith(_FRAME), -sum(1 / often[word] for word in found[number]), number)
        for number, line in enumerate(lines)
    ]
    kept: set[int] = set()
    for *_, number in sorted(rank):
        room -= len(lines[number]) + 2
        if room < 0:
            break
        kept.add(number)
    shown = (line if number in kept else "…" for number, line in enumerate(lines))
    return "\n".join(line for line, _ in groupby(shown))


def _pieces(history: AgentHistory) -> Iterator[str | _Text]:
    shown: list[str] = []
    for step in history.steps:
        if step.page is None and all(action.call.name == DONE for action in step.actions):
            continue
        yield f"Step {step.number}{f', at {one_line(step.url)}' if step.url else ''}"
        if step.page is not None:
            before, shown = shown, step.page.text.splitlines()
            lines = [line for line in shown if line not in before or line.startswith(_FRAME)]
            what = "What is new on the page" if len(lines) < len(shown) else "The page"
            yield _passage(what, step.page.model_copy(update={"text": "\n".join(lines)}))
        for action in step.actions:
            if action.call.name != DONE:
                yield from _of_action(action)


def _of_action(action: ActionRecord) -> Iterator[str | _Text]:
    on = f" on {', '.join(map(str, action.elements))}" if action.elements else ""
    yield f"- {one_line(str(action.call), LONGEST_CALL)}{on}{f' [tab {action.tab}]' if action.tab else ''}"
    evidence = action.evidence or Evidence()
    if action.error:
        yield f"  failed: {one_line(action.error, LONGEST_CALL)}"
    elif action.result:
        origin = f" ({_ORIGINS[evidence.result_from]})" if evidence.result_from != "page" else ""
        yield _Text(f"  result{origin}:", action.result)
    yield from (_passage("  text", passage) for passage in evidence.passages)
    if action.changed is False:
        yield "  nothing changed on the page"
    yield from (f"  {line}" for line in evidence.lines())


def _passage(what: str, passage: Passage) -> _Text:
    return _Text(f"{what} ({_ORIGINS[passage.origin]}):", passage.text)


def listed(heading: str, lines: Iterable[str]) -> str:
    """Lines under a heading; "" where there are none."""
    items = [f"- {line}" for line in lines]
    return "\n".join((heading, *items, "")) if items else ""


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
"""The reason that going on cannot change."""


@dataclass(kw_only=True)
class Confirmer:
    """Checks the claims of one run; `judge_client` asks the model that judges, if any."""

    executor: Executor
    history: AgentHistory
    state: AgentState
    secrets: Secrets
    judge_client: ModelClient | None
    window: int
    seconds: float

    async def check(self, answer: str, data: Any) -> str | None:
        """Why the claim is not confirmed; None if it is."""
        problem = self.state.start_problem
        # Data that does not fit its schema never gets here.
        if self.history.task.output_schema is not None and data in (None, ""):
            return "the data that the task requires is missing."
        if problem is not None and all(url.startswith("chrome-error:") for url in self.history.urls):
            return f"the start page never opened, and no other page was seen: {problem}"
        if self.judge_client is not None and (limit := self.judge_client.limit()) is not None:
            return f"it could not be judged: {limit}"
        try:
            with anyio.fail_after(self.seconds):
                verdict = await self._verdict(answer, data)
        except (TimeoutError, ActionError, ModelError) as error:
            late = f"that took longer than {self.seconds:g} s."
            why = late if isinstance(error, TimeoutError) else self.secrets.hide(str(error))
            return f"it could not be checked: {why}"
        verdict = Verdict.model_validate(self.secrets.hide_in(verdict.model_dump()))
        self.history.steps[-1] = self.history.steps[-1].model_copy(update={"verdict": verdict})
        if self.judge_client is None:
            return NOBODY
        return None if verdict.confirmed else verdict.reason

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
                agent.words |= Seen(values_in(action.given)).words
                read(Passage(text=action.result, origin=evidence.result_from), *evidence.passages)
                answered = [f"{one.url} {one.outcome}" for one in evidence.sent]
                beside = (*evidence.console, *evidence.dialogs, *answered)
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
