"""What the benchmark of tool choice takes for right is a call that the server would take."""

import json
import shlex
from typing import Any, cast

import pytest

from benchmarks.tool_choice import lists
from benchmarks.tool_choice.asking import call_in, command_in
from benchmarks.tool_choice.expected import Expected, first_error, judge
from benchmarks.tool_choice.instructions import INSTRUCTIONS


def test_there_are_as_many_different_instructions_as_are_told() -> None:
    assert len({(one.says, one.state.url) for one in INSTRUCTIONS}) == len(INSTRUCTIONS) == 64


@pytest.mark.parametrize("server", [lists.OURS, lists.THEIRS])
def test_what_is_expected_validates_against_the_servers_list(server: str) -> None:
    tools = {tool["name"]: tool for tool in (lists.ours() if server == lists.OURS else lists.theirs())}
    schemas = {name: tool["inputSchema"] for name, tool in tools.items()}
    for instruction in INSTRUCTIONS:
        expected = instruction.ours if server == lists.OURS else instruction.theirs
        for one in expected:
            error = first_error(schemas[one.tool], one.example())
            assert not error, (instruction.says, one.tool, error)
            unknown = one.arguments.keys() - schemas[one.tool].get("properties", {}).keys()
            assert not unknown, (instruction.says, one.tool, unknown)
            assert judge(one.tool, one.example(), expected, schemas).arguments, (instruction.says, one)
        shown = lists.shown(instruction.state, server)
        numbers = [str(node.number) for node in instruction.state.nodes if node.number]
        assert instruction.state.dialog or all(
            (f"[{number}] " if server == lists.OURS else f"[ref=e{number}]") in shown for number in numbers
        )


def test_each_call_that_is_right_can_be_written_as_a_command() -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in lists.ours()}
    for instruction in INSTRUCTIONS:
        for one in instruction.ours:
            line = f"mcp-browser do {shlex.join(written(one))}"
            tool, arguments = command_in(f"```bash\n{line}\n```")
            assert judge(tool, arguments, instruction.ours, schemas).arguments, (line, arguments)


def test_the_first_argument_of_an_action_that_needs_none_stands_without_its_flag() -> None:
    assert command_in("mcp-browser do close_tab 3") == ("close_tab", {"tab": 3})
    assert command_in("mcp-browser do screenshot 14 --labels") == (
        "screenshot",
        {"index": 14, "labels": True},
    )


def written(call: Expected) -> list[str]:
    schema = {tool["name"]: tool["inputSchema"] for tool in lists.ours()}[call.tool]
    needed = [*schema.get("required", ())]
    words: list[str] = []
    for name, value in call.example().items():
        if name not in needed:
            flag = f"--{name.replace('_', '-')}"
            plain = f"--no-{flag[2:]}" if value is False else flag
            words += [plain] if isinstance(value, bool) else [f"{flag}={one}" for one in as_texts(value)]
    values = [
        text for name in schema["properties"] if name in needed for text in as_texts(call.example()[name])
    ]
    return [call.tool, *words, *(["--"] if values else []), *values]


def as_texts(value: Any) -> list[str]:
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        return [part if isinstance(part, str) else json.dumps(part) for part in parts]
    return [value if isinstance(value, str) else json.dumps(value)]


def test_another_tool_missing_arguments_and_other_values_are_wrong() -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in lists.ours()}
    expected = [Expected("click_element", {"index": 12})]

    def score(tool: str, **arguments: object) -> tuple[bool, bool]:
        found = judge(tool, arguments, expected, schemas)
        return found.tool, found.arguments

    assert score("click_element", index=12, button="left") == (True, True)
    assert score("hover_element", index=12) == (False, False)
    assert score("click_element") == (True, False)
    assert score("click_element", index="12") == (True, False)
    assert score("click_element", index=13) == (True, False)
    assert score("click_element", index=12, double=True) == (True, False)
    assert score("nothing", index=12) == (False, False)


def test_the_recorded_list_is_of_the_version_that_is_compared_with() -> None:
    assert f'"version": "{lists.VERSION}"' in lists.RECORDED.read_text("utf-8")


def test_a_call_is_found_in_what_stands_around_it() -> None:
    called = '{"tool": "click_element", "arguments": {"index": 3}}'
    for text in (called, f"```json\n{called}\n```", f"I will click it: {called}"):
        assert call_in(text) == ("click_element", {"index": 3})
    for text in ("", "click_element(3)", "[1]", '{"tool": '):
        assert call_in(text) == ("", None)
    assert not judge("click_element", None, [Expected("click_element", {})], {"click_element": {}}).arguments
