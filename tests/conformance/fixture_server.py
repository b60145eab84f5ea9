"""The product's own app with tools and resources for the conformance suite, save what is the SDK's alone.

`python -m tests.conformance.fixture_server` listens on a free port of the loopback and prints its address.
"""

import asyncio
import functools
import json
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from mcp_browser.server.http.middleware.stack import middleware_stack
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


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)])


async def simple_text(_call: Call, _params: Nothing) -> Answer:
    """Answer a text."""
    return text("This is a simple text response for testing.")


async def logging_tool(call: Call, _params: Nothing) -> Answer:
    """Log three messages."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.request.session.send_log_message(  # pyright: ignore[reportDeprecated] - what is asked for
            "info", said, related_request_id=call.request.request_id
        )
        await asyncio.sleep(0.05)
    return text("Logged.")


async def error_handling(_call: Call, _params: Nothing) -> Answer:
    """Fail."""
    raise NotActionable("This tool intentionally returns an error for testing")


async def tool_with_progress(call: Call, _params: Nothing) -> Answer:
    """Tell its progress."""
    for done in (0, 50, 100):
        await call.request.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return text("Done.")


async def reconnection(call: Call, _params: Nothing) -> Answer:
    """Close the stream in the middle of the call."""
    if call.request.close_sse_stream is not None:
        await call.request.close_sse_stream()
    await asyncio.sleep(0.1)
    return text("Reconnection test completed.")


async def custom_headers(_call: Call, params: Headers) -> Answer:
    """Take arguments that travel as headers."""
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
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=most)
    )


def answered(responses: Mapping[str, Any] | None, key: str) -> dict[str, Any] | None:
    found: Any = (responses or {}).get(key)
    if found is None or isinstance(found, dict):
        return cast("dict[str, Any] | None", found)
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


def ask(requests: dict[str, Any], state: str | None = None) -> NeedInput:
    return NeedInput(types.InputRequiredResult(input_requests=requests, request_state=state))


NAME = {"user_name": form("What is your name?", name="string")}


def name_given(call: Call) -> str:
    """The name that the client was asked for; raises NeedInput."""
    said = answered(call.params.input_responses, "user_name")
    name = cast("dict[str, Any]", (said or {}).get("content") or {}).get("name")
    if not isinstance(name, str):
        raise ask(dict(NAME))
    return name


async def input_required_result_elicitation(call: Call, _params: Nothing) -> Answer:
    """Ask for a name."""
    return text(f"Hello, {name_given(call)}!")


async def input_required_result_sampling(call: Call, _params: Nothing) -> Answer:
    """Ask the client's model."""
    said = answered(call.params.input_responses, "capital_question")
    if said is None:
        raise ask({"capital_question": sample("What is the capital of France?", 100)})
    return text(json.dumps(said.get("content")))


async def input_required_result_list_roots(call: Call, _params: Nothing) -> Answer:
    """Ask for roots."""
    said = answered(call.params.input_responses, "client_roots")
    if said is None:
        raise ask({"client_roots": types.ListRootsRequest()})
    return text(json.dumps(said.get("roots")))


async def input_required_result_request_state(call: Call, _params: Nothing) -> Answer:
    """Keep a state between rounds."""
    if call.params.request_state == "waiting" and answered(call.params.input_responses, "confirm"):
        return text("state-ok")
    raise ask({"confirm": form("Please confirm", ok="boolean")}, "waiting")


async def input_required_result_tampered_state(call: Call, _params: Nothing) -> Answer:
    """Keep a state that nobody else can make."""
    if call.params.request_state == "sealed" and answered(call.params.input_responses, "confirm"):
        return text("state-ok")
    raise ask({"confirm": form("Please confirm", ok="boolean")}, "sealed")


async def input_required_result_multiple_inputs(call: Call, _params: Nothing) -> Answer:
    """Ask for three things at once."""
    wanted: dict[str, Any] = {
        **NAME,
        "greeting": sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if any(answered(call.params.input_responses, key) is None for key in wanted):
        raise ask(wanted, "three")
    return text("All three were given.")


async def input_required_result_multi_round(call: Call, _params: Nothing) -> Answer:
    """Ask twice."""
    state, given = call.params.request_state, call.params.input_responses
    if state == "round-2" and answered(given, "step2"):
        return text("Both rounds are done.")
    if state == "round-1" and answered(given, "step1"):
        raise ask({"step2": form("Step 2: What is your favorite color?", color="string")}, "round-2")
    raise ask({"step1": form("Step 1: What is your name?", name="string")}, "round-1")


async def input_required_result_capabilities(call: Call, _params: Nothing) -> Answer:
    """Ask only what the client can answer."""
    can = call.request.session.client_capabilities or types.ClientCapabilities()
    wanted: dict[str, Any] = {}
    if can.elicitation is not None:
        wanted |= NAME
    if can.sampling is not None:
        wanted["greeting"] = sample("Generate a greeting", 50)
    if can.roots is not None:
        wanted["client_roots"] = types.ListRootsRequest()
    if wanted and not call.params.input_responses:
        raise ask(wanted)
    return text("Nothing more can be asked.")


async def missing_capability(call: Call, _params: Nothing) -> Answer:
    """Need the client's model."""
    can = call.request.session.client_capabilities or types.ClientCapabilities()
    if can.sampling is None:
        wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs sampling.",
            data.model_dump(by_alias=True, exclude_none=True),
        )
    return text("The client can sample.")


