"""The product's own app with tools and resources for the conformance suite, save what is the SDK's alone.

`python -m tests.conformance.fixture_server` listens on a free port of the loopback and prints its address.
"""

import asyncio
import functools
import json
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast, get_type_hints

import mcp_types as types
import uvicorn
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.errors import NotActionable
from mcp_browser.server.app import registry_of
from mcp_browser.server.calls import Answer, Call, ServerTool
from mcp_browser.server.elicitation import Context, NeedInput
from mcp_browser.server.http.middleware import middleware_stack
from mcp_browser.server.http.serving import http_app, listen
from mcp_browser.server.principals import Principal, SettingsOf
from mcp_browser.server.resources import Contents, ResourceProvider
from mcp_browser.server.sessions.remote import RemoteSessions
from mcp_browser.server.sessions.tools import session_tools
from mcp_browser.server.tasks import LongCall, require_tasks, takes_tasks
from mcp_browser.server.tools import failed
from mcp_browser.settings import ServerSettings, Settings
from tests.support.servers import server_of

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
Handler = Callable[[Call, Any], Awaitable[Answer]]


class Nothing(BaseModel):
    """No arguments."""


class Headers(BaseModel):
    """Arguments that travel as headers, too."""

    region: str = Field("", json_schema_extra={"x-mcp-header": "Region"})
    priority: int = Field(0, json_schema_extra={"x-mcp-header": "Priority"})
    verbose: bool = Field(default=False, json_schema_extra={"x-mcp-header": "Verbose"})


TOOLS: list[ServerTool[Any]] = []


def tool(handler: Handler, prefix: str = "") -> Handler:
    """Offer a handler as a tool of the suite's; its second argument has the type of the parameters."""
    _, model, *_ = get_type_hints(handler).values()
    handler.__name__ = handler.__doc__ = f"{prefix}{handler.__name__}"
    TOOLS.append(ServerTool(handler, param_model=model, in_session=False))
    return handler


tested = functools.partial(tool, prefix="test_")


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)])


@tested
async def simple_text(_call: Call, _params: Nothing) -> Answer:
    return text("This is a simple text response for testing.")


@tested
async def logging_tool(call: Call, _params: Nothing) -> Answer:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.request.session.send_log_message(  # pyright: ignore[reportDeprecated] - what is asked for
            "info", said, related_request_id=call.request.request_id
        )
        await asyncio.sleep(0.05)
    return text("Logged.")


@tested
async def error_handling(_call: Call, _params: Nothing) -> Answer:
    raise NotActionable("This tool intentionally returns an error for testing")


@tested
async def tool_with_progress(call: Call, _params: Nothing) -> Answer:
    for done in (0, 50, 100):
        await call.request.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return text("Done.")


@tested
async def reconnection(call: Call, _params: Nothing) -> Answer:
    if call.request.close_sse_stream is not None:
        await call.request.close_sse_stream()
    await asyncio.sleep(0.1)
    return text("Reconnection test completed.")


@tested
async def custom_headers(_call: Call, params: Headers) -> Answer:
    return text(params.model_dump_json())


