"""How a person is asked to do something in the browser, and what they answer."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext

from mcp_browser.browser.process.launch import runs_headless
from mcp_browser.browser.session import BrowserSession
from mcp_browser.server.ask import capabilities, is_modern, takes_forms
from mcp_browser.text import cut

ViewLink = Callable[[ServerRequestContext[Any, Any], BrowserSession], str | None]
"""The address at which the person of a call's client sees the session and takes it over; None without one."""

LONGEST_NOTE = 2_000
DONE, COULD_NOT = "Done", "Could not"

_SCHEMA = {
    "type": "object",
    "properties": {
        "outcome": {"type": "string", "title": "Is it done?", "enum": [DONE, COULD_NOT]},
        "note": {
            "type": "string",
            "title": "Your answer, or a note",
            "description": "The model reads it: no passwords.",
            "maxLength": LONGEST_NOTE,
        },
    },
    "required": ["outcome"],
}


def no_view(_request: ServerRequestContext[Any, Any], _session: BrowserSession) -> str | None:
    """There is no view."""
    return None


@dataclass(frozen=True, slots=True)
class Handover:
    """What a person has made of what they were asked; `note` is in their words."""

    outcome: Literal["done", "could not", "declined", "no answer"]
    note: str = ""

    def __str__(self) -> str:
        told = {
            "done": "The user says that it is done.",
            "could not": "The user could not do it.",
            "declined": "The user declined.",
            "no answer": "The user has not answered.",
        }[self.outcome]
        return f"{told} They say: {self.note}" if self.note else told


def where_to_act(session: BrowserSession, link: str | None) -> str:
    """A sentence that tells a person where the browser is; nothing where they cannot come to it."""
    if link is not None:
        return f"Open {link} and take over the browser there; hand it back when you are done."
    local = not session.artifacts.remote and session.settings.browser.browser_endpoint is None
    if local and not runs_headless(session.settings.browser):
        return "The browser's window is open on this computer: act there."
    return ""


def asks_by_url(request: ServerRequestContext[Any, Any], link: str | None) -> bool:
    """Whether the client takes its person to the view by itself."""
    asking = capabilities(request).elicitation
    return link is not None and asking is not None and asking.url is not None


def handover_request(
    request: ServerRequestContext[Any, Any], reason: str, session: BrowserSession, link: str | None
) -> types.ElicitRequest | None:
    """The question to a client's person; None where the client can ask nothing."""
    if link is not None and asks_by_url(request, link):
        # Handshake clients know the question by an identifier, which the modern protocol has dropped.
        identifier = None if is_modern(request) else secrets.token_urlsafe(16)
        return types.ElicitRequest(
            params=types.ElicitRequestURLParams(message=reason, url=link, elicitation_id=identifier)
        )
    if not takes_forms(request):
        return None
    message = "\n\n".join(filter(None, (reason, where_to_act(session, link))))
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)
    )


def handover_of(response: object) -> Handover:
    """What a client has answered to such a question."""
    if not isinstance(response, types.ElicitResult):
        return Handover("no answer")
    if response.action != "accept":
        return Handover("declined" if response.action == "decline" else "no answer")
    content = response.content or {}
    note = cut(str(content.get("note") or "").strip(), LONGEST_NOTE)
    return Handover("could not" if content.get("outcome") == COULD_NOT else "done", note)
