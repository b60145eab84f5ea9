"""Models of providers against a server that speaks their protocols."""

import logging
import socket
from decimal import Decimal
from typing import Any

import pytest

from mcp_browser.errors import (
    ContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
    NoModel,
)
from mcp_browser.llm.messages import OutputCall, OutputForm, assistant, system, user
from mcp_browser.llm.providers import ProviderModel, provider_model
from mcp_browser.settings import AgentSettings
from tests.support.aimock import KEY, OUTPUT, Aimock, calls, fails, usage

pytestmark = pytest.mark.slow

CHAT, GOOGLE = "openai-chat:gpt-4.1-mini", "google:gemini-2.5-flash"
WIRES = ("openai:gpt-5-mini", "anthropic:claude-sonnet-4-6", CHAT, GOOGLE)
every_wire = pytest.mark.parametrize("name", WIRES)

FORM = OutputForm(
    name="AgentOutput",
    description="Your thoughts and next actions.",
    json_schema={
        "type": "object",
        "properties": {"action": {"type": "array", "items": {"type": "object"}}},
        "required": ["action"],
        "additionalProperties": False,
    },
)
ASKED = (system("Be brief."), user("Which?"))
BY_JSON = AgentSettings(model_output="json")


async def failure(model: ProviderModel, *, seconds: float = 20) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await model.ask(ASKED, form=FORM, seconds=seconds)
    return raised.value


@every_wire
async def test_a_form_comes_back_filled_in(aimock: Aimock, name: str) -> None:
    aimock.says(calls())
    reply = await (await provider_model(name)).ask(ASKED, form=FORM, seconds=20)
    assert reply.call is not None
    assert reply.call.name == "AgentOutput"
    assert reply.call.arguments == OUTPUT
    assert reply.finish == "stop"
    (request,) = aimock.requests()
    assert [message["role"] for message in request["body"]["messages"]] == ["system", "user"]
    assert request["body"]["tools"][0]["function"]["name"] == "AgentOutput"


@every_wire
async def test_an_earlier_form_is_told_as_a_call_and_its_result(aimock: Aimock, name: str) -> None:
    aimock.says(calls())
    said = assistant(call=OutputCall(id="AgentOutput-1", name="AgentOutput", arguments={"action": []}))
    model = await provider_model(name)
    await model.ask((*ASKED, said, user("Now this page.")), form=FORM, seconds=20)
    messages = aimock.requests()[0]["body"]["messages"]
    called = [message for message in messages if message.get("tool_calls")]
    assert [call["tool_calls"][0]["function"]["name"] for call in called] == ["AgentOutput"]
    (result,) = [message["content"] for message in messages if message["role"] == "tool"]
    assert "Received." in result
    # Neighbours of one role may be joined, but nothing is lost.
    assert "Now this page." in str(messages)


BLUE, WAITS, CUT = "The blue one.", '{"action": [{"wait_for": {"seconds": 1}}]}', '{"action": ['


@every_wire
@pytest.mark.parametrize(
    "case",
    [
        (None, None, {"content": BLUE}, None),
        (FORM, None, {"content": BLUE}, None),
        (FORM, BY_JSON, {"content": WAITS}, {"action": [{"wait_for": {"seconds": 1}}]}),
        (FORM, BY_JSON, {"content": CUT, "finishReason": "length"}, CUT),
    ],
    ids=["words", "words in the place of a form", "a form as JSON", "JSON that is cut off"],
)
async def test_words_and_json_come_back_as_such(
    aimock: Aimock, name: str, case: tuple[OutputForm | None, AgentSettings | None, dict[str, Any], Any]
) -> None:
    form, settings, answer, arguments = case
    aimock.says(answer)
    reply = await (await provider_model(name, settings)).ask(ASKED, form=form, seconds=20)
    assert (reply.text, reply.call and reply.call.arguments) == (answer["content"], arguments)
    # aimock's Responses protocol does not say that an answer was cut off.
    assert reply.finish == answer.get("finishReason", "stop") or name == WIRES[0]
    (request,) = aimock.requests()
    assert bool(request["body"].get("tools")) is (form is not None and settings is None)


