"""Fills a JSON schema from what a page says, by rules: what is not found is left out, nothing is made up."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from mcp_browser.actions.answer_schema import Schema
from mcp_browser.actions.extracting.facts import (
    SHAPE,
    Fact,
    entries,
    facts_about,
    facts_of,
    facts_of_data,
    is_aside,
    items_in,
    listed,
    type_of,
)
from mcp_browser.actions.extracting.groups import Group, data_groups, groups_of
from mcp_browser.actions.extracting.tree import Element, parse, take_machine_data
from mcp_browser.actions.extracting.values import (
    WITHIN,
    Unfit,
    convert,
    fit,
    names_of,
    ranked_facts,
    shown,
    take,
)
from mcp_browser.text import counted

MOST_RECORDS = 5_000  # How many records one list is filled with
SAMPLE = 4  # How many things of a list are looked at to see whether they fit
LEAST_SHARE = 0.3  # Which share of the properties things of a list must have, on the average
SURE_SHARE = 0.5  # Which share of the properties is enough, though it is only one, where there is no doubt
MOST_DEEP = 8  # How far schemas within schemas are filled


@dataclass
class Filled:
    """What a schema was filled with.

    `found` says where each property comes from, `missing` why another one is left out, both by paths such as
    `products[].price`.
    """

    data: Any = None
    found: dict[str, str] = field(default_factory=dict[str, str])
    missing: dict[str, str] = field(default_factory=dict[str, str])


def fill_schema(schema: Schema, page: str) -> Filled:
    """Fill a schema, without references, from the detailed HTML of a page."""
    return _Filler(page).fill(schema)


class _Filler:
    def __init__(self, page: str) -> None:
        self.root = parse(page)
        self.items = [item for data in take_machine_data(self.root) for item in items_in(data)]
        self.result = Filled()
        self._groups: list[Group] | None = None

    def fill(self, schema: Schema) -> Filled:
        schema = plain_schema(schema)
        if schema.get("type") == "array":
            self.result.data = self._list(schema, "", (), self._page_facts(), self.root, 0)
        else:
            facts = [*self._page_facts(), *self._one_row(schema)]
            self.result.data = self._object(schema, "", facts, self.root, 0)
        if self.result.data is None:
            self.result.data = [] if schema.get("type") == "array" else {}
        return self.result

    def _page_facts(self) -> list[Fact]:
        facts: list[Fact] = []
        for item in sorted(self.items, key=is_aside):
            facts += facts_of_data(item, f"JSON-LD {type_of(item)}", inner=is_aside(item))
        return [*facts, *facts_of(self.root), *facts_about(self.root)]

    def _one_row(self, schema: Schema) -> list[Fact]:
        """What the one row of a table says, if it is about what the schema wants: it has most of it."""
        properties = cast("Schema", schema.get("properties", {}))
        for group in self._all_groups(self.root):
            if group.kind.startswith("table ") and len(group.facts) == 1:
                share, sure = _share(properties, group)
                if len(properties) > 1 and min(share, sure) >= SURE_SHARE:
                    return group.facts[0]()
        return []

    def _object(
        self, schema: Schema, path: str, facts: Sequence[Fact], scope: Element | None, deep: int
    ) -> dict[str, Any] | None:
        filled: dict[str, Any] = {}
        if deep > MOST_DEEP:
            return None
        for name, part in cast("dict[str, Any]", schema.get("properties", {})).items():
            value = self._property(name, plain_schema(part), f"{path}.{name}".lstrip("."), facts, scope, deep)
            if value is not None:
                filled[name] = value
        return filled or None

    def _property(  # noqa: PLR0913, PLR0917 - what a property is filled from
        self, name: str, schema: Schema, path: str, facts: Sequence[Fact], scope: Element | None, deep: int
    ) -> Any:
        names = names_of(name, schema)
        match schema.get("type"):
            case "array":
                return self._list(schema, path, names, facts, scope, deep)
            case "object":
                for fact in ranked_facts(names, facts):
                    inside = _inside(fact)
                    if inside and (value := self._object(schema, path, inside, None, deep + 1)):
                        return value
                return self._object(schema, path, facts, None, deep + 1)
            case _:
                value, told = take(names, schema, facts)
                if value is None:
                    self.result.missing.setdefault(path, told)
                else:
                    self.result.found.setdefault(path, told)
                return value

    def _list(  # noqa: PLR0913, PLR0917 - what a list is filled from
        self,
        schema: Schema,
        path: str,
        names: Sequence[tuple[str, ...]],
        facts: Sequence[Fact],
        scope: Element | None,
        deep: int,
    ) -> list[Any] | None:
        items = plain_schema(cast("Schema", schema.get("items") or {}))
        if items.get("type") != "object":
            return self._texts(items, path, names, facts)
        properties = cast("Schema", items.get("properties", {}))
        best: tuple[tuple[float, bool, int, float], Group] | None = None
        for group in (*data_groups(ranked_facts(names, facts)), *self._all_groups(scope)):
            share, sure = _share(properties, group)
            named = any(set(name) <= group.name for name in names if name)
            few = share * len(properties) < min(2, len(properties))
            if share < LEAST_SHARE or (few and min(share, sure) < SURE_SHARE):
                continue
            rank = (round(share, 1), named, len(group.facts), round(sure, 1))
            if best is None or rank > best[0]:
                best = rank, group
        if best is None:
            self.result.missing[path or "(the list)"] = (
                "no table, data or like elements with these properties"
            )
            return None
        group = best[1]
        # What single records lack is counted, not told for each.
        outer, self.result = self.result, Filled()
        records = [
            record
            for facts_of_one in group.facts[:MOST_RECORDS]
            if (record := self._object(items, f"{path}[]", facts_of_one(), None, deep + 1))
        ]
        inner, self.result = self.result, outer
        outer.found[path or "(the list)"] = f"{group.kind}: {counted(len(records), 'record')}"
        outer.found |= inner.found
        for below, why in inner.missing.items():
            outer.missing[below] = f"in some records: {why}" if below in inner.found else why
        return records or None

    def _texts(
        self, items: Schema, path: str, names: Sequence[tuple[str, ...]], facts: Sequence[Fact]
    ) -> list[Any] | None:
        ranked = ranked_facts(names, facts)
        for fact in ranked:
            alike = [other for other in ranked if other.where == fact.where]
            values: list[Any] = []
            for part in _several(alike if len(alike) > 1 else [fact]):
                try:
                    values.append(convert(items, names, part))
                except Unfit:
                    continue
            if values:
                self.result.found[path] = fact.where
                return list(dict.fromkeys(values)) if all(isinstance(one, str) for one in values) else values
        self.result.missing[path] = "nothing of this name"
        return None

    def _all_groups(self, scope: Element | None) -> list[Group]:
        if scope is not self.root:
            return []
        if self._groups is None:
            self._groups = groups_of(self.root, self.items)
        return self._groups


def plain_schema(schema: Any) -> Schema:
    """A schema with one type: that which is not null, and of several choices the first."""
    if not isinstance(schema, dict):
        return {}
    given = cast("Schema", schema)
    for key in ("anyOf", "oneOf", "allOf"):
        choices = [one for one in cast("list[Any]", given.get(key) or []) if one != {"type": "null"}]
        if choices:
            rest = {name: value for name, value in given.items() if name != key}
            return plain_schema({**cast("Schema", choices[0]), **rest})
    kind = given.get("type")
    if isinstance(kind, list):
        kinds = [one for one in cast("list[str]", kind) if one != "null"]
        return {**given, "type": kinds[0] if kinds else "null"}
    if kind is None:
        kind = "object" if "properties" in given else "array" if "items" in given else None
        return {**given, "type": kind} if kind else given
    return given


def _inside(fact: Fact) -> list[Fact]:
    if inside := entries(fact.value):
        return facts_of_data(inside, fact.where)
    if fact.element is not None and len(fact.element):
        return facts_of(fact.element)
    return []


def _several(facts: Sequence[Fact]) -> Iterable[Fact]:
    """The parts of a list: of one element its items, of one text what commas part, else each fact."""
    if len(facts) > 1:
        return facts
    (fact,) = facts
    if listed(fact.value):
        return [Fact(fact.name, fact.where, fact.source, value=one) for one in listed(fact.value)]
    if fact.element is not None and fact.value is None:
        for tag in ("li", "a", "span"):
            if len(parts := [part for part in fact.element.iter(tag) if part is not fact.element]) > 1:
                return [Fact(fact.name, fact.where, fact.source, part) for part in parts]
    parts = [part.strip() for part in re.split(r"[,;\u00b7|]\s", shown(fact))]
    return [Fact(fact.name, fact.where, fact.source, value=part) for part in parts if part]


def _share(properties: Schema, group: Group) -> tuple[float, float]:
    """Which share of the properties things of a group have, and which without doubt."""
    count = len(group.facts)
    sample = {0, count - 1, count // 3, 2 * count // 3} if count > SAMPLE else set(range(count))
    total = sure = 0.0
    for at in sample:
        facts = group.facts[at]()
        for name, given in properties.items():
            part = plain_schema(given)
            names = names_of(name, part)
            if part.get("type") in ("object", "array"):
                total += bool(ranked_facts(names, facts))
                continue
            value, told = take(names, part, facts)
            if value is None:
                total += told.endswith(" is empty")
            else:
                total += 0.5 if "different ones" in told else 1
                first = ranked_facts(names, facts)[0]
                sure += first.source < SHAPE and fit(names, first) != WITHIN
    of = max(1, len(properties) * len(sample))
    return total / of, sure / of
