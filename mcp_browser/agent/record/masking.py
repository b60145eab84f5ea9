"""Takes passwords that a model has typed by itself out of what was kept before they were known as such."""

from mcp_browser.agent.record.history import AgentHistory, StepRecord
from mcp_browser.agent.secrets.store import Secrets
from mcp_browser.agent.task import Task


class TypedMask:
    """Keeps the history of one run free of them."""

    def __init__(self, history: AgentHistory, secrets: Secrets) -> None:
        self._history = history
        self._secrets = secrets
        self._masked = 0  # How many typed passwords the history is known to be free of

    def apply(self) -> None:
        """Mask those that have come since this was done last; the task's own words may hold one, too."""
        if self._secrets.typed == self._masked:
            return
        self._masked = self._secrets.typed
        history, hide = self._history, self._secrets.hide_in
        history.task = Task.model_validate(hide(history.task.model_dump()))
        history.steps = [StepRecord.model_validate(hide(step.model_dump())) for step in history.steps]
