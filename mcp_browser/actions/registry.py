"""The registry of actions, its decorator, and the models made from it."""

import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from mcp_browser.actions.code import WriteCode
from mcp_browser.actions.result import ActionContext, ActionResult, Outcome
from mcp_browser.browser.observation import Effect
from mcp_browser.errors import InvalidArguments, UnknownAction
from mcp_browser.hosts import is_on
from mcp_browser.policy import Reach
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.settings import did_you_mean

if TYPE_CHECKING:
    from playwright.async_api import Page

Function = TypeVar("Function", bound=Callable[..., Any])


class ActionParams(BaseModel):
    """Base of parameter models, which refuse unknown arguments.

    A model is built on first use: the server starts sooner, and most calls use few actions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def without_bounds(schema: JsonDict) -> None:
    """Leave limits out of the schema that every sensible value keeps; validation still holds them."""
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        schema.pop(key, None)


class ActionModel(BaseModel):
    """Base of the dynamic model with one optional field for each action; exactly one is set."""

    model_config = ConfigDict(extra="forbid")

    def chosen(self) -> tuple[str, dict[str, Any]]:
        """The name and the arguments of the only action set; raises InvalidArguments."""
        chosen = [
            (name, value) for name in type(self).model_fields if (value := getattr(self, name)) is not None
        ]
        if len(chosen) != 1:
            names = ", ".join(name for name, _ in chosen) or "none"
            raise InvalidArguments(f"An action model names exactly one action; this one names {names}.")
        name, params = chosen[0]
        return name, params.model_dump(exclude_unset=True)


class TypedIn:
    """Marks an `Annotated` parameter whose text is typed into the page.

    It is typed into the element of the `index` beside it, else where the keyboard is. The built-in agent
    fills secrets into such parameters only.
    """


TYPED_IN = TypedIn()


def is_typed_in(field: FieldInfo) -> bool:
    """Whether a parameter is marked so, also within a union such as `Annotated[str, TYPED_IN] | None`."""
    marks = [*field.metadata, *(mark for kind in get_args(field.annotation) for mark in get_args(kind)[1:])]
    return any(isinstance(mark, TypedIn) for mark in marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """An action that is carried out as a list of others.

    `into(params)` gives them, each as `{"click_element": {"index": 12}}`; `summary` makes the result's text.
    A `lenient` list continues after a failure, and its `outcomes` are not in the result's data.
    """

    into: Callable[[Any], Sequence[Mapping[str, Any]]]
    summary: Callable[[Sequence[Outcome]], str]
    lenient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredAction:
    """A registered action; see `Registry.action`.

    `run(ctx, params)` carries it out. A call's deadline is later by `own_time(params)`, in seconds. An action
    that is `alone` is refused in a caller's list.
    """

    name: str
    description: str
    param_model: type[BaseModel]
    run: Callable[[ActionContext, BaseModel], Awaitable[ActionResult]]
    group: str
    effect: Effect
    destructive: bool
    open_world: bool
    during_dialog: bool
    pictured: Callable[[Any], bool]
    own_time: Callable[[Any], float] | None
    code: WriteCode | None
    reach: Reach
    domains: tuple[str, ...]
    page_filter: "Callable[[Page], bool] | None"
    alone: bool
    expansion: Expansion | None

    @property
    def is_bound_to_pages(self) -> bool:
        return bool(self.domains) or self.page_filter is not None

    def offered_on(self, page: "Page | None") -> bool:
        """Whether the action may be used on this page; None means any page."""
        if page is None:
            return not self.is_bound_to_pages
        if self.domains and not is_on(page.url, self.domains):
            return False
        return self.page_filter is None or self.page_filter(page)

    def not_offered(self, page: "Page") -> UnknownAction:
        """The error for a page on which the action may not be used."""
        return UnknownAction(
            f"{self.name} is not offered on {cut_address(page.url)}.",
            hint=f"It is for {', '.join(self.domains) or 'pages that pass its filter'}.",
        )

    def time_of(self, params: BaseModel) -> float:
        """How many seconds it may wait, as its caller asked."""
        return self.own_time(params) if self.own_time else 0

    def validate(self, arguments: Mapping[str, Any]) -> BaseModel:
        """The arguments as parameters; null may stand for one that is left out. Raises InvalidArguments."""
        try:
            return self.param_model.model_validate(dict(arguments))
        except ValidationError as error:
            given = {name: value for name, value in arguments.items() if value is not None}
            if len(given) < len(arguments):
                return self.validate(given)
            raise InvalidArguments(explain_arguments(self.name, self.param_model, error)) from error


class Registry:
    """A collection of actions; a family of actions is a registry that another one includes."""

    def __init__(self, *, group: str = "custom", exclude_actions: Iterable[str] = ()) -> None:
        """Make an empty registry whose actions belong to `group`, never taking in `exclude_actions`."""
        self.group = group
        self._excluded = frozenset(exclude_actions)
        self._actions: dict[str, RegisteredAction] = {}

    def __iter__(self) -> Iterator[RegisteredAction]:
        return iter(self._actions.values())

    def __len__(self) -> int:
        return len(self._actions)

    def __contains__(self, name: object) -> bool:
        return name in self._actions

    def __getitem__(self, name: str) -> RegisteredAction:
        """The action of that name; raises UnknownAction, which names those that exist."""
        if name not in self._actions:
            raise UnknownAction(
                f"There is no action {name!r}{did_you_mean(name, self._actions)}.",
                hint=f"Actions: {', '.join(self._actions)}.",
            )
        return self._actions[name]

    def action(  # noqa: PLR0913 - options, all by keyword
        self,
        description: str | None = None,
        *,
        param_model: type[BaseModel] | None = None,
        effect: Effect = "input",
        destructive: bool = False,
        open_world: bool = True,
        during_dialog: bool = False,
        pictured: bool | Callable[[Any], bool] = False,
        own_time: Callable[[Any], float] | None = None,
        code: WriteCode | None = None,
        reach: Reach | None = None,
        domains: Iterable[str] = (),
        page_filter: "Callable[[Page], bool] | None" = None,
        alone: bool = False,
        expansion: Expansion | None = None,
    ) -> Callable[[Function], Function]:
        """Register a function as an action; its name is the action's name.

        The function may be sync (it then runs in a thread) or async, and returns an ActionResult, a string,
        or nothing. A parameter annotated as ActionContext, Tab, BrowserSession or Playwright's Page, or named
        `ctx`, `tab`, `session` or `page` without annotation, is filled in from the context. The others form
        the parameter model, unless `param_model` is given: then the function takes one instance of it.

        Args:
            description: what the model reads; the first paragraph of the docstring by default.
            param_model: model of the arguments.
            effect: what the action does to the page; decides what is waited for and shown afterwards.
            destructive: it may delete or overwrite something.
            open_world: it reaches beyond this process (the web).
            during_dialog: it works while a JavaScript dialog is open.
            pictured: its result has a picture of the view with the mouse's cursor, and the cursor's place;
                a function decides by the parameters.
            own_time: how many seconds the action may wait by its caller's wish, from its parameters.
            code: adds Playwright's statements that do the same to the `Code` that it is given, by the
                parameters; what only reads and has none is left out of scripts.
            reach: what it acts on, for a policy: `elements` where all that it does to the page goes through
                `Tab.input`, the `page` as a whole, only the `view`, or `anything`. By default `anything` with
                the effect `input`, else the `page`.
            domains: glob patterns of hosts, such as `*.example.com`, outside which the action is not offered.
            page_filter: the action is offered only where this is true of Playwright's page.
            alone: refuse it in a caller's list, unless the settings allow it, like a destructive one: a user
                who approves single calls has to see it.
            expansion: how it is carried out as a list of actions, which may include itself.
        """

        def register(function: Function) -> Function:
            name = function.__name__
            if name in self._excluded:
                return function
            summary = inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0]
            text = description or " ".join(summary.split())
            if not text:
                raise ValueError(f"action {name!r} needs a description or a docstring")
            model, run = _bind(function, param_model)
            action = RegisteredAction(
                name=name,
                description=text,
                param_model=model,
                run=run,
                group=self.group,
                effect=effect,
                destructive=destructive,
                open_world=open_world,
                during_dialog=during_dialog,
                pictured=pictured if callable(pictured) else lambda _, always=pictured: always,
                own_time=own_time,
                code=code,
                reach=reach or ("anything" if effect == "input" else "page"),
                domains=(domains,) if isinstance(domains, str) else tuple(domains),
                page_filter=page_filter,
                alone=alone or destructive,
                expansion=expansion,
            )
            self._add(action)
            return function

        return register

    def include(self, other: "Registry", *, group: str | None = None) -> None:
        """Add another registry's actions, in `group` if given; raises ValueError for a name in use."""
        for action in other:
            self._add(replace(action, group=group or action.group))

    def _add(self, action: RegisteredAction) -> None:
        if action.name in self._excluded:
            return
        if action.name in self._actions:
            raise ValueError(f"an action {action.name!r} is registered already")
        self._actions[action.name] = action

    def only(self, groups: Iterable[str]) -> "Registry":
        """A registry of the actions in these groups, `all` standing for every group."""
        wanted = set(groups)
        return self._of((action for action in self if not wanted.isdisjoint({"all", action.group})), ())

    def without(self, names: Iterable[str]) -> "Registry":
        """A registry of the other actions."""
        return self._of(self, names)

    def _of(self, actions: Iterable[RegisteredAction], left_out: Iterable[str]) -> "Registry":
        chosen = Registry(group=self.group, exclude_actions=self._excluded.union(left_out))
        for action in actions:
            chosen._add(action)
        return chosen

    def groups(self) -> tuple[str, ...]:
        """The names of the groups, in the order of their first action."""
        return tuple(dict.fromkeys(action.group for action in self))

    def create_action_model(self, page: "Page | None" = None) -> type[ActionModel]:
        """The model whose fields are the actions offered on this page, or anywhere; each optional."""
        fields: dict[str, Any] = {
            action.name: (action.param_model | None, Field(None, description=action.description))
            for action in self
            if action.offered_on(page)
        }
        return create_model("ActionModel", __base__=ActionModel, **fields)


