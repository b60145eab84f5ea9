"""`python -m mcp_browser` and the `mcp-browser` command."""

import gc
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Start-up makes very many objects that live on; looking for garbage among them takes a tenth of a second.
    gc.disable()
    from mcp_browser.cli import main as run  # noqa: PLC0415

    sys.exit(run())


if __name__ == "__main__":
    main()
