"""A local web site whose pages a test makes up as it goes."""

import itertools
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Reply:
    """What the site answers at a path."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Site:
    """Pages by path, and some fixed addresses.

    * `/slow?s=0.4&text=late`: answers `text` after `s` seconds
    * `/hang`: answers nothing until the site is stopped
    * `/status/404`: a page with that status
    * `/download/name.txt?text=…`: an attachment
    * `/redirect?to=…`: a redirect
    * `/echo`: the request's method, query and body as text

    `url` is at 127.0.0.1; `other` is the same site at localhost, which a browser takes for another site.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def other(self) -> str:
        return f"http://localhost:{self.port}"

    def page(self, body: str, *, path: str | None = None, title: str = "Test page", status: int = 200) -> str:
        """Publish an HTML body and tell its URL."""
        html = f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body>{body}</body></html>"
        return self.publish(html.encode(), path=path, status=status)

    def publish(
        self,
        body: bytes,
        *,
        path: str | None = None,
        content_type: str = "text/html; charset=utf-8",
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> str:
        """Publish bytes and tell their URL."""
        path = path or f"/page/{next(self._numbers)}"
        self.pages[path] = Reply(body, content_type, status, headers or {})
        return self.url + path

    def answer(self, path: str, query: dict[str, list[str]], posted: bytes, method: str) -> Reply | None:
        first = {name: values[0] for name, values in query.items()}
        if path in self.pages:
            return self.pages[path]
        if path == "/slow":
            self._stopping.wait(float(first.get("s", "0.4")))
            return Reply(first.get("text", "late").encode(), first.get("type", "text/html; charset=utf-8"))
        if path == "/hang":
            self._stopping.wait(120)
            return None
        if path.startswith("/status/"):
            status = int(path.removeprefix("/status/"))
            return Reply(f"<!doctype html><title>Status {status}</title><h1>Status {status}</h1>".encode(), status=status)
        if path.startswith("/download/"):
            name = unquote(path.removeprefix("/download/"))
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return Reply(first.get("text", "content").encode(), "application/octet-stream", headers=headers)
        if path == "/redirect":
            return Reply(b"", status=302, headers={"Location": first["to"]})
        if path == "/echo":
            return Reply(f"{method} {query} {posted.decode(errors='replace')}".encode(), "text/plain; charset=utf-8")
        return Reply(b"<!doctype html><title>Not found</title><h1>Not found</h1>", status=404)

    def wait_stopping(self, seconds: float) -> bool:
        return self._stopping.wait(seconds)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def _reply(self) -> None:
            site.requests.append(f"{self.command} {self.path}")
            length = int(self.headers.get("Content-Length") or 0)
            posted = self.rfile.read(length) if length else b""
            parts = urlsplit(self.path)
            reply = site.answer(parts.path, parse_qs(parts.query), posted, self.command)
            if reply is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.send_header("Access-Control-Allow-Origin", "*")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output clean."""

    return Handler
