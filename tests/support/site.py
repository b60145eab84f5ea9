"""A local web site whose pages a test makes up as it goes."""

import contextlib
import itertools
import mimetypes
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Reply:
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    pieces: Iterator[bytes] | None = None  # What comes after `body`, so that its length is not told


@dataclass(frozen=True)
class Request:
    """What a browser asks the site for; `path` is decoded and has no query, `headers` have lower names."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: bytes
    headers: Mapping[str, str]

    def first(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]


class Site:
    """Pages by path, folders and handlers by prefix, and some fixed addresses.

    * `/slow?s=0.4&text=late`: answers `text` after `s` seconds
    * `/stream?every=0.1&text=tick&type=text/plain`: that text again and again, until the site is stopped
    * `/hang`: answers nothing until the site is stopped
    * `/status/404`: a page with that status
    * `/download/name.txt?text=…`: an attachment; with `every=0.1` that text again and again; with `length=9`
      that many bytes are told, and the connection breaks off after the text; with `s=6` the last one is late
    * `/redirect?to=…`: a redirect
    * `/favicon.ico`: nothing, without an error in the console
    * `/echo`: the request's method, query and body as text

    `url` is at 127.0.0.1; `other` is the same site at localhost, which a browser takes for another site.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        """With a certificate and its key (PEM) it is a site over https."""
        self.pages: dict[str, Reply] = {}
        self.handlers: dict[str, Callable[[Request], Reply]] = {}
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._scheme = "http" if certificate is None else "https"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def other(self) -> str:
        return f"{self._scheme}://localhost:{self.port}"

    def page(self, body: str, *, path: str | None = None, title: str = "Test page", status: int = 200) -> str:
        head = f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head>"
        return self.publish(f"{head}<body>{body}</body></html>".encode(), path=path, status=status)

    def publish(
        self,
        body: bytes,
        *,
        path: str | None = None,
        content_type: str = "text/html; charset=utf-8",
        status: int = 200,
        headers: dict[str, str] | None = None,
    ) -> str:
        path = path or f"/page/{next(self._numbers)}"
        self.pages[path] = Reply(body, content_type, status, headers or {})
        return self.url + path

    def route(self, prefix: str, handler: Callable[[Request], Reply]) -> str:
        """Let a function answer every request at and below a prefix, and tell its URL."""
        self.handlers[prefix] = handler
        return self.url + prefix

    def mount(self, prefix: str, folder: Path) -> str:
        """Publish the files of a folder below a prefix, and tell its URL."""
        root = folder.resolve()

        def serve(request: Request) -> Reply:
            file = (root / request.path.removeprefix(prefix).lstrip("/")).resolve()
            if file.is_dir():
                file /= "index.html"
            if not file.is_relative_to(root) or not file.is_file():
                return Reply(b"Not found", "text/plain", status=404)
            return Reply(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream")

        return self.route(prefix, serve)

    def answer(self, request: Request) -> Reply | None:
        """The reply to a request; None hangs up."""
        if request.path in self.pages:
            return self.pages[request.path]
        path = f"{request.path}/"
        if below := [prefix for prefix in self.handlers if path.startswith(prefix.rstrip("/") + "/")]:
            return self.handlers[max(below, key=len)](request)
        return self._fixed(request)

    def _fixed(self, request: Request) -> Reply | None:
        reply: Reply | None = Reply(b"<!doctype html><title>Not found</title><h1>Not found</h1>", status=404)
        match request.path.lstrip("/").split("/", 1):
            case ["slow"]:
                self._stopping.wait(float(request.first("s", "0.4")))
                kind = request.first("type", "text/html; charset=utf-8")
                reply = Reply(request.first("text", "late").encode(), kind)
            case ["stream"]:
                pieces = self._ticks(float(request.first("every", "0.1")), request.first("text", "tick"))
                reply = Reply(b"", request.first("type", "text/plain"), pieces=pieces)
            case ["hang"]:
                self._stopping.wait(120)
                reply = None
            case ["status", code]:
                html = f"<!doctype html><title>Status {code}</title><h1>Status {code}</h1>"
                reply = Reply(html.encode(), status=int(code))
            case ["download", name]:
                headers = {"Content-Disposition": f'attachment; filename="{name}"'}
                body, pieces = request.first("text", "content"), None
                if every := request.first("every"):
                    pieces = self._ticks(float(every), body)
                if length := request.first("length"):
                    headers["Content-Length"] = length
                    pieces = self._rest(int(length) - len(body), float(request.first("s", "0")))
                reply = Reply(body.encode(), "application/octet-stream", headers=headers, pieces=pieces)
            case ["redirect"]:
                reply = Reply(b"", status=302, headers={"Location": request.first("to")})
            case ["echo"]:
                text = f"{request.method} {request.query} {request.body.decode(errors='replace')}"
                reply = Reply(text.encode(), "text/plain; charset=utf-8")
            case ["favicon.ico"]:
                reply = Reply(b"", status=204)
            case _:
                pass
        return reply

    def _ticks(self, every: float, text: str) -> Iterator[bytes]:
        while not self.wait_stopping(every):
            yield f"data: {text}\n\n".encode()

    def _rest(self, length: int, seconds: float) -> Iterator[bytes]:
        if seconds:
            yield b"a" * (length - 1)
            self.wait_stopping(seconds)
            yield b"a"

    def wait_stopping(self, seconds: float) -> bool:
        return self._stopping.wait(seconds)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests.append(f"{self.command} {self.path}")
            length = int(self.headers.get("Content-Length") or 0)
            posted = self.rfile.read(length) if length else b""
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, unquote(parts.path), parse_qs(parts.query), posted, headers)
            reply = site.answer(request)
            if reply is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            if reply.pieces is None:
                self.send_header("Content-Length", str(len(reply.body)))
            else:
                self.send_header("Connection", "close")
            self.send_header("Access-Control-Allow-Origin", "*")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            # A page that was left takes no more of an answer.
            with contextlib.suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(reply.body)
            if reply.pieces is not None:
                self.close_connection = True
                with contextlib.suppress(OSError):  # Nobody reads any more
                    for piece in reply.pieces:
                        self.wfile.write(piece)

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - named by the base class

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output clean."""

    return Handler
