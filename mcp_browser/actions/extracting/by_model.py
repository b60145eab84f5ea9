"""Let a task's model fill what the page does not name; only text of the page is accepted."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from mcp_browser.actions.answer_schema import AnswerSchema, Schema
from mcp_browser.actions.extracting.exact import Filled, numbers_in, plain_schema
from mcp_browser.actions.extracting.machine_data import entries

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
    """Add what the task's model reads in the page; return whether it has read it.

    Args:
        schema: of the whole data, without references.
        filled: what was found under the exact names.
        content: the text of the page.
    """
    model = task_model.get()
    rest = _missing(schema, filled)
    if model is None or rest is None:
        return False
    given = _Page(content).grounded(await model(rest, content))
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


def _missing(schema: Schema, filled: Filled) -> Schema | None:
    """A schema of what is missing: the list, or properties of the object."""
    schema = plain_schema(schema)
    if schema.get("type") == "array":
        return schema if filled.data == [] else None
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    missed = {name: part for name, part in properties.items() if name not in filled.data}
    return {"type": "object", "properties": missed} if missed else None


class _Page:
    """The text of a page, to check a model's data against."""

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._numbers = frozenset(numbers_in(text))

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
