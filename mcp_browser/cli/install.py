"""`mcp-browser install` and `try`: a browser for this machine, and what a client would see of a page."""

import asyncio
import contextlib
import shlex
import sys
import tempfile
import time
from collections.abc import Generator
from functools import partial
from importlib import resources
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright
from rich.console import Console

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.pictures import encode_whole
from mcp_browser.browser.process.installing import Installer
from mcp_browser.browser.process.launch import BrowserChoice, browser_version, find_browser, launch_options
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.sources import DEFAULT, LoadedSettings
from mcp_browser.errors import BlockedUrl, BrowserNotFound, BrowserUnavailable, NotFound
from mcp_browser.rendering import render_snapshot
from mcp_browser.settings import BrowserSettings, Settings

_PLAIN_SECONDS = 10.0  # Between lines about long work where there is no terminal
_START_SECONDS = 30.0


def install(loaded: LoadedSettings, asked: Arguments) -> int:
    """Find a browser or get one, showing each step, and open a page with it; the exit code.

    Raises BrowserUnavailable: none could be had, or it does not start, or Playwright's driver does not.
    """
    browser = loaded.settings.browser
    with installing(with_deps="with_deps" in asked.given) as (installer, progress):
        choice = installer.install_browser(browser)
        problem = start_problem(choice, browser)
        lacks = problem is not None and choice.origin == "playwright" and "shared libraries" in problem
        if lacks and installer.install_libraries():
            problem = start_problem(choice, browser)
        if problem is not None:
            hint = "Its libraries can be installed with: mcp-browser install --with-deps."
            other = "Name another one with --executable PATH, or leave that setting out."
            raise BrowserUnavailable(f"{choice} does not start: {problem}.", hint=hint if lacks else other)
        progress.report(f"Ready: {browser_version(choice) or choice}")
    return 0


def try_page(loaded: LoadedSettings, asked: Arguments) -> int:
    """Open a page, print its snapshot and save a screenshot; the exit code. Raises ActionError."""
    settings = loaded.settings
    url = _address(asked.given["url"], settings) if "url" in asked.given else None
    with installing(with_deps="with_deps" in asked.given) as (installer, progress):
        if settings.browser.starts_browser:
            try:
                find_browser(settings.browser)
            except BrowserNotFound:
                progress.report("There is no browser here yet: getting one.")
                installer.install_browser(settings.browser)
    if loaded.origins["profile"] == DEFAULT and settings.browser.connect is None:
        # A look at one page leaves no trace in the profile, and need not wait for a server that holds it.
        browser = settings.browser.model_copy(update={"isolated": True})
        settings = settings.model_copy(update={"browser": browser})
    with resources.as_file(resources.files("mcp_browser") / "assets" / "try.html") as shipped:
        if url is None:
            url = shipped.as_uri()
            files = settings.files.model_copy(update={"allow_file_urls": True})
            settings = settings.model_copy(update={"files": files})
        snapshot, picture = asyncio.run(_look(settings, url))
    folder = settings.files.output_dir or Path(tempfile.mkdtemp(prefix="mcp-browser-try-"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("page.png" if picture.startswith(b"\x89PNG") else "page.jpg")
    path.write_bytes(picture)
    # A terminal shows it in colours; a file gets plain text.
    Console(soft_wrap=True, markup=False, emoji=False).print(snapshot)
    show(f"\nScreenshot: {path}")
    return 0


def _address(url: str, settings: Settings) -> str:
    """The address to open; that of a file where it is a file's path. Raises BlockedUrl."""
    path = Path(url).expanduser()
    if "://" in url or not (path.is_file() or url.startswith((".", "/", "~"))):
        return url
    if not path.is_file():
        raise NotFound(f"There is no file {url}.", hint="Give the path of a file, or a whole address.")
    if not settings.files.allow_file_urls:
        raise BlockedUrl(
            f"{url} is not opened: files of this machine are blocked.",
            hint=f"Open it with: mcp-browser try --allow-file-urls {shlex.quote(url)}",
        )
    return path.absolute().as_uri()


async def _look(settings: Settings, url: str) -> tuple[str, bytes]:
    manager = BrowserManager(settings)
    try:
        session = await manager.default_session()
        async with session.lock:
            await session.ensure_open()
            await session.current_tab.goto(url)
            observation = await session.full_observation()
            picture = encode_whole(await session.current_tab.screenshot())
    finally:
        await manager.close()
    if observation.snapshot is None:
        return "\n".join(observation.notices), picture
    return render_snapshot(observation.snapshot), picture


@contextlib.contextmanager
def installing(*, with_deps: bool) -> Generator[tuple[Installer, "StatusLine"]]:
    """Yield an installer, with Playwright's driver mended, and the line on which it shows its work.

    With `with_deps` the system's packages may be changed; otherwise a person at a terminal is asked.
    """
    progress = StatusLine()
    try:
        allowed = partial(progress.allows, with_deps=with_deps)
        installer = Installer(allowed, report=progress.report, doing=progress.doing)
        installer.mend_driver()
        yield installer, progress
    finally:
        progress.clear()


def start_problem(choice: BrowserChoice, settings: BrowserSettings) -> str | None:
    """Why a browser opens no page, in one line; None where it does."""
    try:
        asyncio.run(asyncio.wait_for(_open_a_page(choice, settings), _START_SECONDS))
    except TimeoutError:
        return f"it opened no page within {_START_SECONDS:g} s"
    except PlaywrightError as error:
        lines = [line.strip() for line in error.message.splitlines() if line.strip()]
        library = next((line for line in lines if "shared libraries" in line), None)
        return (library or lines[0]).rstrip(".:")
    return None


async def _open_a_page(choice: BrowserChoice, settings: BrowserSettings) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            **launch_options(choice, settings=settings, headless=True), timeout=_START_SECONDS * 1000
        )
        await browser.new_page()
        await browser.close()


class StatusLine:
    """Shows how work goes: at a terminal by a line that changes, else by a line now and then."""

    def __init__(self) -> None:
        self._status = Console().status("")
        self._shown = ""
        self._shown_at = 0.0
        self._is_terminal = sys.stdout.isatty()

    def clear(self) -> None:
        """Take the line that changes away."""
        self._status.stop()

    def report(self, line: str) -> None:
        """Show a line that stays, at once."""
        self.clear()
        show(line)

    def doing(self, text: str) -> None:
        """Show what is going on."""
        if self._is_terminal:
            self._status.update(text)
            self._status.start()
            return
        title, now = text.partition(":")[0], time.monotonic()
        if title != self._shown or now - self._shown_at >= _PLAIN_SECONDS:
            self._shown, self._shown_at = title, now
            show(f"{text} …")

    def allows(self, what: str, *, with_deps: bool) -> bool:
        """Whether the system's packages may be changed: by `with_deps`, else as a person here says."""
        if with_deps or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return with_deps
        self.clear()
        said = input(f"Install {what}, with the system's package manager? [y/N] ")
        return said.strip().lower() in {"y", "yes"}


def show(line: str) -> None:
    """Show a line of progress at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
