"""Mouse and keyboard at points of the picture; results name what was hit and have a new picture.

Models write points as:

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

import math
import re
from itertools import pairwise
from typing import Annotated, Any, Literal, cast

import anyio
from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from mcp_browser.actions.code import Code, NoEquivalent
from mcp_browser.actions.keyboard import parse_hotkey
from mcp_browser.actions.observing import view_size
from mcp_browser.actions.registry import TYPED_IN, ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.element import DROP_SECONDS, FieldValue, describe_element
from mcp_browser.browser.input import Button, Modifier
from mcp_browser.dom.models import Frozen, PointHit, Size
from mcp_browser.errors import InvalidArguments
from mcp_browser.text import counted

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

mouse = Registry(group="mouse")

STEP = 12  # How far apart the points are that a drag goes through, CSS pixels
MOST_STEPS = 40
USUAL_WHEEL = 600  # How far a script turns the wheel by one view, CSS pixels

CLICKS = {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}

Side = Literal["down", "up", "left", "right"]

_WHEEL: dict[Side, tuple[int, int]] = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0)}


class MouseClickParams(ActionParams):
    at: Point = Field(description="x,y in pixels of the last picture, x,y@WxH, or a normalised [x1,y1,x2,y2]")
    button: Button = "left"
    clicks: Literal[1, 2, 3] = Field(1, description="2: double click")
    modifiers: tuple[Modifier, ...] = Field((), description="keys held meanwhile")
    hold: float = Field(0, ge=0, le=30, description="seconds pressed")


class MouseDragParams(ActionParams):
    start: Point = Field(description="as in mouse_click")
    end: Point = Field(description="where to let go")
    via: tuple[Point, ...] = Field((), description="points between")
    button: Button = "left"
    modifiers: tuple[Modifier, ...] = Field((), description="keys held meanwhile")


class MouseWheelParams(ActionParams):
    direction: Side = "down"
    at: Point | None = Field(None, description="default: the cursor")
    pixels: int | None = Field(None, gt=0, le=100_000, description="default: one view")
    modifiers: tuple[Modifier, ...] = Field((), description="keys held meanwhile")


def _click_code(code: Code, params: MouseClickParams) -> None:
    options = params.model_dump(include={"button", "modifiers"}, exclude_defaults=True)
    if params.clicks > 1:
        options["click_count"] = params.clicks
    if params.hold:
        options["delay"] = params.hold * 1000
    code.call(code.element("at"), "click", position=code.position("at"), **options)


@mouse.action(
    reach="elements", pictured=True, own_time=lambda params: params.hold * params.clicks, code=_click_code
)
async def mouse_click(ctx: ActionContext, params: MouseClickParams) -> str:
    """Click at a point of the picture."""
    tab = ctx.tab
    x, y = await _locate(ctx, params.at)
    hit = await tab.ask(tab.dom.at_point(x, y))
    about_list = await _about_list(ctx, hit) if params.button == "left" else ""
    async with tab.input.holding(params.modifiers):
        await tab.input.move(x, y)
        for count in range(1, params.clicks + 1):
            if tab.held:
                break
            await tab.input.down(button=params.button, clicks=count)
            try:
                if params.hold:
                    await anyio.sleep(params.hold)
            finally:
                await tab.input.up(button=params.button, clicks=count)
    which = "" if params.button == "left" else f" with the {params.button} button"
    how = f" holding {'+'.join(params.modifiers)}" if params.modifiers else ""
    return f"{CLICKS[params.clicks]} at {x},{y}{which}{how}: {_hit(hit)}.{about_list}"


@mouse.action(
    reach="view",
    pictured=True,
    code=lambda code, _: code.call(code.element("at"), "hover", position=code.position("at")),
)
async def mouse_move(ctx: ActionContext, at: Point = Field(description="as in mouse_click")) -> str:
    """Move the mouse to a point of the picture."""
    x, y = await _locate(ctx, at)
    hit = await ctx.tab.ask(ctx.tab.dom.at_point(x, y))
    await ctx.tab.input.move(x, y)
    return f"The mouse is at {x},{y}: {_hit(hit)}."


def _drag_code(code: Code, params: MouseDragParams) -> None:
    if params.via:
        raise NoEquivalent("it goes by points of a picture")
    ends = {"source_position": code.position("start"), "target_position": code.position("end")}
    code.call(code.element("start"), "drag_to", code.element("end"), **ends)


@mouse.action(reach="elements", pictured=True, code=_drag_code)
async def mouse_drag(ctx: ActionContext, params: MouseDragParams) -> str:
    """Drag from one point of the picture to another."""
    tab = ctx.tab
    points = [await _locate(ctx, point) for point in (params.start, *params.via, params.end)]
    (x, y), (end_x, end_y) = points[0], points[-1]
    taken = await tab.ask(tab.dom.at_point(x, y))
    await tab.input.check_at(x, y)
    await tab.input.check_at(end_x, end_y)
    async with tab.input.holding(params.modifiers):
        await tab.input.move(x, y)
        await tab.input.down(button=params.button)
        try:
            for here, there in pairwise(points):
                if tab.held:
                    break
                steps = min(MOST_STEPS, max(2, math.ceil(math.dist(here, there) / STEP)))
                await tab.input.move(*there, steps=steps)
            # A drop target takes the drop only after it has seen the pointer over itself.
            await tab.input.move(end_x, end_y)
            if not tab.held:
                # Many lists sort themselves only with the next frame.
                await tab.ask(tab.dom.settle(limit=DROP_SECONDS))
                await tab.input.move(end_x, end_y)
        finally:
            await tab.input.up(button=params.button)
    return f"Dragged from {x},{y} ({_hit(taken)}) to {end_x},{end_y}."


def _wheel_code(code: Code, params: MouseWheelParams) -> None:
    if params.at is not None:
        code.call(code.element("at"), "hover", position=code.position("at"))
    pixels = params.pixels or USUAL_WHEEL
    code.call(f"{code.page}.mouse", "wheel", *(side * pixels for side in _WHEEL[params.direction]))


@mouse.action(reach="view", pictured=True, code=_wheel_code)
async def mouse_wheel(ctx: ActionContext, params: MouseWheelParams) -> str:
    """Turn the wheel at a point of the picture."""
    tab = ctx.tab
    view = await view_size(tab)
    if params.at is not None:
        x, y = await _locate(ctx, params.at)
    elif tab.cursor is not None:
        x, y = round(tab.cursor[0]), round(tab.cursor[1])
    else:
        x, y = view.width // 2, view.height // 2
    right, down = _WHEEL[params.direction]
    pixels = params.pixels or (view.width if right else view.height)
    async with tab.input.holding(params.modifiers):
        await tab.input.move(x, y)
        await tab.input.wheel(right * pixels, down * pixels)
    how = f" holding {'+'.join(params.modifiers)}" if params.modifiers else ""
    return f"Turned the wheel {params.direction} by {pixels} px at {x},{y}{how}."


@mouse.action(
    reach="elements",
    pictured=True,
    code=lambda code, params: code.call(f"{code.page}.keyboard", "type", params.text),
)
async def type_text(
    ctx: ActionContext,
    text: Annotated[str, TYPED_IN] = Field(min_length=1, description="a line end presses Enter"),
) -> str:
    """Type into what has the focus."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    focused = await ctx.tab.ask(ctx.tab.dom.focused())
    if "\n" in text:
        # First, so that a person is asked before anything is typed.
        await ctx.tab.input.check_keys(enter=True)
    went = await ctx.tab.input.type(text)
    typed = text.rstrip("\n")
    enters = len(text) - len(typed)
    what = [f"Typed {counted(len(typed), 'character')}"] if typed else []
    if enters:
        what.append("pressed Enter" + (f" {enters} times" if enters > 1 else ""))
    where = f" in {describe_element(focused)}" if focused else "; nothing on the page has the focus"
    message = " and ".join(what)
    message = f"{message[0].upper()}{message[1:]}{where}."
    field = FieldValue.model_validate(went.field) if went.field and not enters else None
    if went.last != went.first and not ctx.tab.held and (last := await ctx.tab.ask(ctx.tab.dom.focused())):
        message += f" The focus is now on {describe_element(last)}."
    elif field is not None and not field.holds(typed, within=True):
        message += field.instead
    return message


