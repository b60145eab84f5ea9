"""Which keys use the clipboard, whichever way they are written."""

import pytest

from mcp_browser.browser.clipboard import chord_of
from mcp_browser.errors import InvalidArguments


@pytest.mark.parametrize(
    ("keys", "command"),
    [
        ("Control+c", "copy"),
        ("ControlOrMeta+KeyX", "cut"),
        ("ControlLeft+V", "paste"),
        ("Control+ShiftRight+v", "paste"),
        ("Meta+v", "paste"),
        ("Shift+Insert", "paste"),
        ("Control+Insert", "copy"),
        ("Shift+Delete", "cut"),
        ("Control+Alt+v", None),
        ("Control++", None),
        ("+", None),
        ("v", None),
        ("Insert", None),
    ],
)
def test_keys_that_use_the_clipboard_are_known(keys: str, command: str | None) -> None:
    chord = chord_of(keys)
    assert (chord and chord.command) == command


@pytest.mark.parametrize("keys", ["Control+a+v", "Control+v+a", "Control+CapsLock+v", "Shift+Insert+Tab"])
def test_keys_among_which_some_use_it_are_refused(keys: str) -> None:
    with pytest.raises(InvalidArguments, match="one combination after the other"):
        chord_of(keys)
