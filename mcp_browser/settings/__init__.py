"""Settings: every option once, with its default, its limits, its flag and its documentation.

Flags, `MCP_BROWSER_*` variables and the configuration file all feed these models; the option tables in the
documentation are generated from them.
"""

import difflib
import fnmatch
import functools
import re
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self, Union, cast, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from mcp_browser.errors import SettingsError
from mcp_browser.settings.groups import (
    AccessSettings,
    AgentSettings,
    BrowserSettings,
    EgressSettings,
    FileSettings,
    LimitSettings,
    ObservationSettings,
    RecordingSettings,
    ScreenshotSettings,
    ServerSettings,
    SessionSettings,
    ToolSettings,
)
from mcp_browser.settings.values import Placeholder, SettingsGroup, Viewport

VARIABLE_PREFIX = "MCP_BROWSER_"
PER_PRINCIPAL = frozenset(
    (
        "tools exclude_actions read_only policy show_secrets "
        "allow_domains block_domains block_private allow_private "
        "max_files max_files_size max_download_size output_dir upload_dirs "
        "model allowed_models model_url model_output model_window model_temperature fallback_model gui_scale "
        "max_steps max_actions max_failures model_timeout step_timeout step_pictures secrets "
        "action_timeout navigation_timeout settle_timeout call_timeout takeover_wait "
        "max_sessions_per_client max_tabs max_tabs_per_client max_disk_per_client max_waiting idle_timeout "
        "lifetime max_connections_per_client rate_limit view audit_log"
    ).split()
)
"""The settings, by their fields' names, that may be given for some principals only."""


class PrincipalSettings(SettingsGroup):
    """What is different for principals whose name fits a glob.

    `values` are fields of groups of settings, by the group's name, as the groups hold them.
    """

    pattern: str
    values: Mapping[str, Mapping[str, Any]]


