"""Installation of a browser, and of the library that Playwright's driver may lack.

Playwright's own builds go into the user's cache. System packages are installed only if allowed.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx2

from mcp_browser.browser.process.early_driver import (
    LIBRARY,
    LIBRARY_HINT,
    LIBRARY_PACKAGE,
    WITH_DEPS,
    driver_problem,
)
from mcp_browser.browser.process.launch import BrowserChoice, find_browser
from mcp_browser.errors import BrowserNotFound, BrowserUnavailable
from mcp_browser.settings import BrowserSettings

_REACH_SECONDS = 5.0
_FAILED_LINES = 5  # How many lines of a failed command's output are shown
_CHROMIUM_PACKAGES = ("chromium", "chromium-sandbox", "fonts-liberation")
# The update fails soon without a network; the installation allows for a slow mirror.
_UPDATE_OPTIONS = "-o Acquire::Retries=0 -o Acquire::http::Timeout=8 -o Acquire::https::Timeout=8".split()
_INSTALL_OPTIONS = ("-y", "--no-install-recommends", "--no-upgrade", "-o", "Acquire::Retries=2")


class Installer:
    """Installs what is missing."""

    def __init__(
        self, allowed: Callable[[str], bool], *, report: Callable[[str], None], doing: Callable[[str], None]
    ) -> None:
        """Install nothing yet.

        `allowed(what)`: whether system packages may be installed for it. `report` shows a line that stays,
        `doing` the current step, in place of the previous one.
        """
        self._allowed = allowed
        self._report = report
        self._doing = doing
        self._said: list[str] = []

    def mend_driver(self) -> None:
        """Check Playwright's driver; install what it lacks, if allowed. Raises BrowserUnavailable."""
        problem = driver_problem()
        hint = "Let PLAYWRIGHT_NODEJS_PATH name a Node.js of this machine."
        if problem is not None and LIBRARY in problem and shutil.which("apt-get"):
            if self._allowed(f"the library {LIBRARY_PACKAGE}, which Playwright's driver needs"):
                self._install_from_apt(LIBRARY_PACKAGE)
                problem = driver_problem()
            else:
                hint = LIBRARY_HINT
        if problem is not None:
            raise BrowserUnavailable(f"Playwright's driver does not run: {problem}.", hint=hint)

    def install_browser(self, settings: BrowserSettings) -> BrowserChoice:
        """Find a browser on this machine, or install one.

        Playwright's own build is tried first, then Debian's `chromium`, if system packages are allowed.
        Raises BrowserNotFound, which says what was tried, and what to do.
        """
        try:
            found = find_browser(settings)
        except BrowserNotFound:
            if settings.executable is not None:
                raise
        else:
            self._report(f"Found {found}.")
            return found
        build = settings.browser
        hint = "Install Chrome, Chromium or Edge by hand, or name one with --executable PATH."
        if build in ("chrome", "msedge") and not self._allowed(f"{build}, a package of the system"):
            raise BrowserNotFound(
                f"There is no {build}, which is a package of the system.", hint=f"To get it, {WITH_DEPS}."
            )
        tried = [self._install_from_playwright(build)]
        if tried[0] is not None and build == "chromium" and _apt_serves_chromium():
            if self._allowed("Debian's Chromium"):
                tried.append(self._install_from_apt(*_CHROMIUM_PACKAGES))
            else:
                hint = f"{hint} To have Debian's Chromium installed, {WITH_DEPS}."
        try:
            found = find_browser(settings)
        except BrowserNotFound:
            failures = "; ".join(filter(None, tried))
            raise BrowserNotFound(f"No browser could be got: {failures}.", hint=hint) from None
        self._report(f"Installed {found}.")
        return found

    def install_libraries(self) -> bool:
        """Install the libraries that Playwright's browser needs, if allowed; whether that succeeded."""
        if sys.platform != "linux" or not self._allowed("the libraries that the browser needs"):
            return False
        command = [sys.executable, "-m", "playwright", "install-deps", "chromium"]
        return self._run(command, "Installing libraries") is None

    def _install_from_playwright(self, build: str) -> str | None:
        """Install a build of Playwright's; why that failed, None if it did not."""
        if (why := _out_of_reach()) is not None:
            return why
        title = f"Downloading Playwright's {build.title()}"
        failure = self._run([sys.executable, "-m", "playwright", "install", build], title)
        return failure and f"playwright install {build} failed ({failure})"

    def _install_from_apt(self, *packages: str) -> str | None:
        """Install Debian packages; why that failed, None if it did not."""
        prefix: list[str] = []
        if os.geteuid() != 0:
            if sys.stdin.isatty() and shutil.which("sudo"):
                subprocess.run(["sudo", "-v"], check=False)  # Asks for the password first.
            prefix = ["sudo", "-n"]
        update = [*prefix, "apt-get", "update", *_UPDATE_OPTIONS]
        failure = self._run(update, "Reading the lists of packages")
        # apt-get succeeds even if no source answers.
        if failure is None and self._said and not re.search("^(Hit|Get):", "\n".join(self._said), re.M):
            failure = "no source of packages answers"
        if failure is None:
            install = [*prefix, "apt-get", "install", *_INSTALL_OPTIONS, *packages]
            failure = self._run(install, f"Installing {', '.join(packages)}")
        return failure and f"apt-get failed ({failure})"

    def _run(self, command: Sequence[str], title: str) -> str | None:
        """Run a command, keep what it says and show its progress; why it failed, None if it did not."""
        self._doing(title)
        self._said.clear()
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )
        except OSError as error:
            return f"{Path(command[0]).name}: {error.strerror}"
        with process:
            for line in filter(str.strip, process.stdout or ()):
                self._said.append(line.strip())
                share = re.search(r"(\d+)% of ([\d.]+ \w+)", line)
                self._doing(f"{title}: {share[1]} % of {share[2]}" if share else title)
        if process.returncode == 0:
            return None
        last = self._said[-_FAILED_LINES:]
        for line in last:
            self._report(f"  {line}")
        errors = [line for line in last if re.match(r"E: |Error|Failed", line)]
        return (errors or [*last, f"exit code {process.returncode}"])[0].rstrip(".")


def _out_of_reach() -> str | None:
    """Why Playwright's browsers cannot be downloaded, None if their server answers."""
    address = os.environ.get("PLAYWRIGHT_DOWNLOAD_HOST") or "https://cdn.playwright.dev"
    failed = ["it does not answer"]

    def ask() -> None:
        try:
            httpx2.head(address, timeout=_REACH_SECONDS)
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            # Node.js may know an authority that Python does not.
            failed[:] = [] if "CERTIFICATE" in str(error) else [str(error) or type(error).__name__]
        else:
            failed.clear()

    # The lookup of a name has no time limit.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_REACH_SECONDS + 1)
    return f"no network, or none to {address} ({failed[0]})" if failed else None


def _apt_serves_chromium() -> bool:
    """Whether apt is there and `chromium` is a real package: Ubuntu's only installs a snap."""
    try:
        return shutil.which("apt-get") is not None and platform.freedesktop_os_release()["ID"] != "ubuntu"
    except OSError:
        return False
