"""Serve MCP: standard output carries nothing but the protocol, logs go to standard error."""

import logging
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.sources import LoadedSettings
from mcp_browser.errors import SettingsError
from mcp_browser.privacy.hiding import LogFormatter
from mcp_browser.server.stdio import open_wire
from mcp_browser.settings import Settings


def serve(loaded: LoadedSettings, _asked: Arguments) -> NoReturn:
    """Serve until the client has gone or a signal comes, then end the process; raises SettingsError."""
    settings = loaded.settings
    begin(settings)
    over_http = settings.server.http or settings.server.sse
    # The client is answered while the rest is imported.
    wire = None if over_http else open_wire(settings)
    from mcp_browser.server.startup import run_http, run_stdio  # noqa: PLC0415

    with wrong_settings():
        if over_http:
            run_http(settings)
        run_stdio(settings, wire)
    raise AssertionError


def begin(settings: Settings) -> None:
    """Set up logs and signals; read files of secrets, to show what is wrong. Raises SettingsError."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=settings.server.log_level.upper(), handlers=[handler])
    for name in {"SIGTERM", "SIGINT", "SIGHUP"} & signal.Signals.__members__.keys():
        # Until the server has handlers of its own; what it has started by then ends with its input.
        signal.signal(signal.Signals[name], lambda number, _frame: os._exit(128 + number))
    if files := dict.fromkeys(
        one.agent.secrets for one in settings.variants if one.agent.secrets is not None
    ):
        from mcp_browser.agent.secrets.store import load_secrets  # noqa: PLC0415 - most servers have none

        for file in files:
            load_secrets(file)


@contextmanager
def wrong_settings() -> Generator[None]:
    """Raise a wrong setting that is found within the server's task group as what it is."""
    try:
        yield
    except ExceptionGroup as group:
        wrong: Exception | None = group.subgroup(SettingsError)
        while isinstance(wrong, ExceptionGroup):
            wrong = wrong.exceptions[0]
        raise wrong or group from None
