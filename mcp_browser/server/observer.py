"""What is reported of each call, for metrics."""

from typing import Literal, Protocol

Outcome = Literal["ok", "error", "internal_error", "input_required", "cancelled"]
"""How a call ended: a result, an error that the caller can mend, one of ours, questions, or not at all."""


class CallObserver(Protocol):
    """Takes a report of each call of a known tool."""

    def called(self, tool: str, outcome: Outcome, seconds: float) -> None:
        """A call has ended.

        Args:
            tool: the tool's name; one of those offered, whatever a client has sent.
            outcome: how it ended.
            seconds: how long it took, waiting for its session included.
        """
