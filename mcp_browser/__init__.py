"""A Model Context Protocol server that gives any MCP client a real browser."""

from importlib.metadata import version

__version__ = version("mcp-browser")
