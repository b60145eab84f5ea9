"""Read Thought and Action as vision agents write them. Pure functions.

A prediction is a text such as

    Thought: I see the search box.
    Action: click(start_box='(320,200)')

Other shapes that such models put out are read as well: `Reflection: … Action_Summary: … Action: …`;
`<Thought>…</Thought> … <Output>…</Output>`; calls as JSON (`{"name": "click", "arguments": {…}}`, one or
several, also in `<tool_call>` tags); calls as XML (`<function=click><parameter=start_box>…`). A full-width
colon after `Action` counts as a colon; several actions stand apart by blank lines or lines; of several
`Action:` the last one wins; where there is none, a text that is a call is one.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

from mcp_browser.errors import InvalidOutput

PATCH = 28  # Sides of the picture that UI-TARS 1.5 sees are multiples of this, in pixels
LEAST_PIXELS = 100 * PATCH * PATCH
MOST_PIXELS = 16_384 * PATCH * PATCH
MOST_ASPECT = 200

THOUSAND = 1000.0

Scale = Literal["pixels", "thousandths", "unit"]
"""What a model's numbers are: pixels of the picture as the model resizes it, thousandths of the picture's
sides, or parts of them from 0 to 1."""

_TARS = re.compile(r"ui[-_ ]?tars")
_TARS_1_5 = re.compile(r"ui[-_ ]?tars[-_ ]?v?1[._-]5")
_RELATIVE = re.compile(r"doubao|seed[-_]?1[._-][5-9]|seed[-_]?vl")  # ByteDance's own service

_ACTION = re.compile(r"(?<![A-Za-z_])Action\s*[:：]", re.IGNORECASE)  # noqa: RUF001 - a full-width colon
_ACTION_LINE = re.compile(r"^[^\w\n]*+Action\s*+[:：]", re.IGNORECASE | re.MULTILINE)  # noqa: RUF001 - the same
_THOUGHTS = (
    re.compile(r"<(?P<tag>thought|think|thinking)>(?P<text>.*?)</(?P=tag)>", re.IGNORECASE | re.DOTALL),
    re.compile(
        r"Reflection\s*[:：]\s*(?P<text>.*?)(?=\s*(?:(?<![A-Za-z_])Action\s*[:：]|$))",  # noqa: RUF001
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"(?:Thought|Action_Summary)\s*[:：]\s*(?P<text>.*?)"  # noqa: RUF001 - a full-width colon
        r"(?=\s*(?:(?<![A-Za-z_])Action\s*[:：]|<output>|<tool_call|<function=|$))",  # noqa: RUF001
        re.IGNORECASE | re.DOTALL,
    ),
)
_OUTPUT = re.compile(r"<output>(.*?)(?:</output>|$)", re.IGNORECASE | re.DOTALL)
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.IGNORECASE | re.DOTALL)
_FUNCTION = re.compile(
    r"<(?:function|invoke)(?:=|\s+name=)[\"']?(?P<name>[\w.]+)[\"']?>(?P<body>.*?)</(?:function|invoke)>",
    re.IGNORECASE | re.DOTALL,
)
_PARAMETER = re.compile(
    r"<parameter(?:=|\s+name=)[\"']?(?P<name>\w+)[\"']?>(?P<value>.*?)</parameter>", re.IGNORECASE | re.DOTALL
)
_CALL = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\((?P<inside>.*)\)\s*;?\s*\Z", re.DOTALL)
_CALL_STARTS = re.compile(r"(?m)^[^\S\n]*+(?:\d++[.)]\s*+|[-*`]\s*+)?(?=[A-Za-z_]\w*+\s*+\()")
_NAMED = re.compile(r"(?:^|,)\s*(?P<name>[A-Za-z_]\w*)\s*=\s*")
_MARKS = re.compile(r"</?(?:point|bbox)>|<\|(?:box|point)_(?:start|end)\|>", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
_BRACKETS = str.maketrans("[](),;", "      ")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

_FIRST_ARGUMENT = {"type": "content", "hotkey": "key", "press": "key", "navigate": "url"}
_ALIASES = {
    **dict.fromkeys(("point", "start_point", "box", "coordinate"), "start_box"),
    "end_point": "end_box",
    "text": "content",
    "keys": "key",
}
_KNOWN = {"start_box", "end_box", "key", "content", "direction", "url", *_ALIASES}


class GuiAction(NamedTuple):
    """An action as written, with a name in lower case; `start_box` and `end_box` hold points."""

    name: str
    arguments: dict[str, str]


def scale_for(*models: str) -> Scale:
    """The scale of a model's numbers, by the first of its names that is known.

    UI-TARS 1.0 and 2 and the models of ByteDance's own service (Doubao, Seed, its UI-TARS 1.5) write
    thousandths; the open UI-TARS 1.5 writes pixels, which are also assumed of other models.
    """
    for model in models:
        name = model.casefold()
        if _RELATIVE.search(name):
            return "thousandths"
        if _TARS.search(name):
            return "pixels" if _TARS_1_5.search(name) else "thousandths"
    return "pixels"


def parse_prediction(text: str) -> tuple[str, list[GuiAction]]:
    """The thought and the actions in an agent's output; raises InvalidOutput, which says how to write it."""
    thought = next((found["text"].strip() for kind in _THOUGHTS if (found := kind.search(text))), "")
    actions = list(_actions_in(text))
    if not actions:
        raise InvalidOutput("There is no action in the answer. End it with a line such as: Action: wait()")
    return thought, actions