LONG = "This model's maximum context length is 128000 tokens. Your messages resulted in 200000 tokens."
Case = tuple[int, str, dict[str, Any], type[ModelError], str]
FAILURES: list[Case] = [
    (429, "Slow down.", {"retry_after": 7}, ModelRateLimited, "limits the rate for 7 s: "),
    (500, "Not now.", {"type": "server_error"}, ModelUnavailable, "has failed: Not now. (HTTP 500)"),
    (503, "Not now.", {"type": "unavailable"}, ModelUnavailable, "has failed: Not now. (HTTP 503)"),
    (529, "Not now.", {"type": "overloaded_error"}, ModelUnavailable, "has failed: Not now. (HTTP 529)"),
    (404, "No gpt-9.", {"type": "not_found_error", "code": "model_not_found"}, ModelRefused, "--model"),
    (402, "Your balance is empty.", {"type": "billing_error"}, ModelRefused, "quota"),
    (400, LONG, {"code": "context_length_exceeded"}, ContextTooLong, ""),
    (400, "The schema is too deep.", {}, ModelRefused, "the request: The schema is too deep. (HTTP 400)"),
]


@every_wire
@pytest.mark.parametrize("case", FAILURES)
async def test_each_failure_is_known_for_what_it_is_and_not_asked_again(
    aimock: Aimock, name: str, case: Case
) -> None:
    status, message, more, kind, words = case
    given: dict[str, Any] = {"type": "invalid_request_error", **more}
    aimock.says(fails(status, message, **given))
    error = await failure(await provider_model(name))
    assert isinstance(error, kind)
    assert words in str(error)
    assert message == LONG or f"{message} (HTTP {status})." in str(error)
    assert error.retry_after == more.get("retry_after")
    assert len(aimock.requests()) == 1


