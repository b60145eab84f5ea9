"""Asking the client: for an answer of its model (sampling) or of its person (elicitation), in both eras.

A client of the handshake era is sent a request of its own while its call waits. A client of the stateless era
is answered that input is required, does what is asked, and calls again with the answers; the work that asks
goes on meanwhile, and the next call takes part in it again. Whoever works asks by a `Mailbox`, and does not
see the difference.
"""

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_browser.browser.concurrency import Condition

PERSON_SECONDS = 900.0  # How long a person may take to say yes or no
WITHDRAWING_SECONDS = 1.0  # How long it may take to tell a client that a question is withdrawn
Request = types.CreateMessageRequest | types.ElicitRequest
Response = types.CreateMessageResult | types.CreateMessageResultWithTools | types.ElicitResult


def is_modern(request: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client speaks the stateless era's protocol."""
    return request.protocol_version in MODERN_PROTOCOL_VERSIONS


def capabilities(request: ServerRequestContext[Any, Any]) -> types.ClientCapabilities:
    """What the client has declared that it can do."""
    return request.session.client_capabilities or types.ClientCapabilities()


def client_of(request: ServerRequestContext[Any, Any]) -> str:
    """What the client calls itself, such as `some-client 1.2`; anybody can say anything there."""
    params = request.session.client_params
    return "" if params is None else f"{params.client_info.name[:80]} {params.client_info.version[:40]}"


def takes_forms(request: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client can show its person a form."""
    asking = capabilities(request).elicitation
    # Clients from before there were modes declare none, and mean forms.
    return asking is not None and (asking.form is not None or asking.url is None)


APP_URI = "ui://mcp-browser/view"  # What clients that show MCP Apps show of the live view


def shows_apps(request: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client shows MCP Apps."""
    # Imported late: it brings along what only servers with a live view need.
    from mcp.server.apps import client_supports_apps  # noqa: PLC0415

    return client_supports_apps(request)


CONSENT = "consent"  # The key of the question
_ALLOW = "allow"


def consent_form(question: str) -> types.ElicitRequest:
    """The form in which a person says yes or no."""
    schema = {
        "type": "object",
        "properties": {_ALLOW: {"type": "boolean", "title": "Allow it", "default": False}},
        "required": [_ALLOW],
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=question, requested_schema=schema)
    )


def is_yes(response: Any) -> bool:
    """Whether an answer to that form is a yes."""
    answer = _as_response(consent_form(""), response)
    return (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and (answer.content or {}).get(_ALLOW) is True
    )


async def ask_for_consent(request: ServerRequestContext[Any, Any], question: str) -> bool | None:
    """Ask the person of a client of the handshake era; None where that cannot be."""
    if not takes_forms(request) or not request.session.can_send_request:
        return None
    try:
        async with asyncio.timeout(PERSON_SECONDS):
            return is_yes(await _send(request, consent_form(question)))
    except TimeoutError:
        return False


@dataclass
class ClientQuestion:
    """A request that waits for the client's answer; None is the answer of a client that will not."""

    key: str
    request: Request
    answer: asyncio.Future[Response | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Mailbox:
    """Questions to a client, from work that outlives its calls; `news` wakes who waits for a change."""

    def __init__(self) -> None:
        self._questions: dict[str, ClientQuestion] = {}
        self._numbers = itertools.count(1)
        self.news = Condition()

    async def ask(self, request: Request) -> Response | None:
        """The client's answer; None where it will not or can not give one."""
        question = ClientQuestion(f"q{next(self._numbers)}", request)
        self._questions[question.key] = question
        self.news.wake()
        try:
            return await question.answer
        finally:
            self._questions.pop(question.key, None)
            self.news.wake()

    @property
    def waiting(self) -> list[ClientQuestion]:
        return [question for question in self._questions.values() if not question.answer.done()]

    def requests(self) -> dict[str, Request]:
        """The open questions by their keys, for a client that answers with its next call."""
        return {question.key: question.request for question in self.waiting}

    def deliver(self, responses: Mapping[str, Any] | None) -> None:
        """Give answers by key; those to nothing that was asked are dropped."""
        for key, response in (responses or {}).items():
            question = self._questions.get(key)
            if question is not None and not question.answer.done():
                question.answer.set_result(_as_response(question.request, response))

    def refuse_all(self) -> None:
        """Answer every open question that nobody is there to answer."""
        for question in self.waiting:
            question.answer.set_result(None)

    async def pass_on(self, request: ServerRequestContext[Any, Any]) -> None:
        """Send the open questions to a client of the handshake era, and deliver its answers.

        A question that is settled elsewhere, or withdrawn, is not waited for: its client is sent a
        `notifications/cancelled`, which the SDK sends.
        """
        for question in self.waiting:
            if question.answer.done():
                continue
            sending = asyncio.create_task(_send(request, question.request))
            try:
                await asyncio.wait({sending, question.answer}, return_when=asyncio.FIRST_COMPLETED)
                if not question.answer.done():
                    question.answer.set_result(sending.result())
            finally:
                if not sending.done():
                    sending.cancel()
                    await asyncio.wait({sending}, timeout=WITHDRAWING_SECONDS)


async def _send(request: ServerRequestContext[Any, Any], asked: Request) -> Response | None:
    if not request.session.can_send_request:
        return None
    kind: type[Response] = types.ElicitResult
    if isinstance(asked, types.CreateMessageRequest):
        kind = types.CreateMessageResultWithTools if asked.params.tools else types.CreateMessageResult
    try:
        return await request.session.send_request(
            asked, kind, metadata=ServerMessageMetadata(related_request_id=request.request_id)
        )
    except (MCPError, ValidationError):
        # A person who says no to sampling is an error in the protocol, an answer like others here.
        return None


def _as_response(asked: Request, response: Any) -> Response | None:
    if isinstance(
        response, types.ElicitResult | types.CreateMessageResult | types.CreateMessageResultWithTools
    ):
        return response
    try:
        if isinstance(asked, types.ElicitRequest):
            return types.ElicitResult.model_validate(response)
        return types.CreateMessageResultWithTools.model_validate(response)
    except ValidationError:
        return None