def parse_spot(text: str) -> tuple[float, float]:
    """The middle of a box; two numbers are the point itself. Zero is a number, too. Raises InvalidOutput."""
    words = _MARKS.sub(" ", text).translate(_BRACKETS).split()
    match [float(word) for word in words if _NUMBER.fullmatch(word)]:
        case [x, y] if len(words) == 2:  # noqa: PLR2004 - as many as there are numbers
            return x, y
        case [left, top, right, bottom] if len(words) == 4:  # noqa: PLR2004 - the same
            return (left + right) / 2, (top + bottom) / 2
        case _:
            raise InvalidOutput(f"{text[:100]!r} is no point: write (x,y) or [x1,y1,x2,y2].")


def resized(width: int, height: int) -> tuple[int, int]:
    """The size in which UI-TARS 1.5 sees a picture; its coordinates are pixels of it.

    As in Qwen2-VL's image processor, sides are rounded to multiples of 28 and the picture is scaled to
    between 100 and 16,384 patches of 28 by 28 pixels. Raises ValueError if a side is 200 times the other.
    """
    if min(width, height) <= 0 or max(width, height) / min(width, height) > MOST_ASPECT:
        raise ValueError(f"a picture of {width}x{height} is too narrow")

    def whole(side: float, rounded: Callable[[float], int]) -> int:
        return max(PATCH, rounded(side / PATCH) * PATCH)

    fitted_w, fitted_h = whole(width, round), whole(height, round)
    if fitted_w * fitted_h > MOST_PIXELS:
        shrink = (width * height / MOST_PIXELS) ** 0.5
        return whole(width / shrink, math.floor), whole(height / shrink, math.floor)
    if fitted_w * fitted_h < LEAST_PIXELS:
        grow = (LEAST_PIXELS / (width * height)) ** 0.5
        return whole(width * grow, math.ceil), whole(height * grow, math.ceil)
    return fitted_w, fitted_h


def as_coordinates(box: str, *, scale: Scale, width: int, height: int) -> str:
    """A point for the mouse's actions, from a box as written and the size of its picture in pixels.

    Two numbers up to 1 are fractions of the sides; with thousandths only if one of them has a fraction.
    Raises InvalidOutput, which says how to write one.
    """
    x, y = parse_spot(box)
    small = 0 <= x <= 1 and 0 <= y <= 1 and (x or y)
    if scale == "pixels" and not small:
        seen_w, seen_h = resized(width, height)
        return f"{x:g},{y:g}@{seen_w}x{seen_h}"
    if scale == "thousandths" and not (small and (x % 1 or y % 1)):
        x, y = x / THOUSAND, y / THOUSAND
    return f"[{x:g},{y:g},{x:g},{y:g}]"


