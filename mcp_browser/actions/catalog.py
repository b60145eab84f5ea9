"""The built-in actions, and the registry that the settings select."""

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from mcp_browser.actions.auditing import auditing
from mcp_browser.actions.console import console
from mcp_browser.actions.elements import elements
from mcp_browser.actions.emulation import emulation
from mcp_browser.actions.extraction import extraction, structured
from mcp_browser.actions.files import files, printing
from mcp_browser.actions.keyboard import keyboard
from mcp_browser.actions.mouse import mouse
from mcp_browser.actions.navigation import navigation, scrolling, tabs
from mcp_browser.actions.network import network
from mcp_browser.actions.observing import observing
from mcp_browser.actions.recording import session_recording, session_script
from mcp_browser.actions.registry import Registry
from mcp_browser.actions.scripting import page_tools, scripting
from mcp_browser.actions.several import one_tool, several
from mcp_browser.actions.storage import storage
from mcp_browser.actions.testing import testing
from mcp_browser.actions.waiting import waiting
from mcp_browser.errors import SettingsError
from mcp_browser.settings import ToolSettings

ENTRY_POINTS = "mcp_browser.actions"

Source = tuple[str, Registry]  # Where actions come from, for messages, and the actions


def actions_from_file(path: Path) -> Source:
    """The actions of all registries at the top level of a Python file.

    Raises SettingsError: it is missing, raises when it is run, or has no registry with an action in it.
    """
    source = f"actions: {path}"
    file = path.expanduser()
    if not file.is_file():
        raise SettingsError(f"{source}: there is no such file")
    digest = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]
    name = f"mcp_browser_actions_{digest}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise SettingsError(f"{source}: this is not a Python file (.py)")
    module = importlib.util.module_from_spec(spec)
    # Annotations are resolved through the module, so it has to be known while it runs.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(source, error) from error
    return source, _only_registry(source, vars(module))


def actions_from_entry_points() -> list[Source]:
    """The actions of installed packages, sorted by the names of their entry points; raises SettingsError."""
    sources: list[Source] = []
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        source = f"entry point {ENTRY_POINTS}: {entry.name} = {entry.value}"
        try:
            found = entry.load()
        except Exception as error:
            raise _failed(source, error) from error
        names: Mapping[str, object] = getattr(found, "__dict__", {})
        if isinstance(found, Registry):
            names = {"registry": found}
        sources.append((source, _only_registry(source, names)))
    return sources


def _failed(source: str, error: BaseException) -> SettingsError:
    return SettingsError(f"{source}: {' '.join(f'{type(error).__name__}: {error}'.split())}")


def _only_registry(source: str, names: Mapping[str, object]) -> Registry:
    found = {id(value): value for value in names.values() if isinstance(value, Registry)}
    merged = Registry()
    try:
        for registry in found.values():
            merged.include(registry)
    except ValueError as error:
        raise SettingsError(f"{source}: {error}") from error
    if not len(merged):
        hint = (
            "add actions with @registry.action(…)" if found else "make one: registry = mcp_browser.Registry()"
        )
        raise SettingsError(f"{source}: no registry with actions in it; {hint}")
    return merged


FAMILIES = (
    navigation,
    elements,
    several,
    keyboard,
    scrolling,
    tabs,
    observing,
    waiting,
    extraction,
    printing,
    structured,
    files,
    console,
    mouse,
    emulation,
    scripting,
    network,
    storage,
    testing,
    session_script,
    auditing,
    page_tools,
    session_recording,
    one_tool,
)
"""Every family, in the order in which a model meets their tools.

What acts on the page stands before what looks at it: a small model takes the first tool that may serve, and
looked for a field that it was shown (docs/tool-choice.md).
"""

ALL = "all"
CORE = "core"


def default_registry() -> Registry:
    """All actions that come with the package, in a fixed order."""
    registry = Registry(group=CORE)
    for family in FAMILIES:
        registry.include(family)
    return registry


def load_registry(
    settings: ToolSettings, *, other_groups: Sequence[str] = (), other_tools: Sequence[str] = ()
) -> Registry:
    """The actions that the settings ask for: the groups chosen, then the user's own, less those excluded.

    The settings may also name `other_groups` and `other_tools`, which are not actions. Raises SettingsError:
    there is no such group or action, a file cannot be used, or two actions share a name.
    """
    own = [*map(actions_from_file, settings.actions)]
    if settings.plugins:
        own += actions_from_entry_points()
    everything = Registry()
    everything.include(default_registry())
    for source, registry in own:
        try:
            everything.include(registry)
        except ValueError as error:
            raise SettingsError(f"{source}: {error}") from error
    _check_names("tools", settings.tools, (*everything.groups(), *other_groups, ALL), "group of tools")
    known = [*(action.name for action in everything), *other_tools]
    _check_names("exclude_actions", settings.exclude_actions, known, "action")
    # Actions of one's own are offered without naming their group as well.
    groups = {*settings.tools, *(action.group for _, registry in own for action in registry)}
    chosen = everything.only(groups).without(settings.exclude_actions)
    return read_only(chosen) if settings.read_only else chosen


def read_only(registry: Registry) -> Registry:
    """Those actions that change nothing on a page: that read, move the view, or open addresses and tabs."""
    return registry.without(
        action.name for action in registry if action.effect == "input" and action.reach != "view"
    )


def _check_names(setting: str, given: tuple[str, ...], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise SettingsError(f"{setting}: there is no {what} {name!r}; there are: {', '.join(known)}")
