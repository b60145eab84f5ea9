"""The recorded effects of an action: for the judge, the report, and replay."""

import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote_plus

from mcp_browser.browser.observation import DialogAnswer
from mcp_browser.dom.models import Frozen
from mcp_browser.text import counted, cut, one_line, quoted

Origin = Literal["page", "agent", "person", "file"]
"""Where a text comes from. The agent's is what it typed, wrote into an address, or computed by a script."""

LONGEST_PASSAGE = 40_000  # Characters of a page, or of a change of it, that are kept
LONGEST_FIELD = 300
LONGEST_NAME = 80
LONGEST_CONTENT = 10_000  # Of all fields together
LONGEST_SENT = 2_000
NUMBER = re.compile(r"[^/?&=#\s]*\d[^/?&=#\s]*")  # A part of an address that may be an identifier

HTTP_ERROR = 400  # The least status that says that a request was not carried out


class Passage(Frozen):
    """A text and where it comes from: `where` is the address of the page, or the name of the argument."""

    text: str
    origin: Origin = "page"
    where: str = ""


class Sent(Frozen):
    """A request that left the browser: what a form or a script sent, or the page that was asked for.

    `fields` is what a form contained, `body` another content, both without secrets. `status` and `failure`
    are None while there is no answer.
    """

    method: str
    url: str
    kind: str = ""
    status: int | None = None
    failure: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    body: str = ""

    @property
    def failed(self) -> bool:
        return self.failure is not None or (self.status or 0) >= HTTP_ERROR

    @property
    def weighs(self) -> bool:
        """Whether it is more than a look: it changes something, leads to a page, or has failed."""
        return (self.method != "GET" and self.kind != "ping") or self.kind == "document" or self.failed

    @property
    def location(self) -> str:
        """The address without its query."""
        return self.url.partition("?")[0]

    @property
    def saves(self) -> str:
        """What a `PUT` puts its content to, without numbers in the query; "" of other methods."""
        query = NUMBER.sub("…", self.url.partition("?")[2])
        return f"{self.location}?{query}" if self.method == "PUT" else ""

    @property
    def outcome(self) -> str:
        return str(self.failure or self.status or "no answer yet")

    @property
    def shape(self) -> str:
        """What it asks for, without numbers and identifiers in its address."""
        return f"{self.method} {NUMBER.sub('…', unquote_plus(self.url))}"

    def __str__(self) -> str:
        fields = (
            f"{one_line(name, LONGEST_NAME)}={quoted(value, LONGEST_FIELD)}" for name, value in self.fields
        )
        content = cut(", ".join(fields), LONGEST_CONTENT) or (
            quoted(self.body, LONGEST_SENT) if self.body else ""
        )
        request = f"{self.method} {one_line(self.url, LONGEST_SENT)}"
        return f"{request}{' with ' if content else ''}{content} → {self.outcome}"


class FileRecord(Frozen):
    """A file that was downloaded: `size` in bytes once it is there, `error` where it did not come."""

    name: str
    size: int | None = None
    error: str | None = None

    def __str__(self) -> str:
        ended = f"failed: {self.error}" if self.error else "not ended" if self.size is None else "saved"
        return f"{quoted(self.name)} {ended}{f' ({self.size:,} bytes)' if self.size is not None else ''}"


class Evidence(Frozen):
    """What an action caused, from its beginning to that of the next one.

    `result_from` is where the content of the action's result comes from, `passages` are further texts: what
    changed on the page, what a person answered. `left_out` counts earlier requests that are not in `sent` and
    did not fail. `uploads` are names of files that were given to the page.
    """

    result_from: Origin = "page"
    passages: tuple[Passage, ...] = ()
    sent: tuple[Sent, ...] = ()
    left_out: int = 0
    dialogs: tuple[DialogAnswer, ...] = ()
    downloads: tuple[FileRecord, ...] = ()
    uploads: tuple[str, ...] = ()
    console: tuple[str, ...] = ()

    @property
    def is_answer(self) -> bool:
        """Whether it is a person's answer, not what happened in the browser."""
        return any(passage.origin == "person" for passage in self.passages)

    def lines(self) -> Iterator[str]:
        """What happened beside the page, one fact a line."""
        yield from (f"sent: {sent}" for sent in self.sent)
        if self.left_out:
            yield f"sent: {counted(self.left_out, 'more request')}, earlier ones"
        yield from (f"dialog: {dialog}" for dialog in self.dialogs)
        yield from (f"download: {file}" for file in self.downloads)
        yield from (f"given to the page: the file {quoted(name)}" for name in self.uploads)
        yield from (f"console error: {quoted(text)}" for text in self.console)


class Point(Frozen):
    """One point of a task: what was asked, what the evidence says of it, and whether it is met."""

    asked: str
    evidence: str
    met: bool

    def __str__(self) -> str:
        return f"{self.asked}: {self.evidence}"


class Verdict(Frozen):
    """A judge's answer, point by point, and the facts against the claim that it was given."""

    points: tuple[Point, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def confirmed(self) -> bool:
        return bool(self.points) and all(point.met for point in self.points)

    @property
    def reason(self) -> str:
        """Which points are not met."""
        if not self.points:
            return "the judge gave no verdict that can be read."
        return " ".join(f"Not met: {point}" for point in self.points if not point.met)
