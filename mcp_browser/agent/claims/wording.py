"""What tasks ask for and answers admit, by their words; the words themselves are in wording.toml."""

import re
import tomllib
from collections.abc import Iterator
from importlib import resources

_WORDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    resources.files("mcp_browser.agent.claims").joinpath("wording.toml").read_text(encoding="utf-8")
)

# Where a sentence or a further demand begins, so that "my last order" is no demand to order.
_AND = r"\b(?:and|then|please|now|und|dann|bitte|et|puis|y|luego|e|poi|depois|en|i|oraz|и|затем)\s+"
_BEGINS = rf"(?:^|[.;:!?,\n-]\s*|{_AND})"
_NO_NOUN = (
    r"(?!\s+(?:numbers?|ids?|dates?|status|totals?|lists?|history|details?|pages?|names?|titles?|forms?)\b)"
)


def _any_of(*tables: str) -> str:
    return "|".join(f"(?:{one})" for table in tables for words in _WORDS[table].values() for one in words)


def _found(table: str) -> re.Pattern[str]:
    return re.compile(_any_of(table), re.IGNORECASE | re.MULTILINE)


def _demand(table: str) -> re.Pattern[str]:
    verbs = rf"{_BEGINS}(?:{_any_of(table)})\b{_NO_NOUN}"
    return re.compile(f"{verbs}|{_any_of(f'{table}_unspaced')}", re.IGNORECASE)


def _whole(table: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{_any_of(table)})?\W*", re.IGNORECASE | re.DOTALL)


ASKS_TO_ACT = _demand("act")
ASKS_TO_SEND = _demand("send")
ASKS_TO_PRESS = re.compile(
    rf"{_BEGINS}(submit|send|order|buy|pay|book|publish|confirm)\b{_NO_NOUN}", re.IGNORECASE
)
ASKS_TO_TELL = _found("tell")
ASKS_OF_FAILURE = _found("of_failure")
COUNTS = _found("count")
TELLS_NOTHING = _whole("nothing")
PLACEHOLDER_ANSWER = _whole("placeholder")
SAYS_IT_FAILED = _found("failed")
SAYS_NOT_YET = _found("not_yet")
SHOWS_ERROR = _found("page_error")
IS_ERROR_PAGE = _found("error_page")
ASKS_BACK = re.compile(
    r"\b(?:which|what|where|when|who|should|shall|do|does|would|could|can|please)\b[^.!?\n\"]*\?\s*$",
    re.IGNORECASE,
)

_KEYS = frozenset(
    "enter return tab escape esc space backspace delete ctrl control alt shift home end up down".split()
)
_CLICK = r"\b(?:click|press|tap|push|hit|klick\w*|clique[rz]?|clicca|pulsa|kliknij|klik)\b"
_QUOTED_TARGET = re.compile(_CLICK + r"[^.;\"“”„«»\n]{0,30}[\"“„«]([^\"“”„«»\n]{1,60})[\"”“»]", re.IGNORECASE)
_NAMED_TARGET = re.compile(
    r"\b(?:[Cc]lick|[Pp]ress|[Tt]ap|[Hh]it)\s+(?:on\s+)?(?:the\s+)?([A-Z][\w-]*(?:\s[A-Z][\w-]*){0,3})"
    r"(?=\s*(?:$|[.,;!\n]|button|link|tab\b|and\b|then\b|when\b|once\b|to\b))"
)
_NAMES = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)+\b")
_VALUE = re.compile(
    r"(?<![\w.])(?:[$€£¥]\s?)?(\d+(?:[.,'\u2019\u00a0\u202f]\d+)+|\d{3,})(?![\w])"
    r"|[\"“«„]([^\"”“»\n]{3,80})[\"”»“]|\b([\w.+-]+@[\w-]+\.[\w.]+)\b|(https?://[^\s\"'<>)]+)"
)


def as_written(text: str) -> str:
    """A text with plain apostrophes, as the patterns have them."""
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def targets(task: str) -> Iterator[str]:
    """The names of what a task says is to be clicked: `click "Send"`, `press Submit when done`; no keys."""
    for found in (*_QUOTED_TARGET.finditer(task), *_NAMED_TARGET.finditer(task)):
        name = found[1].strip(" .,:;")
        if name and not set(name.casefold().replace("+", " ").split()) & _KEYS:
            yield name


def values_told(answer: str) -> Iterator[str]:
    """What an answer gives as found: numbers of three digits or with a fraction, quotes, addresses."""
    for found in _VALUE.finditer(answer):
        yield found[1] or found[2] or found[3] or found[4]


def names_told(answer: str) -> Iterator[str]:
    """The names in an answer: words with capitals, two at least in a row."""
    for found in _NAMES.finditer(answer):
        yield found[0]


def still_to_press(task: str) -> Iterator[str]:
    """What a task says is to be sent, bought, paid…: its verbs, which buttons may have for names."""
    for found in ASKS_TO_PRESS.finditer(task):
        yield found[1]
