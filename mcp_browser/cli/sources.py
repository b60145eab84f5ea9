"""Where settings come from: flags, then variables, then the configuration file, then defaults."""

import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from mcp_browser.errors import SettingsError
from mcp_browser.settings import (
    PER_PRINCIPAL,
    VARIABLE_PREFIX,
    Option,
    PrincipalSettings,
    Settings,
    SettingsGroup,
    all_options,
    by_group,
    did_you_mean,
    what_is_allowed,
    without_secrets,
)

CONFIG_VARIABLE = "MCP_BROWSER_CONFIG"
DEFAULT = "default"
LONGEST_VALUE = 80  # Characters of a wrong value in a message
PRINCIPALS = "principals"  # The table of a configuration file that holds what is different for whom


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, and by field name where each value came from: a flag, a variable, a file, or `default`."""

    settings: Settings
    origins: Mapping[str, str]

    def named(self, name: str) -> str:
        """Return a setting's key and where its value came from, for a message."""
        origin = self.origins[name]
        return f"{all_options()[name].key} (from {origin if origin != DEFAULT else PRINCIPALS})"


@dataclass(frozen=True, slots=True)
class _Given:
    value: Any
    origin: str


def load_settings(
    flags: Mapping[str, Any], *, environment: Mapping[str, str], config: Path | None = None
) -> LoadedSettings:
    """Settings from all sources, the first that names a setting winning.

    `flags` are by field name: texts, truth values, lists of texts. `config` is by default the file that
    `MCP_BROWSER_CONFIG` names. Raises SettingsError, in one line: a value is wrong or a name unknown.
    """
    given: dict[str, _Given] = {}
    if config is None and environment.get(CONFIG_VARIABLE):
        config = Path(environment[CONFIG_VARIABLE])
    principals: tuple[PrincipalSettings, ...] = ()
    if config is not None:
        config = config.expanduser()
        content = dict(_read(config))
        principals = _principals(config, content.pop(PRINCIPALS, {}))
        given |= _from_table(config, content)
    given |= _from_environment(environment)
    for name, value in flags.items():
        option = all_options()[name]
        given[name] = _Given(value, option.off_flag if value is False and option.off_flag else option.flag)
    settings = _settings(given).model_copy(update={"principals": principals})
    origins = {name: given[name].origin if name in given else DEFAULT for name in all_options()}
    loaded = LoadedSettings(settings, origins)
    _check_together(loaded)
    return loaded


def _from_environment(environment: Mapping[str, str]) -> dict[str, _Given]:
    by_variable = {option.variable: option for option in all_options().values()}
    by_variable |= {
        VARIABLE_PREFIX + key.upper().replace("-", "_"): option for key, option in _by_key().items()
    }
    given: dict[str, _Given] = {}
    for variable, value in environment.items():
        if not variable.startswith(VARIABLE_PREFIX) or variable == CONFIG_VARIABLE:
            continue
        if variable not in by_variable:
            raise SettingsError(f"unknown variable {variable}{did_you_mean(variable, by_variable)}.")
        if value:
            given[by_variable[variable].name] = _Given(value, variable)
    return given


def _settings(given: Mapping[str, _Given]) -> Settings:
    try:
        return Settings.model_validate(by_group({name: found.value for name, found in given.items()}))
    except ValidationError as error:
        option, allowed = what_is_allowed(error)
    value, origin = given[option.name].value, given[option.name].origin
    as_written = origin in (option.flag, option.off_flag, option.variable)
    words = cast("list[Any]", value if isinstance(value, list) else [value])
    text = without_secrets(repr(words[0] if len(words) == 1 else words))
    text = text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
    got = "" if option.may_be_secret else f", not {text}"
    raise SettingsError(f"{origin if as_written else f'{option.key} in {origin}'} must be {allowed}{got}.")


def _principals(path: Path, tables: object) -> tuple[PrincipalSettings, ...]:
    """What the table `principals` of a configuration file says: for each glob of names, settings by key."""
    if not isinstance(tables, dict):
        raise SettingsError(f"{PRINCIPALS} in {path} must be a table of tables, one for each name.")
    options = all_options()
    found: list[PrincipalSettings] = []
    for pattern, table in cast("dict[str, Any]", tables).items():
        where = f"{path}, {PRINCIPALS}.{pattern}"
        if not isinstance(table, dict):
            raise SettingsError(f"{where} must be a table of settings.")
        given = _from_table(path, cast("dict[str, Any]", table), where=where)
        for name in given:
            if name not in PER_PRINCIPAL:
                allowed = ", ".join(sorted(options[one].key for one in PER_PRINCIPAL))
                key = options[name].key
                raise SettingsError(f"{key} in {where} is one for all; for each there are: {allowed}.")
        settings = _settings(given)
        values = {name: getattr(getattr(settings, options[name].group), name) for name in given}
        found.append(PrincipalSettings(pattern=pattern, values=by_group(values)))
    return tuple(found)


def _from_table(path: Path, table: Mapping[str, Any], *, where: str = "") -> dict[str, _Given]:
    where = where or str(path)
    by_key = _by_key()
    switched_off = {option.off_flag[2:]: option for option in by_key.values() if option.off_flag}
    given: dict[str, _Given] = {}
    for key, value in table.items():
        written = key.replace("_", "-")
        option = by_key.get(written)
        if written in switched_off:
            raise SettingsError(f"write {switched_off[written].key} = false in {where}, not {key!r}.")
        if option is None:
            raise SettingsError(f"unknown setting {key!r} in {where}{did_you_mean(key, by_key)}.")
        if option.name in given:
            raise SettingsError(f"{option.key} stands twice in {where}, once as {option.flag[2:]}.")
        given[option.name] = _Given(_beside(path, value) if option.holds_paths else value, where)
    return given