_ARGS = re.compile(r"^Args:\n((?:[ \t]+.*(?:\n|\Z)|\s*\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(
    r"^(?P<indent>[ \t]+)(?P<name>\w+)[ \t]*(?:\([^)\n]*\))?:(?P<text>.*(?:\n(?P=indent)[ \t]+.*)*)",
    re.MULTILINE,
)
"""The section of a docstring about its arguments, as Google writes it, and one of them."""

_INJECTED: dict[str, Callable[[ActionContext], Any]] = {
    "ActionContext": lambda ctx: ctx,
    "Tab": lambda ctx: ctx.tab,
    "BrowserSession": lambda ctx: ctx.session,
    "Page": lambda ctx: ctx.tab.page,
}
_INJECTED_BY_NAME = {"ctx": "ActionContext", "tab": "Tab", "session": "BrowserSession", "page": "Page"}


def _injected_kind(name: str, hints: Mapping[str, Any]) -> str | None:
    """Types are known by name, so that declaring an action does not import Playwright."""
    hint = hints.get(name)
    if hint is None:
        return _INJECTED_BY_NAME.get(name)
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and kind.__module__.partition(".")[0] in ("mcp_browser", "playwright"):
            return kind.__name__ if kind.__name__ in _INJECTED else None
    return None


def _bind(
    function: Callable[..., Any], param_model: type[BaseModel] | None
) -> tuple[type[BaseModel], Callable[[ActionContext, BaseModel], Awaitable[ActionResult]]]:
    name = function.__name__
    hints = get_type_hints(function, include_extras=True)
    given = inspect.signature(function).parameters
    injected = {one: _INJECTED[kind] for one in given if (kind := _injected_kind(one, hints))}
    own = {one: parameter for one, parameter in given.items() if one not in injected}

    model_argument: str | None = None
    if param_model is None and len(own) == 1:
        (only,) = own
        hint = hints.get(only)
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            param_model, model_argument = hint, only
    elif param_model is not None:
        if len(own) > 1:
            raise ValueError(f"{name} takes its param_model as one argument, not {', '.join(own)}")
        model_argument = next(iter(own), None)
    _check_return(name, hints)
    spread = param_model is None
    if param_model is None:
        param_model = _model_from_signature(function, own, hints)

    async def run(ctx: ActionContext, params: BaseModel) -> ActionResult:
        arguments: dict[str, Any] = {one: get(ctx) for one, get in injected.items()}
        if spread:
            arguments |= {one: getattr(params, one) for one in own}
        elif model_argument is not None:
            arguments[model_argument] = params
        if inspect.iscoroutinefunction(function):
            result = await function(**arguments)
        else:
            result = await anyio.to_thread.run_sync(
                functools.partial(function, **arguments), abandon_on_cancel=True
            )
        match result:
            case ActionResult():
                return result
            case str():
                return ActionResult(extracted_content=result)
            case None:
                return ActionResult(extracted_content=f"{name} is done.")
            case _:
                raise TypeError(
                    f"action {name!r} returned {type(result).__name__}; return an ActionResult, a str or None"
                )

    return param_model, run


