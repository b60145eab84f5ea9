"""Positions in sources."""

import json
from typing import Any

import pytest

from mcp_browser.browser.collectors import Location
from mcp_browser.browser.source_maps import decode_vlq, look_up, parse_map

MAP: dict[str, Any] = {
    "version": 3,
    "sourceRoot": "src",
    "sources": ["a.ts", "b.ts"],
    "names": ["add"],
    # Line 0: column 0 → a.ts 1:1, column 4 → a.ts 1:9, column 9 → b.ts 3:3.
    # Line 1: nothing. Line 2: column 2 → b.ts 4:1.
    "mappings": "AAAA,IAAQA,KCEN;;EACF",
    "file": "out.js",
}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("A", [0]),
        ("C", [1]),
        ("D", [-1]),
        ("gB", [16]),
        ("hB", [-16]),
        ("AAgBC", [0, 0, 16, 1]),
        ("+/////D", [2147483647]),
    ],
)
def test_numbers_of_a_segment_are_read(text: str, numbers: list[int]) -> None:
    assert decode_vlq(text) == numbers


@pytest.mark.parametrize("text", ["g", "!", "Ag", ""])
def test_a_broken_segment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="source map"):
        decode_vlq(text)


def test_the_last_mapping_before_a_position_counts() -> None:
    found = dict(look_up(MAP, {(0, 0), (0, 3), (0, 4), (0, 8), (0, 30), (2, 5)}))
    assert found == {
        (0, 0): Location("src/a.ts", 1, 1),
        (0, 3): Location("src/a.ts", 1, 1),
        (0, 4): Location("src/a.ts", 1, 9),
        (0, 8): Location("src/a.ts", 1, 9),
        (0, 30): Location("src/b.ts", 3, 3),
        (2, 5): Location("src/b.ts", 4, 1),
    }


def test_positions_without_a_mapping_are_left_out() -> None:
    assert dict(look_up(MAP, {(1, 0), (2, 0), (7, 0)})) == {}


def test_a_map_of_sections_is_read_by_their_offsets() -> None:
    sections = {
        "version": 3,
        "sections": [
            {"offset": {"line": 0, "column": 0}, "map": {**MAP, "sources": ["one.ts", "b.ts"]}},
            {"offset": {"line": 5, "column": 10}, "map": {**MAP, "sources": ["two.ts", "b.ts"]}},
        ],
    }
    found = dict(look_up(sections, {(0, 4), (5, 14), (7, 5), (5, 3)}))
    assert found[0, 4] == Location("src/one.ts", 1, 9)
    assert found[5, 14] == Location("src/two.ts", 1, 9)
    assert found[7, 5] == Location("src/b.ts", 4, 1)
    assert (5, 3) not in found


def test_a_line_that_keeps_a_map_from_being_run_is_passed_over() -> None:
    assert parse_map(")]}'\n" + json.dumps(MAP)) == MAP
    assert parse_map("[]") is None