@mouse.action(
    reach="elements",
    pictured=True,
    code=lambda code, params: code.call(
        f"{code.page}.keyboard", "press", parse_hotkey(params.keys) or params.keys
    ),
)
async def hotkey(
    ctx: ActionContext, keys: str = Field(min_length=1, description='"ctrl shift t" or "ctrl+a"')
) -> str:
    """Press keys together."""
    combination = parse_hotkey(keys)
    if combination is None:
        raise InvalidArguments(
            f"{keys!r} are no keys to press together.",
            hint='Name keys such as "ctrl c", "alt+left", "enter"; for a text use type_text.',
        )
    await ctx.tab.input.press(combination)
    return f"Pressed {combination}."


async def _locate(ctx: ActionContext, point: Coordinates) -> tuple[int, int]:
    return point.in_view(await view_size(ctx.tab), shown=ctx.session.shown_picture)


def _hit(hit: PointHit | None) -> str:
    if hit is None:
        return "nothing is there"
    element = describe_element(hit.node)
    return element if hit.actable else f"nothing interactive there, only {element}"


async def _about_list(ctx: ActionContext, hit: PointHit | None) -> str:
    """What to know of a native select: its list is drawn by the browser, outside of the page."""
    if hit is None or (index := hit.node.index) is None or hit.node.role != "combobox":
        return ""
    ready = await ctx.tab.element(index).ready("read")
    if ready.tag != "select" or ready.multiple:
        return ""
    return f" Its list is not in the picture: use select_option with index {index}, or keys."
