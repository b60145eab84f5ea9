"""The like things of a page: rows of tables, things that data tell of, elements that repeat."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp_browser.actions.extracting.facts import (
    HEADINGS,
    Fact,
    entries,
    facts_of,
    facts_of_data,
    facts_of_row,
    listed,
    type_of,
)
from mcp_browser.actions.extracting.tables import tables_in
from mcp_browser.actions.extracting.tree import Element, elements, text_of, words
from mcp_browser.text import quoted

MOST_GROUPS = 400  # How many kinds of like elements are looked at

_NOT_CARDS = frozenset(
    "tr td th thead tbody tfoot option col colgroup dt dd br script meta link head".split()
)


@dataclass(frozen=True)
class Group:
    """Like things on a page: what they are, by which words they are named, and what each of them says."""

    kind: str
    name: frozenset[str]
    facts: Sequence[Callable[[], list[Fact]]]


def groups_of(root: Element, items: Sequence[dict[str, Any]]) -> list[Group]:
    """All of a page, with the `items` that its data tell of."""
    return [*_items(items), *_tables(root), *_microdata(root), *_cards(root)]


def data_groups(facts: Sequence[Fact]) -> Iterable[Group]:
    """The lists of objects that data hold as one of these facts."""
    for fact in facts:
        if things := [inside for one in listed(fact.value) if (inside := entries(one))]:
            made = [partial(facts_of_data, one, fact.where) for one in things]
            yield Group(fact.where, frozenset(fact.name), made)


def _microdata(root: Element) -> Iterable[Group]:
    kinds: dict[str, list[Element]] = {}
    for element in elements(root):
        if element.get("itemscope") is not None and not element.get("itemprop"):
            kinds.setdefault((element.get("itemtype") or "").rpartition("/")[2], []).append(element)
    for kind, things in kinds.items():
        if len(things) > 1:
            facts = [partial(facts_of, thing) for thing in things]
            yield Group(f"microdata {kind}", frozenset({*words(kind), *_around(things[0])}), facts)


def _cards(root: Element) -> Iterable[Group]:
    """Like elements: of one class anywhere, or of one kind side by side."""
    groups: dict[object, list[Element]] = {}
    for element in elements(root):
        if element.tag in _NOT_CARDS or not (len(element) or (element.text or "").strip()):
            continue
        parent = element.getparent()
        classes = tuple(sorted((element.get("class") or "").split()))
        groups.setdefault((element.tag, classes or parent, _mark(element)), []).append(element)
    several = [things for things in groups.values() if len(things) > 1]
    several.sort(key=lambda things: sum(len(thing) for thing in things), reverse=True)
    for things in several[:MOST_GROUPS]:
        classes = things[0].get("class") or ""
        kind = f"{things[0].tag} elements" + (f" of class {quoted(classes, 60)}" if classes else "")
        facts = [partial(facts_of, thing) for thing in things]
        yield Group(kind, frozenset({*words(classes), *_around(things[0])}), facts)


def _mark(element: Element) -> str:
    """What an element is marked with as being, for those that have no class."""
    return element.get("itemtype") or element.get("role") or ""


def _around(element: Element) -> frozenset[str]:
    """The words by which what is around an element is named: its classes, and the heading before it."""
    found: set[str] = set()
    around: Element | None = element
    for _ in range(3):
        if around is None or around.tag in ("body", "main"):
            break
        found.update(words(around.get("id") or ""), words(around.get("aria-label") or ""))
        if around is not element:
            found.update(words(around.get("class") or ""))
        for before in around.itersiblings(preceding=True):
            if before.tag in HEADINGS:
                found.update(words(text_of(before)))
                return frozenset(found)
        around = around.getparent()
    return frozenset(found)


def _items(items: Sequence[dict[str, Any]]) -> Iterable[Group]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        kinds.setdefault(type_of(item), []).append(item)
    for kind, alike in kinds.items():
        where = f"JSON-LD {kind}"
        facts = [partial(facts_of_data, item, where) for item in alike]
        yield Group(where, frozenset(words(kind)), facts)


def _tables(root: Element) -> Iterable[Group]:
    for number, table in enumerate(tables_in(root), 1):
        if table.headers:
            kind = f"table {number}" + (f" {quoted(table.caption, 60)}" if table.caption else "")
            if told := ", ".join(filter(None, (table.size if table.is_part else "", table.note))):
                kind += f" ({told})"
            rows = [partial(facts_of_row, table, row) for row in table.records_at()]
            yield Group(kind, frozenset({*words(table.caption), *_around(table.element)}), rows)
