"""The page that comes with the package, served on this machine for as long as it is needed."""

import contextlib
import functools
import http.server
import threading
from collections.abc import Generator
from importlib import resources


@contextlib.contextmanager
def shop() -> Generator[str]:
    """The shop's address, while it is served."""
    with resources.as_file(resources.files("mcp_browser") / "assets") as assets:
        handler = functools.partial(_Quiet, directory=str(assets))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/try.html"
            server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of each request."""
