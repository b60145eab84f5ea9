"""The arguments of run_task and of the tools that steer a run."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from mcp_browser.actions.registry import ActionParams


class RunTaskParams(ActionParams):
    task: str = Field(min_length=1, repr=False, description="what to do and report")
    task_id: str | None = Field(None, description="continue this task with `task`")
    start_url: str | None = Field(None, description="opened first")
    context: str | None = Field(None, repr=False, description="background")
    max_steps: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, gt=0, description="of work")
    max_tokens: int | None = Field(None, gt=0, description="in and out")
    max_cost: float | None = Field(None, gt=0, description="USD")
    vision: bool | None = Field(None, description="send pictures")
    style: Literal["structured", "gui"] = Field("structured", description="gui: by pictures")
    model: str | None = Field(None, description="provider:name")
    allowed_domains: list[str] = Field([], description="host globs")
    allowed_actions: list[str] = Field([], description="default: all")
    secrets: list[str] = Field([], description="names it may use")
    output_schema: dict[str, Any] | None = Field(None, description="JSON schema")
    planner_interval: int = Field(0, ge=0, description="steps between plans")
    judge: bool | None = Field(None, description="false: unconfirmed")
    wait: bool = Field(True, description="false: only start")
    if_busy: Literal["wait", "refuse", "own_tabs"] = Field("wait", description="where another task runs")
    example: str | None = Field(None, repr=False, description="recording: path or URI")


class TaskParams(ActionParams):
    """Arguments of tools about one task."""

    task_id: str = Field(description="from run_task")


class GetTaskParams(TaskParams):
    wait_seconds: float = Field(0, ge=0, le=600, description="for its end, at most")


class InstructParams(TaskParams):
    """Arguments of add_instructions."""

    text: str = Field(min_length=1, repr=False, description="what to change, or the answer to its question")


class ReplayTaskParams(ActionParams):
    task_id: str | None = Field(None, description="which to do again")
    history: str | None = Field(
        None, repr=False, description="or its history.json: path, browser:// or data: URI"
    )
    variables: dict[str, str] = Field({}, description="new values by field or old value")
    secrets: list[str] = Field([], description="names of those it types")
    element_seconds: float = Field(10, ge=0, le=120, description="for an element to appear")
    wait: bool = Field(True, description="false: only start it")

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.task_id is None) == (self.history is None):
            raise ValueError("give either task_id or history")
        return self
