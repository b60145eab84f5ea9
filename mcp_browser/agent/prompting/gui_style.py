"""The style of vision agents: they get a picture and write Thought and Action, for mouse and keyboard."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.mouse import hotkey, mouse_click, mouse_drag, mouse_move, mouse_wheel, type_text
from mcp_browser.actions.navigation import go_back, go_to_url
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.waiting import wait_for
from mcp_browser.agent.executor import Look
from mcp_browser.agent.prompting.gui_parser import (
    GuiAction,
    Scale,
    as_coordinates,
    parse_prediction,
    scale_for,
)
from mcp_browser.agent.prompting.style import PlannerStyle, Turn
from mcp_browser.agent.task import ActionCall, AgentBrain, Decision
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm.messages import ImageBlock, Reply

if TYPE_CHECKING:
    from playwright.async_api import Page

WAIT_SECONDS = 5
MOST_KEYS = 3

_DIRECTIONS = ("down", "up", "left", "right")

Point = Callable[[str], str]  # From a box as it was written to a point as the mouse's actions take it


class GuiStyle(PlannerStyle):
    """UI-TARS' way of working; of older pictures the texts stay."""

    rules = "gui"
    images_kept = 5
    by_pictures = True
    last_words = (
        "Use finished now: report in content what was reached, and add success='true' only if all of the "
        "task is done, else success='false'."
    )

    def __init__(self, scale: Scale | None = None, *, model: str = "") -> None:
        """`scale` is that of the model's numbers; by default the name in its answer or `model` gives it."""
        self._scale: Scale | None = scale
        self._model = model

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request for a thought and actions, about the picture that was looked at."""
        del registry, page
        return Turn(None, partial(self._read, look.images, only_done=only_done))

    def _read(self, pictures: Sequence[ImageBlock], reply: Reply, *, only_done: bool) -> Decision:
        thought, actions = parse_prediction(reply.text)
        if only_done:
            # The action is forced here, so that it claims nothing by itself.
            actions = [
                GuiAction(action.name, {"success": "false", **action.arguments})
                for action in actions
                if action.name == "finished"
            ]
            if not actions:
                raise InvalidOutput("Only finished(content='…', success='false') can be done now.")

        def point(box: str) -> str:
            if not pictures:
                raise InvalidOutput("There was no picture, so there are no points. Use wait() to get one.")
            # Another model may have answered than the one that was asked first.
            scale: Scale = self._scale or scale_for(reply.model, self._model)
            return as_coordinates(box, scale=scale, width=pictures[0].width, height=pictures[0].height)

        calls: list[ActionCall] = []
        for action in actions:
            if action.name not in _CALLS:
                known = ", ".join(_SHOWN)
                raise InvalidOutput(f"There is no action {action.name!r}. Actions: {known}.")
            calls.append(_CALLS[action.name](action.arguments, point))
        return Decision(brain=AgentBrain(next_goal=thought), calls=tuple(calls))


Arguments = Mapping[str, str]
Make = Callable[[Arguments, Point], ActionCall]


def _call(action: Callable[..., object], **arguments: Any) -> ActionCall:
    return ActionCall(name=action.__name__, arguments=arguments)


def _at(action: Callable[..., object], **more: Any) -> Make:
    return lambda given, point: _call(action, at=point(_wanted(given, "start_box")), **more)


def _drag(given: Arguments, point: Point) -> ActionCall:
    start, end = point(_wanted(given, "start_box")), point(_wanted(given, "end_box"))
    return _call(mouse_drag, start=start, end=end)


def _hotkey(given: Arguments, _point: Point) -> ActionCall:
    keys = _wanted(given, "key").lower().replace("+", " ").split()
    if not keys or len(keys) > MOST_KEYS:
        raise InvalidOutput(f"hotkey takes one to {MOST_KEYS} keys, such as hotkey(key='ctrl c').")
    return _call(hotkey, keys=" ".join(keys))


def _scroll(given: Arguments, point: Point) -> ActionCall:
    direction = given.get("direction", "down").strip().lower()
    if direction not in _DIRECTIONS:
        raise InvalidOutput(f"scroll goes {', '.join(_DIRECTIONS)}, not {direction!r}.")
    at = {"at": point(given["start_box"])} if given.get("start_box", "").strip() else {}
    return _call(mouse_wheel, direction=direction, **at)


def _finished(given: Arguments, _point: Point) -> ActionCall:
    said = given.get("success", "true").strip().lower()
    if said not in ("true", "false"):
        raise InvalidOutput(f"success is 'true' or 'false', not {said!r}.")
    text = given.get("content") or ("Done." if said == "true" else "Not all of it was done.")
    return ActionCall(name=DONE, arguments={"success": said == "true", "text": text})


def _call_user(given: Arguments, _point: Point) -> ActionCall:
    question = given.get("content") or given.get("question") or "The agent needs your help."
    return ActionCall(name=CALL_USER, arguments={"question": question})


_CALLS: Mapping[str, Make] = {
    **dict.fromkeys(("click", "left_single", "left_click"), _at(mouse_click)),
    **dict.fromkeys(("left_double", "double_click"), _at(mouse_click, clicks=2)),
    **dict.fromkeys(("right_single", "right_click"), _at(mouse_click, button="right")),
    **dict.fromkeys(("hover", "mouse_move"), _at(mouse_move)),
    **dict.fromkeys(("drag", "left_click_drag", "select"), _drag),
    **dict.fromkeys(("hotkey", "press", "key"), _hotkey),
    "type": lambda given, _: _call(type_text, text=_wanted(given, "content")),
    "scroll": _scroll,
    "wait": lambda _given, _: _call(wait_for, seconds=WAIT_SECONDS),
    "navigate": lambda given, _: _call(go_to_url, url=_wanted(given, "url")),
    "navigate_back": lambda _given, _: _call(go_back),
    "finished": _finished,
    "call_user": _call_user,
}
"""The actions that vision agents write, by their names for them, as ours."""

_SHOWN = (
    *("click", "left_double", "right_single", "drag", "hotkey", "type", "scroll", "wait"),
    *("navigate", "navigate_back", "finished", "call_user"),
)


def _wanted(given: Arguments, name: str) -> str:
    value = given.get(name)
    if value is None or (name != "content" and not value.strip()):
        raise InvalidOutput(f"The argument {name} is missing.")
    return value