def _check_return(name: str, hints: Mapping[str, Any]) -> None:
    """Raise ValueError for a return annotation that no result can be made of."""
    hint = hints.get("return", str)
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in kinds:
        if kind is Any or (isinstance(kind, type) and issubclass(kind, (str, ActionResult, NoneType))):
            continue
        returned = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ValueError(f"action {name!r} returns {returned}; it must return an ActionResult, a str or None")


def _model_from_signature(
    function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]
) -> type[BaseModel]:
    name = function.__name__
    section = _ARGS.search(inspect.cleandoc(function.__doc__ or ""))
    described = {
        entry["name"]: " ".join(entry["text"].split()).rstrip(".")
        for entry in (_ARGUMENT.finditer(section[1]) if section is not None else ())
    }
    fields: dict[str, Any] = {}
    for parameter in parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ValueError(f"action {name!r}: *{parameter.name} has no place in a schema")
        hint = hints.get(parameter.name, str)
        if parameter.name in described:
            # First, so that a Field of the annotation's own wins.
            own = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
            bare = get_args(hint)[0] if own else hint
            hint = Annotated[(bare, Field(description=described[parameter.name]), *own)]
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hint, default)
    model = "".join(part.title() for part in name.split("_")) + "Params"
    return create_model(model, __base__=ActionParams, **fields)


def explain_arguments(name: str, param_model: type[BaseModel], error: ValidationError) -> str:
    """What is wrong with the arguments of the action or tool `name`, and which ones there are."""
    fields = param_model.model_fields
    known = ", ".join(f"{known}{'' if field.is_required() else '?'}" for known, field in fields.items())
    parts: list[str] = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(step) for step in problem["loc"])
        if problem["type"] == "extra_forbidden":
            close = get_close_matches(str(problem["loc"][-1]), fields, n=1)
            parts.append(f"unknown argument {where!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        elif problem["type"] == "missing":
            parts.append(f"{where!r} is missing")
        else:
            parts.append(f"{where!r}: {problem['msg']}" if where else problem["msg"])
    return f"{name}: {'; '.join(parts)}. Arguments: {known or 'none'}."
