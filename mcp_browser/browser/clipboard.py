"""A clipboard for one session: the browser's own is shared by all sessions in its process."""

import re
import secrets
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from playwright.async_api import BrowserContext

from mcp_browser.dom.scripts import copying_script
from mcp_browser.dom.service import DomService
from mcp_browser.errors import InvalidArguments

LONGEST = 1_000_000  # How much is kept, characters
Command = Literal["copy", "cut", "paste"]

_FIELDS = {"ctrl": "Control", "shift": "Shift", "meta": "Meta"}
_KEY_CODES = {"insert": 45, "delete": 46}
_MODIFIERS = frozenset(("Control", "Shift", "Alt", "Meta"))
_KEYS: Mapping[Command, str] = {
    "copy": "Control+c Meta+c Control+insert",
    "cut": "Control+x Meta+x Shift+delete",
    "paste": "Control+v Control+Shift+v Meta+v Meta+Shift+v Shift+insert",
}
_COMMANDS: Mapping[frozenset[str], Command] = {
    frozenset(keys.split("+")): command for command, chords in _KEYS.items() for keys in chords.split()
}


class Chord(NamedTuple):
    """Keys of a clipboard command: a lower-case key, and the modifiers that are held."""

    command: Command
    held: frozenset[str]
    key: str


def chord_of(keys: str) -> Chord | None:
    """The clipboard command in these keys; None for none. Raises InvalidArguments: they do more than that."""
    held: set[str] = set()
    others = 0
    found: list[Chord] = []
    for name in re.findall(r"[^+]+|\+(?=\+|$)", keys):
        modifier = re.sub(r"(?:Left|Right|OrMeta)$", "", name)
        if modifier in _MODIFIERS:
            held.add(modifier)
            continue
        others += 1
        key = name.removeprefix("Key").lower()
        if command := _COMMANDS.get(frozenset((*held, key))):
            found.append(Chord(command, frozenset(held), key))
    if found and others > 1:
        raise InvalidArguments(
            f"{keys} does more than to {found[0].command}.", hint="Press one combination after the other."
        )
    return found[0] if found else None


class Clipboard:
    """What one session has copied, by MIME type."""

    def __init__(self) -> None:
        self._data: dict[str, str] = {}

    async def use(self, dom: DomService, chord: Chord) -> None:
        """Copy, cut or paste at the focus, as these keys do."""
        letter = len(chord.key) == 1
        copied = await dom.use_clipboard(
            chord.command,
            {
                "key": chord.key if letter else chord.key.capitalize(),
                "code": f"Key{chord.key.upper()}" if letter else chord.key.capitalize(),
                "keyCode": ord(chord.key.upper()) if letter else _KEY_CODES[chord.key],
                **{f"{name}Key": modifier in chord.held for name, modifier in _FIELDS.items()},
            },
            self._data if chord.command == "paste" else {},
        )
        if copied is not None:
            self._keep(None, copied)

    async def follow(self, context: BrowserContext) -> None:
        """Keep what the pages of a context put on the clipboard by themselves."""
        name = f"x{secrets.token_hex(12)}"
        await cast("Any", context).expose_binding(name, self._keep)
        await context.add_init_script(copying_script(name))

    def _keep(self, _source: object, data: object) -> None:
        # A page can call this with anything; it only changes its own session's clipboard.
        if isinstance(data, dict):
            pairs = cast("dict[object, object]", data).items()
            texts = {key: text for key, text in pairs if isinstance(key, str) and isinstance(text, str)}
            if sum(map(len, texts.values())) <= LONGEST:
                self._data = texts
