"""Planner styles: how the page is shown to the model, the form of its answer, and how it is read."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Self, cast, get_args

from pydantic import BaseModel, Field, ValidationError, create_model

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.mouse import hotkey, mouse_click, mouse_drag, mouse_move, mouse_wheel, type_text
from mcp_browser.actions.navigation import go_back, go_to_url
from mcp_browser.actions.registry import ActionModel, Registry
from mcp_browser.actions.schema import tool_schema
from mcp_browser.actions.waiting import wait_for
from mcp_browser.agent.executor import Look
from mcp_browser.agent.prompting.gui_parser import (
    GuiAction,
    Scale,
    as_coordinates,
    parse_prediction,
    scale_for,
)
from mcp_browser.agent.task import ActionCall, AgentBrain, Decision
from mcp_browser.errors import InvalidArguments, InvalidOutput
from mcp_browser.llm.messages import ImageBlock, OutputCall, OutputForm, Reply

if TYPE_CHECKING:
    from playwright.async_api import Page


FORM_NAME = "AgentOutput"
MOST_PROBLEMS = 4
_PROBLEMS = {
    "missing": "{} is missing",
    "extra_forbidden": "there is no {}",
    "too_short": "{} is empty: give at least one action",
}

_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


class AgentOutput(BaseModel):
    """Base of the dynamic model of a step's output: what the agent thinks, and one or more actions."""

    current_state: AgentBrain
    action: list[ActionModel]

    @classmethod
    def type_with_custom_actions(cls, actions: type[ActionModel]) -> type[Self]:
        """The model with the actions of `actions`; at least one is required."""
        return create_model(
            FORM_NAME,
            __base__=cls,
            action=(list[actions], Field(..., min_length=1, description="one action each, in order")),  # pyright: ignore
        )


def output_form(model: type[AgentOutput]) -> OutputForm:
    """The form that the model is to fill in."""
    return OutputForm(
        name=FORM_NAME, description="Your thoughts and next actions.", json_schema=tool_schema(model)
    )


def read_output(reply: Reply, model: type[AgentOutput]) -> Decision:
    """The decision in a model's answer. Raises InvalidOutput, which says what is wrong.

    Unambiguous forms are accepted: the object as text, within a fence or other words; `action` as one object
    or as text; an action as `{"name": …, "arguments": …}`; thoughts beside `action` instead of in
    `current_state`; `null` for the actions not chosen.
    """
    content = _tidy(object_in(reply), model)
    try:
        read = model.model_validate(content)
    except ValidationError as error:
        raise InvalidOutput(_explain(error)) from error
    try:
        calls = [action.chosen() for action in read.action]
    except InvalidArguments as error:
        raise InvalidOutput(error.message) from error
    return Decision(
        brain=read.current_state,
        calls=tuple(ActionCall(name=name, arguments=arguments) for name, arguments in calls),
        reply=reply,
    )


def object_in(reply: Reply) -> dict[str, Any]:
    """Return the JSON object in a model's answer, in its form or its text; raises InvalidOutput."""
    if reply.call is not None and isinstance(reply.call.arguments, dict):
        return reply.call.arguments
    text = reply.call.arguments if reply.call is not None else reply.text
    assert isinstance(text, str)
    text = _THINKING.sub("", text).strip()
    if not text:
        cut = " It was cut off at the longest answer allowed." if reply.finish == "length" else ""
        raise InvalidOutput(f"The answer is empty.{cut} Fill in {FORM_NAME} with at least one action.")
    for candidate in _candidates(text):
        try:
            content: object = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            return cast("dict[str, Any]", content)
    cut = " and was cut off at the longest answer allowed: be shorter" if reply.finish == "length" else ""
    raise InvalidOutput(f"The answer is not the JSON object of {FORM_NAME}{cut}.")


def _candidates(text: str) -> Iterable[str]:
    """Parts of a text that may be the object: the whole, fenced parts, first to last brace."""
    yield text
    yield from (found[1] for found in _FENCED.finditer(text))
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]


def _tidy(content: dict[str, Any], model: type[AgentOutput]) -> dict[str, Any]:
    if set(content) == {FORM_NAME} and isinstance(content[FORM_NAME], dict):
        content = content[FORM_NAME]
    content = dict(content)
    if "action" not in content and "actions" in content:
        content["action"] = content.pop("actions")
    if not isinstance(content.get("current_state"), dict):
        content["current_state"] = {
            name: value for name, value in content.items() if name in AgentBrain.model_fields
        }
    content["current_state"] = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in content["current_state"].items()
        if value is not None
    }
    actions: object = content.get("action")
    if isinstance(actions, str):
        try:
            actions = json.loads(actions)
        except ValueError:
            actions = content["action"]
    if isinstance(actions, dict):
        actions = [cast("object", actions)]
    if isinstance(actions, list):
        known = _names(model)
        content["action"] = [_tidy_action(action, known) for action in cast("list[object]", actions)]
    return content


