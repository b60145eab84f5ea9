"""Lets a task's model fill what the rules have not found; only what stands in the page is taken from it."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from mcp_browser.actions.answer_schema import AnswerSchema, Schema
from mcp_browser.actions.extracting.facts import entries
from mcp_browser.actions.extracting.filling import Filled, plain_schema
from mcp_browser.actions.extracting.task_model import task_model
from mcp_browser.actions.extracting.values import Unfit, numbers_in, parse_number

SAID = "read by the model"


async def fill_rest(schema: Schema, filled: Filled, text: Callable[[], Awaitable[str]]) -> Filled:
    """The data with what a model adds to it; unchanged where there is no model, or nothing is missed.

    Args:
        schema: of the whole data, without references.
        filled: what rules have found.
        text: gives the text of the page.
    """
    model = task_model.get()
    rest = _missing(schema, filled)
    if model is None or rest is None:
        return filled
    page = await text()
    given = _Page(page).grounded(await model(rest, page))
    if isinstance(filled.data, list):
        if given and not AnswerSchema(schema).problems(given):
            filled.data = given
            filled.found["(the list)"] = SAID
            filled.missing.clear()
        return filled
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
    return filled


def _missing(schema: Schema, filled: Filled) -> Schema | None:
    """A schema of what is missed altogether: a list, or properties of an object."""
    schema = plain_schema(schema)
    if schema.get("type") == "array":
        return schema if filled.data == [] else None
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    missed = {name: part for name, part in properties.items() if name not in filled.data}
    return {"type": "object", "properties": missed} if missed else None


class _Page:
    """The text of a page, to hold against it what a model says of it."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._numbers: set[float] = set()
        for found in numbers_in(text):
            try:
                self._numbers.add(parse_number(found))
            except Unfit:
                continue

    def grounded(self, value: Any) -> Any:
        """The value with only what stands in the page, or None; truth values do not."""
        match value:
            case bool():
                return None
            case str():
                return value if _plain(value) and _plain(value) in self._text else None
            case int() | float():
                return value if value in self._numbers else None
            case list():
                parts = [self.grounded(one) for one in cast("list[Any]", value)]
                return [one for one in parts if one is not None] or None
            case dict():
                given = cast("dict[str, Any]", value)
                own = {name: self.grounded(one) for name, one in given.items()}
                return {name: one for name, one in own.items() if one is not None} or None
            case _:
                return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
