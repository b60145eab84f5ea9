"""What aimock does not say: answers in the bytes that OpenAI, Anthropic, llama.cpp and gateways send."""

import base64
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.openrouter import OpenRouterProvider

from mcp_browser.errors import ContextTooLong, ModelError, ModelRateLimited, ModelTimedOut, ModelUnavailable
from mcp_browser.llm.messages import ImageBlock, OutputForm, Reply, user
from mcp_browser.llm.providers import ProviderModel, provider_model
from mcp_browser.settings import AgentSettings
from tests.support.site import Reply as Answer
from tests.support.site import Request, Site

pytestmark = pytest.mark.slow

CHAT, RESPONSES, ANTHROPIC = "openai-chat:gpt-4.1-mini", "openai:gpt-5-mini", "anthropic:claude-sonnet-4-6"
every_wire = pytest.mark.parametrize("name", [CHAT, RESPONSES, ANTHROPIC])
FORM = OutputForm(name="AgentOutput", description="Act.", json_schema={"type": "object", "properties": {}})


class Wire:
    """A place on the local site to which the providers' clients are sent; `bodies` is what they have sent."""

    def __init__(self, site: Site) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._site = site

    async def ask(self, name: str, answer: Answer | Callable[[], Answer], **more: Any) -> Reply:
        """Ask a model whose provider answers so."""

        def respond(request: Request) -> Answer:
            self.bodies.append(json.loads(request.body))
            return answer() if callable(answer) else answer

        self._site.route("/wire", respond)
        model = await provider_model(name)
        options: dict[str, Any] = {"messages": [user("Which?")], "form": FORM, "seconds": 20, **more}
        return await model.ask(**options)

    async def failure(self, name: str, answer: Answer | Callable[[], Answer], **more: Any) -> ModelError:
        with pytest.raises(ModelError) as raised:
            await self.ask(name, answer, **more)
        return raised.value


@pytest.fixture
def wire(site: Site, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """The local site in the place of every provider."""
    for provider, path in (("OPENAI", "/wire/v1"), ("ANTHROPIC", "/wire")):
        monkeypatch.setenv(f"{provider}_BASE_URL", site.url + path)
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-test-0123456789abcdefghij")
    return Wire(site)


def as_json(content: object, status: int = 200, **headers: str) -> Answer:
    return Answer(json.dumps(content).encode(), "application/json", status, headers)


def chat(message: dict[str, Any], *, finish: str = "stop", **usage: Any) -> Answer:
    """An answer of OpenAI's chat protocol."""
    reason = {"finish_reason": finish, "native_finish_reason": finish}
    choice = {"index": 0, "message": {"role": "assistant", **message}, **reason}
    counted = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **usage}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000}
    head |= {"model": "gpt-4.1-mini"}
    return as_json({**head, "provider": "OpenAI", "choices": [choice], "usage": counted})


def responses(output: Sequence[dict[str, Any]], *, status: str = "completed", **more: Any) -> Answer:
    """An answer of OpenAI's Responses protocol."""
    head = {"id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": "gpt-5-mini"}
    fixed: dict[str, Any] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return as_json({**head, **fixed, "status": status, "output": list(output), **more})


