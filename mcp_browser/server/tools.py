"""Tools and their results: the actions of pages, and the server's own tools."""

import asyncio
import base64
import json
import logging
import secrets
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcp_browser import rendering
from mcp_browser.actions.registry import RegisteredAction, explain_arguments
from mcp_browser.actions.result import ActionResult
from mcp_browser.actions.schema import tool_schema
from mcp_browser.audit import CALLER, Caller, audit_log_of, name_of, redacted
from mcp_browser.browser.files.artifacts import ServerPaths
from mcp_browser.browser.session import BrowserSession
from mcp_browser.consent import Act, ConsentNeeded, Paused, refused, with_consent
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, InvalidArguments, NotFound
from mcp_browser.privacy.hiding import all_hidden
from mcp_browser.server import elicitation
from mcp_browser.server.calls import Answer, Call, CallOutcome, OnCall, ServerTool, SessionLease
from mcp_browser.server.limits import SHORT_TEXT, fit
from mcp_browser.server.sessions.sessions import Sessions
from mcp_browser.server.tasks import TaskHandle
from mcp_browser.settings import Settings
from mcp_browser.text import in_texts

logger = logging.getLogger(__name__)

SESSION = "session"  # The argument that names the browser session
SESSION_META = "mcp-browser/session"  # Where a result's `_meta` has a new session's handle
MOST_PAUSED = 100  # How many lists of actions may wait for an answer
PROGRESS_SECONDS = 5.0  # How often a call that takes long reports progress
_INTERNAL = "Internal error in"
_NO_PAGE = (
    "No page has been opened in this browser session: a client that connects anew for each call, or names no "
    "`session`, gets an empty one each time."
)
_SESSION_SCHEMA = {
    "type": "string",
    "description": "Session handle that a result told.",
    "x-mcp-header": "Session",
}


