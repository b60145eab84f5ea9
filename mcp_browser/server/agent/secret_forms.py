"""Asking a person for something secret: on a page of this server's, never through the client or its model."""

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from pydantic import SecretStr

TOKEN_BYTES = 24  # How much of a form's address is chance: 192 bits
FORM_SECONDS = 600.0  # How long a form can be used
PATH = "/ask/"  # Where forms are, below the server's own prefix


@dataclass(slots=True, eq=False)
class SecretForm:
    """A form for one answer, at an address that is used once.

    `site` names the pages that the answer may be typed on, `task` says for what it is wanted.
    """

    question: str
    site: str
    task: str
    url: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    expires: float = field(default_factory=lambda: time.monotonic() + FORM_SECONDS)
    answer: asyncio.Future[SecretStr] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class SecretForms:
    """The forms that are open now, by the secret part of their addresses.

    That starts with the `replica`, the server's name among several, so that a proxy can tell.
    """

    def __init__(self, replica: str | None = None) -> None:
        self._replica = f"{replica}." if replica else ""
        self._forms: dict[str, SecretForm] = {}

    def open(self, question: str, site: str, task: str) -> SecretForm:
        """A new form."""
        form = SecretForm(question, site, task)
        form.token = self._replica + form.token
        self._forms[form.token] = form
        return form

    def close(self, form: SecretForm) -> None:
        """Forget a form; its address leads nowhere from now on."""
        self._forms.pop(form.token, None)
        form.answer.cancel()

    def find(self, token: str) -> SecretForm | None:
        """The form of an address, as long as it can be used."""
        form = self._forms.get(token)
        if form is None or form.answer.done() or time.monotonic() >= form.expires:
            return None
        return form


OpenForm = Callable[[ServerRequestContext[Any, Any], str, str, str], AbstractAsyncContextManager[SecretForm]]
"""Takes the call's context, the question, its site and the task; the form can be reached from the client."""
