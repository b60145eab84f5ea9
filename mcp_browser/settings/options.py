"""Every setting as a person writes it: flag, variable, key of the configuration file."""

import difflib
import functools
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from mcp_browser.settings.values import Placeholder, SettingsGroup, Viewport

VARIABLE_PREFIX = "MCP_BROWSER_"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One setting: where it stands in `Settings`, and how it is written everywhere else."""

    group: str
    name: str
    field: FieldInfo

    def _declared(self, name: str) -> str | None:
        extra = cast("Mapping[str, str]", self.field.json_schema_extra or {})
        return extra.get(name)

    @property
    def key(self) -> str:
        """The key in a configuration file, such as `action-timeout`."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The flag, such as `--action-timeout`."""
        return f"--{self._declared('flag') or self.key}"

    @property
    def off_flag(self) -> str | None:
        """The flag that switches it off, such as `--no-sandbox`, for a setting that is true or false."""
        return f"--{self._declared('off_flag') or f'no-{self.key}'}" if bool in self.kinds else None

    @property
    def bare(self) -> str | None:
        """The value of the flag where none follows; None where it needs one."""
        return self._declared("bare")

    @property
    def variable(self) -> str:
        """The environment variable, such as `MCP_BROWSER_ACTION_TIMEOUT`."""
        return VARIABLE_PREFIX + self.name.upper()

    @property
    def variable_only(self) -> bool:
        """Whether it is a variable only: everybody on a machine can read the command line of a program."""
        return bool(self._declared("variable_only"))

    @functools.cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types of its value, None left out."""
        annotation = self.field.annotation
        if get_origin(annotation) in (Union, types.UnionType):
            parts = [part for part in get_args(annotation) if part is not type(None)]
            return tuple(get_args(part)[0] if hasattr(part, "__metadata__") else part for part in parts)
        return (annotation,)

    @property
    def repeatable(self) -> bool:
        return any(get_origin(kind) is tuple for kind in self.kinds)

    @property
    def holds_paths(self) -> bool:
        return any(kind is Path or "pathlib.Path" in str(kind) for kind in self.kinds)

    @property
    def may_be_secret(self) -> bool:
        """Whether its value may carry a password, so that messages leave it out."""
        return not self.field.repr

    @property
    def choices(self) -> tuple[str, ...]:
        return next((get_args(kind) for kind in self.kinds if get_origin(kind) is Literal), ())

    @property
    def placeholder(self) -> str:
        """What stands for the value in the help, such as SECONDS."""
        if self.choices:
            return "|".join(self.choices)
        kinds = get_args(self.field.annotation) or (self.field.annotation,)
        marks = [
            *self.field.metadata,
            *(mark for kind in kinds for mark in getattr(kind, "__metadata__", ())),
        ]
        if written := [mark.text for mark in marks if isinstance(mark, Placeholder)]:
            return written[-1]
        names = {int: "NUMBER", float: "NUMBER", Viewport: "WIDTHxHEIGHT"}
        return next(
            (names[kind] for kind in self.kinds if kind in names), "FILE" if self.holds_paths else "TEXT"
        )

    @property
    def allowed(self) -> str:
        """What the value must be, to complete `must be …`."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if bool in self.kinds:
            return "true or false"
        if self.kinds == (Viewport,):
            return "WIDTHxHEIGHT, such as 1280x720, each from 100 to 10000"
        if int in self.kinds or float in self.kinds:
            return f"a{' whole' if int in self.kinds else ''} number{self._limits()}"
        return "a list of texts" if self.repeatable else "a text"

    def _limits(self) -> str:
        found = {
            name: getattr(mark, name)
            for mark in self.field.metadata
            for name in ("gt", "ge", "le")
            if getattr(mark, name, None) is not None
        }
        match found:
            case {"gt": low, "le": high}:
                return f" above {low} and up to {high}"
            case {"gt": low}:
                return f" above {low}"
            case {"ge": low, "le": high}:
                return f" from {low} to {high}"
            case {"ge": low}:
                return f" from {low}"
            case _:
                return ""

    @property
    def default(self) -> str:
        """The default as it would be written; empty where there is none."""
        return self.written(self.field.default)

    @property
    def description(self) -> str:
        return self.field.description or ""

    def written(self, value: object) -> str:
        """Return a value as it would be written, without passwords."""
        match value:
            case None:
                return ""
            case bool():
                return str(value).lower()
            case SecretStr():
                return "***"
            case tuple():
                parts = [str(part) for part in cast("tuple[object, ...]", value)]
                if self.may_be_secret:
                    parts = [f"{part.partition(':')[0]}: ***" for part in parts]
                return without_secrets(", ".join(parts))
            case float():
                return f"{value:g}"
            case _:
                text = str(value)
                if self.may_be_secret:
                    text = re.sub(r"^(\w+://)?.*@", r"\1***@", text.partition("?")[0])
                return without_secrets(text)


def without_secrets(text: str) -> str:
    """Return the text with the user and password of every address in it covered."""
    return re.sub(r"(?<=://)[^\s,]*@", "***@", text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)`, or nothing where nothing is near, whatever dashes it begins with."""
    bare = {one.lstrip("-"): one for one in known}
    near = difflib.get_close_matches(name.partition("=")[0].lstrip("-"), bare, n=1, cutoff=0.65)
    return f" (did you mean {bare[near[0]]}?)" if near else ""


def groups_of(settings: type[SettingsGroup]) -> Mapping[str, type[SettingsGroup]]:
    """Return the groups of settings by their names."""
    return {
        name: model
        for name, field in settings.model_fields.items()
        if isinstance(model := field.annotation, type) and issubclass(model, SettingsGroup)
    }


def options_of(settings: type[SettingsGroup]) -> Mapping[str, Option]:
    """Return every setting by its field's name, in the order of the groups."""
    return {
        name: Option(group=group, name=name, field=field)
        for group, model in groups_of(settings).items()
        for name, field in model.model_fields.items()
    }


def what_is_allowed(error: ValidationError, options: Mapping[str, Option]) -> tuple[Option, str]:
    """Return the first setting that is wrong, and what it must be."""
    problem = error.errors(include_url=False)[0]
    option = options[str(problem["loc"][1])]
    own_words = str(problem.get("ctx", {}).get("error", "")) if problem["type"] == "value_error" else ""
    return option, own_words or option.allowed