async def streaming_elicitation(call: Call, _params: Nothing) -> Answer:
    """Ask, after some progress."""
    await call.request.session.report_progress(1, 2)
    if answered(call.params.input_responses, "user_name") is None:
        raise ask(dict(NAME))
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


class Name(BaseModel):
    name: str


class Effort(BaseModel):
    seconds: float = 0
    label: str = ""


class File(BaseModel):
    filename: str = ""


async def greet(_call: Call, params: Name) -> Answer:
    """Greet at once."""
    return text(f"Hello, {params.name}!")


@job
async def slow_compute(_job: Job, params: Effort) -> types.CallToolResult:
    """Take some time."""
    await asyncio.sleep(params.seconds)
    return text(f"Computed {params.label}.")


async def failing_job(call: Call, params: Nothing) -> Answer:
    """Fail as a tool does, to clients only that can be answered with a handle."""
    require_tasks(call.request)
    return await _fail_later(call, params)


@job
async def _fail_later(_job: Job, _params: Nothing) -> types.CallToolResult:
    await asyncio.sleep(1)
    raise NotActionable("The job has failed.")


@job
async def protocol_error_job(_job: Job, _params: Nothing) -> types.CallToolResult:
    """Fail as the protocol does."""
    await asyncio.sleep(0)
    raise MCPError(types.INTERNAL_ERROR, "The job has broken.")


@job
async def confirm_delete(job: Job, params: File) -> types.CallToolResult:
    """Ask once."""
    said = await job.ask(f"Delete {params.filename}?", confirm="boolean")
    return text("Deleted." if said else "Kept.")


@job
async def multi_input(job: Job, _params: Nothing) -> types.CallToolResult:
    """Ask two things at once."""
    await asyncio.gather(job.ask("Your name?", name="string"), job.ask("Your city?", name="string"))
    return text("Both are known.")


async def tool_with_task(call: Call, _params: Nothing) -> Answer:
    """Ask first, then take some time."""
    return await _done_for(call, name_given(call))


@job
async def _done_for(_job: Job, name: str) -> types.CallToolResult:
    await asyncio.sleep(0)
    return text(f"Done for {name}.")


JOB_HANDLERS = (greet, slow_compute, failing_job, protocol_error_job, confirm_delete, multi_input)
HANDLERS: Sequence[Handler] = (
    *(simple_text, error_handling, tool_with_progress, reconnection, custom_headers, logging_tool),
    *(input_required_result_elicitation, input_required_result_sampling, input_required_result_list_roots),
    *(input_required_result_request_state, input_required_result_tampered_state),
    *(input_required_result_multiple_inputs, input_required_result_multi_round),
    *(input_required_result_capabilities, missing_capability, streaming_elicitation, tool_with_task),
)


def fixture_tools() -> list[ServerTool[Any]]:
    """The suite's tools; the model of their parameters is the type of the handler's second one."""

    def tool(handler: Handler, prefix: str = "") -> ServerTool[Any]:
        _, model, *_ = get_type_hints(handler).values()
        named = cast("Any", handler)
        named.__name__ = f"{prefix}{named.__name__}"
        return ServerTool(handler, param_model=model, in_session=False)

    return [*(tool(handler, "test_") for handler in HANDLERS), *map(tool, JOB_HANDLERS)]


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

    templates = (
        types.ResourceTemplate(
            name="template", uri_template="test://template/{id}/data", description="A template."
        ),
    )

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


def refused(_reason: str) -> None:
    """Nobody counts."""


async def main() -> None:
    settings = Settings(server=ServerSettings(http=True, sse=True, port=0))
    manager = BrowserManager(settings, remote=True)
    sessions = RemoteSessions(manager, SettingsOf(settings))
    server = server_of(
        Controller(registry_of(settings), settings),
        sessions,
        (*session_tools(sessions), *fixture_tools()),
        resources=[FixtureResources()],
        find_call=find_job,
    )
    app = http_app(
        settings,
        server=server,
        sessions=sessions,
        manager=manager,
        middleware=middleware_stack(SettingsOf(settings), refused),
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
