"""What is a key, what is a text."""

import pytest

from mcp_browser.actions.keyboard import parse_keys


@pytest.mark.parametrize(
    ("keys", "combinations"),
    [
        ("Enter", ["Enter"]),
        ("enter", ["Enter"]),
        ("Control+A", ["Control+a"]),
        ("ctrl+shift+T", ["Control+Shift+T"]),
        ("Cmd+Enter", ["Meta+Enter"]),
        ("ControlOrMeta+c", ["ControlOrMeta+c"]),
        ("controlormeta+C", ["ControlOrMeta+c"]),
        ("Control++", ["Control++"]),
        ("Shift+plus", ["Shift++"]),
        ("Tab Tab Enter", ["Tab", "Tab", "Enter"]),
        ("Control+a  Delete", ["Control+a", "Delete"]),
        ("Esc", ["Escape"]),
        ("PgDn", ["PageDown"]),
        ("Alt+Left", ["Alt+ArrowLeft"]),
        ("F5", ["F5"]),
        ("Shift", ["Shift"]),
        ("Numpad7", ["Numpad7"]),
        ("KeyA", ["KeyA"]),
    ],
)
def test_keys_are_known_by_their_names(keys: str, combinations: list[str]) -> None:
    assert parse_keys(keys) == combinations


@pytest.mark.parametrize(
    "text", ["a", "hello", "a b", "C++", "+", "1+1", "Enter here", "Control+Nonsense", "  ", "é", "😀"]
)
def test_anything_else_is_a_text(text: str) -> None:
    assert parse_keys(text) is None
