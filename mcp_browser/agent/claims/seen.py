"""What a run has seen on pages, as words and numbers, so that an answer can be held against it."""

import re
from collections.abc import Iterator
from typing import Any, cast

from pydantic import BaseModel, Field

MOST_WORDS = 60_000  # How many different words are kept; a run that has seen more is not held against them
LONGEST_WORD = 40
ENOUGH = 0.5  # The share of a value's words that must have been seen

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_WORD = re.compile(r"[^\W\d_]+|\d+")
THOUSANDS = 3  # Digits of a group in large numbers


class Seen(BaseModel):
    """Words and numbers that pages have shown; can be saved and read again."""

    words: set[str] = Field(default_factory=set[str])

    @property
    def is_whole(self) -> bool:
        return len(self.words) < MOST_WORDS

    def add(self, text: str) -> None:
        """Note a text."""
        if self.is_whole:
            self.words.update(_parts(text))

    def has(self, value: str) -> bool:
        """Whether the value, or most of its words, has been seen. Numbers are compared however written."""
        if not self.is_whole or value.casefold() in self.words:
            return True
        if number := _NUMBER.fullmatch(value.strip().lstrip("+-")):
            return not self.words.isdisjoint(_forms(number[0]))
        words = [word[:LONGEST_WORD] for word in _WORD.findall(value.casefold())]
        known = sum(word in self.words for word in words)
        # Scripts without spaces have no words to count.
        return not words or known >= ENOUGH * len(words) or any(not word.isascii() for word in words)


def values_in(data: Any) -> Iterator[str]:
    """The texts and numbers in a value of JSON."""
    match data:
        case bool() | None:
            return
        case str():
            if data.strip():
                yield data
        case int() | float():
            yield str(data)
        case dict():
            for part in cast("dict[str, Any]", data).values():
                yield from values_in(part)
        case list():
            for part in cast("list[Any]", data):
                yield from values_in(part)
        case _:
            return


def is_empty(data: Any) -> bool:
    """Whether a value of JSON tells nothing: null, empty texts, lists and objects of such."""
    match data:
        case None:
            return True
        case str():
            return not data.strip()
        case dict():
            return all(is_empty(part) for part in cast("dict[str, Any]", data).values())
        case list():
            return all(is_empty(part) for part in cast("list[Any]", data))
        case _:
            return False


def _parts(text: str) -> Iterator[str]:
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
