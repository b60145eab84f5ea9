"""`python -m mcp_browser` and the `mcp-browser` command."""

import gc
import sys

from mcp_browser.browser.process.early_driver import start_driver

_NOT_SERVING = {
    "try",
    "run",
    "tasks",
    "install",
    "config",
    "doctor",
    "token",
    "completion",
    "-h",
    "--help",
    "--version",
}


def main() -> None:
    """Run the command line and exit with its code."""
    # Start-up makes very many objects that live on; looking for garbage among them takes a tenth of a second.
    gc.disable()
    if _NOT_SERVING.isdisjoint(sys.argv[1:]):
        start_driver()
    from mcp_browser.cli import main as run  # noqa: PLC0415

    sys.exit(run())


if __name__ == "__main__":
    main()
