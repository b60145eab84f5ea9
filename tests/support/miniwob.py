"""The tasks of MiniWoB++ as a web site: each page starts by itself and reports its reward."""

import json
import queue
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.support.packages import python_packages

_REQUIREMENT = "miniwob==1.1.0"
_STARTER = (Path(__file__).parent / "miniwob_starter.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    """How an episode ended: the raw reward, from -1 to 1, and the page's reason where it gives one."""

    reward: float
    reason: str | None


class Gym:
    """The running site. An episode has an address of its own, and ends with one outcome."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ended: dict[str, queue.Queue[Outcome]] = {}

    def episode(self, task: str, seed: int, *, once: bool = False) -> str:
        """Prepare an episode and tell the URL that starts it; with `once`, its page is empty at the end."""
        key = f"{task}/{seed}"
        self._ended[key] = queue.Queue()
        return f"{self._url}/miniwob/{task}.html?seed={seed}&episode={key}{'&once=1' if once else ''}"

    def outcome(self, task: str, seed: int, *, seconds: float = 5) -> Outcome:
        """How the episode ended; raises TimeoutError."""
        try:
            return self._ended[f"{task}/{seed}"].get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"{task} with seed {seed} has not ended") from None

    def report(self, episode: str, outcome: Outcome) -> None:
        """Take note of an outcome; what no one has asked for is dropped."""
        if episode in self._ended:
            self._ended[episode].put(outcome)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep the test output clean of requests that the browser gave up."""


class _Handler(SimpleHTTPRequestHandler):
    """Serves the package's pages, each with the starter in it, and takes the rewards."""

    gym: Gym

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or path.parent.name != "miniwob" or not path.is_file():
            super().do_GET()
            return
        page = path.read_text(encoding="utf-8").replace("</head>", f"<script>{_STARTER}</script></head>", 1)
        body = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        episode = parse_qs(urlsplit(self.path).query)["episode"][0]
        self.gym.report(episode, Outcome(reward=report["reward"], reason=report["reason"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""


@contextmanager
def running_gym() -> Generator[Gym]:
    """The site on a free loopback port; what the package itself requires (NumPy, Selenium, …) is left out."""
    environment = python_packages("miniwob", "--no-deps", _REQUIREMENT).parent.parent
    pages = next(environment.glob("**/site-packages/miniwob/html"))
    with _Server(("127.0.0.1", 0), partial(_Handler, directory=str(pages))) as server:
        _Handler.gym = Gym(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield _Handler.gym
        server.shutdown()
