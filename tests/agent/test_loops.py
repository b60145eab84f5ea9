"""Circles, and what is said to them."""

from collections.abc import Sequence

import pytest

from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.state import STOP_AT, STOP_AT_PAGES, STOP_AT_REPEATS, WARN_AT, LoopDetector
from mcp_browser.agent.task import ActionCall
from mcp_browser.dom.identities import ElementRecord


def act(name: str, **arguments: object) -> ActionRecord:
    return ActionRecord(call=ActionCall(name=name, arguments=arguments))


def click(index: int, name: str = "") -> ActionRecord:
    elements = (ElementRecord(index=index, role="button", name=name),) if name else ()
    call = ActionCall(name="click_element", arguments={"index": index})
    return ActionRecord(call=call, elements=elements)


def test_the_same_action_on_a_page_that_changes_is_progress() -> None:
    loops = LoopDetector()
    for quantity in range(20):
        loops.record([click(4, "More")], page=f'[4] button "More"\nQuantity {quantity}')
        assert loops.nudge() is None
        assert not loops.is_stuck


def test_the_same_action_without_effect_is_told_and_ends_the_run() -> None:
    loops = LoopDetector()
    told: list[bool] = []
    for _ in range(STOP_AT):
        assert not loops.is_stuck
        loops.record([click(4, "Nothing")], page='[4] button "Nothing"')
        told.append(loops.nudge() is not None)
    assert loops.is_stuck
    assert told.index(True) + 1 == WARN_AT[1]


@pytest.mark.parametrize("names", [("A", "B"), ("A", "B", "C")])
def test_cycles_are_caught_within_eight_steps(names: Sequence[str]) -> None:
    loops = LoopDetector()
    told: list[int] = []
    steps = 0
    while not loops.is_stuck:
        name = names[steps % len(names)]
        steps += 1
        # Pages that are made anew give their elements new numbers.
        loops.record([click(steps, name)], page=f'Page {name}\n*[{steps}] button "{name}"')
        if loops.nudge():
            told.append(steps)
    assert steps == STOP_AT == 8
    assert told == [WARN_AT[len(names)]]


def test_a_list_worked_off_from_one_page_is_no_cycle() -> None:
    loops = LoopDetector()
    for number in range(10):
        loops.record([act("go_to_url", url="/list")], page=f"Item {number}")
        loops.record([click(number, f"Item {number + 1}")], page="The list")
        assert loops.cycle == (0, 0)
    assert not loops.is_stuck


def test_the_same_move_again_and_again_between_others_ends_the_run() -> None:
    loops = LoopDetector()
    for number in range(STOP_AT_REPEATS * 2):
        loops.record([click(4, "Again") if number % 2 else click(5, f"Other {number}")], page="p")
        if loops.repeats >= STOP_AT_REPEATS:
            break
    assert loops.is_stuck


def test_the_same_search_in_other_words_is_the_same() -> None:
    loops = LoopDetector()
    for words in ("blue lamp", "Lamp blue", "blue  LAMP", "lamp Blue", "BLUE lamp"):
        loops.record([act("search_web", query=words)], page=words)
    assert loops.repeats == 5


def test_waiting_is_no_circle() -> None:
    loops = LoopDetector()
    for number in range(10):
        loops.record([act("wait_for", seconds=1)], page=str(number))
    assert loops.repeats == 0


def test_a_page_that_does_not_change_is_told_and_ends_the_run() -> None:
    loops = LoopDetector()
    told: list[bool] = []
    for step in range(STOP_AT_PAGES):
        assert not loops.is_stuck
        loops.record([click(step, f"Button {step}")], page="same")
        told.append(loops.nudge() is not None)
    assert [step for step, has in enumerate(told, 1) if has] == [5, 10]
    assert loops.is_stuck


def test_a_plan_is_wanted_once_for_each_circle() -> None:
    loops = LoopDetector()
    wanted = 0
    for _ in range(7):
        loops.record([click(4, "Nothing")], page="p")
        wanted += loops.plan_is_due()
    assert wanted == 1
    assert LoopDetector.model_validate_json(loops.model_dump_json()) == loops