def _by_key() -> Mapping[str, Option]:
    """Return the settings that a file may hold by their keys, and by their flags, which may differ."""
    options = [option for option in all_options().values() if not option.variable_only]
    return {key: option for option in options for key in (option.key, option.flag[2:])}


def _read(path: Path) -> Mapping[str, Any]:
    readers: Mapping[str, Callable[[str], object]] = {".toml": tomllib.loads, ".json": json.loads}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise SettingsError(f"the configuration file must end in .toml or .json, not {path.name!r}.")
    try:
        content = read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error.strerror if isinstance(error, OSError) else error).split())
        raise SettingsError(f"cannot read the configuration file {path}: {reason}.") from None
    if not isinstance(content, dict):
        raise SettingsError(f"the configuration file {path} must hold one object of settings.")
    return cast("dict[str, Any]", content)


def _beside(config: Path, value: Any) -> Any:
    """Paths in a configuration file, taken from the folder of that file."""
    if isinstance(value, list):
        return [_beside(config, part) for part in cast("list[Any]", value)]
    return str(config.absolute().parent / Path(value).expanduser()) if isinstance(value, str) else value


def _check_together(loaded: LoadedSettings) -> None:
    """Refuse settings that exclude or need each other, and files that are not there."""
    settings, named = loaded.settings, loaded.named
    browser, server = settings.browser, settings.server
    over_http = server.http or server.sse
    if browser.cdp_endpoint is not None and browser.browser_endpoint is not None:
        raise SettingsError(f"{named('cdp_endpoint')} and {named('browser_endpoint')} exclude each other.")
    if browser.connect is None and browser.connect_tabs:
        raise SettingsError(f"{named('connect_tabs')} needs connect.")
    given = browser.model_fields_set - {"connect", "connect_tabs", "init_scripts", "extra_headers"}
    started = [name for name in type(browser).model_fields if name in given]
    if browser.connect is not None and started:
        raise SettingsError(
            f"{named(started[0])} is for a browser that is started here; {named('connect')} works in one "
            "that runs already, as it is. Leave one of them out."
        )
    if browser.connect is not None and over_http:
        raise SettingsError(
            f"{named('connect')} is for one client over standard input and output: over HTTP whoever may "
            "come in would work with your logins."
        )
    restrictions = [
        name
        for one in settings.variants
        for name in ("allow_domains", "block_domains", "block_private")
        if getattr(one.egress, name)
    ]
    if restrictions and not browser.starts_browser:
        raise SettingsError(
            f"{named(restrictions[0])} needs a Chromium that is started here: where another one connects to "
            "cannot be restricted."
        )
    _check_places(loaded)
    for name, other in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
        if getattr(server, name) and not getattr(server, other):
            raise SettingsError(f"{named(name)} needs {all_options()[other].key}.")
    if over_http and browser.profile is not None:
        raise SettingsError(
            f"{named('profile')} is for one client over standard input; each session over HTTP has a clean "
            "context. --profiles FOLDER keeps named profiles."
        )


def _check_places(loaded: LoadedSettings) -> None:
    """Refuse files and folders that are not there."""
    settings, named = loaded.settings, loaded.named
    browser, server = settings.browser, settings.server
    files = {"executable": browser.executable, "tls_cert": server.tls_cert, "tls_key": server.tls_key}
    for name, path in (*files.items(), *(("actions", path) for path in settings.tools.actions)):
        if path is not None and not path.is_file():
            raise SettingsError(f"{named(name)}: there is no file {path}.")
    for name, folder in (("profile", browser.profile), ("profiles", settings.sessions.profiles)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise SettingsError(f"{named(name)}: {folder} is not a folder.")
    for folder in settings.files.upload_dirs:
        if not folder.is_dir():
            beside: list[str] = []
            with suppress(OSError):
                beside = [path.name for path in folder.absolute().parent.iterdir()]
            raise SettingsError(
                f"{named('upload_dirs')}: there is no folder {folder}{did_you_mean(folder.name, beside)}."
            )


def with_all_tools(loaded: LoadedSettings) -> LoadedSettings:
    """Return the settings with every action unless they name groups: in a terminal no model reads a list."""
    settings = loaded.settings
    changed: dict[str, SettingsGroup] = {}
    if loaded.origins["tools"] == DEFAULT:
        changed["tools"] = settings.tools.model_copy(update={"tools": ("all",)})
    if loaded.origins["console"] == DEFAULT:
        # Else the group of the mouse, for models that see no snapshots, shows every message.
        changed["observation"] = settings.observation.model_copy(update={"console": "errors"})
    return LoadedSettings(settings.model_copy(update=changed), loaded.origins)


def make_folders(loaded: LoadedSettings) -> None:
    """Make the folders for files that the settings name, and try to write there; raises SettingsError."""
    for settings in loaded.settings.variants:
        for name, folder in (
            ("output_dir", settings.files.output_dir),
            ("tasks_dir", settings.agent.tasks_dir),
            ("profiles", settings.sessions.profiles),
        ):
            if folder is None:
                continue
            import tempfile  # noqa: PLC0415 - most servers name no folder

            from mcp_browser.browser.files.artifacts import make_folder  # noqa: PLC0415

            try:
                make_folder(folder)
                tempfile.TemporaryFile(dir=folder).close()
            except OSError as error:
                raise SettingsError(
                    f"{loaded.named(name)}: the folder {folder} cannot be written to: {error.strerror}."
                ) from None
