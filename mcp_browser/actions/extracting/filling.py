"""Fill a JSON schema from a page: by the exact names of its properties, then by a task's model.

Of what a model gives, only text of the page is accepted.
"""

import math
import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import dropwhile, islice, takewhile
from typing import Any, cast

from jsonschema.validators import validator_for
from referencing import Registry

from mcp_browser.actions.answer_schema import AnswerSchema, Schema
from mcp_browser.actions.extracting.machine_data import (
    ABOUT_THE_SITE,
    MOST_DEEP,
    Element,
    elements,
    entries,
    is_leaf,
    items_in,
    listed,
    parse,
    plain_value,
    text_of,
    type_of,
)
from mcp_browser.actions.extracting.tables import tables_in
from mcp_browser.text import counted, quoted

_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?(?:\d{1,3}(?:[,. \u00a0\u202f'\u2019]\d{3})+|\d+)(?:[.,]\d+)?"
    r"(?:[eE][-+]?\d{1,3}\b)?(?![^\W_]|[.,]\d)"
)
_LETTER = re.compile(r"[^\W_]")


def one_number(text: str) -> int | float | None:
    """The only number of a text without letters, such as a price; None for another text.

    A word may be a unit, or change the number, as `million` does.
    """
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1 or _LETTER.search(text.replace(numbers[0], "", 1)):
        return None
    return _parsed(numbers[0])


def _parsed(text: str) -> int | float | None:
    """The number: `1,234.50`, `1.234,50`, `1 234`, `1.5e-3`; None where it is too large."""
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
        number = float(plain) if re.search("[.eE]", plain) else int(plain)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if float(number).is_integer() else number


MOST_RECORDS = 5_000  # How many records one list is filled with
LONGEST_LABEL = 40
LONGEST_LABELLED = 1_000  # How long a text may be that begins with its label, characters
MOST_DESCRIBED = 50  # How many descriptions and terms above one are looked at
LEAST_SHARE = 0.5  # Which share of the properties the things of a list must have

_LABELLED = re.compile(r"([^:\uff1a]{1,40})(?::\s|\uff1a)\s*(.+)", re.DOTALL)
_BLOCKS = ("p", "li", "td", "dd", "div")
_BOX = re.compile(r"\[([x ])\] (.+)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_TRUTHS = {"true": True, "false": False, "[x]": True, "[ ]": False}

IN_SOME = "in some records: "

NOTHING: tuple[str, list[Any]] = ("", [])

Thing = dict[str, list[Any]]
"""The properties of one thing, by plain names: JSON values and elements."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Things of one kind, its name, and the plain names of their properties.

    A `weak` source, such as a table or data about the site, may be about something else than the page.
    """

    where: str
    name: str
    names: frozenset[str]
    things: Sequence[Thing]
    weak: bool


def plain_schema(schema: Any) -> Schema:
    """A schema with one type: that which is not null, and of several choices the first."""
    given: Schema = entries(schema)
    for key in ("anyOf", "oneOf", "allOf"):
        choices = [one for one in listed(given.get(key)) if one != {"type": "null"}]
        if choices:
            rest = {name: value for name, value in given.items() if name != key}
            return plain_schema({**entries(choices[0]), **rest})
    kind = given.get("type")
    if isinstance(kind, list):
        kind = next((one for one in listed(kind) if one != "null"), "null")
    elif kind is None:
        kind = "object" if "properties" in given else "array" if "items" in given else None
    return {**given, "type": kind} if kind else given


class Filled:
    """The data for a schema, by paths such as `products[].price`.

    `found` says where a property comes from, `missing` why one is left out.
    """

    def __init__(self, schema: Schema, page: str) -> None:
        """Fill a schema, without references, from the detailed HTML of a page."""
        root = parse(page)
        self._sources = [*_data(root), *_tables(root)]
        self.found: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        schema = plain_schema(schema)
        if schema.get("type") == "array":
            self.data: Any = self._fill_list(schema, "(the list)", ()) or []
        else:
            self.data = self._fill_object(schema, self._of_page(schema, labels(root)))
        del self._sources  # They keep the page's tree.

    @property
    def lacking(self) -> int:
        """The number of properties that are missing everywhere."""
        return sum(not why.startswith(IN_SOME) for why in self.missing.values())

    def _of_page(self, schema: Schema, labels: Thing) -> list[tuple[str, Thing]]:
        """Single things and where they stand: data, labels, then weak sources with most of the properties."""
        singles = [one for one in self._sources if len(one.things) == 1]
        said = [*((one.where, one.things[0]) for one in singles if not one.weak), ("label", labels)]
        if len(_properties(schema)) > 1:
            likely = (one for one in singles if one.weak and _share(schema, one) > LEAST_SHARE)
            said += ((one.where, one.things[0]) for one in likely)
        return said

    def _fill_object(
        self, schema: Schema, said: Sequence[tuple[str, Thing]], path: str = ""
    ) -> dict[str, Any]:
        """Fill an object, each property from the first of the things that has it."""
        filled: dict[str, Any] = {}
        for name, part in _properties(schema).items():
            names, at = _names_of(name, part), f"{path}.{name}" if path else name
            has = ((where, thing[one]) for where, thing in said for one in names if one in thing)
            where, values = next(has, NOTHING)
            if not path and not values and plain_schema(part).get("type") == "array":
                value = self._fill_list(plain_schema(part), name, names)
            else:
                value = self._fill(part, values, at, where)
            if value is not None:
                filled[name] = value
                if not path:
                    self.found.setdefault(name, where)
        return filled

    def _fill_list(self, schema: Schema, path: str, names: Sequence[str]) -> list[Any] | None:
        """Fill a list from the source with most of the properties; of several, from that of its name."""
        items = plain_schema(schema.get("items"))
        ranked = [(_share(items, source), source.name in names, source) for source in self._sources]
        fitting = [one for one in ranked if one[0] >= LEAST_SHARE]
        if not fitting:
            self.missing[path] = "no table and no data with these names"
            return None
        source = max(fitting, key=lambda one: one[:2])[2]
        below = f"{path}[]" if names else "[]"
        records = [
            record
            for thing in source.things[:MOST_RECORDS]
            if (record := self._fill_object(items, [(source.where, thing)], below))
        ]
        self.found[path] = f"{source.where}: {counted(len(records), 'record')}"
        has = {f"{below}.{name}" for record in records for name in record}
        for lacked in has & self.missing.keys():
            self.missing[lacked] = IN_SOME + self.missing[lacked]
        return records or None

    def _fill(self, schema: Any, values: Sequence[Any], path: str, where: str) -> Any:
        """Fill a schema with the values under its name; None if they do not fit."""
        schema = plain_schema(schema)
        if values and schema.get("type") == "array":
            filled = [
                self._fill(schema.get("items"), [part], f"{path}[]", where)
                for value in values
                for part in _parts(value)
            ]
            return [one for one in filled if one is not None] or None
        why = "nothing of this name"
        fitting: dict[str, Any] = {}
        for value in values:
            if schema.get("type") == "object":
                one = self._fill_object(schema, [(where, _thing(entries(value)))], path) or None
            elif (one := _converted(schema, value)) is None:
                text = shown(value)
                why = f"{where} says {quoted(text, 60)}, which does not fit" if text else f"{where} is empty"
                continue
            fitting.setdefault(repr(one), one)
        if len(fitting) == 1:
            return next(iter(fitting.values()))
        if fitting:
            why = f"{where} says {len(fitting)} different ones, such as {quoted(next(iter(fitting)), 60)}"
        self.missing.setdefault(path, why)
        return None


def _plain(name: str) -> str:
    """A name without case, spaces and signs: `unitPrice`, `unit_price`, `Unit price:` are the same."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if unicodedata.category(character)[0] in "LMN")


def _names_of(name: str, schema: Any) -> list[str]:
    """The names that a property goes by: its own, and its title."""
    title = entries(schema).get("title")
    return [plain for one in (name, title) if isinstance(one, str) and (plain := _plain(one))]


def _properties(schema: Schema) -> dict[str, Any]:
    return entries(schema.get("properties"))


def _share(schema: Schema, source: _Source) -> float:
    properties = _properties(schema)
    has = sum(not source.names.isdisjoint(_names_of(name, part)) for name, part in properties.items())
    return has / max(1, len(properties))


def shown(value: Any) -> str:
    """The text of an element, or of a value of JSON; empty for a thing without a name."""
    if isinstance(value, Element):
        return text_of(value)
    plain = plain_value(value)
    if isinstance(plain, bool):
        return str(plain).lower()
    return "" if isinstance(plain, (dict, list)) else " ".join(str(plain).split())


def _parts(value: Any) -> list[Any]:
    """The items of an element that is a list; else the value alone."""
    return (list(value.iter("li")) if isinstance(value, Element) else []) or [value]


def _converted(schema: Schema, value: Any) -> Any:
    """A value in the type and format of the schema; None if it does not fit."""
    kind, form, text = schema.get("type"), schema.get("format"), shown(value)
    element = value if isinstance(value, Element) else None
    if kind in ("number", "integer"):
        plain: Any = one_number(text if element is None else text_of(element, gone=False))
    elif kind == "boolean":
        plain = _TRUTHS.get(text.casefold())
    elif element is not None and form in ("uri", "url", "iri", "uri-reference"):
        plain = next((at for one in elements(element) if (at := one.get("href") or one.get("src"))), None)
    elif form in ("date", "date-time"):
        times = () if element is None else element.iter("time")
        moment = next((at for one in times if (at := one.get("datetime"))), text)
        plain = moment[: 10 if form == "date" else None] if _DATE.fullmatch(moment) else None
    else:
        plain = text
    for option in listed(schema.get("enum")):
        if isinstance(option, str) and isinstance(plain, str) and _plain(option) == _plain(plain):
            plain = option
    if plain in (None, "") or not validator_for(schema)(schema, registry=Registry()).is_valid(plain):
        return None
    return plain


def _thing(item: dict[str, Any], deep: int = 0) -> Thing:
    """The properties of a JSON object, and of its parts under names it does not have itself."""
    own: Thing = {}
    parts: Thing = {}
    for key, value in item.items():
        if not key.startswith("@") and value not in (None, "", []):
            several = listed(value) or [value]
            own.setdefault(_plain(key), []).extend(several)
            for name, values in (
                pair for one in several if deep < MOST_DEEP for pair in _thing(entries(one), deep + 1).items()
            ):
                parts.setdefault(name, []).extend(values)
    return {**parts, **own}


def _data(root: Element) -> Iterable[_Source]:
    kinds: dict[str, list[Thing]] = {}
    for item in items_in(root):
        kinds.setdefault(type_of(item), []).append(_thing(item))
    for kind, things in kinds.items():
        where = f"data of {quoted(kind, 60)}" if kind else "data"
        yield _Source(where, _plain(kind), _all_names(things), things, weak=kind in ABOUT_THE_SITE)


def _tables(root: Element) -> Iterable[_Source]:
    for number, table in enumerate(tables_in(root), 1):
        where = f"table {number}" + (f" {quoted(table.caption, 60)}" if table.caption else "")
        is_part = table.count is not None or table.columns is not None or table.more
        if about := ", ".join(filter(None, (table.size if is_part else "", table.note))):
            where += f" ({about})"
        things: list[Thing] = []
        for row in table.rows[: len(table.rows) - table.foot]:
            if sum(cell is not None for cell in row) <= 1:
                continue  # A line over all columns is no record.
            things.append(thing := {})
            for header, cell in zip(table.headers, row, strict=False):
                # A header in several rows, such as `Contact / Phone`, goes by its last part, too.
                for name in {_plain(header), _plain(header.rpartition(" / ")[2])}:
                    if cell is not None:
                        thing.setdefault(name, []).append(cell.element)
        yield _Source(where, _plain(table.caption), _all_names(things), things, weak=True)


def _all_names(things: Iterable[Thing]) -> frozenset[str]:
    return frozenset(name for thing in things for name in thing)


def labels(root: Element) -> Thing:
    """What stands beside labels, and in texts such as `Label: value`."""
    thing: Thing = {}

    def add(label: str, value: Any) -> None:
        if len(label.rstrip(" :\uff1a")) <= LONGEST_LABEL and (plain := _plain(label)):
            thing.setdefault(plain, []).append(value)

    for element in elements(root):
        for label in _labels_of(element):
            add(text_of(label), element)
        if element.tag == "label" and (text := (element.tail or "").strip()):
            add(text_of(element), text)
        elif (
            element.tag in _BLOCKS and is_leaf(element) and len(text := text_of(element)) <= LONGEST_LABELLED
        ):
            if match := _BOX.fullmatch(text):
                add(match[2], match[1] == "x")
            elif match := _LABELLED.fullmatch(text):
                add(match[1], match[2])
    return thing


def _labels_of(element: Element) -> Iterable[Element]:
    """The elements before this one that label it."""
    before, parent = element.getprevious(), element.getparent()
    if element.tag == "dd":
        above = islice(element.itersiblings("dt", "dd", preceding=True), MOST_DESCRIBED)
        return takewhile(lambda one: one.tag == "dt", dropwhile(lambda one: one.tag == "dd", above))
    if before is None or parent is None or (before.tail or "").strip():
        return ()
    if (element.tag, before.tag) == ("td", "th") or (before.tag == "label" != element.tag):
        return (before,)
    are_pair = len(parent) == 2 and parent.tag in (*_BLOCKS, "span", "tr") and element.tag != "th"  # noqa: PLR2004
    return (before,) if are_pair and not (parent.text or "").strip() and is_leaf(before) else ()


FillByModel = Callable[[Schema, str], Awaitable[Any]]
"""Gives data for a schema from the text of a page; None where the model gives none."""

task_model: ContextVar[FillByModel | None] = ContextVar("task_model", default=None)


@contextmanager
def filling_by(model: FillByModel) -> Generator[None]:
    """Let actions ask this model for what the page does not name."""
    before = task_model.set(model)
    try:
        yield
    finally:
        task_model.reset(before)


SAID = "read by the model"


async def fill_rest(schema: Schema, filled: Filled, content: str) -> bool:
    """Add what the task's model reads in the page's text; return whether it has read it.

    The `schema` is that of the whole data, without references; `filled` was found under the exact names.
    """
    model = task_model.get()
    plain = plain_schema(schema)
    if plain.get("type") == "array":
        rest = plain if filled.data == [] else None
    else:
        properties = _properties(plain).items()
        missed = {name: part for name, part in properties if name not in filled.data}
        rest = {"type": "object", "properties": missed} if missed else None
    if model is None or rest is None:
        return False
    numbers = frozenset(map(_parsed, _NUMBER.findall(content)))
    given = _grounded(await model(rest, content), _folded(content), numbers)
    if isinstance(filled.data, list):
        if given and not AnswerSchema(schema).problems(given):
            filled.data = given
            filled.found["(the list)"] = SAID
            filled.missing.clear()
        return given is not None
    for name, part in cast("dict[str, Any]", rest["properties"]).items():
        value = entries(given).get(name)
        if value is not None and not AnswerSchema(part).problems(value):
            filled.data[name] = value
            filled.found[name] = SAID
            inside = (f"{name}.", f"{name}[")
            filled.missing = {
                path: why
                for path, why in filled.missing.items()
                if path != name and not path.startswith(inside)
            }
    return given is not None


def _grounded(value: Any, text: str, numbers: Collection[object]) -> Any:
    """The value with only what stands in the page's text, or None; truth values do not."""
    match value:
        case bool():
            return None
        case str():
            return value if _folded(value) and _folded(value) in text else None
        case int() | float():
            return value if value in numbers else None
        case list():
            parts = [_grounded(one, text, numbers) for one in cast("list[Any]", value)]
            return [one for one in parts if one is not None] or None
        case dict():
            given = cast("dict[str, Any]", value)
            own = {name: _grounded(one, text, numbers) for name, one in given.items()}
            return {name: one for name, one in own.items() if one is not None} or None
        case _:
            return None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
