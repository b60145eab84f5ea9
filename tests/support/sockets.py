"""A web socket that sends back what it gets."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from websockets.sync.server import ServerConnection, serve


@contextmanager
def echo_server() -> Generator[str]:
    """A server in a thread of its own; its address."""

    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(message)

    with serve(echo, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"
        finally:
            server.shutdown()
            thread.join(5)
