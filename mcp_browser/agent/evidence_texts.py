"""Texts of a run's evidence: their words and numbers, and an account of the evidence for a judge."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from mcp_browser.actions.agent import DONE
from mcp_browser.agent.record.evidence import Evidence, Passage
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.text import cut, one_line

LONGEST_WORD = 40
ENOUGH = 0.5  # The share of a value's words that must have been seen

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_VALUE = re.compile(
    r"(?<![\w.])(?:[$€£¥]\s?)?(\d+(?:[.,'\u2019\u00a0\u202f]\d+)+|\d{3,})(?![\w])"
    r"|[\"“«„「]([^\"”“»\n」]{3,80})[\"”»“」]|\b([\w.+-]+@[\w-]+\.[\w.]+)\b|(https?://[^\s\"'<>)]+)"
)
THOUSANDS = 3  # Digits of a group in large numbers


class Seen:
    """Words and numbers of texts."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.words = {word for text in texts for word in parts(text)}

    def has(self, value: str) -> bool:
        """Whether the value, or most of its words, is there. Numbers are compared however written."""
        if value.casefold() in self.words:
            return True
        if number := _NUMBER.fullmatch(value.strip().lstrip("+-")):
            return not self.words.isdisjoint(_forms(number[0]))
        words = [word[:LONGEST_WORD] for word in _WORD.findall(value.casefold())]
        known = sum(word in self.words for word in words)
        # Scripts without spaces have no words to count.
        return not words or known >= ENOUGH * len(words) or any(not word.isascii() for word in words)


def values_claimed(answer: str) -> Iterator[str]:
    """The values that an answer claims: numbers of three digits or with a fraction, quotes, addresses."""
    for found in _VALUE.finditer(answer):
        yield found[1] or found[2] or found[3] or found[4]


def values_in(data: Any) -> Iterator[str]:
    """The texts and numbers in a value of JSON."""
    match data:
        case bool() | None:
            return
        case dict() | list():
            mapping = cast("Any", data)
            for part in mapping.values() if isinstance(data, dict) else mapping:
                yield from values_in(part)
        case _:
            if str(data).strip():
                yield str(data)


def parts(text: str) -> Iterator[str]:
    """The words of a text, and its numbers in all forms that they may be written in."""
    folded = text.casefold()
    for word in _WORD.findall(folded):
        yield word[:LONGEST_WORD]
    for number in _NUMBER.findall(folded):
        # Numbers that stand beside each other may be one, in groups, or several.
        for part in {number, *number.split()}:
            yield from _forms(part)


def _forms(number: str) -> set[str]:
    """What a number may mean, written alike: 12.50 is 12.5, and 1,250 is 1250 or 1.25."""
    groups = re.findall(r"\d+", number)
    whole, last = "".join(groups[:-1]), groups[-1]
    if len(groups) == 1:
        return {_plain(last)}
    forms = {f"{_plain(whole)}.{last}".rstrip("0").rstrip(".")}
    if len(last) == THOUSANDS and (len(groups) > 2 or len(whole) <= THOUSANDS):  # noqa: PLR2004
        forms.add(_plain(whole + last))
    return forms


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


LONGEST_CALL = 400
LEAST_PASSAGE = 200
_ORIGINS = {
    "page": "from the page",
    "agent": "written or computed by the agent itself, no page says it",
    "person": "from a person",
    "file": "from a file",
}
_FRAME = ("<page ", "</page>")


@dataclass(slots=True)
class _Text:
    """A passage on its way into the account, under a heading."""

    heading: str
    text: str


def account(history: AgentHistory, *, wanted: str, room: int) -> str:
    """The evidence in about `room` characters, or more if what is never left out needs more.

    Long texts are cut to the lines most relevant to `wanted`, the task and the claim.
    """
    pieces = [*_pieces(history)]
    texts = [piece for piece in pieces if isinstance(piece, _Text)]
    left = room - sum(len(piece) + 1 for piece in pieces if isinstance(piece, str))
    # The shortest first: what they do not need is for the others.
    for count, text in zip(
        range(len(texts), 0, -1), sorted(texts, key=lambda one: len(one.text)), strict=True
    ):
        share = max(LEAST_PASSAGE, (left // count) - len(text.heading))
        text.text = excerpt(text.text, wanted, share)
        left -= len(text.text) + len(text.heading)
    return "\n".join(
        piece if isinstance(piece, str) else f"{piece.heading}\n{piece.text}" for piece in pieces
    )


def excerpt(text: str, wanted: str, room: int) -> str:
    """The lines of a text most relevant to `wanted`, in order, within `room` characters."""
    if len(text) <= room:
        return text
    lines = [cut(line, room) for line in text.splitlines()]
    words = set(parts(wanted))
    found = [words.intersection(parts(line)) for line in lines]
    often = Counter(word for line in found for word in line)
    # A word counts the more, the fewer lines have it; frames stay, and else what comes first.
    rank = [
        (not line.startswith(_FRAME), -sum(1 / often[word] for word in found[number]), number)
        for number, line in enumerate(lines)
    ]
    kept: set[int] = set()
    for *_, number in sorted(rank):
        room -= len(lines[number]) + 2
        if room < 0:
            break
        kept.add(number)
    shown = (line if number in kept else "…" for number, line in enumerate(lines))
    return "\n".join(line for line, _ in groupby(shown))


def _pieces(history: AgentHistory) -> Iterator[str | _Text]:
    shown: list[str] = []
    for step in history.steps:
        if step.page is None and all(action.call.name == DONE for action in step.actions):
            continue
        yield f"Step {step.number}{f', at {one_line(step.url)}' if step.url else ''}"
        if step.page is not None:
            before, shown = shown, step.page.text.splitlines()
            lines = [line for line in shown if line not in before or line.startswith(_FRAME)]
            what = "What is new on the page" if len(lines) < len(shown) else "The page"
            yield _passage(what, step.page.model_copy(update={"text": "\n".join(lines)}))
        for action in step.actions:
            if action.call.name != DONE:
                yield from _of_action(action)


def _of_action(action: ActionRecord) -> Iterator[str | _Text]:
    on = f" on {', '.join(map(str, action.elements))}" if action.elements else ""
    yield f"- {one_line(str(action.call), LONGEST_CALL)}{on}{f' [tab {action.tab}]' if action.tab else ''}"
    evidence = action.evidence or Evidence()
    if action.error:
        yield f"  failed: {one_line(action.error, LONGEST_CALL)}"
    elif action.result:
        origin = f" ({_ORIGINS[evidence.result_from]})" if evidence.result_from != "page" else ""
        yield _Text(f"  result{origin}:", action.result)
    yield from (_passage("  text", passage) for passage in evidence.passages)
    if action.changed is False:
        yield "  nothing changed on the page"
    yield from (f"  {line}" for line in evidence.lines())


def _passage(what: str, passage: Passage) -> _Text:
    return _Text(f"{what} ({_ORIGINS[passage.origin]}):", passage.text)


def listed(heading: str, lines: Iterable[str]) -> str:
    """Lines under a heading; "" where there are none."""
    items = [f"- {line}" for line in lines]
    return "\n".join((heading, *items, "")) if items else ""
