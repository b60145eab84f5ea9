"""Whether a run has used up what it may use."""

from mcp_browser.agent.task import Budget
from mcp_browser.llm.messages import Usage


def over_budget(budget: Budget, step: int, usage: Usage, seconds: float) -> str | None:
    """Which limit has been reached by step `step`, from 1, as a sentence; None where none has."""
    if step >= budget.steps:
        return f"the limit of {budget.steps} steps is reached."
    if budget.seconds is not None and seconds >= budget.seconds:
        return f"the time limit of {budget.seconds:g} s is reached."
    if budget.tokens is not None and usage.tokens >= budget.tokens:
        return f"the limit of {budget.tokens:,} tokens is reached ({usage.tokens:,} used)."
    if budget.cost is not None and usage.requests:
        if usage.cost is None:
            return "the model's price is not known, so the cost limit cannot be kept; use a token limit."
        if usage.cost >= budget.cost:
            return f"the limit of ${budget.cost} is reached (${usage.cost:.4f} used)."
    return None