def form(message: str, **properties: str) -> types.ElicitRequest:
    """A form with fields of these types."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(said: str, most: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=said))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=most)
    return types.CreateMessageRequest(params=params)


def answered(responses: Mapping[str, Any] | None, key: str) -> dict[str, Any] | None:
    found: Any = (responses or {}).get(key)
    if found is None or isinstance(found, dict):
        return cast("dict[str, Any] | None", found)
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


def ask(requests: Mapping[str, Any], state: str | None = None) -> NeedInput:
    return NeedInput(types.InputRequiredResult(input_requests=dict(requests), request_state=state))


NAME = {"user_name": form("What is your name?", name="string")}


def name_given(call: Call) -> str:
    """The name that the client was asked for; raises NeedInput."""
    said = answered(call.params.input_responses, "user_name")
    name = cast("dict[str, Any]", (said or {}).get("content") or {}).get("name")
    if not isinstance(name, str):
        raise ask(NAME)
    return name


@tested
async def input_required_result_elicitation(call: Call, _params: Nothing) -> Answer:
    return text(f"Hello, {name_given(call)}!")


def asks(name: str, key: str, request: Any, *, state: str | None = None, part: str = "") -> None:
    """A tool that asks for one thing: its result is a part of the answer, or that the `state` was kept."""

    async def handler(call: Call, _params: Nothing) -> Answer:
        said = answered(call.params.input_responses, key)
        if said is None or call.params.request_state != state:
            raise ask({key: request}, state)
        return text("state-ok" if state else json.dumps(said.get(part)))

    handler.__name__ = f"input_required_result_{name}"
    tested(handler)


asks("sampling", "capital_question", sample("What is the capital of France?", 100), part="content")
asks("list_roots", "client_roots", types.ListRootsRequest(), part="roots")
asks("request_state", "confirm", form("Please confirm", ok="boolean"), state="waiting")
asks("tampered_state", "confirm", form("Please confirm", ok="boolean"), state="sealed")


GREETING = {"greeting": sample("Generate a greeting", 50)}
ROOTS = {"client_roots": types.ListRootsRequest()}


@tested
async def input_required_result_multiple_inputs(call: Call, _params: Nothing) -> Answer:
    wanted = {**NAME, **GREETING, **ROOTS}
    if any(answered(call.params.input_responses, key) is None for key in wanted):
        raise ask(wanted, "three")
    return text("All three were given.")


@tested
async def input_required_result_multi_round(call: Call, _params: Nothing) -> Answer:
    state, given = call.params.request_state, call.params.input_responses
    if state == "round-2" and answered(given, "step2"):
        return text("Both rounds are done.")
    if state == "round-1" and answered(given, "step1"):
        raise ask({"step2": form("Step 2: What is your favorite color?", color="string")}, "round-2")
    raise ask({"step1": form("Step 1: What is your name?", name="string")}, "round-1")


@tested
async def input_required_result_capabilities(call: Call, _params: Nothing) -> Answer:
    can = call.request.session.client_capabilities or types.ClientCapabilities()
    wanted: dict[str, Any] = {}
    for capability, requests in ((can.elicitation, NAME), (can.sampling, GREETING), (can.roots, ROOTS)):
        wanted |= {} if capability is None else requests
    if wanted and not call.params.input_responses:
        raise ask(wanted)
    return text("Nothing more can be asked.")


@tested
async def missing_capability(call: Call, _params: Nothing) -> Answer:
    can = call.request.session.client_capabilities or types.ClientCapabilities()
    if can.sampling is None:
        wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        lacking = data.model_dump(by_alias=True, exclude_none=True)
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", lacking)
    return text("The client can sample.")


@tested
async def streaming_elicitation(call: Call, _params: Nothing) -> Answer:
    await call.request.session.report_progress(1, 2)
    if answered(call.params.input_responses, "user_name") is None:
        raise ask(NAME)
    return text("Asked.")


class Job(LongCall):
    """A long call of the suite's."""

    def __init__(self, work: Callable[["Job"], Awaitable[types.CallToolResult]]) -> None:
        """Begin some work; what a tool cannot do is a result."""
        super().__init__(secrets.token_urlsafe(16), self._outcome(work))
        self.result = self._work

    async def _outcome(
        self, work: Callable[["Job"], Awaitable[types.CallToolResult]]
    ) -> types.CallToolResult:
        try:
            return await work(self)
        except NotActionable as error:
            return failed(str(error))

    async def ask(self, message: str, **fields: str) -> bool:
        said = await self.mailbox.ask(form(message, **fields))
        return isinstance(said, types.ElicitResult) and said.action == "accept"


JOBS: dict[str, Job] = {}
"""The suite's long calls, each for whoever has its identifier."""


async def find_job(identifier: str, _principal: Principal) -> LongCall | None:
    return JOBS.get(identifier)