def _names(model: type[AgentOutput]) -> frozenset[str]:
    (actions,) = cast("tuple[type[ActionModel]]", get_args(model.model_fields["action"].annotation))
    return frozenset(actions.model_fields)


def _tidy_action(action: object, known: frozenset[str]) -> object:
    if isinstance(action, str) and action in known:
        return {action: {}}
    if not isinstance(action, dict):
        return action
    given = cast("Mapping[str, Any]", action)
    for key in ("name", "action", "action_type", "type", "tool"):
        name = given.get(key)
        if isinstance(name, str) and name in known and name not in given:
            rest = {field: value for field, value in given.items() if field != key}
            for field in ("arguments", "params", "parameters", "args", "input"):
                if len(rest) == 1 and isinstance(rest.get(field), dict):
                    return {name: rest[field]}
            return {name: rest}
    if len(given) == 1 and (only := next(iter(given))) in known and given[only] in (None, True, ""):
        return {only: {}}
    return {name: value for name, value in given.items() if value is not None}


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    found: list[str] = []
    for problem in problems[:MOST_PROBLEMS]:
        where = ".".join(map(str, problem["loc"])) or FORM_NAME
        words = _PROBLEMS.get(problem["type"])
        found.append(words.format(where) if words else f"{where}: {problem['msg']}")
    more = f"; and {len(problems) - MOST_PROBLEMS} more" if len(problems) > MOST_PROBLEMS else ""
    return f"{FORM_NAME} is not right: {'; '.join(found)}{more}."


SMALL_WINDOW = 16_384
"""Tokens of a model's window up to which its rules are brief, without an example.

With the example, a model of 1.5 billion parameters copied its goal and its index into steps of its own;
without it, it did not."""

EXAMPLE = OutputCall(
    id="example",
    name=FORM_NAME,
    arguments={
        "current_state": {
            "evaluation_previous_goal": "Success: the search page shows a search box [4].",
            "memory": "Opened the shop. Still to do: find the blue lamp (0 of 1), read its price.",
            "next_goal": "Search for the blue lamp.",
        },
        "action": [{"input_text": {"index": 4, "text": "blue lamp"}}, {"click_element": {"index": 5}}],
    },
)
"""What a filled-in form looks like."""


def prompt(name: str) -> str:
    """The text of a prompt that comes with the package."""
    file = resources.files("mcp_browser.agent.prompting") / "prompts" / f"{name}.md"
    return file.read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class Turn:
    """One request to the model: the form to fill in, None for a text; and how to read its answer.

    `read` raises InvalidOutput, which says how to answer.
    """

    form: OutputForm | None
    read: Callable[[Reply], Decision]

    def remembered(self, decision: Decision) -> OutputCall | str:
        """The answer as it is kept in the conversation: the text, or the form as it was understood."""
        if self.form is None:
            return decision.reply.text
        actions = [{call.name: call.arguments} for call in decision.calls]
        arguments = {"current_state": decision.brain.model_dump(), "action": actions}
        return OutputCall(id="", name=self.form.name, arguments=arguments)


class PlannerStyle(ABC):
    """A way of working with a model."""

    rules: str  # The name of its prompt
    example: OutputCall | None = None  # What an answer looks like, where that helps
    images_kept = 1  # How many pictures stay in the conversation
    by_pictures = False  # Whether it works by pictures, in the place of the page's text
    last_words: str  # How to end, said in a step that can only report

    def system_prompt(self, *, max_actions: int) -> str:
        """The rules."""
        return prompt(self.rules).replace("{max_actions}", str(max_actions))

    @abstractmethod
    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request about this page; with `only_done`, the model can only end the task."""


class StructuredStyle(PlannerStyle):
    """One AgentOutput a step, by function calling or as JSON, whichever the model can."""

    last_words = "Use done now: report what was reached, and success only if all of it was."

    def __init__(self, *, window: int | None = None) -> None:
        """Work with a model that takes `window` tokens, None where that is not known."""
        is_small = window is not None and window <= SMALL_WINDOW
        self.rules, self.example = ("structured_brief", None) if is_small else ("structured", EXAMPLE)
        self._turns: dict[tuple[str, ...], Turn] = {}

    def turn(self, registry: Registry, page: "Page | None", look: Look, *, only_done: bool) -> Turn:
        """A request for an AgentOutput with the actions of this page; cached by their names."""
        del look
        names = tuple(
            action.name
            for action in registry
            if (action.name == DONE if only_done else action.offered_on(page))
        )
        if names not in self._turns:
            others = [action.name for action in registry if action.name not in names]
            actions = registry.without(others).create_action_model(page)
            model = AgentOutput.type_with_custom_actions(actions)
            self._turns[names] = Turn(output_form(model), partial(read_output, model=model))
        return self._turns[names]


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
        return Decision(brain=AgentBrain(next_goal=thought), calls=tuple(calls), reply=reply)


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
