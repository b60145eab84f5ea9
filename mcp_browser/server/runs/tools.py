"""The tools of the agent and the files of its tasks, as they are listed; it is imported at the first call."""

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import unquote

import mcp_types as types
from pydantic import BaseModel, Field, model_validator

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.browser.concurrency import added
from mcp_browser.errors import NotFound
from mcp_browser.server.calls import Answer, Call, Handler, ServerTool
from mcp_browser.server.elicitation import APP_URI, Context, OpenForm, ViewLink
from mcp_browser.server.principals import ANONYMOUS, Principal, principal_of_request
from mcp_browser.server.resources import Changed, Contents, ResourceProvider, contents_of, resource_of
from mcp_browser.server.runs.files import PRIVATE, URI, file_in, files_in, uri_of
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks import LongCall
from mcp_browser.server.tool_groups import RUN_TASK, agent_tools, view_tools
from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.server.runs.runs import Run


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


class TaskFiles(ResourceProvider):
    """Lists and reads the files of tasks, each only for the client that has started it.

    Only tasks of this server are listed; the same client can read those of earlier servers by their address.
    """

    templates = (
        types.ResourceTemplate(
            name="task",
            title="File of a task",
            uri_template="browser://tasks/{id}/{name}{?offset,length}",
            description="What run_task has left: history.json, report.html, a picture of each step.",
        ),
    )

    def __init__(self, sessions: Sessions) -> None:
        """There are none before `tools` has some."""
        self._sessions = sessions
        self.tools: list[RunTools] = []  # Whose tasks they are
        self._listeners: list[tuple[Context, Changed]] = []

    def listed(self, caller: Context) -> list[types.Resource]:
        """The files of the caller's tasks, oldest first."""
        return [
            resource_of(file)
            for tools in self.tools
            for run in tools.runs
            if self._is_listed(caller, run)
            # Somebody may have deleted its folder.
            if (folder := self._folder_of(run.id, run.principal)) is not None
            for file in files_in(folder)
        ]

    async def read(self, caller: Context, uri: str) -> Contents | None:
        """A file, or the part of it that the address asks for; raises NotFound, MCPError."""
        if (match := URI.fullmatch(uri.partition("?")[0])) is None:
            return None
        folder = self._folder_of(match["task"], principal_of_request(caller))
        file = file_in(folder, unquote(match["name"])) if folder is not None else None
        if file is None:
            raise NotFound(f"There is no file at {uri[:300]}.")
        return await contents_of(file, uri)

    def _folder_of(self, task: str, principal: Principal) -> Path | None:
        for tools in self.tools:
            with contextlib.suppress(NotFound):
                return tools.folder_for(task, principal)
        return None

    def listen(self, caller: Context, changed: Changed) -> Callable[[], None]:
        """Report when a file of the caller's tasks is added or changed."""
        return added(self._listeners, (caller, changed))

    def written(self, run: "Run", name: str) -> None:
        """Notify the owner of a run that a file of it was written."""
        if name in PRIVATE:
            return
        is_new = name not in run.files
        run.files.add(name)
        for caller, changed in list(self._listeners):
            if principal_of_request(caller) == run.principal:
                changed(uri_of(run.id, name), is_new and self._is_listed(caller, run))

    def _is_listed(self, caller: Context, run: "Run") -> bool:
        if principal_of_request(caller) != run.principal:
            return False
        # Anonymous callers cannot be distinguished: each sees what its connection has done.
        return run.principal != ANONYMOUS or self._sessions.owns(caller, run.agent.session)


_TOOLS: dict[str, tuple[type[BaseModel], str]] = {
    "run_task": (RunTaskParams, "Let the built-in agent do a whole task in this browser, and report."),
    "get_task": (GetTaskParams, "Tell how a task stands, and its result once it has ended."),
    "pause_task": (TaskParams, "Hold a task before its next step."),
    "resume_task": (TaskParams, "Let a task go on: a paused one, or one that the end of a server broke off."),
    "stop_task": (TaskParams, "End a task with what it has reached."),
    "add_instructions": (InstructParams, "Tell a task something, or answer its question; it then goes on."),
    "replay_task": (ReplayTaskParams, "Do a recorded task again, without a model."),
}
"""The parameters and the description of each tool; the method of that name of `RunService` does its work."""

_IN_SESSION = frozenset({"run_task", "resume_task", "replay_task"})


@dataclass(eq=False)
class RunTools:
    """The tools of the built-in agent, for callers with the same settings.

    Agents use the actions of `registry`; what they write is listed by `files`.
    """

    settings: Settings
    sessions: Sessions
    registry: Registry
    files: TaskFiles
    open_form: OpenForm | None = None
    view_link: ViewLink | None = None

    def __post_init__(self) -> None:
        self.files.tools.append(self)

    def tools(self, offered: Collection[str] | None = None) -> list[ServerTool[Any]]:
        """Those that the settings offer, or the ones `offered`; clients show a task's card as an MCP App."""
        names = agent_tools(self.settings) if offered is None else offered
        ui = {"resourceUri": APP_URI} if view_tools(self.settings) else None
        return [
            ServerTool(
                self._handler(name, text),
                param_model=model,
                in_session=False,
                takes_session=name in _IN_SESSION,
                read_only=name == "get_task",
                ui=ui if name == RUN_TASK else None,
            )
            for name, (model, text) in _TOOLS.items()
            if name in names
        ]

    def _handler(self, name: str, description: str) -> Handler[Any]:
        async def handler(call: Call, params: Any) -> Answer:
            work: Handler[Any] = getattr(self._service, name)
            return await work(call, params)

        handler.__name__, handler.__doc__ = name, description
        return handler

    async def find_call(self, identifier: str, principal: Principal) -> LongCall | None:
        """Return the long call of that identifier; None where this caller has none."""
        return await self._service.runs.find_call(identifier, principal)

    async def close(self) -> None:
        """End what still runs."""
        if self._is_used:
            await self._service.runs.close()

    @property
    def runs(self) -> "list[Run]":
        """The runs of this server."""
        return [*self._service.runs] if self._is_used else []

    def folder_for(self, task: str, principal: Principal) -> Path:
        """The folder of a caller's task; raises NotFound."""
        return self._service.saved.folder_for(task, principal)

    @property
    def _is_used(self) -> bool:
        return "_service" in self.__dict__

    @cached_property
    def _service(self) -> Any:
        """A `RunService`."""
        return import_module("mcp_browser.server.runs.service").RunService(
            self.settings, self.sessions, self.registry, self.files.written, self.open_form, self.view_link
        )