class Tools:
    """All tools of a server: lists and calls them."""

    def __init__(
        self,
        controller: Controller,
        sessions: Sessions,
        own: Iterable[ServerTool[Any]] = (),
        *,
        on_call: OnCall | None = None,
    ) -> None:
        """Offer the controller's actions, then the server's tools. Raises ValueError: names clash."""
        self._controller = controller
        self._sessions = sessions
        self._on_call = on_call
        # Lists of actions that wait for an answer, and where
        self._paused: dict[str, tuple[Paused, SessionLease]] = {}
        self._audit = audit_log_of(controller.settings)
        self._own = {tool.name: tool for tool in own}
        self.names = frozenset((*self._own, *(action.name for action in controller.registry)))
        self._paths = ServerPaths(controller.settings) if sessions.is_remote else None
        if taken := [name for name in self._own if name in controller.registry]:
            raise ValueError(f"two tools are named {taken[0]}")
        if sessions.has_handles:
            # Fail at the start where an action has a `session` argument of its own.
            _ = self._all

    @cached_property
    def listed(self) -> list[types.Tool]:
        """The tools as clients see them that show no MCP Apps."""
        apps_only = {name for name, tool in self._own.items() if tool.apps_only}
        plain = (tool for tool in self._all if tool.name not in apps_only)
        return [tool.model_copy(update={"meta": None}) if tool.meta is not None else tool for tool in plain]

    def listed_for(self, request: elicitation.Context) -> list[types.Tool]:
        """The tools as this client sees them: one that shows MCP Apps also sees which have an app."""
        return self._all if self.has_apps and elicitation.shows_apps(request) else self.listed

    @property
    def has_apps(self) -> bool:
        return any(tool.ui is not None for tool in self._own.values())

    @cached_property
    def _all(self) -> list[types.Tool]:
        """Made at first use: their schemas take long."""
        tools = map(listed_tool, (*self._controller.registry, *self._own.values()))
        return [self._with_handle(tool) for tool in tools] if self._sessions.has_handles else [*tools]

    def schema_of(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments; None where there is no such tool."""
        return next((tool.input_schema for tool in self._all if tool.name == name), None)

    async def call(self, call: Call) -> Answer:
        """Carry out a call: look the tool up, lease a session, let it work, render the result.

        An error that the caller can act upon is an error result that says what to do; any other error a
        result without details, with the traceback in the log. Raises MCPError -32602: there is no such tool.
        """
        name = call.params.name
        own = self._own.get(name)
        if name not in self.names:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")
        if (self._on_call is None and self._audit is None) or (own is not None and own.for_page):
            return await self._answer(call, own)
        started = time.monotonic()
        outcome: CallOutcome = "cancelled"
        caller = Caller(call.principal.name, elicitation.client_of(call.request), name)
        if self._audit is not None:
            CALLER.set(caller)
        try:
            answer = await self._answer(call, own)
            outcome = _outcome(answer)
            return answer
        finally:
            seconds = time.monotonic() - started
            if self._on_call is not None:
                self._on_call(name, outcome, seconds)
            if self._audit is not None:
                model = (own or self._controller.registry[name]).param_model
                arguments = {key: value for key, value in call.arguments.items() if key != SESSION}
                self._audit.write(
                    "call",
                    session=caller.session,
                    arguments=redacted(arguments, model, all_hidden()),
                    outcome=outcome,
                    consent=caller.consent,
                    seconds=round(seconds, 3),
                )

    async def _answer(self, call: Call, own: ServerTool[Any] | None) -> Answer:
        """The answer of the tool; a failure as a result. Errors of the protocol go through."""
        try:
            answer = await self._in_lease(call, own)
        except elicitation.NeedInput as need:
            return need.result
        except ActionError as error:
            # The session was closed during the call, which the end of its lease reports.
            call.failures.append(error)
            answer = failed(rendering.render_error(error))
        if self._paths is not None and isinstance(answer, types.CallToolResult) and answer.is_error:
            return _without_paths(self._paths, answer, call)
        return answer

    async def _in_lease(self, call: Call, own: ServerTool[Any] | None) -> Answer:
        """The answer of the tool, in the session that the call leases if it needs one.

        Raises NeedInput and MCPError of the tool, and ActionError: the session was closed during the call.
        """
        lease: SessionLease | None = None
        answer: Answer
        async with AsyncExitStack() as stack:
            try:
                if self._sessions.has_handles and (own is None or own.has_handle):
                    call = _without_handle(call)
                if own is None or own.in_session:
                    begun = self._begun(call) if own is None else None
                    handle = begun.handle if begun is not None else call.handle
                    source = self._sessions.lease(call.request, call.principal, handle)
                    lease = await stack.enter_async_context(source)
                    if begun is not None:
                        lease = replace(lease, is_new=begun.is_new, notes=begun.notes)
                    call = replace(call, lease=lease)
                    if (caller := CALLER.get()) is not None:
                        caller.session = name_of(lease.session)
                answer = await (self._act(call) if own is None else _own_answer(own, call))
            except (elicitation.NeedInput, MCPError):
                raise
            except ActionError as error:
                call.failures.append(error)
                secrets = rendering.NO_SECRETS if lease is None else lease.session.hidden
                answer = failed(rendering.render_error(error, secrets=secrets))
            except Exception:
                what = f"{_INTERNAL} {call.params.name}"
                logger.exception("%s", what)
                answer = failed(f"{what}. The browser session goes on; the server's log has the details.")
            if isinstance(answer, types.CallToolResult):
                if lease is not None and self._sessions.is_remote and _is_untouched(lease.session):
                    lease = replace(lease, notes=(*lease.notes, _NO_PAGE))
                # Within the lease, since a failure names the session, too.
                if lease is not None and (lease.notes or lease.is_new):
                    answer = _with_notes(lease, answer)
                if own is not None or not _is_short(answer):
                    answer = await fit(answer, None if lease is None else lease.session.artifacts)
        return answer

    def _with_handle(self, tool: types.Tool) -> types.Tool:
        own = self._own.get(tool.name)
        if own is not None and not own.has_handle:
            return tool
        if SESSION in tool.input_schema["properties"]:
            raise ValueError(f"{tool.name} has an argument {SESSION!r}, which names the browser session here")
        properties = {**tool.input_schema["properties"], SESSION: _SESSION_SCHEMA}
        return tool.model_copy(update={"input_schema": {**tool.input_schema, "properties": properties}})

    async def _act(self, call: Call) -> types.CallToolResult:
        """Carry out an action; ask the caller's person where the policy wants that."""
        assert call.lease is not None
        session = call.lease.session
        execute = partial(
            self._controller.execute, call.params.name, call.arguments, session, prepare=call.prepare
        )
        with progress(call, session):
            asks = self._controller.rules.policy is not None
            result = await (self._with_consent(call, execute) if asks else execute())
        return call_result(result, settings=self._controller.rules.settings, secrets=session.hidden)

    async def _with_consent(self, call: Call, act: Act) -> ActionResult:
        if not elicitation.is_modern(call.request):

            async def ask(question: str) -> bool | None:
                return _noted(await elicitation.ask_for_consent(call.request, question))

            return await with_consent(act, ask)
        if not elicitation.takes_forms(call.request):
            return await act()
        granted, paused = self._answered(call)
        try:
            return await act(granted=granted, paused=paused)
        except ConsentNeeded as need:
            name = secrets.token_urlsafe() if need.paused is not None else ""
            if need.paused is not None and call.lease is not None:
                self._paused[name] = need.paused, call.lease
                while len(self._paused) > MOST_PAUSED:
                    del self._paused[next(iter(self._paused))]
            state = json.dumps([name, *granted, *need.keys])
            asked: dict[str, Any] = {elicitation.CONSENT: elicitation.consent_form(need.question)}
            required = types.InputRequiredResult(input_requests=asked, request_state=state)
            raise elicitation.NeedInput(required, has_begun=need.paused is not None) from None

    def _begun(self, call: Call) -> SessionLease | None:
        """The lease of the paused list that a call resumes."""
        state = call.params.request_state
        return self._paused[name][1] if state and (name := json.loads(state)[0]) in self._paused else None

    def _answered(self, call: Call) -> tuple[list[str], Paused | None]:
        """The actions that a person has allowed, of a call that comes back, and the list to continue, once.

        The state is sealed. Raises Refused: nothing is allowed or done; NotFound: it was continued already.
        """
        if call.params.request_state is None:
            return [], None
        name, *granted = json.loads(call.params.request_state)
        paused, _ = self._paused.pop(name, (None, None))
        if name and paused is None:
            raise NotFound("This list of actions has gone on already.", hint="Look with get_state.")
        if not _noted(elicitation.is_yes((call.params.input_responses or {}).get(elicitation.CONSENT))):
            if paused is None:
                raise refused()
            paused.refused = True
        return granted, paused


async def _own_answer(own: ServerTool[Any], call: Call) -> Answer:
    """What one of the server's own tools answers."""
    try:
        params = own.param_model.model_validate(dict(call.arguments))
    except ValidationError as error:
        raise InvalidArguments(explain_arguments(own.name, own.param_model, error)) from error
    return await own.handler(call, params)


def _is_untouched(session: BrowserSession) -> bool:
    """Whether it has been read only, with no page in it."""
    tab = session.tab_in_use
    return session.services.acted_at == 0 and tab is not None and tab.url == "about:blank"


def _is_short(answer: types.CallToolResult) -> bool:
    """Whether it is one short text, which rendering has cleaned already."""
    match answer.content:
        case [types.TextContent(text=text)]:
            return answer.structured_content is None and len(text) <= SHORT_TEXT
        case _:
            return False


def _noted(answer: bool | None) -> bool | None:
    """A person's answer, noted for the audit log."""
    if (caller := CALLER.get()) is not None:
        caller.consent = {True: "yes", False: "no", None: "nobody to ask"}[answer]
    return answer


@contextmanager
def progress(call: Call, session: BrowserSession) -> Generator[None]:
    """Report progress every few seconds, if the client wants it; at once where a person has the browser."""
    takeover = session.takeover
    started = time.monotonic()
    reporting: list[asyncio.Task[None]] = []

    async def report() -> None:
        while True:
            seconds = time.monotonic() - started
            waits = f" ({takeover.active})" if takeover.active is not None else ""
            doing = f"{doing}, " if (doing := call.session.doing) else ""
            message = f"{call.params.name}: {doing}{seconds:.0f} s{waits}"
            await call.request.session.report_progress(round(seconds, 3), message=message)
            await takeover.changed.wait(PROGRESS_SECONDS)

    timer = asyncio.get_running_loop().call_later(
        0 if takeover.busy else PROGRESS_SECONDS, lambda: reporting.append(asyncio.create_task(report()))
    )
    try:
        yield
    finally:
        timer.cancel()
        for task in reporting:
            task.cancel()


def _without_paths(paths: ServerPaths, answer: types.CallToolResult, call: Call) -> types.CallToolResult:
    """An error for a client on another machine, which must not learn where the server has its files."""
    hide = partial(paths.hide, known=repr(call.params.arguments))
    content: list[types.ContentBlock] = [
        part.model_copy(update={"text": hide(part.text)}) if isinstance(part, types.TextContent) else part
        for part in answer.content
    ]
    data = in_texts(answer.structured_content, hide)
    return answer.model_copy(update={"content": content, "structured_content": data})


def _outcome(answer: Answer) -> CallOutcome:
    if isinstance(answer, types.InputRequiredResult):
        return "input_required"
    if isinstance(answer, TaskHandle) or not answer.is_error:
        return "ok"
    texts = [part.text for part in answer.content if isinstance(part, types.TextContent)]
    return "internal_error" if any(text.startswith(_INTERNAL) for text in texts) else "error"


def call_result(
    result: ActionResult, *, settings: Settings, secrets: Mapping[str, str]
) -> types.CallToolResult:
    """The result of an action as the result of a call."""
    text, *attachments = rendering.render_result(result, settings=settings, secrets=secrets)
    content: list[types.ContentBlock] = [types.TextContent(text=text)]
    for one in attachments:
        if one.kind == "image" and one.data is not None:
            data = base64.b64encode(one.data).decode()
            content.append(types.ImageContent(data=data, mime_type=one.mime_type))
    content += [
        types.ResourceLink(name=one.name, uri=one.uri, mime_type=one.mime_type, size=one.size)
        for one in attachments
        if one.uri is not None
    ]
    return types.CallToolResult(
        content=content,
        structured_content=rendering.structured(result, settings=settings, secrets=secrets),
        is_error=result.error is not None,
    )


def failed(text: str) -> types.CallToolResult:
    """The result of a call that has failed."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def listed_tool(tool: RegisteredAction | ServerTool[Any]) -> types.Tool:
    """An action, or a tool of the server's own, as clients see it."""
    description = tool.description
    meta: dict[str, Any] | None = None
    if isinstance(tool, RegisteredAction):
        reads = tool.effect == "read"
        if tool.is_bound_to_pages:
            # One list of tools serves for each page.
            pages = ", ".join(tool.domains) or "those that pass its filter"
            description += f" Refused on other pages than {pages}."
    else:
        reads = tool.read_only
        if tool.ui is not None:
            # Clients from before 2026 know the page's address by the second name.
            address = {"ui/resourceUri": tool.ui["resourceUri"]} if "resourceUri" in tool.ui else {}
            meta = {"ui": dict(tool.ui), **address}
    annotations = types.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else tool.destructive,
        open_world_hint=tool.open_world,
    )
    schema = tool_schema(tool.param_model)
    return types.Tool(
        name=tool.name, description=description, input_schema=schema, annotations=annotations, _meta=meta
    )


def _without_handle(call: Call) -> Call:
    handle = call.arguments.get(SESSION)
    if handle is not None and not isinstance(handle, str):
        raise InvalidArguments(f"{SESSION} must be a text: the handle that a result told.")
    rest = {name: value for name, value in call.arguments.items() if name != SESSION}
    return replace(call, arguments=rest, handle=handle or None)


def _with_notes(lease: SessionLease, result: types.CallToolResult) -> types.CallToolResult:
    content = [types.TextContent(text="\n".join(lease.notes)), *result.content]
    update: dict[str, Any] = {"content": content}
    session = {SESSION: lease.handle} if lease.is_new else {}
    if result.structured_content is not None:
        update["structured_content"] = {**result.structured_content, "notes": list(lease.notes), **session}
    if lease.is_new:
        update["meta"] = {**(result.meta or {}), SESSION_META: lease.handle}
    return result.model_copy(update=update)
