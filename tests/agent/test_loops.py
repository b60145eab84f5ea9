"""Circles, and what is said to them."""

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
        assert (loops.nudge(), loops.is_stuck) == (None, False)


@pytest.mark.parametrize("names", ["A", "AB", "ABC"])
def test_cycles_are_told_once_and_end_the_run_within_eight_steps(names: str) -> None:
    loops, told, steps = LoopDetector(), list[int](), 0
    while not loops.is_stuck:
        name = names[steps % len(names)]
        steps += 1
        # Pages that are made anew give their elements new numbers.
        loops.record([click(steps, name)], page=f'Page {name}\n*[{steps}] button "{name}"')
        if loops.nudge():
            told.append(steps)
    assert steps == STOP_AT == 8
    assert told[0] == WARN_AT[len(names)]
    assert len(told) == 1 or names == "A"


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


def test_the_same_search_in_other_words_is_the_same_and_waiting_is_no_circle() -> None:
    searches, waits = LoopDetector(), LoopDetector()
    for words in ("blue lamp", "Lamp blue", "blue  LAMP", "lamp Blue", "BLUE lamp"):
        searches.record([act("search_web", query=words)], page=words)
        waits.record([act("wait_for", seconds=1)], page=words)
    assert (searches.cycle, waits.cycle) == ((1, 5), (0, 0))
    assert (searches.repeats, waits.repeats) == (5, 0)


def test_a_page_that_does_not_change_is_told_and_ends_the_run() -> None:
    loops, told = LoopDetector(), list[int]()
    for step in range(1, STOP_AT_PAGES + 1):
        assert not loops.is_stuck
        loops.record([click(step, f"Button {step}")], page="same")
        told += [step] if loops.nudge() else []
    assert told == [5, 10]
    assert loops.is_stuck


def test_a_plan_is_wanted_once_for_each_circle() -> None:
    loops = LoopDetector()
    wanted = 0
    for _ in range(7):
        loops.record([click(4, "Nothing")], page="p")
        wanted += loops.plan_is_due()
    assert wanted == 1
    assert LoopDetector.model_validate_json(loops.model_dump_json()) == loops
