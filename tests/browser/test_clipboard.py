"""Which keys use the clipboard, whichever way they are written."""

import pytest

from mcp_browser.browser.clipboard import chord_of
from mcp_browser.errors import InvalidArguments

KEYS = {
    "copy": "Control+c Control+Insert",
    "cut": "ControlOrMeta+KeyX Shift+Delete",
    "paste": "ControlLeft+V Control+ShiftRight+v Meta+v Shift+Insert",
    None: "Control+Alt+v Control++ + v Insert",
}


@pytest.mark.parametrize("command", KEYS)
def test_keys_that_use_the_clipboard_are_known(command: str | None) -> None:
    chords = [chord_of(keys) for keys in KEYS[command].split()]
    assert {chord and chord.command for chord in chords} == {command}


@pytest.mark.parametrize("keys", ["Control+a+v", "Control+v+a", "Control+CapsLock+v", "Shift+Insert+Tab"])
def test_keys_among_which_some_use_it_are_refused(keys: str) -> None:
    with pytest.raises(InvalidArguments, match="one combination after the other"):
        chord_of(keys)
