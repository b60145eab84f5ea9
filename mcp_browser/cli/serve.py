"""Serve MCP: standard output carries nothing but the protocol, logs go to standard error."""

import logging
import sys

from mcp_browser.errors import SettingsError
from mcp_browser.server.startup import run_stdio
from mcp_browser.settings import Settings


def serve(settings: Settings) -> int:
    """Serve over stdio until the input ends; does not return where the server has started.

    Raises:
        SettingsError: the actions that the settings name cannot be offered.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=settings.server.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        run_stdio(settings)
    except* SettingsError as wrong:
        raise _first(wrong) from None
    return 0


def _first(group: BaseExceptionGroup[SettingsError]) -> SettingsError:
    error = group.exceptions[0]
    return error if isinstance(error, SettingsError) else _first(error)
