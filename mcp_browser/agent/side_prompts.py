"""What the agent asks a model beside its steps: a plan, a summary, data of a page, a judgement."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from mcp_browser.agent.claims.account import account, excerpt, listed
from mcp_browser.agent.executor import Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.prompting.output import object_in
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.record.evidence import Verdict
from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.task import Task
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm import tokens
from mcp_browser.llm.messages import Message, OutputForm, system, user
from mcp_browser.text import cut

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
    """The next steps, in a model's words.

    Raises:
        ModelError: it does not answer.
    """
    request = [system(prompt("planner")), user(_as_text(conversation[1:]), *conversation[-1].images)]
    return (await model_client.ask(request)).text.strip()[:LONGEST_PLAN]


async def sum_up(model_client: ModelClient, memories: Sequence[Message], task: Task) -> str:
    """What happened so far, in few words.

    Raises:
        ModelError: it does not answer.
    """
    request = [system(prompt("summary")), user(f"Task: {task.text}\n\n{_as_text(memories)}")]
    return (await model_client.ask(request)).text.strip()[:LONGEST_SUMMARY]


async def read_data(model_client: ModelClient, schema: dict[str, Any], page: str, *, window: int) -> Any:
    """Data for a schema from the text of a page, cut to its share of the model's window, in tokens.

    None where the answer holds none.

    Raises:
        ModelError: it does not answer.
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
    """What a run claims: `people` is what was said beside the task, `facts` are those against the claim."""

    history: AgentHistory
    people: Sequence[str]
    answer: str
    data: Any
    facts: tuple[str, ...]


async def judge(model_client: ModelClient, claim: Claim, look: Look, *, window: int) -> Verdict:
    """Whether a claim stands up to the evidence of the run and the last page, point by point.

    Answer, evidence and page are cut to their shares of the model's window, in tokens.

    Raises:
        ModelError: there is no judgement.
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
