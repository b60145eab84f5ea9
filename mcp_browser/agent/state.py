"""What a run needs to go on after its process has ended, beside its history."""

from pydantic import BaseModel, Field

from mcp_browser.agent.loops import LoopDetector
from mcp_browser.agent.prompting.message_manager import MessageManagerState
from mcp_browser.llm.messages import Usage


class AgentState(BaseModel):
    """How far a run has come, and what its model knows."""

    messages: MessageManagerState = Field(default_factory=MessageManagerState)
    loops: LoopDetector = Field(default_factory=LoopDetector)
    step: int = 0
    failures: int = 0
    rejections: int = 0
    seconds: float = 0
    usage: Usage = Usage()
    changes: str = ""
    started: bool = False
    start_problem: str | None = None  # Why the task's first page could not be opened
    told: list[str] = Field(default_factory=list[str])  # What people have said since the run began
    pictured: bool = False  # Whether the model has had pictures
    instructions: list[str] = Field(default_factory=list[str])  # Not yet given to the model
