"""Who is told of what a server does."""

from typing import Literal, Protocol

Outcome = Literal["ok", "error", "internal_error", "input_required", "cancelled"]
"""How a call ended: a result, an error that the caller can mend, one of ours, questions, or not at all."""


class CallObserver(Protocol):
    """Is told of each call of a tool that there is."""

    def called(self, tool: str, outcome: Outcome, seconds: float) -> None:
        """A call has ended.

        Args:
            tool: the tool's name; one of those offered, whatever a client has sent.
            outcome: how it ended.
            seconds: how long it took, waiting for its session included.
        """
        ...
