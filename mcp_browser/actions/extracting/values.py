"""The value of a property of a schema, from what a page says under its name."""

import math
import re
from collections.abc import Sequence
from typing import Any

from jsonschema.validators import validator_for
from referencing import Registry

from mcp_browser.actions.answer_schema import Schema
from mcp_browser.actions.extracting.facts import DATA, LABEL, STYLE, Fact, listed, plain_value
from mcp_browser.actions.extracting.tree import elements, text_of, words
from mcp_browser.text import quoted

_SAME = (
    "name title headline",
    "url link href",
    "image picture photo img thumbnail",
    "description summary abstract",
    "date published publication_date date_published published_time",
    "author creator by",
    "phone telephone tel phone_number",
    "email mail e_mail email_address",
    "number no nr",
    "quantity qty",
)
_ALIKE: dict[tuple[str, ...], frozenset[tuple[str, ...]]] = {
    words(name): frozenset(map(words, group.split())) for group in _SAME for name in group.split()
}
_ADDRESSES = frozenset(words("url link href uri website homepage"))
_PICTURES = frozenset(words("image picture photo img thumbnail logo icon"))
_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?(?:\d{1,3}(?:[,. \u00a0\u202f'\u2019]\d{3})+|\d+)(?:[.,]\d+)?"
    r"(?:[eE][-+]?\d{1,3}\b)?"
    # A number with such a word is another one.
    r"(?!\d|[.,]\d|m\b|\s?(?:k|K|M|bn|thousand|million|billion)\b)"
)
_OUT_OF = re.compile(r"^\D*([\d.,]+)\s*(?:/|out of|of)\s*[\d.,]+\D*$", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_TRUE = frozenset("yes true on y \u2713 \u2714 \u2705 [x]".split())
_FALSE = frozenset("no false off n \u2717 \u2718 \u274c".split()) | {"[ ]"}

EXACT, ALIKE, WITHIN = range(3)
"""How well a name fits a property, the best first."""


class Unfit(Exception):
    """What is said does not fit what the schema wants; the message says why."""


def take(names: Sequence[tuple[str, ...]], schema: Schema, facts: Sequence[Fact]) -> tuple[Any, str]:
    """The value of a property with where it was found; or None, with why there is none."""
    why = "nothing of this name"
    for fact in (ranked := ranked_facts(names, facts)):
        try:
            value = convert(schema, names, fact)
        except Unfit as error:
            why = str(error) if why == "nothing of this name" else why
            continue
        others = 1
        if fact.source in (STYLE, LABEL):
            like = [other for other in ranked if other.where == fact.where]
            others = len({shown(other) for other in like}) if len(like) > 1 else 1
        if fit(names, fact) == WITHIN and others > 1:
            why = f"several that may be it, such as {fact.where}"
            continue
        return value, fact.where if others == 1 else f"{fact.where}, the first of {others} different ones"
    return None, why


def convert(schema: Schema, names: Sequence[tuple[str, ...]], fact: Fact) -> Any:
    """What a fact says, as the schema wants it.

    Raises:
        Unfit: it cannot be had from it.
    """
    match schema.get("type"):
        case "number" | "integer" as kind:
            value: Any = _number(fact, whole=kind == "integer")
        case "boolean":
            value = _truth(fact)
        case "null":
            raise Unfit("the schema wants nothing")
        case _:
            value = _text(schema, names, fact)
    for option in listed(schema.get("enum")):
        if isinstance(option, str) and isinstance(value, str) and words(option) == words(value):
            value = option
    validator = validator_for(schema)(schema, registry=Registry())
    if not validator.is_valid(value):
        raise Unfit(f"{fact.where} says {quoted(str(value), 60)}, which does not fit")
    return value


def shown(fact: Fact, *, gone: bool = True) -> str:
    """What a fact says, as a text; without `gone`, not what is struck out."""
    if fact.value is not None or fact.element is None:
        value = plain_value(fact.value)
        if listed(value):
            return ", ".join(str(plain_value(one)) for one in listed(value))
        return " ".join(str(value).split()) if not isinstance(value, dict) else ""
    return text_of(fact.element, gone=gone)


def _number(fact: Fact, *, whole: bool) -> int | float:
    value = plain_value(fact.value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value)
    else:
        text = shown(fact, gone=False)
        numbers = _NUMBER.findall(text)
        if match := _OUT_OF.match(text):
            numbers = [match[1]]
        if len(set(numbers)) != 1:
            raise Unfit(f"{fact.where} says {quoted(text, 60)}, which is not one number")
        found = parse_number(numbers[0])
    if found.is_integer():
        return int(found)
    if whole:
        raise Unfit(f"{fact.where} says {found:g}, which is no whole number")
    return found


def numbers_in(text: str) -> list[str]:
    """The numbers in a text, as they stand there."""
    return _NUMBER.findall(text)


def parse_number(text: str) -> float:
    """A number as people write it: `1,234.50`, `1.234,50`, `1 234`, `1.5e-3`."""
    plain = re.sub("[ \u00a0\u202f'\u2019]", "", text).replace("\u2212", "-")
    comma, point = plain.rfind(","), plain.rfind(".")
    if comma >= 0 and point >= 0:
        thousands, decimal = (",", ".") if point > comma else (".", ",")
        plain = plain.replace(thousands, "").replace(decimal, ".")
    elif comma >= 0:
        groups = plain.split(",")
        plain = plain.replace(",", "" if all(len(group) == 3 for group in groups[1:]) else ".")  # noqa: PLR2004
    elif plain.count(".") > 1:
        plain = plain.replace(".", "")
    try:
        number = float(plain)
    except ValueError as error:
        raise Unfit(f"{text} is no number") from error
    if not math.isfinite(number):
        raise Unfit(f"{text} is too large a number")
    return number


def _truth(fact: Fact) -> bool:
    value = plain_value(fact.value)
    if isinstance(value, bool):
        return value
    text = shown(fact).casefold()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise Unfit(f"{fact.where} says {quoted(text, 60)}, which is neither yes nor no")


def _text(schema: Schema, names: Sequence[tuple[str, ...]], fact: Fact) -> str:
    element, form = fact.element, schema.get("format")
    wanted = {word for name in names for word in name}
    if element is not None and fact.value is None:
        if form in ("uri", "url", "iri") or wanted & (_ADDRESSES | _PICTURES):
            attribute = "src" if wanted & _PICTURES else "href"
            at = next(
                (one for one in (*elements(element), *element.iterancestors()) if one.get(attribute)), None
            )
            if at is not None:
                return str(at.get(attribute))
            if form in ("uri", "url", "iri"):
                raise Unfit(f"{fact.where} has no address")
        moment = next((one.get("datetime") for one in element.iter("time") if one.get("datetime")), None)
        if moment and form in ("date", "date-time"):
            return moment[:10] if form == "date" else moment
    value = plain_value(fact.value)
    if isinstance(value, bool):
        value = str(value).lower()
    text = shown(fact) if not isinstance(value, str) else " ".join(value.split())
    if not text:
        raise Unfit(f"{fact.where} is empty")
    if words(text) in names:
        raise Unfit(f"{fact.where} is empty")
    if form in ("date", "date-time"):
        if not (match := _ISO.search(text)):
            raise Unfit(f"{fact.where} says {quoted(text, 60)}, which is no date as 2026-01-31")
        return match[0][:10] if form == "date" else match[0]
    return text


def names_of(name: str, schema: Schema) -> list[tuple[str, ...]]:
    """The names that a property goes by: its own, and its title."""
    title = schema.get("title")
    return [label for label in (words(name), words(title) if isinstance(title, str) else ()) if label]


def fit(names: Sequence[tuple[str, ...]], fact: Fact) -> int | None:
    """How well the name of a fact fits, or None."""
    best: int | None = None
    for name in names:
        if fact.name == name:
            return EXACT
        if fact.name in _ALIKE.get(name, ()):
            best = ALIKE
        # A word more says of what it is; with a word less it may be another thing: no name is a first name.
        elif best is None and fact.source in (DATA, LABEL, STYLE) and set(name) < set(fact.name):
            more = len(set(fact.name)) - len(set(name))
            best = WITHIN if more <= 1 + (fact.source == LABEL) else None
    return best


def ranked_facts(names: Sequence[tuple[str, ...]], facts: Sequence[Fact]) -> list[Fact]:
    """The facts under a name, the best first."""
    fitting = [(how, fact) for fact in facts if (how := fit(names, fact)) is not None]
    fitting.sort(key=lambda pair: (pair[0], pair[1].inner, pair[1].source))
    return [fact for _, fact in fitting]