@every_wire
async def test_a_wrong_or_missing_key_names_the_variable_to_set(
    aimock: Aimock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = f"{name.partition(':')[0].removesuffix('-chat').upper()}_API_KEY"
    monkeypatch.setenv(variable, "sk-wrong-0123456789abcdefghij")
    error = await failure(await provider_model(name))
    assert isinstance(error, ModelRefused)
    assert f"Set {variable}" in str(error)
    for each in aimock.environment:
        monkeypatch.delenv(each)
    with pytest.raises(NoModel, match=variable):
        await provider_model(name)


FAULTS = ({"chaos": {"malformedRate": 1}}, "cannot be read"), ({"chaos": {"disconnectRate": 1}}, "")
BROKEN_STREAM: dict[str, Any] = {"truncateAfterChunks": 3, "chunkSize": 10}


@pytest.mark.parametrize(
    ("name", "fault", "why"),
    [*((name, *fault) for name in WIRES for fault in FAULTS), (WIRES[1], BROKEN_STREAM, "")],
)
async def test_an_answer_that_is_no_json_or_breaks_off_may_be_asked_for_again(
    aimock: Aimock, name: str, fault: dict[str, Any], why: str
) -> None:
    aimock.says({"content": "A long answer. " * 20}, **fault)
    error = await failure(await provider_model(name))
    assert isinstance(error, ModelUnavailable)
    assert why in str(error)


@every_wire
async def test_a_server_that_is_not_there_cannot_be_reached(
    aimock: Aimock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        for variable in aimock.environment:
            if variable.endswith("BASE_URL"):
                monkeypatch.setenv(variable, address)
        error = await failure(await provider_model(name))
    assert isinstance(error, ModelUnavailable)
    assert f"cannot be reached at {address}" in str(error)


@every_wire
async def test_no_key_is_told_even_where_a_server_repeats_it(
    aimock: Aimock, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = await provider_model(name)
    with caplog.at_level(logging.DEBUG):
        aimock.says(fails(400, f"Bad request with Authorization: Bearer {KEY}, key={KEY}."))
        error = await failure(model)
        aimock.says(calls())
        await model.ask(ASKED, form=FORM, seconds=20)
    assert "[redacted]" in str(error)
    assert KEY not in str(error)
    assert KEY not in caplog.text
    assert "Which?" not in caplog.text


@pytest.mark.parametrize(
    ("name", "price"),
    [
        # US dollars for a million tokens, asked and answered.
        ("openai:gpt-5-mini", (Decimal("0.25"), Decimal(2))),
        (CHAT, (Decimal("0.4"), Decimal("1.6"))),
        ("anthropic:claude-sonnet-4-6", (Decimal(3), Decimal(15))),
        (GOOGLE, (Decimal("0.3"), Decimal("2.5"))),
    ],
)
async def test_what_the_provider_has_counted_is_priced(
    aimock: Aimock, name: str, price: tuple[Decimal, Decimal]
) -> None:
    aimock.says({"content": "Yes.", **usage(2_000, 300)})
    model = await provider_model(name)
    reply = await model.ask(ASKED, form=None, seconds=20)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.requests) == (2_000, 300, 1)
    assert not reply.usage.estimated
    assert reply.usage.cost == (2_000 * price[0] + 300 * price[1]) / 1_000_000
    assert model.info.priced


async def test_an_unknown_models_price_is_unknown_and_not_zero(aimock: Aimock) -> None:
    aimock.says({"content": "Yes.", **usage(2_000, 300)})
    model = await provider_model("house-model", AgentSettings(model_url=f"{aimock.url}/v1"))
    reply = await model.ask(ASKED, form=None, seconds=20)
    assert reply.usage.cost is None
    assert str(reply.usage) == "2,300 tokens, price unknown"
    assert not model.info.priced


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "anthropic:claude-sonnet-4-6"])
async def test_tokens_that_nobody_counted_are_estimated_and_have_no_price(aimock: Aimock, name: str) -> None:
    aimock.says({"content": "Yes."})
    reply = await (await provider_model(name)).ask(ASKED, form=FORM, seconds=20)
    assert reply.usage.estimated
    assert reply.usage.input_tokens > 20
    assert reply.usage.cost is None


async def test_an_own_server_needs_no_provider_and_no_key(
    aimock: Aimock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    name, address = "qwen2.5:7b", f"{aimock.url}/v1"
    settings = AgentSettings(model=name, model_url=address, model_window=8_192, model_temperature=0)
    model = await provider_model(name, settings)
    assert (model.info.name, model.info.context_window) == ("openai:qwen2.5:7b", 8_192)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = await provider_model(name, settings)
    aimock.says(calls())
    await model.ask(ASKED, form=FORM, seconds=20)
    body = aimock.requests()[0]["body"]
    assert (body["model"], body["temperature"]) == ("qwen2.5:7b", 0)
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 819


async def test_an_own_server_is_told_in_words_what_the_json_is_to_be_like(aimock: Aimock) -> None:
    aimock.says({"content": '{"action": []}'})
    settings = AgentSettings(model_url=f"{aimock.url}/v1", model_output="json")
    model = await provider_model("house-model", settings)
    await model.ask(ASKED, form=FORM, seconds=20)
    head = aimock.requests()[0]["body"]["messages"][0]
    assert head["role"] == "system"
    assert head["content"].startswith("Be brief.")
    assert '{"action": [' in head["content"]
    await model.ask([user("Which?")], form=FORM, seconds=20)
    assert '{"action": [' in aimock.requests()[1]["body"]["messages"][0]["content"]


async def test_the_address_of_the_main_model_is_not_that_of_another_provider(aimock: Aimock) -> None:
    aimock.says({"content": "Yes."})
    settings = AgentSettings(model_url="http://127.0.0.1:9/v1")
    model = await provider_model("anthropic:claude-sonnet-4-6", settings)
    await model.ask(ASKED, form=None, seconds=20)
    assert aimock.requests()[0]["path"].startswith("/v1/messages")
