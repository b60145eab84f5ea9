"""Ask the model; after a failure, ask again, ask another model, or ask for a correction."""

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from mcp_browser.agent import spans
from mcp_browser.agent.prompting.style import object_in, prompt
from mcp_browser.agent.task import Decision
from mcp_browser.errors import (
    ContextTooLong,
    InvalidOutput,
    ModelError,
    ModelRateLimited,
    ModelTimedOut,
    ModelUnavailable,
)
from mcp_browser.llm.messages import (
    LEAST_CHARACTERS_A_TOKEN,
    ChatModel,
    Message,
    OutputForm,
    Reply,
    Usage,
    as_json,
    assistant,
    system,
    user,
)
from mcp_browser.text import cut, in_texts

logger = logging.getLogger(__name__)

TRIES = 4  # How often one model is asked the same before it is given up
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
"""Seconds between two tries; the first doubles each time, with a quarter of chance to either side.

A model that asks to be left alone for longer than the longest wait is given up at once."""

REPAIRS = 2  # How often an answer that cannot be read is asked for again
LONGEST_ANSWER = 200_000  # Characters of an answer that are read
LONGEST_TEXT = 20_000  # Characters of each text in an answer that is longer than that
SHOWN_ANSWER = 300  # How much of an answer that cannot be read is repeated
LONGEST_SUMMARY = 6_000  # Characters of a summary of earlier steps
LONGEST_PLAN = 3_000
DATA_SHARE = 0.6  # The most that is read of a page for its data, as a share of the model's window
_PASSING = (ModelRateLimited, ModelTimedOut, ModelUnavailable)

Limit = Callable[[], str | None]  # Which limit forbids to ask once more, as a sentence
Notice = Callable[[str], None]  # Called with a sentence for each thing that went wrong on the way


@dataclass
class ModelClient:
    """Asks a model, and another one if the first is given up; `seconds` is the limit for one answer.

    The model library's retries and fallback are not used: these work for every kind of model, and each try is
    noted in the step. `spent` is called with the usage of each answer; `limit` is checked before an
    unreadable answer is asked for again.
    """

    model: ChatModel
    fallback: ChatModel | None = None
    seconds: float = 60.0
    notice: Notice = logger.info
    limit: Limit = lambda: None
    spent: Callable[[Usage], None] = lambda _usage: None
    first_wait: float = FIRST_WAIT

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None = None) -> Reply:
        """One answer. Raises ModelError: neither model answers."""
        try:
            return await self._ask_patiently(self.model, messages, form)
        except ContextTooLong:
            raise
        except ModelError as error:
            if self.fallback is None:
                raise
            self.notice(f"{error} Asking {self.fallback.info.name} instead.")
            self.model, self.fallback = self.fallback, None
            return await self._ask_patiently(self.model, messages, form)

    async def decide(
        self, messages: Sequence[Message], *, form: OutputForm | None, read: Callable[[Reply], Decision]
    ) -> Decision:
        """One decision; an unreadable answer is asked for again, with the reason. Raises ModelError."""
        asked = list(messages)
        for left in range(REPAIRS, -1, -1):
            reply = await self.ask(asked, form=form)
            try:
                return read(reply)
            except InvalidOutput as error:
                over = self.limit() if left else None
                if not left or over:
                    given = as_json(reply.call.arguments) if reply.call is not None else reply.text
                    shown = cut(" ".join(given.split()), SHOWN_ANSWER) or "(nothing)"
                    more = f" It was not asked again: {over}" if over else ""
                    raise InvalidOutput(
                        f"The model does not fill in the form: {error} It answered: {shown}{more}"
                    ) from error
                self.notice(f"The model's answer could not be used: {error}")
                text = "" if reply.call is not None else reply.text or "(nothing)"
                asked += [
                    assistant(text, call=reply.call),
                    user(f"That answer cannot be used. {error} Answer again, in the form asked for."),
                ]
        raise AssertionError

    async def plan(self, conversation: Sequence[Message]) -> str:
        """The next steps, in a model's words. Raises ModelError: it does not answer."""
        request = [system(prompt("planner")), user(_as_text(conversation[1:]), *conversation[-1].images)]
        return (await self.ask(request)).text.strip()[:LONGEST_PLAN]

    async def sum_up(self, memories: Sequence[Message], task: str) -> str:
        """What happened so far, in few words. Raises ModelError: it does not answer."""
        request = [system(prompt("summary")), user(f"Task: {task}\n\n{_as_text(memories)}")]
        return (await self.ask(request)).text.strip()[:LONGEST_SUMMARY]

    async def read_data(self, schema: dict[str, Any], page: str, *, window: int) -> Any:
        """Data for a schema from a page's text, cut to its share of the model's window; raises ModelError.

        `window` is in tokens. None if the answer holds no data.
        """
        page = cut(page, int(window * LEAST_CHARACTERS_A_TOKEN * DATA_SHARE))
        request = [system(prompt("extract")), user(f"<page>\n{page}\n</page>")]
        reply = await self.ask(request, form=output_form_of("Data", "What the page says.", {"data": schema}))
        try:
            return object_in(reply).get("data")
        except InvalidOutput:
            return None

    async def _ask_patiently(
        self, model: ChatModel, messages: Sequence[Message], form: OutputForm | None
    ) -> Reply:
        for attempt in range(TRIES):
            try:
                with spans.of_request(model.info.name) as span, anyio.fail_after(self.seconds):
                    reply = await model.ask(messages, form=form, seconds=self.seconds)
                    spans.end(span, reply)
            except TimeoutError as error:
                late = f"{model.info.name} did not answer within {self.seconds:g} s."
                failure: ModelError = ModelTimedOut(late)
                failure.__cause__ = error
            except _PASSING as error:
                failure = error
            else:
                self.spent(reply.usage)
                return _cut(reply)
            wait = failure.retry_after
            if attempt == TRIES - 1 or (wait or 0) > LONGEST_WAIT:
                raise failure
            if wait is None:
                wait = min(self.first_wait * 2**attempt, LONGEST_WAIT) * random.uniform(0.75, 1.25)
            self.notice(f"{failure} Asking again in {wait:.1f} s.")
            await anyio.sleep(wait)
        raise AssertionError


def _cut(reply: Reply) -> Reply:
    call = reply.call
    if call is not None and len(as_json(call.arguments)) > LONGEST_ANSWER:
        short = in_texts(call.arguments, lambda text: cut(text, LONGEST_TEXT))
        call = call.model_copy(update={"arguments": short})
    return reply.model_copy(update={"text": cut(reply.text, LONGEST_ANSWER), "call": call})


def output_form_of(name: str, description: str, properties: dict[str, Any]) -> OutputForm:
    """A form of an object with these properties and no others."""
    kind = {"type": "object", "properties": properties}
    schema = {**kind, "required": list(properties), "additionalProperties": False}
    return OutputForm(name=name, description=description, json_schema=schema)


def _as_text(messages: Sequence[Message]) -> str:
    lines: list[str] = []
    for message in messages:
        called = f"\n{as_json(message.call.arguments)}" if message.call else ""
        lines.append(f"<{message.role}>\n{message.text}{called}\n</{message.role}>")
    return "\n".join(lines)
