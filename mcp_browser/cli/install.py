"""`mcp-browser install`: a browser for this machine."""

import sys

from mcp_browser.browser.process.driver import mend_driver
from mcp_browser.browser.process.launch import browser_version, install_browser
from mcp_browser.settings import Settings


def install(settings: Settings) -> int:
    """Find a browser or get one, telling each step; the exit code.

    Raises:
        BrowserUnavailable: there is none and none could be had, or Playwright's driver does not run.
    """
    mend_driver(tell)
    choice = install_browser(tell, settings=settings.browser)
    tell(f"Ready: {browser_version(choice) or choice}")
    return 0


def tell(line: str) -> None:
    """Show a line of progress at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
