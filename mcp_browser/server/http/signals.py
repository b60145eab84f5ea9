"""uvicorn in a process whose signals are somebody else's."""

from collections.abc import Generator
from contextlib import contextmanager

import uvicorn


class ServerWithoutSignals(uvicorn.Server):
    """uvicorn, leaving the signals to us."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take none."""
        yield
