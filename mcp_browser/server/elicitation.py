"""Asks the client: its model (sampling) or its person (elicitation), in both eras of the protocol.

A client of the handshake era is sent a request while its call waits. A client of the stateless era is
answered that input is required, and calls again with the answers; the work that asks goes on meanwhile, and
the next call attends it. That work asks by a `Mailbox`, the same in both eras.
"""

import asyncio
import itertools
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import SecretStr, ValidationError

from mcp_browser.browser.concurrency import Condition
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.takeover import LONGEST_NOTE
from mcp_browser.text import cut

PERSON_SECONDS = 900.0  # How long a person may take to answer
WITHDRAWING_SECONDS = 1.0  # How long a client may take to note that a question is withdrawn

Context = ServerRequestContext[Any, Any]
ClientRequest = types.CreateMessageRequest | types.ElicitRequest
Response = types.CreateMessageResult | types.CreateMessageResultWithTools | types.ElicitResult


class NeedInput(Exception):
    """A handler needs answers of the client, which calls again; if it `has_begun`, in the same session."""

    def __init__(self, result: types.InputRequiredResult, *, has_begun: bool = False) -> None:
        super().__init__("The client is asked.")
        self.result = result
        self.has_begun = has_begun


def is_modern(request: Context) -> bool:
    """Whether the client speaks the stateless era's protocol."""
    return request.protocol_version in MODERN_PROTOCOL_VERSIONS


def capabilities(request: Context) -> types.ClientCapabilities:
    """What the client has declared that it can do."""
    return request.session.client_capabilities or types.ClientCapabilities()


def client_of(request: Context) -> str:
    """What the client calls itself, such as `some-client 1.2`; anybody can say anything there."""
    params = request.session.client_params
    return "" if params is None else f"{params.client_info.name[:80]} {params.client_info.version[:40]}"


def takes_urls(request: Context) -> bool:
    """Whether the client can send its person to an address."""
    asking = capabilities(request).elicitation
    return asking is not None and asking.url is not None


def takes_forms(request: Context) -> bool:
    """Whether the client can show its person a form."""
    asking = capabilities(request).elicitation
    # Clients from before there were modes declare none, and mean forms.
    return asking is not None and (asking.form is not None or asking.url is None)


APP_URI = "ui://mcp-browser/view"  # What clients that show MCP Apps show of the live view


def shows_apps(request: Context) -> bool:
    """Whether the client shows MCP Apps."""
    # Imported late: only servers with a live view need it.
    from mcp.server.apps import client_supports_apps  # noqa: PLC0415

    return client_supports_apps(request)


# -- a person consents to an action

CONSENT = "consent"  # The key of the question


