"""The form of a step's output, and how an answer is read."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Self, cast, get_args

from pydantic import BaseModel, Field, ValidationError, create_model

from mcp_browser.actions.registry import ActionModel
from mcp_browser.actions.schema import tool_schema
from mcp_browser.agent.task import ActionCall, AgentBrain, Decision
from mcp_browser.errors import InvalidArguments, InvalidOutput
from mcp_browser.llm.messages import OutputForm, Reply

FORM_NAME = "AgentOutput"
MOST_PROBLEMS = 4

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
        where = ".".join(str(part) for part in problem["loc"]) or FORM_NAME
        match problem["type"]:
            case "missing":
                found.append(f"{where} is missing")
            case "extra_forbidden":
                found.append(f"there is no {where}")
            case "too_short":
                found.append(f"{where} is empty: give at least one action")
            case _:
                found.append(f"{where}: {problem['msg']}")
    more = f"; and {len(problems) - MOST_PROBLEMS} more" if len(problems) > MOST_PROBLEMS else ""
    return f"{FORM_NAME} is not right: {'; '.join(found)}{more}."
