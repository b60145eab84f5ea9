"""Every setting as a person writes it: flag, variable, key of the configuration file."""

import functools
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, JsonValue, SecretStr
from pydantic.fields import FieldInfo

from mcp_browser.settings import BARE, VARIABLE_ONLY, Settings, Viewport

VARIABLE_PREFIX = "MCP_BROWSER_"
CONFIG_VARIABLE = "MCP_BROWSER_CONFIG"

_FLAGS = {
    "browser_args": "browser-arg",
    "upload_dirs": "upload-dir",
    "init_scripts": "init-script",
    "extra_headers": "extra-header",
}
_OFF_FLAGS = {"headless": "headed"}
_PLACEHOLDERS = {
    "channel": "NAME",
    "profile": "FOLDER",
    "output_dir": "FOLDER",
    "upload_dirs": "FOLDER",
    "device": "NAME",
    "extra_headers": "HEADER",
    "locale": "LOCALE",
    "timezone": "ZONE",
    "proxy": "ADDRESS",
    "allow_domains": "HOSTS",
    "block_domains": "HOSTS",
    "allow_private": "HOSTS",
    "cdp_endpoint": "ADDRESS",
    "connect": "[BROWSER]",
    "connect_tabs": "HOSTS",
    "browser_endpoint": "ADDRESS",
    "host": "ADDRESS",
    "path_prefix": "PATH",
    "replica": "NAME",
    "lifetime": "SECONDS",
    "profiles": "FOLDER",
    "tasks_dir": "FOLDER",
    "model_url": "ADDRESS",
    "tools": "GROUPS",
    "allowed_models": "NAMES",
    "exclude_actions": "NAMES",
    "search_engine": "ENGINE",
    "oauth_issuer": "ADDRESS",
    "oauth_audience": "AUDIENCE",
    "oauth_scopes": "SCOPES",
    "public_url": "ADDRESS",
    "allowed_hosts": "NAMES",
    "allowed_origins": "ORIGINS",
    "trusted_proxies": "ADDRESSES",
}


@dataclass(frozen=True, kw_only=True)
class Option:
    """One setting: where it stands in `Settings`, and how it is written everywhere else."""

    group: str
    name: str
    field: FieldInfo

    @property
    def key(self) -> str:
        """The key in a configuration file, such as `action-timeout`."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The flag, such as `--action-timeout`."""
        return f"--{_FLAGS.get(self.name, self.key)}"

    @property
    def variable_only(self) -> bool:
        """Whether it is a variable only: what a program is started with, anybody on the machine can read."""
        return self.field.json_schema_extra == VARIABLE_ONLY

    @property
    def bare(self) -> str | None:
        """What the flag stands for where no value follows; None where it needs one."""
        extra = cast("Mapping[str, JsonValue] | None", self.field.json_schema_extra)
        return str(extra[BARE]) if extra is not None and BARE in extra else None

    @property
    def off_flag(self) -> str | None:
        """The flag that switches it off, such as `--no-sandbox`, for a setting that is true or false."""
        if bool not in self.kinds:
            return None
        return f"--{_OFF_FLAGS.get(self.name, f'no-{self.key}')}"

    @property
    def variable(self) -> str:
        """The environment variable, such as `MCP_BROWSER_ACTION_TIMEOUT`."""
        return VARIABLE_PREFIX + self.name.upper()

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
        if self.name in _PLACEHOLDERS:
            return _PLACEHOLDERS[self.name]
        if self.holds_paths:
            return "FILE"
        names = {bool: "true|false", int: "NUMBER", float: "NUMBER", Viewport: "WIDTHxHEIGHT"}
        if self.name.endswith("_timeout"):
            return "SECONDS"
        return next((names[kind] for kind in self.kinds if kind in names), "TEXT")

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
        limits: dict[str, Any] = {}
        for mark in self.field.metadata:
            limits |= {
                name: value for name in ("gt", "ge", "le") if (value := getattr(mark, name, None)) is not None
            }
        low = (
            f" above {limits['gt']}" if "gt" in limits else f" from {limits['ge']}" if "ge" in limits else ""
        )
        high = f" {'and ' if 'gt' in limits else ''}up to {limits['le']}" if "le" in limits else ""
        return low + (high if "gt" in limits else high.replace(" up to", " to"))

    @property
    def default(self) -> str:
        """The default as it would be written; empty where there is none."""
        return self.written(self.field.default)

    @property
    def description(self) -> str:
        return self.field.description or ""

    def written(self, value: object) -> str:
        """A value as it would be written, without passwords."""
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
    """The text with the user and password of every address in it covered."""
    return re.sub(r"(?<=://)[^\s,]*@", "***@", text)


@functools.cache
def all_options() -> Mapping[str, Option]:
    """Every setting by its field's name, in the order of `Settings`."""
    found: dict[str, Option] = {}
    for group, group_field in Settings.model_fields.items():
        model = group_field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            for name, field in model.model_fields.items():
                found[name] = Option(group=group, name=name, field=field)
    return found


def group_titles() -> Mapping[str, str]:
    """What each group of settings is about, by the group's name."""
    groups = {option.group for option in all_options().values()}
    return {
        name: (field.annotation.__doc__ or "").partition("\n")[0].rstrip(".")
        for name, field in Settings.model_fields.items()
        if name in groups
    }