def _actions_in(text: str) -> Iterator[GuiAction]:
    for found in _FUNCTION.finditer(text):
        given = {parameter["name"]: parameter["value"] for parameter in _PARAMETER.finditer(found["body"])}
        yield _action(found["name"], given)
    if _FUNCTION.search(text):
        return
    pieces = [found[1] for found in _TOOL_CALL.finditer(text)]
    if not pieces:
        output = _OUTPUT.search(text)
        body = output[1] if output and output[1].strip() else text
        # A text to type may hold the word, so that lines count before places within them.
        starts = [found.end() for found in _ACTION_LINE.finditer(body)]
        within = _ACTION.search(body)
        start = starts[-1] if starts else within.end() if within else 0
        pieces = [body[start:]]
    for piece in pieces:
        calls = list(_json_calls(piece.strip().removeprefix("```json").strip("`\n ")))
        yield from calls or _written_calls(piece)


def _json_calls(piece: str) -> Iterator[GuiAction]:
    try:
        content: object = json.loads(piece)
    except (ValueError, RecursionError):
        return
    entries = cast("list[object]", content) if isinstance(content, list) else [content]
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        call = cast("Mapping[str, Any]", entry)
        if isinstance(call.get("function"), dict):
            call = cast("Mapping[str, Any]", call["function"])
        name = call.get("name") or call.get("action") or call.get("action_type")
        keys = [key for key in ("arguments", "parameters", "args", "action_inputs") if key in call]
        given: object = call[keys[0]] if keys else cast("object", {})
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError as error:
                raise InvalidOutput(f"The arguments of {name} are not JSON.") from error
        if isinstance(name, str) and isinstance(given, dict):
            yield _action(name, cast("dict[str, Any]", given))


def _written_calls(piece: str) -> Iterator[GuiAction]:
    """Calls as in a programming language, one per line or separated by blank lines."""
    starts = sorted({found.end() for found in _CALL_STARTS.finditer(piece)})
    whole: list[str] = []
    for start, end in pairwise([*starts, len(piece)]):
        written = re.split(r"\n\s*(?:\d+[.)]|[-*])\s*\Z", piece[start:end])[0].strip().strip("`").strip()
        # A text to type may itself have lines that look like calls: then the call before is not closed yet.
        if whole and not whole[-1].rstrip().endswith(")"):
            whole[-1] += f"\n{written}"
        else:
            whole.append(written)
    for written in whole:
        found = _CALL.match(written) or _CALL.match(f"{written})")
        if found is not None:
            yield _action(found["name"], _arguments(found["name"], found["inside"].strip()))


def _arguments(name: str, inside: str) -> dict[str, str]:
    if not inside:
        return {}
    try:
        read = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(read, ast.Call)
        named = {word.arg: _literal(word.value, inside) for word in read.keywords if word.arg}
        if read.args and not named:
            values = ",".join(_literal(value, inside) for value in read.args)
            return {_FIRST_ARGUMENT.get(name.lower(), "start_box"): values}
        return named
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _loose_arguments(name, inside)


def _literal(value: ast.expr, inside: str) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return ast.get_source_segment(f"f({inside})", value) or ""


def _loose_arguments(name: str, inside: str) -> dict[str, str]:
    """Arguments with unescaped quotes in a text, or marks outside of quotes."""
    starts = list(_NAMED.finditer(inside))
    starts = [found for found in starts if found["name"].lower() in _KNOWN] or starts[:1]
    if not starts:
        return {_FIRST_ARGUMENT.get(name.lower(), "start_box"): _unquoted(inside)}
    ends = [found.start() for found in starts[1:]] + [len(inside)]
    return {
        found["name"]: _unquoted(inside[found.end() : end]) for found, end in zip(starts, ends, strict=True)
    }


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] in "'\"" and len(text) > 1 and text[-1] == text[0]:
        text = text[1:-1]
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)


def _action(name: str, given: Mapping[str, Any]) -> GuiAction:
    arguments: dict[str, str] = {}
    for key, value in given.items():
        plain = key.lower()
        text = value if isinstance(value, str) else json.dumps(value)
        arguments[_ALIASES.get(plain, plain)] = text
    return GuiAction(name.strip().lower(), arguments)
