"""Keys, combinations, sequences, and texts without keys."""

import re
import string
from difflib import get_close_matches
from typing import Annotated

from pydantic import Field

from mcp_browser.actions.code import PLACEHOLDER, Code
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.element import describe_element
from mcp_browser.dom.named import OptionalIndex
from mcp_browser.errors import InvalidArguments
from mcp_browser.text import counted

keyboard = Registry(group="core")

_ALIASES = {
    "ctrl": "Control",
    **dict.fromkeys(("cmd", "command", "win", "windows", "super"), "Meta"),
    **dict.fromkeys(("option", "opt"), "Alt"),
    **dict.fromkeys(("mod", "cmdorctrl"), "ControlOrMeta"),
    **{side: f"Arrow{side.title()}" for side in ("up", "down", "left", "right")},
    "pgup": "PageUp",
    **dict.fromkeys(("pgdn", "pagedn"), "PageDown"),
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "spacebar": "Space",
    "plus": "+",
}
_MODIFIERS = ("Control", "Shift", "Alt", "Meta", "ControlOrMeta")
_NAMED = (
    *_MODIFIERS,
    *(f"F{number}" for number in range(1, 13)),
    *(f"{kind}{number}" for kind in ("Digit", "Numpad") for number in range(10)),
    *(f"Key{letter}" for letter in string.ascii_uppercase),
    *(
        "Escape Enter Tab Backspace Delete Insert Space Home End PageUp PageDown ArrowUp ArrowDown ArrowLeft "
        "ArrowRight CapsLock NumLock ScrollLock Pause PrintScreen ContextMenu Clear Minus Equal Backquote "
        "Backslash BracketLeft BracketRight Semicolon Quote Comma Period Slash NumpadAdd NumpadSubtract "
        "NumpadMultiply NumpadDivide NumpadDecimal NumpadEnter AltGraph ShiftLeft ShiftRight ControlLeft "
        "ControlRight AltLeft AltRight MetaLeft MetaRight"
    ).split(),
)
_KEYS = {name.lower(): name for name in _NAMED} | _ALIASES


class SendKeysParams(ActionParams):
    keys: Annotated[str, TYPED_IN] = Field(min_length=1, description='"Control+A", "Tab Tab Enter", or text')
    index: OptionalIndex = Field(None, description="focus this first")


def _send_keys_code(code: Code, params: SendKeysParams) -> None:
    if params.index is not None:
        code.call(code.element(), "focus")
    sequence = None if PLACEHOLDER.search(params.keys) else parse_keys(params.keys)
    if sequence is None:
        code.call(f"{code.page}.keyboard", "type", params.keys)
    for combination in sequence or ():
        code.call(f"{code.page}.keyboard", "press", combination)


@keyboard.action(reach="elements", code=_send_keys_code)
async def send_keys(ctx: ActionContext, params: SendKeysParams) -> str:
    """Press keys, such as Escape, PageDown or Control+A, in order; a text with no key in it is typed."""
    where, meant = "", None
    if params.index is not None:
        element = ctx.tab.element(params.index)
        meant = await element.focus()
        where = f" in {element}"
    # A secret is never keys, and no error may repeat a part of it.
    sequence = None if params.keys in ctx.session.hidden.values() else parse_keys(params.keys)
    if sequence is None:
        if meant is None and (focused := await ctx.tab.ask(ctx.tab.dom.focused())):
            where = f" in {describe_element(focused)}"
        await ctx.tab.input.type(params.keys, meant=meant)
        return f"Typed {counted(len(params.keys), 'character')}{where}."
    for done, combination in enumerate(sequence):
        await ctx.tab.input.press(combination)
        if ctx.tab.held:
            sequence = sequence[: done + 1]
            break
    return f"Pressed {' '.join(sequence)}{where}."


def parse_keys(keys: str) -> list[str] | None:
    """Return the combinations in `keys` in Playwright's names, or None if `keys` is a text to type.

    Combinations are separated by spaces; case does not matter. Next to keys, a single character is a key,
    too; alone, as in "a b", characters are a text. Raises InvalidArguments: a word among keys is no key, or a
    text looks like a misspelt key.
    """
    words = keys.split()
    combinations = [_combination(word) for word in words]
    for word, combination in zip(words, combinations, strict=True):
        near = None if combination else _nearest(word)
        is_alone = combination is None and len(word) > 1
        if (near and (len(words) == 1 or any(combinations))) or (is_alone and any(combinations)):
            raise InvalidArguments(
                f'"{word}" is no key.',
                hint=(f"Did you mean {near}? " if near else "") + "Text goes into a field with input_text.",
            )
    if not any(combinations):
        return None
    return [combination or word for word, combination in zip(words, combinations, strict=True)]


def parse_hotkey(keys: str) -> str | None:
    """Keys to press together, separated by spaces or plus signs, in Playwright's names; None for none."""
    text = keys.strip()
    # In "ctrl++" the last plus sign is the key.
    last = ["+"] if text.endswith("+") else []
    parts = [*(part for part in re.split(r"[\s+]+", text) if part), *last]
    names: list[str] = []
    for part in parts:
        name = _KEYS.get(part.lower(), part.lower() if len(part) == 1 else None)
        if name is None or name in names:
            return None
        names.append(name)
    return "+".join(names) or None


def _nearest(word: str) -> str | None:
    *held, last = [part for part in re.split(r"\+(?=.)", word) if part] or [word]
    if held and not (len(last) == 1 or last.lower() in _KEYS or _close(last)):
        return None
    names = [_KEYS.get(part.lower()) or _close(part) for part in held]
    if not all(names) or not (held or len(word) > 2):  # noqa: PLR2004 - shorter words are near to too many
        return None
    key = _KEYS.get(last.lower()) or (last.upper() if held and len(last) == 1 else _close(last))
    return "+".join([*(name for name in names if name), key]) if key else None


def _close(name: str) -> str | None:
    near = get_close_matches(name.lower(), _KEYS, n=1, cutoff=0.8)
    return _KEYS[near[0]] if near else None


def _combination(word: str) -> str | None:
    # In "Control++" the last plus sign is the key.
    parts = [part for part in re.split(r"\+(?=.)", word) if part]
    *held, last = [_KEYS.get(part.lower(), part) for part in parts] or [word]
    if any(modifier not in _MODIFIERS for modifier in held):
        return None
    if last in _NAMED:
        return "+".join([*held, last])
    if held and len(last) == 1:
        # Playwright takes an upper-case letter for Shift and the letter; in "Control+A" no Shift is meant.
        return "+".join([*held, last if "Shift" in held else last.lower()])
    return None
