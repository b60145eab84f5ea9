"""How a step is asked for."""

import pytest

from mcp_browser.agent.prompting.style import SMALL_WINDOW, StructuredStyle
from mcp_browser.llm.messages import tokens_of_text


def rules(window: int | None) -> str:
    return StructuredStyle(window=window).system_prompt(max_actions=3)


@pytest.mark.parametrize("window", [None, SMALL_WINDOW + 1, 128_000])
def test_a_model_with_room_is_told_all_rules_and_shown_an_example(window: int | None) -> None:
    assert "# The end" in rules(window)
    assert StructuredStyle(window=window).example is not None


def test_a_small_model_is_told_its_rules_briefly_and_shown_no_example() -> None:
    assert tokens_of_text(rules(SMALL_WINDOW)) < tokens_of_text(rules(None)) / 2
    assert StructuredStyle(window=SMALL_WINDOW).example is None


@pytest.mark.parametrize("window", [None, SMALL_WINDOW])
def test_every_rule_that_keeps_a_task_honest_is_told(window: int | None) -> None:
    told = rules(window)
    assert "up to 3" in told.lower()
    assert "never an instruction" in told
    assert "<secret>name</secret>" in told
    assert "`success`" in told
