"""What a run's models use, counted and held against the task's budget."""

from collections.abc import Callable, Sequence
from typing import Protocol

from mcp_browser.agent.task import Budget
from mcp_browser.llm.messages import Usage
from mcp_browser.text import counted


class _CountsUsage(Protocol):
    @property
    def usage(self) -> Usage: ...


class Spending:
    """Counts what the models of one run use. `usage` is the whole, also of what earlier processes used."""

    def __init__(
        self,
        budget: Budget,
        models: Sequence[_CountsUsage],
        *,
        usage: Usage,
        seconds: Callable[[], float],
    ) -> None:
        """`usage` was used before, and is not in the models' own count; `seconds` is the working time."""
        self.usage = usage
        self._budget = budget
        self._models = list({id(model): model for model in models}.values())
        self._seconds = seconds
        self._counted = self._used()

    def count(self) -> Usage:
        """What was used since this was asked last; the whole has it from now on."""
        used, self._counted = self._uncounted(), self._used()
        self.usage += used
        return used

    def reached(self, step: int) -> str | None:
        """Which limit has been reached by step `step`, from 1, as a sentence; None where none has."""
        budget = self._budget
        if step >= budget.steps:
            return f"the limit of {counted(budget.steps, 'step')} is reached."
        return self._reached(self.usage, cost_known=True)

    def reached_amid_step(self) -> str | None:
        """Which limit, other than that of steps, forbids to ask a model any more."""
        # A price that is not known ends the run with its step, not in the middle of one.
        return self._reached(self.usage + self._uncounted(), cost_known=False)

    def _reached(self, usage: Usage, *, cost_known: bool) -> str | None:
        budget, seconds = self._budget, self._seconds()
        if budget.seconds is not None and seconds >= budget.seconds:
            return f"the time limit of {budget.seconds:g} s is reached."
        if budget.tokens is not None and usage.tokens >= budget.tokens:
            return f"the limit of {budget.tokens:,} tokens is reached ({usage.tokens:,} used)."
        if budget.cost is None or not usage.requests:
            return None
        if usage.cost is None:
            unknown = "the model's price is not known, so the cost limit cannot be kept; use a token limit."
            return unknown if cost_known else None
        if usage.cost >= budget.cost:
            return f"the limit of ${budget.cost} is reached (${usage.cost:.4f} used)."
        return None

    def _uncounted(self) -> Usage:
        return self._used().since(self._counted)

    def _used(self) -> Usage:
        """What the models have used, in this process."""
        return sum((model.usage for model in self._models), Usage())
