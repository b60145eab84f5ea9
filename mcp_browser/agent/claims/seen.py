"""Words and numbers of texts, to check an answer in any language."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

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
