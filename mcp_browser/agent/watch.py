"""Record the effects of an action: requests, dialogs, files, console errors."""

import contextlib
import itertools
import json
import time
from collections.abc import Callable, Iterator
from email import message_from_string
from typing import Any
from urllib.parse import parse_qsl

from mcp_browser.agent.record.history import LONGEST_FIELD, LONGEST_NAME, Evidence, FileRecord, Sent, leaves
from mcp_browser.browser.network.exchange import Exchange, redact
from mcp_browser.browser.network.log import NetworkLog
from mcp_browser.browser.session import BrowserSession
from mcp_browser.text import clean_text, cut, in_texts, one_line

_PARTS_OF_PAGES = frozenset(("image", "stylesheet", "script", "font", "media", "manifest", "texttrack"))
_LOOKS_KEPT, _KEPT = 10, 40  # Requests that only ask; all others, and failed ones as many more
MOST_MESSAGES = 10
MOST_FIELDS = 100
LONGEST_BODY = 1_000
LONGEST_PARSED = 100_000  # Longer JSON is kept as text
UNREADABLE = "(the browser does not tell the content of a form with files)"


class ActionWatch:
    """The effects of one action, from its beginning until the next action begins.

    They include what an earlier action left open: a request without an answer, a dialog, a download.
    """

    def __init__(self, session: BrowserSession, log: NetworkLog, before: "ActionWatch | None" = None) -> None:
        self._session = session
        self._log = log
        # What happened since the evidence before was read, while the model thought, belongs to this action.
        self._last = log.exchanges()[-1].id if log.exchanges() else 0
        self._read = time.time()
        self._since, self._first = (before or self)._read, (before or self)._last + 1
        self._waiting = [one for one in before.exchanges() if not _answered(one)] if before else []
        self._dialogs = {id: len(tab.dialogs) - (tab.dialog is not None) for id, tab in session.tabs.items()}
        files = session.downloads
        self._files = next((at for at, file in enumerate(files) if not file.done), len(files))
        self._uploads = len(session.uploads)

    def exchanges(self) -> list[Exchange]:
        """The requests since the beginning, and those without an answer by then."""
        new = [one for one in self._log.exchanges() if one.id >= self._first]
        return [*self._waiting, *(one for one in new if one not in self._waiting)]

    def is_open(self) -> bool:
        """Whether a request that is kept has no answer yet."""
        return any(not _answered(one) for one in self.exchanges() if _is_kept(one))

    def evidence(self, hide: Callable[[Any], Any], **more: Any) -> Evidence:
        """The evidence so far, without secrets; `more` are its other fields."""
        session, redactor = self._session, self._session.redactor()
        self._read, self._last = time.time(), max((self._last, *(one.id for one in self.exchanges())))
        tabs = session.tabs.values()
        errors = [
            redactor.text(entry.text)
            for tab in tabs
            for entry in tab.console.entries()
            if entry.level == "error" and entry.time >= self._since
        ]
        came = session.downloads[self._files :]
        files = (FileRecord(name=one.name, size=one.size, error=one.error) for one in came)
        sent, left_out = self._sent()
        record = Evidence(
            sent=tuple(sent),
            left_out=left_out,
            dialogs=tuple(one for tab in tabs for one in tab.dialogs[self._dialogs.get(tab.id, 0) :]),
            downloads=tuple(files),
            uploads=tuple(session.uploads[self._uploads :]),
            console=tuple(cut(" ".join(text.split()), LONGEST_FIELD) for text in errors[-MOST_MESSAGES:]),
        )
        return Evidence.model_validate({**hide(in_texts(record.model_dump(), clean_text)), **more})

    def _sent(self) -> tuple[list[Sent], int]:
        """The requests that are kept, and how many that weigh are left out."""
        made = [self._as_sent(one) for one in self.exchanges() if _is_kept(one)]
        made += [sent for one in self._log.exchanges() if (sent := self._by_socket(one)) is not None]
        # The same once more says nothing: so a page that repeats itself pushes nothing else out.
        made = [*dict.fromkeys(made)]
        looks, others = [one for one in made if not one.weighs], [one for one in made if one.weighs]
        failed = [one for one in others if one.failed]
        kept = [*looks[-_LOOKS_KEPT:], *others[-_KEPT:], *failed[-_KEPT:]]
        return [one for one in made if one in kept], sum(one not in kept for one in others)

    def _as_sent(self, exchange: Exchange) -> Sent:
        redacted = redact(exchange, None, self._session.redactor())
        kind = next((value for name, value in redacted.request_headers if name.lower() == "content-type"), "")
        body = redacted.request_body or (UNREADABLE if "multipart/" in kind else "")
        found = _fields(body, kind)
        fields = tuple(itertools.islice(found, MOST_FIELDS))
        if next(found, None) is not None:
            fields = (*fields, ("…", "more fields"))
        # A document that turns into a download "fails" with its status.
        failure = exchange.failure if exchange.status is None else None
        return Sent(
            method=exchange.method,
            url=redacted.url,
            kind=exchange.kind,
            status=exchange.status,
            failure=failure,
            fields=fields,
            body="" if fields else cut(body, LONGEST_BODY),
        )

    def _by_socket(self, exchange: Exchange) -> Sent | None:
        if exchange.kind != "websocket":
            return None
        frames = [one for one in exchange.frames if one.sent and not one.binary and one.time >= self._since]
        redactor = self._session.redactor()
        body = cut("\n".join(redactor.body(one.text) for one in frames), LONGEST_BODY)
        sent = Sent(method="SEND", url=redactor.url(exchange.url), kind="websocket", status=101, body=body)
        return sent if frames else None


def _is_kept(exchange: Exchange) -> bool:
    if exchange.kind == "websocket":
        return False
    return exchange.method != "GET" or exchange.kind not in (*_PARTS_OF_PAGES, "other")


def _answered(exchange: Exchange) -> bool:
    return exchange.status is not None or exchange.failure is not None


def _fields(body: str, kind: str) -> Iterator[tuple[str, str]]:
    """The content of a form, by the names of its fields."""
    if "x-www-form-urlencoded" in kind.lower():
        for name, value in parse_qsl(body, keep_blank_values=True):
            yield name, cut(value, LONGEST_FIELD)
    elif "multipart/form-data" in kind.lower():
        for part in message_from_string(f"Content-Type: {kind}\n\n{body}").walk():
            name, file = part.get_param("name", header="content-disposition"), part.get_filename()
            if name is not None:
                yield str(name), f"(the file {file})" if file else cut(str(part.get_payload()), LONGEST_FIELD)
    elif len(body) <= LONGEST_PARSED and body.startswith(("{", "[")):  # JSON, whatever its kind says
        with contextlib.suppress(ValueError, RecursionError):
            for name, value in leaves(json.loads(body)):
                text = value if isinstance(value, str) else json.dumps(value)
                yield one_line(name, LONGEST_NAME), cut(clean_text(text), LONGEST_FIELD)