class Settings(SettingsGroup):
    """All settings of one server."""

    browser: BrowserSettings = BrowserSettings()
    egress: EgressSettings = EgressSettings()
    limits: LimitSettings = LimitSettings()
    observation: ObservationSettings = ObservationSettings()
    screenshots: ScreenshotSettings = ScreenshotSettings()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
    recording: RecordingSettings = RecordingSettings()
    agent: AgentSettings = AgentSettings()
    server: ServerSettings = ServerSettings()
    sessions: SessionSettings = SessionSettings()
    access: AccessSettings = AccessSettings()
    principals: tuple[PrincipalSettings, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Settings by the names that docs/settings.md has, `_` for `-`: `Settings.of(headless=False)`.

        Raises:
            SettingsError: there is no such setting, or it cannot have that value.
        """
        options = all_options()
        for name in values.keys() - options.keys():
            near = difflib.get_close_matches(name, options, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"there is no setting {name!r}.{hint}")
        try:
            return cls.model_validate(by_group(values))
        except ValidationError as error:
            wrong, allowed = what_is_allowed(error)
            raise SettingsError(f"{wrong.name} must be {allowed}.") from None

    @property
    def variants(self) -> tuple["Settings", ...]:
        """These, and those that each table for principals makes of them."""
        return (self, *(self.with_tables((own,)) for own in self.principals))

    def with_tables(self, tables: tuple[PrincipalSettings, ...]) -> "Settings":
        """The settings that hold with these tables for principals; of several, a later one wins."""
        changed: dict[str, Any] = {}
        for own in tables:
            for group, values in own.values.items():
                changed[group] = changed.get(group, getattr(self, group)).model_copy(update=dict(values))
        return self.model_copy(update=changed)

    def fitting(self, name: str) -> tuple[PrincipalSettings, ...]:
        """What is different for a principal of this name."""
        return tuple(own for own in self.principals if fnmatch.fnmatchcase(name, own.pattern))

    @property
    def console_shown(self) -> Literal["errors", "all", "none"]:
        """Which console messages results show."""
        sees = not {"mouse", "browser_action", "all"}.isdisjoint(self.tools.tools)
        return self.observation.console or ("all" if sees else "errors")


class Option:
    """One setting: where it stands in `Settings`, and how it is written everywhere else.

    `bare` is the value of its flag where none follows, None where it needs one; `kinds` are the types of its
    value, None left out.
    """

    def __init__(self, group: str, name: str, field: FieldInfo) -> None:
        declared = cast("Mapping[str, str]", field.json_schema_extra or {})
        self.group, self.name, self.field = group, name, field
        self.description = field.description or ""
        is_union = get_origin(field.annotation) in (Union, types.UnionType)
        forms: tuple[Any, ...] = get_args(field.annotation) if is_union else (field.annotation,)
        marks = [*field.metadata, *(mark for form in forms for mark in getattr(form, "__metadata__", ()))]
        self._placeholders = [mark.text for mark in marks if isinstance(mark, Placeholder)]
        self.kinds: tuple[Any, ...] = tuple(
            get_args(form)[0] if hasattr(form, "__metadata__") else form
            for form in forms
            if form is not type(None)
        )
        self.repeatable = any(get_origin(kind) is tuple for kind in self.kinds)
        self.holds_paths = any(kind is Path or "pathlib.Path" in str(kind) for kind in self.kinds)
        self.key = name.replace("_", "-")  # In a configuration file, such as `action-timeout`
        self.flag = f"--{declared.get('flag', self.key)}"
        off_flag = f"--{declared.get('off_flag', f'no-{self.key}')}"
        self.off_flag = off_flag if bool in self.kinds else None  # Such as `--no-sandbox`
        self.bare = declared.get("bare")
        self.variable = VARIABLE_PREFIX + name.upper()
        # Everybody on a machine can read the command line of a program.
        self.variable_only = bool(declared.get("variable_only"))
        self.may_be_secret = not field.repr  # It may carry a password, so that messages leave it out.

    @property
    def choices(self) -> tuple[str, ...]:
        return next((get_args(kind) for kind in self.kinds if get_origin(kind) is Literal), ())

    @property
    def placeholder(self) -> str:
        """What stands for the value in the help, such as SECONDS."""
        if self.choices:
            return "|".join(self.choices)
        if self._placeholders:
            return self._placeholders[-1]
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
            return f"a{' whole' if int in self.kinds else ''} number{_limits(self.field)}"
        return "a list of texts" if self.repeatable else "a text"

    @property
    def default(self) -> str:
        """The default as it would be written; empty where there is none."""
        return self.written(self.field.default)

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


def _limits(field: FieldInfo) -> str:
    found = {
        name: limit
        for mark in field.metadata
        for name in ("gt", "ge", "le")
        if (limit := getattr(mark, name, None)) is not None
    }
    if "gt" in found:
        return f" above {found['gt']}" + (f" and up to {found['le']}" if "le" in found else "")
    if "ge" in found:
        return f" from {found['ge']}" + (f" to {found['le']}" if "le" in found else "")
    return ""


def without_secrets(text: str) -> str:
    """Return the text with the user and password of every address in it covered."""
    return re.sub(r"(?<=://)[^\s,]*@", "***@", text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)`, or nothing where nothing is near, whatever dashes it begins with."""
    bare = {one.lstrip("-"): one for one in known}
    near = difflib.get_close_matches(name.partition("=")[0].lstrip("-"), bare, n=1, cutoff=0.65)
    return f" (did you mean {bare[near[0]]}?)" if near else ""


@functools.cache
def all_groups() -> Mapping[str, type[SettingsGroup]]:
    """Return the groups of settings by their names."""
    return {
        name: model
        for name, field in Settings.model_fields.items()
        if isinstance(model := field.annotation, type) and issubclass(model, SettingsGroup)
    }


@functools.cache
def all_options() -> Mapping[str, Option]:
    """Return every setting by its field's name, in the order of `Settings`."""
    return {
        name: Option(group, name, field)
        for group, model in all_groups().items()
        for name, field in model.model_fields.items()
    }


def by_group(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return values of settings, by their fields' names, in their groups."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        groups.setdefault(all_options()[name].group, {})[name] = value
    return groups


def group_titles() -> Mapping[str, str]:
    """Return what each group of settings is about, by the group's name."""
    return {
        name: (model.__doc__ or "").partition("\n")[0].rstrip(".") for name, model in all_groups().items()
    }


def what_is_allowed(error: ValidationError) -> tuple[Option, str]:
    """Return the first setting that is wrong, and what it must be."""
    problem = error.errors(include_url=False)[0]
    option = all_options()[str(problem["loc"][1])]
    own_words = str(problem.get("ctx", {}).get("error", "")) if problem["type"] == "value_error" else ""
    return option, own_words or option.allowed
