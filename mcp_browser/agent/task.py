"""A task, its limits and its outcome."""

from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field

from mcp_browser.dom.models import Frozen
from mcp_browser.llm.messages import Reply, Usage
from mcp_browser.text import counted

ModelT = TypeVar("ModelT", bound=BaseModel)
StyleName = Literal["structured", "gui"]


class Budget(Frozen):
    """What a run may use at most; None is no limit. `seconds` counts working time, not pauses."""

    steps: int = 100
    seconds: float | None = None
    tokens: int | None = None
    cost: Decimal | None = Field(default=None, description="US dollars")

    def reached(self, usage: Usage, *, seconds: float, step: int | None) -> str | None:
        """Return the limit that is reached, as a sentence, or None.

        Without a `step`, counted from 1, the number of steps and an unknown price are ignored: such a price
        ends the run after its step, not amid one.
        """
        if step is not None and step >= self.steps:
            return f"the limit of {counted(self.steps, 'step')} is reached."
        if self.seconds is not None and seconds >= self.seconds:
            return f"the time limit of {self.seconds:g} s is reached."
        if self.tokens is not None and usage.tokens >= self.tokens:
            return f"the limit of {self.tokens:,} tokens is reached ({usage.tokens:,} used)."
        if self.cost is not None and usage.requests:
            if usage.cost is None and step is not None:
                return "the model's price is not known, so the cost limit cannot be kept; use a token limit."
            if usage.cost is not None and usage.cost >= self.cost:
                return f"the limit of ${self.cost} is reached (${usage.cost:.4f} used)."
        return None


class Task(BaseModel, extra="forbid"):
    """What somebody wants done.

    `allowed_domains` are globs of hosts (`*.example.com`); empty means any. `allowed_actions` are names;
    empty means all. `secrets` are names of secrets that may be used. `output_schema` is a JSON schema that
    the answer's data must fit. `judge` says whether a model checks a claim of success, beside the rules; None
    leaves that to the settings and to what the model can.
    """

    text: str
    start_url: str | None = None
    context: str | None = None
    budget: Budget = Budget()
    vision: bool | None = None
    style: StyleName = "structured"
    allowed_domains: tuple[str, ...] = ()
    allowed_actions: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    output_schema: dict[str, Any] | None = None
    judge: bool | None = None
    planner_interval: int = 0


class TaskStatus(StrEnum):
    """How a run stands. All but the first four are ends.

    A run has SUCCEEDED only where its claim was confirmed; a claim that nothing bears out is UNCONFIRMED.
    """

    WORKING = "working"
    PAUSED = "paused"
    NEEDS_PERSON = "needs_person"
    INTERRUPTED = "interrupted"
    SUCCEEDED = "succeeded"
    UNCONFIRMED = "unconfirmed"
    FAILED = "failed"
    STUCK = "stuck"
    OUT_OF_BUDGET = "out_of_budget"
    STOPPED = "stopped"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        cls = type(self)
        return self not in (cls.WORKING, cls.PAUSED, cls.NEEDS_PERSON, cls.INTERRUPTED)


class TaskOutcome(Frozen):
    """What a run has come to.

    `answer` is what the agent reported, `data` the same by the output schema; `obstacle` is what stands in
    the way where it did not succeed. `evidence` is what happened beside the pages, and what speaks against
    the claim, one fact a line. `files` are paths or addresses of what was downloaded or written.
    """

    id: str
    status: TaskStatus
    answer: str | None = None
    data: Any = None
    obstacle: str | None = None
    evidence: tuple[str, ...] = ()
    steps: int = 0
    urls: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0

    def data_as(self, form: type[ModelT]) -> ModelT:
        """The data as an instance of a Pydantic model; raises pydantic.ValidationError."""
        return form.model_validate(self.data)

    @property
    def succeeded(self) -> bool:
        """Whether the agent reported success, and the report was confirmed."""
        return self.status is TaskStatus.SUCCEEDED


class AgentBrain(Frozen):
    """What the agent thinks at a step."""

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
    """A step's output, whatever the style of `reply`, the model's answer: its thoughts and the actions."""

    brain: AgentBrain = AgentBrain()
    calls: tuple[ActionCall, ...]
    reply: Reply
