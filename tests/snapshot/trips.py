"""Counts the messages sent to the browser by Playwright, and how many of them wait for one another."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright._impl.connection import Connection


@dataclass
class Trips:
    """Messages in order of sending, and the longest chain of which each was sent after another's answer."""

    messages: list[str] = field(default_factory=list[str])
    chain: int = 0
    page_scripts: int = 0  # How many of the messages carry the page script

    def __len__(self) -> int:
        return len(self.messages)


@contextmanager
def counting() -> Generator[Trips]:
    """Count the messages that are sent to the browser's driver within the block."""
    trips = Trips()
    send = Connection.send_message_to_server
    answered = 0

    def counted(self: Connection, object: Any, method: str, params: Any, options: Any) -> Any:
        nonlocal answered
        future = send(self, object, method, params, options)
        if method == "__waitInfo__":
            return future  # A note to the driver, for its logs.
        inner = str(params["method"]) if "method" in (params or {}) else ""
        trips.messages.append(f"{method} {inner}".strip())
        trips.page_scripts += "Install = (function" in str(params)[:500]
        mine = answered + 1
        trips.chain = max(trips.chain, mine)

        def done(_: Any) -> None:
            nonlocal answered
            answered = max(answered, mine)

        future.add_done_callback(done)
        return future

    Connection.send_message_to_server = counted
    try:
        yield trips
    finally:
        Connection.send_message_to_server = send
