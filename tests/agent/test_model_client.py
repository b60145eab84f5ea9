"""Patience with real providers' protocols: again, another model, and once more with what was wrong."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from mcp_browser.actions.agent import agent_actions
from mcp_browser.actions.registry import Registry
from mcp_browser.agent.model_client import TRIES, ModelClient
from mcp_browser.agent.prompting.style import AgentOutput, output_form, read_output
from mcp_browser.agent.task import Decision
from mcp_browser.errors import (
    ContextTooLong,
    InvalidOutput,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from mcp_browser.llm.messages import Usage, system, user
from mcp_browser.llm.providers import provider_model
from tests.llm.conftest import aimock, server
from tests.support.aimock import Aimock, calls, fails

pytestmark = pytest.mark.slow

__all__ = ["aimock", "server"]

OPENAI, ANTHROPIC = "openai:gpt-5-mini", "anthropic:claude-sonnet-4-6"
FLYING: dict[str, Any] = {"current_state": {}, "action": [{"fly": {}}]}
CONVERSATION = (system("Be brief."), user("The page."))


def output_model() -> type[AgentOutput]:
    registry = Registry()
    registry.include(agent_actions(None))
    return AgentOutput.type_with_custom_actions(registry.create_action_model(None))


OUTPUT_MODEL = output_model()


async def model_client(
    name: str, fallback: str | None = None, spent: Callable[[Usage], None] = lambda _usage: None
) -> tuple[ModelClient, list[str]]:
    """One that waits shortly, and what it tells."""
    told: list[str] = []
    other = await provider_model(fallback) if fallback else None
    model = await provider_model(name)
    asking = ModelClient(model, other, 20, first_wait=0.001, notice=told.append, spent=spent)
    return asking, told


async def decide(asking: ModelClient) -> Decision:
    return await asking.decide(
        CONVERSATION, form=output_form(OUTPUT_MODEL), read=lambda reply: read_output(reply, OUTPUT_MODEL)
    )


@pytest.mark.parametrize("failure", [fails(500), fails(529), fails(429, retry_after=0)])
async def test_a_passing_failure_is_asked_again(aimock: Aimock, failure: dict[str, Any]) -> None:
    aimock.says(failure, failure, calls())
    asking, told = await model_client(OPENAI)
    asked = await decide(asking)
    assert [call.name for call in asked.calls] == ["done"]
    assert len(aimock.requests()) == 3
    assert len(told) == 2
    assert "Asking again in" in told[0]


@pytest.mark.parametrize(
    ("answer", "fallback", "kind", "requests"),
    [
        (fails(500), None, ModelUnavailable, TRIES),
        (fails(429, retry_after=3_600), None, ModelRateLimited, 1),
        (fails(401), None, ModelRefused, 1),
        (fails(400, "Too much.", code="context_length_exceeded"), ANTHROPIC, ContextTooLong, 1),
        ({"content": "No."}, None, InvalidOutput, 3),
    ],
    ids=["tried often", "a long wait", "a refusal", "too long for another model, too", "unusable"],
)
async def test_a_model_that_keeps_failing_is_given_up(
    aimock: Aimock, answer: dict[str, Any], fallback: str | None, kind: type[ModelError], requests: int
) -> None:
    aimock.says(answer)
    asking, _ = await model_client(OPENAI, fallback)
    with pytest.raises(kind):
        await decide(asking)
    assert len(aimock.requests()) == requests


@pytest.mark.parametrize("failure", [fails(429, retry_after=3_600), fails(401), fails(400)])
async def test_another_model_goes_on_where_one_is_given_up(aimock: Aimock, failure: dict[str, Any]) -> None:
    aimock.says(failure, calls())
    asking, told = await model_client(OPENAI, ANTHROPIC)
    asked = await decide(asking)
    assert asked.reply.model == "claude-sonnet-4-6"
    assert "/messages" in aimock.requests()[-1]["path"]
    assert f"Asking {ANTHROPIC} instead." in told[-1]
    assert asking.model.info.name == ANTHROPIC


@pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"content": "I would look around."}, "is not the JSON object of AgentOutput"),
        (calls(arguments={"current_state": {}, "action": []}), "give at least one action"),
        (calls(arguments=FLYING), "there is no action.0.fly"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_asked_for_again_with_what_was_wrong(
    aimock: Aimock, name: str, wrong: dict[str, Any], why: str
) -> None:
    aimock.says(wrong, calls())
    spent: list[Usage] = []
    asking, told = await model_client(name, spent=spent.append)
    asked = await decide(asking)
    assert [call.name for call in asked.calls] == ["done"]
    again = aimock.requests()[1]["body"]["messages"]
    assert why in str(again)
    assert why in told[0]
    assert len(spent) == 2


async def test_what_all_tries_have_cost_is_counted(aimock: Aimock) -> None:
    useless = calls(arguments={"current_state": {}, "action": []})
    aimock.says(useless, fails(500), calls())
    spent: list[Usage] = []
    asking, _ = await model_client(OPENAI, spent=spent.append)
    await decide(asking)
    used = sum(spent, Usage())
    assert (used.requests, used.input_tokens, used.output_tokens) == (2, 2_400, 80)
    # A million tokens asked cost 0.25 dollars, answered 2 dollars.
    assert used.cost == Decimal("0.00076")
