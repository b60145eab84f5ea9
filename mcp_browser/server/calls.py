"""One `tools/call`, the browser session that it works in, and how a tool of the server's own is declared."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, Literal, TypeVar

import mcp_types as types
from pydantic import BaseModel

from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError
from mcp_browser.pipeline import Prepare
from mcp_browser.server.elicitation import Context
from mcp_browser.server.principals import Principal
from mcp_browser.server.tasks import TaskHandle

Answer = types.CallToolResult | types.InputRequiredResult | TaskHandle
"""The answer to a call: a result, questions to the caller, who then calls again, or a handle."""

ParamsT = TypeVar("ParamsT", bound=BaseModel)
Handler = Callable[["Call", ParamsT], Awaitable[Answer]]

CallOutcome = Literal["ok", "error", "internal_error", "input_required", "cancelled"]
"""How a call ended: a result, an error that the caller can mend, one of ours, questions, or not at all."""

OnCall = Callable[[str, CallOutcome, float], None]
"""Called with a tool's name after each call of it, and the seconds that it took, waiting included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLease:
    """A browser session, lent to one call; where it `is_new`, the result has to name its handle.

    `notes` are sentences for the result, also of a call that fails. An `ephemeral` session serves one task
    only: no other call reaches it.
    """

    session: BrowserSession
    handle: str | None = None
    is_new: bool = False
    notes: tuple[str, ...] = ()
    ephemeral: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One `tools/call`: the SDK's context, what the client has sent, and who calls.

    `arguments` are those of the tool, without the session's `handle`, which is there for tools that lease a
    session themselves. `lease` is None for a tool that works in no session. `prepare` fills in an action's
    arguments; `failures` has the errors of the call, for a caller within this process.
    """

    request: Context
    params: types.CallToolRequestParams
    arguments: Mapping[str, Any]
    principal: Principal
    handle: str | None = None
    lease: SessionLease | None = None
    prepare: Prepare | None = None
    failures: list[ActionError] = field(default_factory=list[ActionError])

    @property
    def session(self) -> BrowserSession:
        assert self.lease is not None, f"{self.params.name} is declared to work in no session"
        return self.lease.session


@dataclass(frozen=True, slots=True)
class ServerTool(Generic[ParamsT]):
    """A tool that is not an action of a page, such as one that opens a session.

    Its name is the handler's, whose docstring is the description for the model. Errors of the handler are
    answered as those of an action; it may raise `NeedInput` to ask the client. With `in_session` there is
    `Call.session`; with `takes_session` the handler leases one by `Call.handle`. `ui` describes the tool to
    clients that show MCP Apps (`_meta.ui`); `apps_only` hides it from other clients.
    """

    handler: Handler[ParamsT]
    _: KW_ONLY
    param_model: type[ParamsT]
    in_session: bool = True
    takes_session: bool = False
    read_only: bool = False
    destructive: bool = False
    open_world: bool = True
    ui: Mapping[str, Any] | None = None
    apps_only: bool = False

    @property
    def name(self) -> str:
        return getattr(self.handler, "__name__", "")

    @property
    def description(self) -> str:
        return " ".join((inspect.getdoc(self.handler) or "").partition("\n\n")[0].split())

    @property
    def has_handle(self) -> bool:
        """Whether its calls may name a browser session."""
        return self.in_session or self.takes_session

    @property
    def for_page(self) -> bool:
        """Whether a page calls it, not a model."""
        return self.ui is not None and self.ui.get("visibility") == ["app"]
