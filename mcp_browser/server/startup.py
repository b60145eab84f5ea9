"""Starts the server and ends it, leaving no process behind."""

import logging
import os
import signal
import sys
from importlib import import_module

import anyio
import anyio.to_thread

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.settings import Settings

logger = logging.getLogger(__name__)

CLOSING_SECONDS = 4
"""How long the browser may take to close before it is killed."""

_STOP_SIGNALS = [signal.SIGTERM, signal.SIGINT] + ([signal.SIGHUP] if sys.platform != "win32" else [])


def run_stdio(settings: Settings) -> None:
    """Serve over stdio until the input ends or a signal comes; then close the browser and exit the process.

    The process is ended at once after the clean-up: a thread that still waits for input would hold it.
    """
    code = anyio.run(_serve_until_stopped, settings)
    sys.stderr.flush()
    os._exit(code)


async def _serve_until_stopped(settings: Settings) -> int:
    """Serve; the exit code is 0 at the end of input, 128 + N after signal N."""
    manager = BrowserManager(settings)
    code = 0
    try:
        async with anyio.create_task_group() as tasks:

            async def stop_on_signal() -> None:
                nonlocal code
                with anyio.open_signal_receiver(*_STOP_SIGNALS) as signals:
                    async for number in signals:
                        code = 128 + number
                        tasks.cancel_scope.cancel()
                        return

            tasks.start_soon(stop_on_signal)
            manager.warm()
            # The protocol's modules take longer to import than a browser's driver takes to start: do both at once.
            transports = await anyio.to_thread.run_sync(
                import_module, "mcp_browser.server.transports", abandon_on_cancel=True
            )
            await transports.serve_stdio(settings, manager)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(CLOSING_SECONDS, shield=True) as closing:
            await manager.close()
        if closing.cancelled_caught:
            logger.warning("The browser did not close within %s s; it is killed.", CLOSING_SECONDS)
    return code
