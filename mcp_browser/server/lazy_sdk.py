"""Imports what uses the MCP SDK without the parts of it that no server needs.

An import of any of its modules runs the packages `mcp` and `mcp.server`, which import its client and a second
kind of server, and each of its models builds a validator, also those of revisions that nobody speaks. That is
a third of a start's processor time. Here the two packages run when one of their own names is asked for,
and a model builds its validator when it is first used.
"""

import importlib.util
import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel

_PACKAGES = ("mcp", "mcp.server")
_running = threading.RLock()


class _Package(ModuleType):
    """A package whose own code has not run; its modules can be imported all the same."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _running:
            if type(self) is _Package:
                cast("Any", self).__class__ = ModuleType
                spec = self.__spec__
                assert spec is not None
                assert spec.loader is not None
                spec.loader.exec_module(self)
        return getattr(self, name)


def import_with_sdk(name: str) -> ModuleType:
    """Import a module that imports the SDK; no other import of the SDK may run meanwhile."""
    for package in _PACKAGES:
        if package not in sys.modules and (spec := importlib.util.find_spec(package)) is not None:
            module = importlib.util.module_from_spec(spec)
            cast("Any", module).__class__ = _Package
            sys.modules[package] = module
            parent, _, own = package.rpartition(".")
            if parent:
                setattr(sys.modules[parent], own, module)
    # Each model that is made meanwhile takes this setting from its base.
    BaseModel.model_config["defer_build"] = True
    try:
        return import_module(name)
    finally:
        del BaseModel.model_config["defer_build"]