def job(work: Callable[[Job, Any], Awaitable[types.CallToolResult]]) -> Handler:
    """A tool that does some work: at once, or while the client asks for it."""

    @functools.wraps(work)
    async def handler(call: Call, params: Any) -> Answer:
        begun = Job(lambda job: work(job, params))
        if takes_tasks(call.request):
            JOBS[begun.id] = begun
            return begun.handle()
        return await begun.result

    return handler


class Given(BaseModel):
    """What any of the jobs takes."""

    name: str = ""
    seconds: float = 0
    label: str = ""
    filename: str = ""


@tool
async def greet(_call: Call, params: Given) -> Answer:
    return text(f"Hello, {params.name}!")


@tool
@job
async def slow_compute(_job: Job, params: Given) -> types.CallToolResult:
    await asyncio.sleep(params.seconds)
    return text(f"Computed {params.label}.")


@tool
async def failing_job(call: Call, params: Nothing) -> Answer:
    require_tasks(call.request)
    return await _fail_later(call, params)


@job
async def _fail_later(_job: Job, _params: Nothing) -> types.CallToolResult:
    await asyncio.sleep(1)
    raise NotActionable("The job has failed.")


@tool
@job
async def protocol_error_job(_job: Job, _params: Nothing) -> types.CallToolResult:
    await asyncio.sleep(0)
    raise MCPError(types.INTERNAL_ERROR, "The job has broken.")


@tool
@job
async def confirm_delete(job: Job, params: Given) -> types.CallToolResult:
    said = await job.ask(f"Delete {params.filename}?", confirm="boolean")
    return text("Deleted." if said else "Kept.")


@tool
@job
async def multi_input(job: Job, _params: Nothing) -> types.CallToolResult:
    await asyncio.gather(job.ask("Your name?", name="string"), job.ask("Your city?", name="string"))
    return text("Both are known.")


@tested
async def tool_with_task(call: Call, _params: Nothing) -> Answer:
    return await _done_for(call, name_given(call))


@job
async def _done_for(_job: Job, name: str) -> types.CallToolResult:
    await asyncio.sleep(0)
    return text(f"Done for {name}.")


STATIC = "This is the content of the static text resource."
FIXED: dict[str, Contents] = {
    one.uri: one
    for one in (
        types.TextResourceContents(uri="test://static-text", mime_type="text/plain", text=STATIC),
        types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
        types.TextResourceContents(uri="test://watched-resource", mime_type="text/plain", text="Watched."),
    )
}


class FixtureResources(ResourceProvider):
    """The suite's resources."""

    templates = (types.ResourceTemplate(name="template", uri_template="test://template/{id}/data"),)

    def listed(self, caller: Context) -> list[types.Resource]:
        return [
            types.Resource(uri=uri, name=uri.split("-")[-1], description="Fixed.", mime_type=one.mime_type)
            for uri, one in FIXED.items()
        ]

    async def read(self, caller: Context, uri: str) -> Contents | None:
        if uri.startswith("test://template/") and uri.endswith("/data"):
            number = uri.split("/")[3]
            data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
            return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
        return FIXED.get(uri)


async def main() -> None:
    settings = Settings(server=ServerSettings(http=True, sse=True, port=0))
    manager = BrowserManager(settings, remote=True)
    sessions = RemoteSessions(manager, SettingsOf(settings))
    server = server_of(
        Controller(registry_of(settings), settings),
        sessions,
        (*session_tools(sessions), *TOOLS),
        resources=[FixtureResources()],
        find_call=find_job,
    )
    app = http_app(
        settings,
        server=server,
        sessions=sessions,
        manager=manager,
        middleware=middleware_stack(SettingsOf(settings), lambda _reason: None),
    )
    listener = listen(settings.server)
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
    try:
        await uvicorn.Server(config).serve([listener])
    finally:
        await manager.close()


if __name__ == "__main__":
    asyncio.run(main())
