"""`python -m mcp_browser` and the `mcp-browser` command."""

import sys

from mcp_browser.cli import main as run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run())


if __name__ == "__main__":
    main()
