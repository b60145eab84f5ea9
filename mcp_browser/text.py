"""Text for a model: what may stand in it, how much, and how a page's text is kept from passing for ours.

What comes from a page is cleaned (`clean_text`), then kept from looking like ours: as words in one of our
sentences by `quoted`, as lines of its own by `plain_lines`. The frame around it is guarded by `rendering`.
"""

import re
from collections.abc import Callable
from json import dumps
from typing import Any, cast

CHARACTERS_A_TOKEN = 4  # How budgets in tokens are counted in characters
SURROGATES = re.compile("[\ud800-\udfff]")

_LINE_ENDS = re.compile("\r\n?")
_OTHER_SPACES = re.compile("[\x0b\x0c\x85\u2028\u2029]")  # They end a line for some readers, for others not
_NO_CHARACTERS = "".join(
    f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0xF0000, 0x10000)
)
_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # Control characters
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # Default ignorable
    "\U000e0000-\U000e0fff"  # Tags and variation selectors
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # Private use: pictures of icon fonts
    f"\ufdd0-\ufdef{_NO_CHARACTERS}]"
)
"""What nobody sees: Unicode's Default_Ignorable_Code_Point, controls, private use, what is no character."""

_ELEMENT = re.compile(
    r'^(?=[^\S\n]*+(?:[-+~=]\s)?[^\S\n]*+\*?[^\S\n]*+\[\d++\]\s++(?:\S++\s++"|row\s++\|))', re.MULTILINE
)
_ROW = re.compile(r"^[^\S\n]*+(?:[-+~=]\s)?[^\S\n]*+\|.*$", re.MULTILINE)
_INDEX = re.compile(r"(?<!\\)\[(?=\d+\])")

LONGEST_QUOTE = 200  # How much of another text, unless it is said


def clean_text(text: str) -> str:
    """Text that every client can take, without what a person does not see: controls, fillers, marks, tags."""
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        text = _LINE_ENDS.sub("\n", text)
    # A text has far fewer characters of a kind than characters.
    met = "".join(set(text))
    table: dict[int, str | None] = dict.fromkeys(map(ord, _UNSEEN.findall(met)))
    table |= dict.fromkeys(map(ord, _OTHER_SPACES.findall(met)), " ")
    table |= dict.fromkeys(map(ord, SURROGATES.findall(met)), "\ufffd")
    return text.translate(table) if table else text


def escape_unseen(json: str) -> str:
    """The same JSON, in which what nobody sees is written as escapes."""
    return _UNSEEN.sub(lambda found: dumps(found[0])[1:-1], json)


def in_texts(value: Any, change: Callable[[str], str], *, keys: bool = True) -> Any:
    """A value of JSON with all texts in it changed, keys included unless they are not to be."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return [in_texts(part, change, keys=keys) for part in cast("list[Any]", value)]
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {
                change(str(key)) if keys else key: in_texts(part, change, keys=keys) for key, part in items
            }
        case _:
            return value


def one_line(text: str, limit: int = LONGEST_QUOTE) -> str:
    """Cleaned text on one line, cut where it is longer than `limit` characters."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= limit else f"{line[:limit]}…"


def quoted(text: str, limit: int = LONGEST_QUOTE) -> str:
    r"""What a page says, as a sentence of ours repeats it: `"one line"`, with `"` and `\` escaped."""
    line = one_line(text, limit).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{line}"'


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `1,200 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plain_lines(text: str) -> str:
    r"""Text of which no line, nor a part of a row, can be taken for an element's: `\[7] button "Pay"`."""
    if "[" not in text:
        return text
    return _ROW.sub(lambda row: _INDEX.sub(r"\\[", row[0]), _ELEMENT.sub(r"\\", text))


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there are."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"
