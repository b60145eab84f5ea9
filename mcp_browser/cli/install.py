"""`mcp-browser install`: a browser for this machine."""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright
from rich.console import Console

from mcp_browser.browser.process.installing import Installer
from mcp_browser.browser.process.launch import BrowserChoice, browser_version, launch_options
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.sources import LoadedSettings
from mcp_browser.errors import BrowserUnavailable
from mcp_browser.settings import BrowserSettings

if TYPE_CHECKING:
    from rich.status import Status

_PLAIN_SECONDS = 10.0  # Between lines about long work where there is no terminal
_START_SECONDS = 30.0


def install(loaded: LoadedSettings, asked: Arguments) -> int:
    """Find a browser or get one, showing each step, and open a page with it; the exit code.

    Raises:
        BrowserUnavailable: there is none and none could be had, or it does not start, or Playwright's driver
            does not.
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


@contextlib.contextmanager
def installing(*, with_deps: bool) -> Generator[tuple[Installer, "StatusLine"]]:
    """Yield an installer, with Playwright's driver mended, and the line on which it shows its work.

    With `with_deps` the system's packages may be changed; otherwise a person at a terminal is asked.
    """
    progress = StatusLine()
    try:
        allowed = asking(progress, with_deps=with_deps)
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
        self._status: Status | None = None
        self._shown = ""
        self._shown_at = 0.0
        self._is_terminal = sys.stdout.isatty()

    def clear(self) -> None:
        """Take the line that changes away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def report(self, line: str) -> None:
        """Show a line that stays, at once."""
        self.clear()
        show(line)

    def doing(self, text: str) -> None:
        """Show what is going on."""
        if self._is_terminal:
            if self._status is None:
                self._status = Console().status(text)
                self._status.start()
            self._status.update(text)
            return
        title, now = text.partition(":")[0], time.monotonic()
        if title != self._shown or now - self._shown_at >= _PLAIN_SECONDS:
            self._shown, self._shown_at = title, now
            show(f"{text} …")


def asking(progress: StatusLine, *, with_deps: bool) -> Callable[[str], bool]:
    """Whether the system's packages may be changed: by with_deps, else as a person at the terminal says."""

    def allowed(what: str) -> bool:
        if with_deps or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return with_deps
        progress.clear()
        said = input(f"Install {what}, with the system's package manager? [y/N] ")
        return said.strip().lower() in {"y", "yes"}

    return allowed


def show(line: str) -> None:
    """Show a line of progress at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
