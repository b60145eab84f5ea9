"""Keeps secrets of clients and of the server out of the logs."""

import logging
import time

_TALKATIVE = ("mcp", "sse_starlette", "httpx2", "httpcore2", "asyncio")
"""Loggers that write messages, headers or session identifiers at the levels below WARNING."""

FLOOD_SECONDS = 60.0


def _without_content(record: logging.LogRecord) -> bool:
    """Leave out the traceback of a message that is not understood: it quotes the message."""
    if record.exc_info is not None and type(record.exc_info[1]).__name__ == "ValidationError":
        record.exc_info = record.exc_text = None
    return True


class _WithoutFloods(logging.Filter):
    """Logs once a minute, in one line, that no more files can be opened; asyncio logs each attempt."""

    _logged_at = -FLOOD_SECONDS

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.getMessage().startswith("socket.accept() out of system resource"):
            return True
        if time.monotonic() - self._logged_at < FLOOD_SECONDS:
            return False
        self._logged_at = time.monotonic()
        record.msg, record.args = "No connection can be taken: this process has too many files open.", ()
        record.exc_info = record.exc_text = None
        return True


_FLOODS = _WithoutFloods()


def quiet_logs() -> None:
    """Keep tokens, cookies, arguments and session identifiers out of the logs, whatever the log level is."""
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    # Anybody can fill a log with one line for each wrong request; those of the SDK name sessions besides.
    for name in ("mcp.server.sse", "mcp.server.streamable_http", "mcp.server.streamable_http_manager"):
        logging.getLogger(name).addFilter(_without_content)
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("asyncio").addFilter(_FLOODS)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    logging.getLogger("uvicorn.access").disabled = True
