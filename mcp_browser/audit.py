"""The audit log: who called what on which page with what outcome, as JSON lines without secrets.

Each line is one event: `call` is a `tools/call` as a whole, `action` an action that was carried out for it,
by the tool itself or by the agent behind it. Of arguments that are typed, or that their model leaves out of
its `repr` (scripts, bodies, tasks), only the length is written: they may hold passwords.
"""

import functools
import hashlib
import json
import logging
import logging.handlers
import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel

from mcp_browser.actions.registry import is_typed_in
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import ConsentNeeded
from mcp_browser.errors import ActionError, Refused, SettingsError
from mcp_browser.privacy.hiding import hide
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.settings import Settings
from mcp_browser.text import cut

logger = logging.getLogger(__name__)

KEPT_FILES = 5
LONGEST_TEXT = 200
MOST_PARTS = 50  # How many parts of a list are logged

Event = Literal["call", "action"]


@dataclass(slots=True)
class Caller:
    """Who calls which tool in which session. `consent` is the person's answer, if they were asked."""

    principal: str
    client: str
    tool: str
    session: str | None = None
    consent: str | None = None


CALLER: ContextVar[Caller | None] = ContextVar("mcp_browser.caller", default=None)
"""Who the current task acts for; tasks that it starts act for the same caller."""


class AuditLog:
    """Writes the events of one server to a file that only its user may read; rotates it by size."""

    def __init__(self, path: Path, size: int) -> None:
        """Open `path`; rotate at `size` bytes. Raises SettingsError: it cannot be written."""
        try:
            self._handler = _PrivateFile(path, maxBytes=size, backupCount=KEPT_FILES - 1, encoding="ascii")
        except OSError as error:
            raise SettingsError(f"audit-log: {path} cannot be written: {error.strerror}") from None

    def write(self, event: Event, **facts: Any) -> None:
        """Add a line of the facts that are not None."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        if (caller := CALLER.get()) is not None:
            line |= {"principal": caller.principal, "client": caller.client, "tool": caller.tool}
        line |= {name: value for name, value in facts.items() if value is not None}
        text = json.dumps(line, default=str)
        self._handler.emit(logging.makeLogRecord({"msg": text}))


class _PrivateFile(logging.handlers.RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)  # It may have existed with other permissions.
        return cast("TextIOWrapper", os.fdopen(descriptor, self.mode, encoding=self.encoding))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Log the error; the call goes on."""
        del record
        logger.error("The audit log %s cannot be written: %s", self.baseFilename, sys.exc_info()[1])


_open_log = functools.cache(AuditLog)


def audit_log_of(settings: Settings) -> AuditLog | None:
    """The log that the settings want, the same for all parts of a server, or None; raises SettingsError."""
    path = settings.server.audit_log
    return None if path is None else _open_log(path.absolute(), settings.server.audit_log_size * 1_000_000)


def name_of(session: BrowserSession) -> str:
    """A hash that identifies a session; its id would grant access."""
    return hashlib.sha256(session.id.encode()).hexdigest()[:12]


def redacted(
    arguments: Mapping[str, Any], model: type[BaseModel], hidden: Mapping[str, str]
) -> dict[str, Any]:
    """Arguments for the log, by the model's own names; what may be secret is replaced by its length."""
    shown: dict[str, Any] = {}
    for name, value in arguments.items():
        field = model.model_fields.get(name)
        if field is None:
            # Its name and value may be anything, so only their number is logged.
            shown["(unknown)"] = shown.get("(unknown)", 0) + 1
        elif is_typed_in(field) or not field.repr:
            shown[name] = _length(value)  # It may hold a password.
        else:
            shown[name] = _redacted(name, value, _model_in(field.annotation), hidden)
    return shown


def _redacted(name: str, value: Any, model: type[BaseModel] | None, hidden: Mapping[str, str]) -> Any:
    match value:
        case dict() if model is not None:
            return redacted(cast("dict[str, Any]", value), model, hidden)
        case dict():
            return _length(cast("object", value))
        case list() | tuple():
            parts = cast("list[Any]", value)[:MOST_PARTS]
            return [_redacted(name, part, model, hidden) for part in parts]
        case str():
            text = hide(value, hidden)
            if text.startswith("data:"):
                return f"data: ({len(text)} characters)"
            redactor = Redactor()
            text = redactor.url(text) if "://" in text or "?" in text else redactor.value(name, text)
            return cut(text, LONGEST_TEXT)
        case _:
            return value


def _length(value: object) -> str:
    return f"({len(value)} characters)" if isinstance(value, str) else f"({type(value).__name__})"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model in an annotation, such as that of a list's items."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)


def outcome_of(error: BaseException) -> str:
    """How an action has ended that raised this."""
    match error:
        case Refused():
            return "refused"
        case ActionError():
            return f"error: {type(error).__name__}"
        case ConsentNeeded():
            return "consent_needed"
        case Exception():
            return "internal_error"
        case _:
            return "cancelled"
