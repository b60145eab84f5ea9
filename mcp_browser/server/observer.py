"""What is reported of each call, for metrics."""

from typing import Literal, Protocol

Outcome = Literal["ok", "error", "internal_error", "input_required", "cancelled"]
"""How a call ended: a result, an error that the caller can mend, one of ours, questions, or not at all."""


class CallObserver(Protocol):
    """Takes a report of each call of a known tool."""

    def called(self, tool: str, outcome: Outcome, seconds: float) -> None:
        """A call of an offered tool has ended; `seconds` count waiting for its session, too."""
