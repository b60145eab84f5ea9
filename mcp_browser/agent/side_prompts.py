"""Further requests to a model: a plan, a summary, data of a page."""

import json
from collections.abc import Sequence
from typing import Any

from mcp_browser.agent.model_retry import ModelClient
from mcp_browser.agent.prompting.output import object_in
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.task import Task
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm.messages import LEAST_CHARACTERS_A_TOKEN, Message, OutputForm, system, user
from mcp_browser.text import cut

LONGEST_SUMMARY = 6_000  # Characters of a summary of earlier steps
LONGEST_PLAN = 3_000
DATA_SHARE = 0.6  # The most that is read of a page for its data, as a share of the model's window


def form_of(name: str, description: str, properties: dict[str, Any]) -> OutputForm:
    """A form of an object with these properties and no others."""
    kind = {"type": "object", "properties": properties}
    schema = {**kind, "required": list(properties), "additionalProperties": False}
    return OutputForm(name=name, description=description, json_schema=schema)


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
    page = cut(page, int(window * LEAST_CHARACTERS_A_TOKEN * DATA_SHARE))
    request = [system(prompt("extract")), user(f"<page>\n{page}\n</page>")]
    reply = await model_client.ask(request, form=form_of("Data", "What the page says.", {"data": schema}))
    try:
        return object_in(reply).get("data")
    except InvalidOutput:
        return None


def _as_text(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        called = f"\n{json.dumps(message.call.arguments, ensure_ascii=False)}" if message.call else ""
        lines.append(f"<{message.role}>\n{message.text}{called}\n</{message.role}>")
    return "\n".join(lines)
