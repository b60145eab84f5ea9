"""run_task and the tools that steer a run, as they are listed; the agent is imported at the first call."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcp_browser.actions.registry import Registry
from mcp_browser.server.agent.files import TaskFiles
from mcp_browser.server.agent.secret_forms import OpenForm
from mcp_browser.server.calls import Answer, Call, ServerTool, server_tool
from mcp_browser.server.handover import ViewLink, no_view
from mcp_browser.server.offer import agent_tools
from mcp_browser.server.principals import Principal
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks.long_calls import LongCall
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.server.agent.service import AgentRuns


class Params(BaseModel):
    """Base of the parameter models: unknown arguments are refused."""

    model_config = ConfigDict(extra="forbid")


class RunTaskParams(Params):
    task: str = Field(min_length=1, repr=False, description="what is to be done, and what to report")
    task_id: str | None = Field(None, description="go on with this task; `task` tells it more")
    start_url: str | None = Field(None, description="opened first")
    context: str | None = Field(None, repr=False, description="background")
    max_steps: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, gt=0, description="working time")
    max_tokens: int | None = Field(None, gt=0, description="in and out")
    max_cost: float | None = Field(None, gt=0, description="US dollars")
    vision: bool | None = Field(None, description="show the model pictures")
    style: Literal["structured", "gui"] = Field("structured", description="gui: by pictures and coordinates")
    model: str | None = Field(None, description="provider:name")
    allowed_domains: list[str] = Field([], description="globs of hosts")
    allowed_actions: list[str] = Field([], description="names; default: all")
    secrets: list[str] = Field([], description="names of those it may use")
    output_schema: dict[str, Any] | None = Field(None, description="JSON schema of the answer")
    planner_interval: int = Field(0, ge=0, description="steps from plan to plan")
    judge: bool | None = Field(None, description="false: check by rules only")
    wait: bool = Field(True, description="false: only start it; get_task tells more")
    if_busy: Literal["wait", "refuse", "own_tabs"] = Field(
        "wait", description="where another task works in the session"
    )


class TaskParams(Params):
    """Arguments of tools about one task."""

    task_id: str = Field(description="from run_task")


class GetTaskParams(TaskParams):
    wait_seconds: float = Field(0, ge=0, le=600, description="for its end, at most")


class InstructParams(TaskParams):
    """Arguments of add_instructions."""

    text: str = Field(min_length=1, repr=False, description="what to change, or the answer to its question")


class ReplayTaskParams(Params):
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


class AgentTools:
    """The tools of the agent, for one server."""

    def __init__(  # noqa: PLR0913 - the parts of a server, most of them by keyword
        self,
        settings: Settings,
        sessions: Sessions,
        registry: Registry,
        *,
        open_form: OpenForm | None = None,
        view_link: ViewLink = no_view,
        choose: Callable[[Principal], tuple[Settings, Registry]] | None = None,
    ) -> None:
        """`choose` gives the settings and actions of a principal, where not all have the same."""
        self._open_form = open_form
        self._view_link = view_link
        self._sessions = sessions
        self._everybodys = settings, registry
        self._choose = choose
        self._agents: dict[int, AgentRuns] = {}
        self.files = TaskFiles(
            sessions,
            runs=lambda: [run for agent in self._agents.values() for run in agent.runs],
            folder_of=self._folder_of,
        )

    def tools(self, settings: Settings | None = None) -> Sequence[ServerTool]:
        """Those that the settings offer; by default the server's."""
        offered = agent_tools(settings or self._everybodys[0])
        return tuple(tool for tool in self.all_tools() if tool.name in offered)

    def all_tools(self) -> Sequence[ServerTool]:
        """All there are."""
        return (
            server_tool(self.run_task, param_model=RunTaskParams, in_session=False, takes_session=True),
            server_tool(self.get_task, param_model=GetTaskParams, in_session=False, read_only=True),
            server_tool(self.pause_task, param_model=TaskParams, in_session=False),
            server_tool(self.resume_task, param_model=TaskParams, in_session=False, takes_session=True),
            server_tool(self.stop_task, param_model=TaskParams, in_session=False),
            server_tool(self.add_instructions, param_model=InstructParams, in_session=False),
            server_tool(self.replay_task, param_model=ReplayTaskParams, in_session=False, takes_session=True),
        )

    async def find(self, identifier: str, principal: Principal) -> LongCall | None:
        """The long call of that identifier; None where this caller has none."""
        return await self._agent(principal).calls.find(identifier, principal)

    async def run_task(self, call: Call, params: RunTaskParams) -> Answer:
        """Let the built-in agent do a whole task in this browser, and report."""
        return await self._agent(call.principal).run_task(call, params)

    async def get_task(self, call: Call, params: GetTaskParams) -> Answer:
        """Tell how a task stands, and its result once it has ended."""
        return await self._agent(call.principal).get_task(call, params)

    async def pause_task(self, call: Call, params: TaskParams) -> Answer:
        """Hold a task before its next step."""
        return await self._agent(call.principal).pause_task(call, params)

    async def resume_task(self, call: Call, params: TaskParams) -> Answer:
        """Let a task go on: a paused one, or one that the end of a server broke off."""
        return await self._agent(call.principal).resume_task(call, params)

    async def stop_task(self, call: Call, params: TaskParams) -> Answer:
        """End a task with what it has reached."""
        return await self._agent(call.principal).stop_task(call, params)

    async def add_instructions(self, call: Call, params: InstructParams) -> Answer:
        """Tell a task something, or answer its question; it then goes on."""
        return await self._agent(call.principal).add_instructions(call, params)

    async def replay_task(self, call: Call, params: ReplayTaskParams) -> Answer:
        """Do a recorded task again, without a model."""
        return await self._agent(call.principal).replay_task(call, params)

    async def close(self) -> None:
        """End what still runs."""
        for agent in self._agents.values():
            await agent.close()

    def _folder_of(self, task: str, caller: Principal) -> Path:
        # Asked late, since it imports the agent.
        return self._agent(caller).folder_for(task, caller)

    def _agent(self, principal: Principal) -> "AgentRuns":
        """What runs the tasks of a principal, and of all who have the same settings."""
        settings, registry = self._choose(principal) if self._choose is not None else self._everybodys
        agent = self._agents.get(id(settings))
        if agent is None:
            module = import_module("mcp_browser.server.agent.service")
            made: AgentRuns = module.AgentRuns(
                settings,
                self._sessions,
                registry,
                wrote=self.files.written,
                open_form=self._open_form,
                view_link=self._view_link,
            )
            # It keeps its settings, so that their identity stays theirs.
            agent = self._agents[id(settings)] = made
        return agent
