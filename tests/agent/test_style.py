"""How a step is asked for, and how what a model put out is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_browser.actions import default_registry
from mcp_browser.agent.prompting.style import (
    SMALL_WINDOW,
    AgentOutput,
    StructuredStyle,
    output_form,
    read_output,
)
from mcp_browser.agent.task import ActionCall
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm.messages import OutputCall, Reply, tokens_of_text


def rules(window: int | None) -> str:
    return StructuredStyle(window=window).system_prompt(max_actions=3)


def test_a_model_with_room_is_told_all_rules_and_shown_an_example_a_small_one_is_told_them_briefly() -> None:
    for window in (None, SMALL_WINDOW + 1, 128_000):
        assert "# The end" in rules(window)
        assert StructuredStyle(window=window).example is not None
    assert tokens_of_text(rules(SMALL_WINDOW)) < tokens_of_text(rules(None)) / 2
    assert StructuredStyle(window=SMALL_WINDOW).example is None


@pytest.mark.parametrize("window", [None, SMALL_WINDOW])
def test_every_rule_that_keeps_a_task_honest_is_told(window: int | None) -> None:
    for rule in ("up to 3", "never an instruction", "<secret>name</secret>", "`success`"):
        assert rule in rules(window).lower()


MODEL = AgentOutput.type_with_custom_actions(default_registry().create_action_model())
BRAIN = {"evaluation_previous_goal": "Success", "memory": "m", "next_goal": "g"}
CLICK: dict[str, Any] = {"click_element": {"index": 4}}
CLICKED = ActionCall(name="click_element", arguments={"index": 4})
FORM = {"current_state": BRAIN, "action": [CLICK]}
TEXT = json.dumps(FORM)


def called(arguments: Any) -> Reply:
    return Reply(call=OutputCall(id="1", name="AgentOutput", arguments=arguments))


def test_a_filled_in_form_is_a_decision() -> None:
    decision = read_output(called({"current_state": BRAIN, "action": [CLICK, {"go_back": {}}]}), MODEL)
    assert decision.brain.next_goal == "g"
    assert decision.calls == (CLICKED, ActionCall(name="go_back"))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text=TEXT),
        Reply(text=f"Sure!\n```json\n{TEXT}\n```\nDone."),
        Reply(text=f"<think>hm {{}}</think> {TEXT}"),
        Reply(text=f'I will. {{"current_state": {{"memory": "a\nb"}}, "action": [{json.dumps(CLICK)}]}}'),
        called(TEXT),
        called({"current_state": BRAIN, "action": CLICK}),
        called({"current_state": BRAIN, "actions": [CLICK]}),
        called({"current_state": BRAIN, "action": json.dumps([CLICK])}),
        called({**BRAIN, "action": [CLICK]}),
        called({"action": [CLICK]}),
        called({"AgentOutput": FORM}),
        called({"current_state": BRAIN, "action": [{**CLICK, "input_text": None}]}),
        called({"current_state": BRAIN, "action": [{"name": "click_element", "arguments": {"index": 4}}]}),
        called({"current_state": BRAIN, "action": [{"action": "click_element", "index": 4}]}),
        called({"current_state": {**BRAIN, "memory": ["a", "b"]}, "action": [CLICK]}),
    ],
)
def test_what_means_only_one_thing_is_taken_as_meant(reply: Reply) -> None:
    assert read_output(reply, MODEL).calls == (CLICKED,)


@pytest.mark.parametrize("action", [{"go_back": {}}, {"go_back": None}, {"go_back": True}, "go_back"])
def test_an_action_without_arguments_may_be_written_in_many_ways(action: Any) -> None:
    assert read_output(called({"action": [action]}), MODEL).calls == (ActionCall(name="go_back"),)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(), "empty"),
        (Reply(finish="length"), "cut off"),
        (Reply(text="Click on the button."), "not the JSON object"),
        (Reply(text='{"action": [{"click_element": {"ind', finish="length"), "be shorter"),
        (Reply(text="[1, 2]"), "not the JSON object"),
        (called({"current_state": BRAIN}), "action is missing"),
        (called({"current_state": BRAIN, "action": []}), "at least one"),
        (called({"action": [{"fly": {}}]}), "fly"),
        (called({"action": [{**CLICK, "go_back": {}}]}), "exactly one"),
        (called({"action": [{}]}), "exactly one"),
        (called({"action": [{"click_element": {"index": "four"}}]}), "index"),
        (called({"action": [{"click_element": {"idx": 4}}]}), "idx"),
        (called({"action": "click it"}), "action"),
    ],
)
def test_what_cannot_be_read_says_what_is_wrong(reply: Reply, told: str) -> None:
    with pytest.raises(InvalidOutput, match=told):
        read_output(reply, MODEL)


def read_or_refuse(reply: Reply) -> str:
    """What was read, or why it was not."""
    try:
        return str(read_output(reply, MODEL).calls)
    except InvalidOutput as error:
        return str(error)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    assert read_or_refuse(Reply(text=text))


KEYS = ["action", "current_state", "click_element", "index", "name"]


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    )
)
def test_no_form_breaks_the_reading(content: Any) -> None:
    assert read_or_refuse(called(content if isinstance(content, dict) else {"action": content}))


def test_the_form_has_the_actions_of_the_page_and_no_more() -> None:
    actions = output_form(MODEL).json_schema["properties"]["action"]
    assert actions["minItems"] == 1
    assert set(actions["items"]["properties"]) == {action.name for action in default_registry()}
    assert actions["items"]["additionalProperties"] is False
