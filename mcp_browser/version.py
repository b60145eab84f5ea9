"""The version of the installed package."""

from importlib.metadata import version

DISTRIBUTION = "mcp-browser-server"
__version__ = version(DISTRIBUTION)
