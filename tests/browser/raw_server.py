"""A server that answers as it should not: slowly, by halves, without a body."""

import contextlib
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.browser.conftest import answering

FILE = "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path, _, seconds = self.path.partition("?")
        match path:
            case "/slow.bin":
                self._send(
                    f"HTTP/1.1 200 OK\r\n{FILE}slow.bin\r\nContent-Length: 70003\r\n\r\n" + "a" * 70_000
                )
                self._wait(float(seconds))
                self._send("def")
            case "/endless.bin":
                self._send(f"HTTP/1.1 200 OK\r\n{FILE}endless.bin\r\n\r\n")
                with contextlib.suppress(OSError):
                    while not _stopping.wait(0.01):
                        self._send("a" * 100_000)
            case "/half.bin":
                self._send(f"HTTP/1.1 200 OK\r\n{FILE}half.bin\r\nContent-Length: 100000\r\n\r\nabc")
            case "/nothing":
                self._send("HTTP/1.1 204 No Content\r\n\r\n")
            case "/empty-error":
                self._send("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")
            case "/half-page":
                self._send(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Half</title><h1>First half</h1>"
                )
                self._wait(float(seconds))
                self._send("<h1>Second half</h1>")
            case "/garbage":
                self._send("this is not HTTP\r\n\r\n")
            case _:
                self._send("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
        self.close_connection = True

    def _send(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not _stopping.wait(0.05):
            pass


_stopping = threading.Event()


@contextmanager
def raw_server() -> Generator[str]:
    """The address of such a server, without a slash at its end."""
    _stopping.clear()
    with answering(_Handler) as place:
        try:
            yield f"http://{place}"
        finally:
            _stopping.set()
