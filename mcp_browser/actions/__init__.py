"""The browser actions; each is declared in the file of its family."""

from mcp_browser.actions.catalog import default_registry, load_registry

__all__ = ["default_registry", "load_registry"]
