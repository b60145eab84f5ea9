"""The tasks of MiniWoB++ as a web site: each page starts by itself and reports its reward."""

import json
import queue
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.packages import python_packages
from tests.support.site import Reply, Request, Site

_REQUIREMENT = "miniwob==1.1.0"
_STARTER = (Path(__file__).parent / "miniwob_starter.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    """How an episode ended: the raw reward, from -1 to 1, and the page's reason where it gives one."""

    reward: float
    reason: str | None


class Gym:
    """The tasks on a site. An episode has an address of its own, and ends with one outcome."""

    def __init__(self, site: Site, pages: Path) -> None:
        self._url = site.mount("/", pages).rstrip("/")
        self._plain = site.handlers["/"]
        site.route("/miniwob", self._page)
        site.route("/reward", self._note)
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

    def _page(self, request: Request) -> Reply:
        """A page of the package's with the starter in it."""
        html = self._plain(request).body.decode()
        return Reply(html.replace("</head>", f"<script>{_STARTER}</script></head>", 1).encode())

    def _note(self, request: Request) -> Reply:
        """Take note of an outcome; what no one has asked for is dropped."""
        report, episode = json.loads(request.body), request.first("episode")
        if episode in self._ended:
            self._ended[episode].put(Outcome(reward=report["reward"], reason=report["reason"]))
        return Reply(b"", status=204)


@contextmanager
def running_gym() -> Generator[Gym]:
    """The site on a free loopback port; what the package itself requires (NumPy, Selenium, …) is left out."""
    environment = python_packages("miniwob", "--no-deps", _REQUIREMENT).parent.parent
    with Site() as site:
        yield Gym(site, next(environment.glob("**/site-packages/miniwob/html")))
