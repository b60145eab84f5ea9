"""A browser for the tests of channels."""

from tests.actions.conftest import folders, manager

__all__ = ["folders", "manager"]
