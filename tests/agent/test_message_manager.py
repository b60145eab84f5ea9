"""The conversation, and how it is kept within the model's window."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_browser.agent.prompting.message_manager import MessageManager, MessageManagerState
from mcp_browser.agent.prompting.style import EXAMPLE
from mcp_browser.errors import ContextTooLong
from mcp_browser.llm.messages import ImageBlock, OutputCall, Usage, tokens_of

PICTURE = ImageBlock(data=b"x", mime_type="image/png", width=1000, height=900)


def manager(**options: object) -> MessageManager:
    return MessageManager(system_prompt="Rules.", task="Buy a lamp.", **options)  # type: ignore[arg-type]


def texts(messages: MessageManager) -> list[str]:
    return [message.text for message in messages.messages()]


def output(number: int) -> OutputCall:
    return OutputCall(id="", name="AgentOutput", arguments={"step": number})


def test_the_head_stands_in_order() -> None:
    lines = texts(manager(context="At home.", secrets=["login"], example=EXAMPLE))
    wanted = ["Rules.", "At home.", "Buy a lamp.", "<secret>", "An example", "memory of this task"]
    places = [next(i for i, line in enumerate(lines) if part in line) for part in wanted]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(lines) - 1)


def test_the_state_is_there_for_one_request() -> None:
    told = manager()
    told.add_state("Page one", [PICTURE])
    assert texts(told)[-1] == "Page one"
    told.add_state("Page two")
    assert texts(told)[-1] == "Page two"
    told.remove_state()
    assert not any("Page" in line for line in texts(told))


def test_several_pictures_may_stay_and_older_ones_go_while_their_texts_stay() -> None:
    told = manager(images_kept=3)
    for number in range(6):
        told.add_state(f"Page {number}", [PICTURE])
        told.add_output(f"Thought {number}")
        told.remove_state()
    assert sum(len(message.images) for message in told.messages()) == 2, "and the next state's picture"
    told.add_state("Page 6", [PICTURE])
    assert sum(len(message.images) for message in told.messages()) == 3
    assert [line for line in texts(told) if line.startswith("Thought")] == [f"Thought {n}" for n in range(6)]


@pytest.mark.parametrize(("length", "whole"), [(200, True), (5_000, False)])
def test_the_picture_goes_first_then_the_states_text_in_proportion(length: int, whole: bool) -> None:
    told = manager(window=1_500)
    told.remember("Found a lamp.")
    told.add_state("Page " * length, [PICTURE])
    sent = told.messages()
    assert not any(message.images for message in sent)
    assert sent[-1].text.startswith("Page Page")
    assert (sent[-1].text == "Page " * length) is whole
    assert ("left out" in sent[-1].text) is not whole
    assert "Found a lamp." in sent[-2].text


def test_then_the_oldest_memories_and_it_is_said_but_never_the_task() -> None:
    told = manager(window=3_000)
    told.add_task("And a bulb.")
    for number in range(40):
        told.remember(f"Result {number} " + "x" * 600)
    told.add_state("Page")
    lines = "\n".join(texts(told))
    for words in ("Buy a lamp.", "And a bulb.", "older messages of your memory had to be left", "Result 39"):
        assert words in lines
    assert "Result 0 " not in lines


def test_rules_and_task_are_never_left_out() -> None:
    told = MessageManager(system_prompt="r" * 9_000, task="t", window=1_000)
    told.add_state("Page")
    with pytest.raises(ContextTooLong, match="larger window"):
        told.messages()


def test_the_count_follows_what_the_provider_counted() -> None:
    told = manager()
    told.remember("word " * 1000)
    estimate = told.tokens
    told.calibrate(Usage(input_tokens=estimate * 2, requests=1))
    assert told.tokens == pytest.approx(estimate * 2, rel=0.01)
    told.calibrate(Usage(input_tokens=1, requests=1, estimated=True))
    assert told.tokens == pytest.approx(estimate * 2, rel=0.01)


def test_a_summary_takes_the_place_of_older_steps() -> None:
    told = manager(window=4_000)
    for number in range(8):
        told.add_output(output(number))
        told.remember(f"Result {number} " + "x" * 800)
    old = told.to_sum_up()
    assert any("Result 0" in one.message.text for one in old)
    assert not any("Result 7" in one.message.text for one in old)
    told.replace_by_summary(old, "Five results were found.")
    lines = texts(told)
    assert sum("Five results were found." in line for line in lines) == 1
    assert not any("Result 0" in line for line in lines)
    assert any("Result 7" in line for line in lines)
    assert not told.to_sum_up()


def test_a_saved_conversation_goes_on_and_each_call_has_an_id_of_its_own() -> None:
    told = manager(example=EXAMPLE)
    told.add_output(output(1))
    told.remember("Found a lamp.")
    saved = MessageManagerState.model_validate_json(told.state.model_dump_json())
    again = MessageManager(system_prompt="Other rules.", task="Other.", state=saved)
    assert texts(again) == texts(told)
    again.add_output(output(2))
    calls = [message.call.id for message in again.messages() if message.call]
    assert len(set(calls)) == len(calls) == 3


@settings(deadline=None, max_examples=60)
@given(
    window=st.integers(700, 6_000),
    steps=st.lists(st.tuples(st.integers(0, 9_000), st.booleans(), st.integers(0, 3_000)), max_size=12),
)
def test_no_request_is_too_long_and_none_lacks_the_task(
    window: int, steps: list[tuple[int, bool, int]]
) -> None:
    told = manager(window=window)
    for page, picture, result in steps:
        told.add_state("p" * page, [PICTURE] if picture else [])
        sent = told.messages()
        assert tokens_of(sent) <= window
        assert any("Buy a lamp." in message.text for message in sent)
        told.add_output(output(page))
        told.remove_state()
        told.remember("r" * result)
