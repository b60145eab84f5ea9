"""Points of a picture as models write them, and their places in the view. Pure functions.

=========================  ====================================================================
`320,200@1280x720`         pixels of a picture of that size
`320,200`                  pixels of the picture that was shown last
`[0.25,0.3,0.25,0.3]`      a box in parts of the picture's sides, 0 to 1; its middle is meant
`[250,300,260,310]`        a box in thousandths of the picture's sides; its middle is meant
`[100,50,140,70@640x360]`  a box in pixels of a picture of that size; the size may follow the bracket
=========================  ====================================================================

Round brackets, spaces between numbers and the marks that some models put around boxes make no difference.
Two numbers in square brackets are a point in parts of the sides where neither is more than 1; otherwise they
could be thousandths or pixels, and are refused.
"""

import re
from typing import Annotated, Any, cast

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from mcp_browser.dom.models import Frozen, Size
from mcp_browser.errors import InvalidArguments

_MARKS = re.compile(r"</?(?:point|bbox)>|<\|(?:box|point)_(?:start|end)\|>", re.IGNORECASE)
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_TEXT = re.compile(
    rf"(?P<open>[\[(])?\s*(?P<numbers>{_NUMBER}(?:(?:\s*,\s*|\s+){_NUMBER})*)\s*"
    r"(?P<inner>@[^\])]*)?(?P<close>[\])])?\s*(?P<outer>@.*)?",
    re.DOTALL,
)
_SIZE = re.compile(r"@\s*([1-9]\d{0,5})\s*[xX*]\s*([1-9]\d{0,5})\s*")
_FORMS = "Write x,y or x,y@WIDTHxHEIGHT in pixels of the picture, or a normalised box [x1,y1,x2,y2]."
_LONGEST = 200

THOUSAND = 1000


class Coordinates(Frozen):
    """A point, or the middle of a box, as it was written in `text`.

    `x` and `y` are pixels of a picture of `size` (None: of the last one shown), or, if `normalised`,
    fractions of its sides.
    """

    text: str
    x: float
    y: float
    normalised: bool = False
    size: Size | None = None

    def __str__(self) -> str:
        return self.text

    def in_view(self, view: Size, *, shown: Size | None = None) -> tuple[int, int]:
        """The point in whole CSS pixels; `shown` is the last picture's size. Raises InvalidArguments."""
        picture = self.size or shown or view
        x, y = (self.x * picture.width, self.y * picture.height) if self.normalised else (self.x, self.y)
        if not (0 <= x <= picture.width and 0 <= y <= picture.height):
            raise InvalidArguments(
                f"The point {self.text} is outside the picture, which is {picture}.",
                hint="Scroll to what lies outside of it, or take a new picture with screenshot.",
            )
        # The far edge of the picture still means its last pixel.
        return (
            min(round(x * view.width / picture.width), view.width - 1),
            min(round(y * view.height / picture.height), view.height - 1),
        )


def parse_coordinates(given: object) -> Coordinates:
    """The point that a text or a list of two or four numbers means; raises ValueError."""
    match given:
        case Coordinates():
            return given
        case str():
            return _parse_text(given)
        case list() | tuple():
            numbers = cast("list[Any] | tuple[Any, ...]", given)
            if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers):
                raise ValueError(f"a point is made of numbers. {_FORMS}")
            return _parse_text(f"[{','.join(str(number) for number in numbers)}]")
        case _:
            raise ValueError(f"a point is a text. {_FORMS}")


def _parse_text(text: str) -> Coordinates:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    found = _TEXT.fullmatch(_MARKS.sub(" ", text).strip()) if len(text) <= _LONGEST else None
    if found is None or (found["open"], found["close"]) not in ((None, None), ("[", "]"), ("(", ")")):
        raise ValueError(f"{shown!r} is no point. {_FORMS}")
    if found["inner"] and found["outer"]:
        raise ValueError(f"{shown!r} names two sizes. {_FORMS}")
    size = None
    if written := found["inner"] or found["outer"]:
        if (sides := _SIZE.fullmatch(written)) is None:
            raise ValueError(f"{written!r} in {shown!r} is no size such as @1280x720. {_FORMS}")
        size = Size(width=int(sides[1]), height=int(sides[2]))
    numbers = [float(number) for number in re.split(r"[\s,]+", found["numbers"])]
    squared = found["open"] == "["
    parts = all(abs(number) <= 1 for number in numbers)
    match len(numbers):
        case 2 if size is None and parts and not squared and "." in found["numbers"]:
            raise ValueError(
                f"{shown!r} is less than a pixel: for parts of the picture's sides write [{found['numbers']}]"
            )
        case 2 if size is None and squared and not parts:
            plain = found["numbers"]
            raise ValueError(
                f"{shown!r} could be pixels or thousandths: write {plain} for pixels, "
                f"[{plain},{plain}] for thousandths."
            )
        case 2:
            x, y = numbers
            return Coordinates(text=text, x=x, y=y, normalised=size is None and squared, size=size)
        case 4:
            left, top, right, bottom = numbers
            x, y = (left + right) / 2, (top + bottom) / 2
            if size is not None:
                return Coordinates(text=text, x=x, y=y, size=size)
            whole = 1 if parts else THOUSAND
            # Other numbers are most likely pixels.
            if any(not 0 <= number <= whole for number in numbers):
                raise ValueError(
                    f"{shown!r} is outside the picture: its sides are 0 to 1, or 0 to 1000. "
                    "For a box in pixels add @WIDTHxHEIGHT, the size of the picture."
                )
            return Coordinates(text=text, x=x / whole, y=y / whole, normalised=True)
        case count:
            raise ValueError(f"{shown!r} has {count} numbers: a point has 2, a box 4. {_FORMS}")


Point = Annotated[
    Coordinates, PlainValidator(parse_coordinates), PlainSerializer(str), WithJsonSchema({"type": "string"})
]
"""A point of the picture, as an argument of an action."""