def streamed(*blocks: dict[str, Any], stop: str = "end_turn", **usage: int) -> Answer:
    """An answer of Anthropic's, as it streams it."""
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    message |= {"model": "claude-sonnet-4-6", "stop_reason": None}
    message |= {"usage": {"input_tokens": 10, "output_tokens": 1, **usage}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        given = block.get("text", block.get("input", ""))
        begun: dict[str, Any] = {**block, **({"text": ""} if "text" in block else {"input": {}})}
        delta = {"type": "text_delta", "text": given}
        if "input" in block:
            delta = {"type": "input_json_delta", "partial_json": given}
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    delta = {"stop_reason": stop, "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Answer(text.encode(), "text/event-stream")


def chat_call(arguments: str) -> dict[str, Any]:
    function = {"name": "AgentOutput", "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def response_call(arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "id": "f", "call_id": "c", "name": "AgentOutput", "arguments": arguments}


def anthropic_call(arguments: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "AgentOutput", "input": arguments}


BROKEN = '{"action": [{"click_element": {"index": 4}'
INCOMPLETE: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize("arguments", [BROKEN, "not json", "{}"])
@every_wire
async def test_a_form_is_demanded_and_comes_back_as_far_as_it_got(
    wire: Wire, name: str, arguments: str
) -> None:
    cut = arguments == BROKEN
    answers = {
        CHAT: chat(chat_call(arguments), finish="length" if cut else "tool_calls"),
        RESPONSES: responses([response_call(arguments)], **(INCOMPLETE if cut else {})),
        ANTHROPIC: streamed(anthropic_call(arguments), stop="max_tokens" if cut else "tool_use"),
    }
    reply = await wire.ask(name, answers[name])
    assert reply.call is not None
    assert reply.call.arguments == ({} if arguments == "{}" else arguments)
    assert (reply.finish == "length") is cut
    assert wire.bodies[0]["tool_choice"] in ("required", {"type": "any"})


@pytest.mark.parametrize(
    ("name", "answer"), [(CHAT, chat({"content": ""})), (RESPONSES, responses([])), (ANTHROPIC, streamed())]
)
async def test_an_empty_answer_is_told_as_empty(wire: Wire, name: str, answer: Answer) -> None:
    reply = await wire.ask(name, answer)
    assert (reply.text, reply.call) == ("", None)


CHAT_USED: dict[str, Any] = {"prompt_tokens": 1_000, "completion_tokens": 50, "total_tokens": 1_050}
RESPONSES_USED = {"input_tokens": 1_000, "output_tokens": 50, "total_tokens": 1_050}
CACHED, THOUGHT = {"cached_tokens": 400}, {"reasoning_tokens": 30}
MORE = {"input_tokens_details": CACHED, "output_tokens_details": THOUGHT}
SAID = {"type": "text", "text": "Yes."}


# US dollars: 600 tokens at full price, 400 from the cache, 50 answered.
@pytest.mark.parametrize(
    ("name", "answer", "cost"),
    [
        (CHAT, chat({"content": "Yes."}, **CHAT_USED, prompt_tokens_details=CACHED), "0.00036"),
        (RESPONSES, responses([], usage={**RESPONSES_USED, **MORE}), "0.00026"),
        (ANTHROPIC, streamed(SAID, input_tokens=600, cache_read_input_tokens=400), "0.00222"),
    ],
)
async def test_tokens_from_the_providers_cache_are_counted_and_cheaper(
    wire: Wire, name: str, answer: Answer, cost: str
) -> None:
    used = (await wire.ask(name, answer)).usage
    assert (used.input_tokens, used.cached_tokens, used.estimated) == (1_000, 400, False)
    assert used.cost == Decimal(cost)
    assert "(400 from the cache)" in str(used)


LONG: dict[str, Any] = {"message": "prompt is too long: 210000 tokens > 200000 maximum"}
LLAMA = "request (9000 tokens) exceeds the available context size (8192 tokens)"  # Of llama.cpp


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (ANTHROPIC, {"type": "error", "error": {"type": "invalid_request_error", **LONG}}),
        (CHAT, {"error": {"code": 400, "message": LLAMA, "type": "exceed_context_size_error"}}),
    ],
    ids=["anthropic", "llama.cpp"],
)
async def test_a_conversation_too_long_is_known_by_the_servers_words(
    wire: Wire, name: str, content: dict[str, Any]
) -> None:
    assert isinstance(await wire.failure(name, as_json(content, 400)), ContextTooLong)


UNUSABLE = ('{"choices": []}', '{"choices": null}', '{"choices": [{}]}', "{}", "[]", "null", '"choices"')


OVERLOADED = (
    'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Full"}}\n\n'
)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        *((CHAT, content, "application/json") for content in UNUSABLE),
        (ANTHROPIC, OVERLOADED, "text/event-stream"),
    ],
)
async def test_an_answer_without_a_choice_or_an_overload_within_a_stream_may_be_asked_for_again(
    wire: Wire, name: str, content: str, kind: str
) -> None:
    assert isinstance(await wire.failure(name, Answer(content.encode(), kind)), ModelUnavailable)


@every_wire
async def test_a_gateways_error_page_is_told_shortly(wire: Wire, name: str) -> None:
    page = Answer(b"<html><body><h1>502 Bad Gateway</h1>" + b"nginx " * 200 + b"</body></html>", status=502)
    error = await wire.failure(name, page)
    assert isinstance(error, ModelUnavailable)
    assert "Bad Gateway" in str(error)
    assert len(str(error)) < 600


@every_wire
@pytest.mark.parametrize(("status", "after"), [(429, None), (503, 3)])
async def test_who_is_asked_too_much_may_say_when_to_come_back(
    wire: Wire, name: str, status: int, after: int | None
) -> None:
    headers = {"Retry-After": str(after)} if after else {}
    error = await wire.failure(name, as_json({"error": {"message": "Full.", "type": "x"}}, status, **headers))
    assert isinstance(error, ModelUnavailable if after else ModelRateLimited)
    assert error.retry_after == after


@every_wire
async def test_a_server_that_says_nothing_is_given_up_at_the_deadline(
    wire: Wire, site: Site, name: str
) -> None:
    def stall() -> Answer:
        site.wait_stopping(60)
        return Answer(b"")

    error = await wire.failure(name, stall, seconds=0.3)
    assert isinstance(error, ModelTimedOut)
    assert "within 0.3 s" in str(error)


@pytest.mark.parametrize(
    ("name", "answer"),
    [(CHAT, chat({"content": "Yes."})), (RESPONSES, responses([])), (ANTHROPIC, streamed(SAID))],
)
async def test_a_picture_is_sent_as_the_provider_wants_it(wire: Wire, name: str, answer: Answer) -> None:
    data = b"\x89PNG not really"
    picture = ImageBlock(data=data, mime_type="image/png", width=4, height=4)
    await wire.ask(name, answer, messages=[user("What is this?", picture)], form=None)
    sent = base64.b64encode(data).decode()
    body = wire.bodies[0]
    said, shown = body["messages" if "messages" in body else "input"][0]["content"]
    assert said["text"] == "What is this?"
    address = f"data:image/png;base64,{sent}"
    source = {"type": "base64", "media_type": "image/png", "data": sent}
    wanted = {
        CHAT: {"image_url": {"url": address}},
        RESPONSES: {"type": "input_image", "image_url": address},
        ANTHROPIC: {"source": source},
    }
    assert wanted[name].items() <= shown.items()


async def test_a_price_that_the_provider_tells_goes_before_the_list(site: Site) -> None:
    answer = chat({"content": "Yes."}, cost=0.0123)
    site.route("/wire", lambda _: answer)
    client = AsyncOpenAI(base_url=f"{site.url}/wire/v1", api_key="sk-or-0123456789abcdefghij")
    model = OpenRouterModel("openai/gpt-4.1-mini", provider=OpenRouterProvider(openai_client=client))
    reply = await ProviderModel(model, AgentSettings()).ask([user("Which?")], form=None, seconds=20)
    assert reply.usage.cost == Decimal("0.0123")
