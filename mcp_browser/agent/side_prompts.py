"""Further requests to a model: a plan, a summary, data of a page, a judgement."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from mcp_browser.actions.agent import DONE
from mcp_browser.agent.claims.seen import parts
from mcp_browser.agent.executor import Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.prompting.output import object_in
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.record.evidence import Evidence, Passage, Verdict
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.agent.task import Task
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm import tokens
from mcp_browser.llm.messages import Message, OutputForm, system, user
from mcp_browser.text import cut, one_line

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
        yield f"Step {step.number}, at {one_line(step.url)}"
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
        origin = f" ({_ORIGINS['agent']})" if evidence.result_from == "agent" else ""
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


LONGEST_SUMMARY = 6_000  # Characters of a summary of earlier steps
LONGEST_PLAN = 3_000

ANSWER_SHARE, EVIDENCE_SHARE, PAGE_SHARE = 0.1, 0.35, 0.2
"""The most that a judge reads, as shares of the model's window; the rest is for task, picture, verdict."""

DATA_SHARE = 0.6
"""The same of a page that data are read from."""


def _form(name: str, description: str, properties: dict[str, Any]) -> OutputForm:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return OutputForm(name=name, description=description, json_schema=schema)


_POINT = _form(
    "Point", "", {"asked": {"type": "string"}, "evidence": {"type": "string"}, "met": {"type": "boolean"}}
)
VERDICT_FORM = _form(
    "Verdict",
    "The points of the task, and whether each is met.",
    {"points": {"type": "array", "items": _POINT.json_schema, "minItems": 1}},
)


async def make_plan(model_client: ModelClient, conversation: Sequence[Message]) -> str:
    """The next steps, in a model's words. Raises ModelError: it does not answer."""
    request = [system(prompt("planner")), user(_as_text(conversation[1:]), *conversation[-1].images)]
    return (await model_client.ask(request)).text.strip()[:LONGEST_PLAN]


async def sum_up(model_client: ModelClient, memories: Sequence[Message], task: Task) -> str:
    """What happened so far, in few words. Raises ModelError: it does not answer."""
    request = [system(prompt("summary")), user(f"Task: {task.text}\n\n{_as_text(memories)}")]
    return (await model_client.ask(request)).text.strip()[:LONGEST_SUMMARY]


async def read_data(model_client: ModelClient, schema: dict[str, Any], page: str, *, window: int) -> Any:
    """Data for a schema from a page's text, cut to its share of the model's window; raises ModelError.

    `window` is in tokens. None if the answer holds no data.
    """
    page = cut(page, int(window * tokens.LEAST_CHARACTERS_A_TOKEN * DATA_SHARE))
    request = [system(prompt("extract")), user(f"<page>\n{page}\n</page>")]
    reply = await model_client.ask(request, form=_form("Data", "What the page says.", {"data": schema}))
    try:
        return object_in(reply).get("data")
    except InvalidOutput:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A run's claim; `people` is what was said beside the task, `facts` speak against the claim."""

    history: AgentHistory
    people: Sequence[str]
    answer: str
    data: Any
    facts: tuple[str, ...]


async def judge(model_client: ModelClient, claim: Claim, look: Look, *, window: int) -> Verdict:
    """Judge a claim by the evidence of the run and the last page, point by point. Raises ModelError.

    Answer, evidence and page are cut to their shares of the model's window, in tokens.
    """
    room = window * tokens.LEAST_CHARACTERS_A_TOKEN
    task, answer = claim.history.task, cut(claim.answer, int(room * ANSWER_SHARE))
    if claim.data is not None:
        answer += f"\nData: {cut(json.dumps(claim.data, ensure_ascii=False), int(room * ANSWER_SHARE))}"
    wanted = f"{task.text}\n{answer}"
    asked = [
        f"Task: {task.text}",
        *([f"Context: {task.context}"] if task.context else []),
        listed("Said by a person meanwhile:", claim.people),
        f"Claim: {answer}",
        "",
        "What happened:",
        account(claim.history, wanted=wanted, room=int(room * EVIDENCE_SHARE)),
        "",
        listed("Facts that may speak against the claim:", claim.facts),
        "The last page:",
        excerpt(look.text, wanted, int(room * PAGE_SHARE)),
    ]
    request = [system(prompt("judge")), user("\n".join(asked), *look.images)]
    reply = await model_client.ask(request, form=VERDICT_FORM)
    try:
        return Verdict.model_validate({**object_in(reply), "facts": claim.facts})
    except (InvalidOutput, ValidationError):
        return Verdict(facts=claim.facts)


def _as_text(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        called = f"\n{json.dumps(message.call.arguments, ensure_ascii=False)}" if message.call else ""
        lines.append(f"<{message.role}>\n{message.text}{called}\n</{message.role}>")
    return "\n".join(lines)
