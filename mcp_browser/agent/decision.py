"""What a model has decided at a step: its thoughts and the actions."""

from typing import Any

from pydantic import ConfigDict, Field

from mcp_browser.dom.models import Frozen


class AgentBrain(Frozen):
    """What the agent thinks at a step."""

    model_config = ConfigDict(extra="ignore")

    evaluation_previous_goal: str = Field(
        default="", description="did the last step reach its goal? say how you know"
    )
    memory: str = Field(default="", description="what to remember: done, found, still to do, with counts")
    next_goal: str = Field(default="", description="what this step is for")


class ActionCall(Frozen):
    """An action by name, and its arguments as they were given."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)

    def __str__(self) -> str:
        """As a person would write it: `click_element(index=4)`."""
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


class Decision(Frozen):
    """A step's output, whatever the style in which the model put it: its thoughts and the actions."""

    brain: AgentBrain = AgentBrain()
    calls: tuple[ActionCall, ...]
