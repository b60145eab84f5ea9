"""Actions of the user's own: from a Python file, or from an installed package's entry points.

A file makes a registry and adds actions to it:

    from mcp_browser import Registry, Tab

    registry = Registry()

    @registry.action("Tell how many links the page has.")
    async def count_links(tab: Tab) -> str:
        return str(await tab.page.locator("a").count())

A package names such a registry in its metadata, under the entry point group `mcp_browser.actions`.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path

from mcp_browser.actions.registry import Registry
from mcp_browser.errors import SettingsError

ENTRY_POINTS = "mcp_browser.actions"

Source = tuple[str, Registry]  # Where actions come from, for messages, and the actions


def actions_from_file(path: Path) -> Source:
    """The actions that a Python file registers, in all registries at its top level.

    Raises:
        SettingsError: the file is missing, raises when it is run, or has no registry with an action in it.
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
        raise SettingsError(f"{source}: {_one_line(error)}") from error
    return source, _only_registry(source, vars(module))


def actions_from_entry_points() -> list[Source]:
    """The actions of installed packages, sorted by the names of their entry points.

    Raises:
        SettingsError: an entry point cannot be loaded, or is not a registry.
    """
    sources: list[Source] = []
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        source = f"entry point {ENTRY_POINTS}: {entry.name} = {entry.value}"
        try:
            found = entry.load()
        except Exception as error:
            raise SettingsError(f"{source}: {_one_line(error)}") from error
        names: Mapping[str, object] = getattr(found, "__dict__", {})
        if isinstance(found, Registry):
            names = {"registry": found}
        sources.append((source, _only_registry(source, names)))
    return sources


def _only_registry(source: str, names: Mapping[str, object]) -> Registry:
    found = {id(value): value for value in names.values() if isinstance(value, Registry)}
    registries = [registry for registry in found.values() if len(registry)]
    if not registries:
        hint = (
            "add actions with @registry.action(…)" if found else "make one: registry = mcp_browser.Registry()"
        )
        raise SettingsError(f"{source}: no registry with actions in it; {hint}")
    if len(registries) == 1:
        return registries[0]
    merged = Registry()
    try:
        for registry in registries:
            merged.include(registry)
    except ValueError as error:
        raise SettingsError(f"{source}: {error}") from error
    return merged


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
