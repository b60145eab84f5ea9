"""What the agent asks a model beside its steps: a plan, a summary, data of a page, a judgement."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from mcp_browser.agent.executor import Look
from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.prompting.output import object_in
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.task import Task
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm import tokens
from mcp_browser.llm.messages import Message, OutputForm, system, user
from mcp_browser.text import cut

LONGEST_SUMMARY = 6_000  # Characters of a summary of earlier steps
LONGEST_PLAN = 3_000

LONGEST_JUDGED_STEP = 1_000  # Characters of an action and its result that the judge reads

ANSWER_SHARE, STEPS_SHARE, PAGE_SHARE = 0.15, 0.15, 0.3
"""The most that a judge reads, as shares of the model's window; the rest is for task, picture, verdict."""

DATA_SHARE = 0.6
"""The same of a page that data are read from."""


class Verdict(Frozen):
    """Whether a claimed result stands up to what the page shows; `reason` says why."""

    confirmed: bool
    reason: str = ""


def _form(name: str, description: str, properties: dict[str, Any]) -> OutputForm:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return OutputForm(name=name, description=description, json_schema=schema)


VERDICT_FORM = _form(
    "Verdict",
    "Whether the claim holds.",
    {"reason": {"type": "string"}, "confirmed": {"type": "boolean"}},
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


async def judge(  # noqa: PLR0913 - what there is to judge by
    model_client: ModelClient,
    task: Task,
    answer: str,
    look: Look,
    steps: Sequence[str],
    *,
    window: int,
    doubts: Sequence[str] = (),
) -> Verdict:
    """Whether the claimed result stands up to the last page and the steps that led there.

    `doubts` are what rules hold against it. Answer, steps and page are cut to their shares of the model's
    window, in tokens.

    Raises:
        ModelError: there is no judgement.
    """
    room = window * tokens.LEAST_CHARACTERS_A_TOKEN
    answer = cut(answer, int(room * ANSWER_SHARE))
    # The last steps matter most.
    done = "\n".join(cut(step, LONGEST_JUDGED_STEP) for step in steps)[-int(room * STEPS_SHARE) :]
    page = cut(look.text, int(room * PAGE_SHARE))
    claim = f"Task: {task.text}\n\nClaimed answer: {answer}\n\nSteps:\n{done}"
    if doubts:
        claim += "\n\nWhat speaks against it:\n" + "\n".join(doubts)
    request = [system(prompt("judge")), user(f"{claim}\n\nThe last page:\n{page}", *look.images)]
    reply = await model_client.ask(request, form=VERDICT_FORM)
    try:
        return Verdict.model_validate(object_in(reply))
    except (InvalidOutput, ValidationError):
        return Verdict(confirmed=False, reason="The judge gave no verdict that can be read.")


def _as_text(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        called = f"\n{json.dumps(message.call.arguments, ensure_ascii=False)}" if message.call else ""
        lines.append(f"<{message.role}>\n{message.text}{called}\n</{message.role}>")
    return "\n".join(lines)
