"""Settings: every option once, with its default, its limits, its flag and its documentation.

Flags, `MCP_BROWSER_*` variables and the configuration file all feed these models; the option tables in the
documentation are generated from them.
"""

import difflib
import fnmatch
import functools
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import ValidationError

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
from mcp_browser.settings.options import Option, groups_of, options_of, what_is_allowed
from mcp_browser.settings.values import (
    LOCALE,
    OWN_BROWSERS,
    SettingsGroup,
    Viewport,
    known_locale,
    known_timezone,
)

__all__ = [
    "LOCALE",
    "OWN_BROWSERS",
    "PER_PRINCIPAL",
    "AccessSettings",
    "AgentSettings",
    "BrowserSettings",
    "EgressSettings",
    "FileSettings",
    "LimitSettings",
    "ObservationSettings",
    "PrincipalSettings",
    "RecordingSettings",
    "ScreenshotSettings",
    "ServerSettings",
    "SessionSettings",
    "Settings",
    "SettingsGroup",
    "ToolSettings",
    "Viewport",
    "all_options",
    "by_group",
    "group_titles",
    "known_locale",
    "known_timezone",
]

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
            wrong, allowed = what_is_allowed(error, options)
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


@functools.cache
def all_options() -> Mapping[str, Option]:
    """Return every setting by its field's name, in the order of `Settings`."""
    return options_of(Settings)


def by_group(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return values of settings, by their fields' names, in their groups."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        groups.setdefault(all_options()[name].group, {})[name] = value
    return groups


def group_titles() -> Mapping[str, str]:
    """Return what each group of settings is about, by the group's name."""
    return {
        name: (model.__doc__ or "").partition("\n")[0].rstrip(".")
        for name, model in groups_of(Settings).items()
    }
