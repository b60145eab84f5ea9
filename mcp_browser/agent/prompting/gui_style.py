"""The style of vision agents: they get a picture and write Thought and Action, for mouse and keyboard."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
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
    parse_spot,
    scale_for,
)
from mcp_browser.agent.prompting.style import prompt
from mcp_browser.agent.task import ActionCall, AgentBrain, Decision
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm.messages import OutputCall, OutputForm, Reply

if TYPE_CHECKING:
    from playwright.async_api import Page

IMAGES_KEPT = 5  # How many pictures stay in the conversation; older ones go, and their texts stay
WAIT_SECONDS = 5

MOST_KEYS = 3

_DIRECTIONS = ("down", "up", "left", "right")

Point = Callable[[str], str]  # From a box as it was written to a point as the mouse's actions take it


class GuiStyle:
    """UI-TARS' way of working."""

    images_kept = IMAGES_KEPT
    needs_vision = True
    shows_snapshot = False
    last_words = (
        "Use finished now: report in content what was reached, and add success='true' only if all of the "
        "task is done, else success='false'."
    )

    def __init__(self, scale: Scale | None = None, *, model: str = "") -> None:
        """`scale` is that of the model's numbers; by default the name in its answer or `model` gives it."""
        self._scale: Scale | None = scale
        self._model = model

    def system_prompt(self, registry: Registry, *, max_actions: int) -> str:
        """The rules and the action space."""
        del registry, max_actions
        return prompt("gui")

    def example(self) -> OutputCall | str | None:
        """None: the rules show the form."""
        return None

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> "GuiTurn":
        """A request about the picture that was looked at."""
        del registry, page
        picture = look.images[0] if look.images else None
        size = (picture.width, picture.height) if picture else None
        return GuiTurn(self._scale, size, model=self._model, only_done=only_done)


class GuiTurn:
    """A request for a thought and actions."""

    form: OutputForm | None = None

    def __init__(
        self, scale: Scale | None, size: tuple[int, int] | None, *, model: str = "", only_done: bool
    ) -> None:
        """Read points of a picture of `size`, in pixels; the model's name gives the `scale` if it is None."""
        self._scale: Scale | None = scale
        self._model = model
        self._size = size
        self._only_done = only_done

    def read(self, reply: Reply) -> Decision:
        """The decision in a model's text; raises InvalidOutput, which says how to write one."""
        prediction = parse_prediction(reply.text)
        actions = prediction.actions
        if self._only_done:
            # The action is forced here, so that it claims nothing by itself.
            actions = tuple(
                action.model_copy(update={"arguments": {"success": "false", **action.arguments}})
                for action in actions
                if action.name == "finished"
            )
            if not actions:
                raise InvalidOutput("Only finished(content='…', success='false') can be done now.")
        # Another model may have answered than the one that was asked first.
        scale: Scale = self._scale or scale_for(reply.model, self._model)
        calls = tuple(as_call(action, lambda box: self._point(box, scale)) for action in actions)
        brain = AgentBrain(next_goal=prediction.thought)
        return Decision(brain=brain, calls=calls)

    def remembered(self, reply: Reply, decision: Decision) -> OutputCall | str:
        """The text, as it was."""
        del decision
        return reply.text

    def _point(self, box: str, scale: Scale) -> str:
        if self._size is None:
            raise InvalidOutput("There was no picture, so there are no points. Use wait() to get one.")
        width, height = self._size
        return as_coordinates(parse_spot(box), scale=scale, width=width, height=height)


def as_call(action: GuiAction, point: Point) -> ActionCall:
    """A vision agent's action as one of ours; raises InvalidOutput."""
    make = _CALLS.get(action.name)
    if make is None:
        known = ", ".join(_SHOWN)
        raise InvalidOutput(f"There is no action {action.name!r}. Actions: {known}.")
    return make(action.arguments, point)


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


_CALLS: Mapping[str, Make] = MappingProxyType(
    {
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
)
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
