"""A browser of the user's own, with tabs that nobody else is to touch, and the user's hand in it."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from mcp_browser.browser.process.launch import PORT_FILE, find_browser, launch_options
from mcp_browser.settings import BrowserSettings
from tests.support.waiting import wait_until

SECONDS = 30

WITNESS = """<h1>The user's</h1><script>
const lost = [];
for (const event of ['visibilitychange', 'blur'])
  addEventListener(event, () => lost.push(event), true);
function inFront() { return [document.visibilityState, document.hasFocus(), ...lost].join(); }
</script>"""
"""A page that keeps whether its tab was ever not in front; a new browser gives it the focus late."""


class User:
    """Whoever sits before the browser whose user data folder is `folder`."""

    def __init__(self, folder: Path, process: "subprocess.Popen[bytes]") -> None:
        self.folder = folder
        self.downloads = folder / "Downloads"
        self._process = process

    def tabs(self) -> dict[str, dict[str, Any]]:
        """What the browser says of each tab, by its address."""
        targets = self._ask("Target.getTargets")["targetInfos"]
        return {target["url"]: target for target in targets if target["type"] == "page"}

    def attached(self) -> set[str]:
        """The addresses of the tabs that somebody is attached to."""
        return {url for url, target in self.tabs().items() if target["attached"]}

    def open(self, url: str) -> None:
        self._ask("Target.createTarget", url=url, background=True)

    def close(self, url: str) -> None:
        self._ask("Target.closeTarget", targetId=self.tabs()[url]["targetId"])

    def read(self, url: str, expression: str) -> Any:
        """The value of an expression in a tab: who reads it attaches to it for that time."""
        with self._line() as ask:
            target = self.tabs()[url]["targetId"]
            session = ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            return ask("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"][
                "value"
            ]

    def quit(self) -> None:
        self._ask("Browser.close")
        self._process.wait(SECONDS)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        with self._line() as ask:
            return ask(method, **parameters)

    @contextmanager
    def _line(self) -> Generator[Any]:
        port, path = (self.folder / PORT_FILE).read_text().split()
        with connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None) as socket:

            def ask(method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
                command: dict[str, Any] = {"id": 1, "method": method, "params": parameters}
                socket.send(json.dumps(command | ({"sessionId": session} if session else {})))
                while (said := json.loads(socket.recv(timeout=SECONDS))).get("id") != 1:
                    pass
                return said["result"]

            yield ask


@contextmanager
def foreign_chromium(
    folder: Path, *urls: str, port: int | None = 0, stderr: int = subprocess.DEVNULL
) -> "Generator[subprocess.Popen[bytes]]":
    """A Chromium of somebody else that can be debugged at this port, if any; it is killed at the end."""
    choice = find_browser(BrowserSettings())
    assert choice.executable is not None
    options = launch_options(choice, headless=True)
    sandbox = [] if options["chromium_sandbox"] else ["--no-sandbox"]
    debugging = [] if port is None else [f"--remote-debugging-port={port}"]
    flags = ["--headless", *debugging, f"--user-data-dir={folder}", *sandbox]
    command = [choice.executable, *flags, *options["args"], *urls]
    process = subprocess.Popen(command, stderr=stderr, start_new_session=True)
    try:
        yield process
    finally:
        end_group(process)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and those of its group, if it runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def users_browser(folder: Path, *urls: str) -> Generator[User]:
    """A browser that its user has started with a folder of its own, and these pages in tabs."""
    preferences = folder / "Default" / "Preferences"
    if not preferences.exists():
        preferences.parent.mkdir(parents=True)
        downloads = {"default_directory": str(folder / "Downloads")}
        preferences.write_text(json.dumps({"download": downloads}))
    with foreign_chromium(folder, *urls) as process:
        user = User(folder, process)
        wait_until(lambda: _answers(user, urls) or not user.running)
        yield user


def _answers(user: User, urls: tuple[str, ...]) -> bool:
    try:
        tabs = user.tabs()
    except (OSError, ValueError):
        return False
    return all(url in tabs for url in urls)