def form_of(message: str, required: str, **fields: Any) -> types.ElicitRequest:
    """A form with these fields, by their JSON schemas."""
    schema = {"type": "object", "properties": fields, "required": [required]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def consent_form(question: str) -> types.ElicitRequest:
    """The form in which a person says yes or no."""
    return form_of(question, "allow", allow={"type": "boolean", "title": "Allow it", "default": False})


def is_yes(response: Any) -> bool:
    """Whether an answer to that form is a yes."""
    answer = _as_response(consent_form(""), response)
    return (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and (answer.content or {}).get("allow") is True
    )


async def ask_for_consent(request: Context, question: str) -> bool | None:
    """Ask the person of a client of the handshake era; None where that cannot be."""
    if not takes_forms(request) or not request.session.can_send_request:
        return None
    with suppress(TimeoutError):
        async with asyncio.timeout(PERSON_SECONDS):
            return is_yes(await _send(request, consent_form(question)))
    return False


# -- questions of work that outlives its calls


@dataclass
class ClientQuestion:
    """A request that waits for the client's answer; None is the answer of a client that refuses."""

    key: str
    request: ClientRequest
    answer: asyncio.Future[Response | None] = field(default_factory=asyncio.Future[Response | None])


class Mailbox:
    """Questions to a client, from work that outlives its calls; `news` wakes those who wait for a change."""

    def __init__(self) -> None:
        self._questions: dict[str, ClientQuestion] = {}
        self._numbers = itertools.count(1)
        self.news = Condition()

    async def ask(self, request: ClientRequest) -> Response | None:
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

    def deliver(self, responses: Mapping[str, Any] | None) -> None:
        """Deliver answers by key; drop those without a question."""
        for key, response in (responses or {}).items():
            question = self._questions.get(key)
            if question is not None and not question.answer.done():
                question.answer.set_result(_as_response(question.request, response))

    def refuse_all(self) -> None:
        """Answer every open question that nobody is there to answer."""
        for question in self.waiting:
            question.answer.set_result(None)

    async def attend(
        self,
        request: Context,
        done: Callable[[], bool],
        *,
        state: str,
        on_news: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Pass questions on to the client whose call waits, until `done`; await `on_news` after each change.

        Raises NeedInput: the client is of the stateless era; its next call has the answers, and `state`.
        """
        while not done():
            if not self.waiting:
                await self.news.wait()
                if on_news is not None:
                    await on_news()
            elif is_modern(request):
                requests: dict[str, Any] = {question.key: question.request for question in self.waiting}
                raise NeedInput(types.InputRequiredResult(input_requests=requests, request_state=state))
            else:
                await self._pass_on(request)

    async def _pass_on(self, request: Context) -> None:
        """Send the open questions to a client of the handshake era, and deliver its answers.

        Do not wait for one that is settled elsewhere or withdrawn: the SDK cancels its request.
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


async def _send(request: Context, asked: ClientRequest) -> Response | None:
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
        # In the protocol a declined sampling request is an error; here it is an answer.
        return None


def _as_response(asked: ClientRequest, response: Any) -> Response | None:
    if isinstance(response, Response):
        return response
    with suppress(ValidationError):
        if isinstance(asked, types.ElicitRequest):
            return types.ElicitResult.model_validate(response)
        return types.CreateMessageResultWithTools.model_validate(response)
    return None


# -- a person acts in the browser

ViewLink = Callable[[Context, BrowserSession], str | None]
"""The address at which the person of a call's client sees the session and takes it over; None without one."""


DONE, COULD_NOT = "Done", "Could not"
IT_IS_DONE = "The user says that it is done."

_FIELDS = {
    "outcome": {"type": "string", "title": "Is it done?", "enum": [DONE, COULD_NOT]},
    "note": {
        "type": "string",
        "title": "Your answer, or a note",
        "description": "The model reads it: no passwords.",
        "maxLength": LONGEST_NOTE,
    },
}


def noted(sentence: str, note: str) -> str:
    """What a person has answered, with their own words."""
    return f"{sentence} They say: {note}" if note else sentence


def where_to_act(session: BrowserSession, link: str | None) -> str:
    """Where a person finds the browser, as a sentence; empty where they cannot reach it."""
    if link is not None:
        return f"Open {link} and take over the browser there; hand it back when you are done."
    if session.takeover.in_window:
        return "The browser's window is open on this computer: act there."
    return ""


def handover_request(
    request: Context, reason: str, session: BrowserSession, link: str | None
) -> types.ElicitRequest | None:
    """The question to a client's person; None where the client can ask nothing."""
    if link is not None and takes_urls(request):
        return types.ElicitRequest(params=url_params(request, reason, link))
    if not takes_forms(request):
        return None
    message = "\n\n".join(filter(None, (reason, where_to_act(session, link))))
    return form_of(message, "outcome", **_FIELDS)


async def hand_over(mailbox: Mailbox, asked: types.ElicitRequest | None) -> str | None:
    """Ask the person to act in the browser, and return what they have answered; None: nothing.

    Never returns once they have gone to the live view, nor without `asked`, where only the view asks them:
    the caller waits for the browser to be given back.
    """
    if asked is not None:
        answer = await mailbox.ask(asked)
        if not isinstance(answer, types.ElicitResult) or answer.action == "cancel":
            return None
        if answer.action == "decline":
            return "The user declined."
        content = answer.content or {}
        note = cut(str(content.get("note") or "").strip(), LONGEST_NOTE)
        if content.get("outcome") == COULD_NOT:
            return noted("The user could not do it.", note)
        if isinstance(asked.params, types.ElicitRequestFormParams):
            return noted(IT_IS_DONE, note)
    return await asyncio.get_running_loop().create_future()


def url_params(request: Context, message: str, url: str) -> types.ElicitRequestURLParams:
    """The question by which a client sends its person to an address."""
    # Handshake clients know the question by an identifier, which the modern protocol has dropped.
    identifier = None if is_modern(request) else secrets.token_urlsafe(16)
    return types.ElicitRequestURLParams(message=message, url=url, elicitation_id=identifier)


# -- a person gives a secret: on a page of this server's, never through the client or its model

TOKEN_BYTES = 24  # How much of a form's address is chance: 192 bits
FORM_SECONDS = 600.0  # How long a form can be used
PATH = "/ask/"  # Where forms are, below the server's own prefix


@dataclass(slots=True, eq=False)
class SecretForm:
    """A form for one answer, at an address that is used once."""

    question: str
    site: str  # Names the pages that the answer may be typed on
    task: str  # What needs it
    token: str
    url: str
    expires: float = field(default_factory=lambda: time.monotonic() + FORM_SECONDS)
    answer: asyncio.Future[SecretStr] = field(default_factory=asyncio.Future[SecretStr])


class SecretForms:
    """The open forms, by the token in their address; it begins with `replica`, by which a proxy routes."""

    def __init__(self, replica: str | None = None) -> None:
        self._replica = f"{replica}." if replica else ""
        self._forms: dict[str, SecretForm] = {}

    @asynccontextmanager
    async def asking(self, base: str, question: str, site: str, task: str) -> AsyncGenerator[SecretForm]:
        """A form as long as its question stands; `base` is what its address begins with."""
        token = self._replica + secrets.token_urlsafe(TOKEN_BYTES)
        form = self._forms[token] = SecretForm(question, site, task, token, f"{base}{PATH}{token}")
        try:
            yield form
        finally:
            del self._forms[token]
            form.answer.cancel()

    def find(self, token: str) -> SecretForm | None:
        """The form of an address, as long as it can be used."""
        form = self._forms.get(token)
        if form is None or form.answer.done() or time.monotonic() >= form.expires:
            return None
        return form


OpenForm = Callable[[Context, str, str, str], AbstractAsyncContextManager[SecretForm]]
"""Takes the call's context, the question, its site and the task; the form can be reached from the client."""
