"""Circles, and what is said to them."""

from mcp_browser.agent.decision import ActionCall
from mcp_browser.agent.loops import NUDGES, STOP_AT, STOP_AT_PAGES, LoopDetector


def click(index: int) -> ActionCall:
    return ActionCall(name="click_element", arguments={"index": index})


def test_the_same_action_again_and_again_is_told_at_each_stage_once() -> None:
    circles = LoopDetector()
    told: list[int] = []
    for step in range(1, 14):
        circles.record([click(4)], url="u", page=f"page {step}")
        if circles.nudge():
            told.append(step)
    assert told == list(NUDGES)


def test_different_actions_are_no_circle() -> None:
    circles = LoopDetector()
    for step in range(30):
        circles.record([click(step)], url="u", page=f"page {step}")
        assert circles.nudge() is None
        assert not circles.is_stuck


def test_the_same_search_in_other_words_is_the_same() -> None:
    circles = LoopDetector()
    for words in ("blue lamp", "Lamp blue", "blue  LAMP", "lamp Blue", "BLUE lamp"):
        circles.record([ActionCall(name="search_web", arguments={"query": words})], url="u", page=words)
    assert circles.repeats == 5


def test_the_same_index_on_another_page_is_another_action() -> None:
    circles = LoopDetector()
    for number in range(8):
        circles.record([click(4)], url=f"u{number}", page=str(number))
    assert circles.repeats == 1


def test_waiting_is_no_circle() -> None:
    circles = LoopDetector()
    for number in range(10):
        circles.record([ActionCall(name="wait", arguments={"seconds": 1})], url="u", page=str(number))
    assert circles.repeats == 0


def test_a_page_that_does_not_change_is_told() -> None:
    circles = LoopDetector()
    told: list[int] = []
    for step in range(1, 11):
        circles.record([click(step)], url="u", page="same")
        if circles.nudge():
            told.append(step)
    assert told == [5, 10]


def test_a_long_circle_is_stuck() -> None:
    circles = LoopDetector()
    for step in range(STOP_AT):
        assert not circles.is_stuck
        circles.record([click(4)], url="u", page=str(step))
    assert circles.is_stuck
    still = LoopDetector()
    for step in range(STOP_AT_PAGES):
        assert not still.is_stuck
        still.record([click(step)], url="u", page="same")
    assert still.is_stuck


def test_a_plan_is_wanted_once_for_each_circle() -> None:
    circles = LoopDetector()
    wanted = 0
    for step in range(12):
        circles.record([click(4)], url="u", page=str(step))
        wanted += circles.plan_is_due()
    assert wanted == 1


def test_it_can_be_saved() -> None:
    circles = LoopDetector()
    circles.record([click(4)], url="u", page="p")
    assert LoopDetector.model_validate_json(circles.model_dump_json()) == circles
