"""The model of a task, which may fill what the page does not name."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp_browser.actions.answer_schema import Schema

FillByModel = Callable[[Schema, str], Awaitable[Any]]
"""Gives data for a schema from the text of a page; None where the model gives none."""

task_model: ContextVar[FillByModel | None] = ContextVar("task_model", default=None)


@contextmanager
def filling_by(model: FillByModel) -> Generator[None]:
    """Within it, actions let this model fill what the page does not name."""
    before = task_model.set(model)
    try:
        yield
    finally:
        task_model.reset(before)
