"""Removal of this machine's paths from texts for remote clients."""

import re
import sys
import tempfile
from pathlib import Path

from mcp_browser.settings import Settings

HIDDEN = "(a file of the server)"


class ServerPaths:
    """Hides the server's paths in texts for clients on other machines."""

    def __init__(self, settings: Settings) -> None:
        browser, files, agent = settings.browser, settings.files, settings.agent
        known = (
            *(Path(tempfile.gettempdir()), Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix)),
            *(files.output_dir, *files.upload_dirs, browser.profile, settings.sessions.profiles),
            *(browser.executable and browser.executable.parent, agent.tasks_dir, agent.secrets),
        )
        roots = {str(path.absolute()) for path in known if path is not None}
        # The longest first, since one may contain another; `/` alone is not hidden.
        names = [re.escape(root) for root in sorted(roots, key=len, reverse=True) if len(root) > 1]
        self._paths = re.compile(
            rf"(?<![\w.:/-])(?:{'|'.join(names)})(?:[/\\][^\s'\"`]*[^\s'\"`.,;:)])?(?![\w-])"
        )

    def hide(self, text: str, *, known: str) -> str:
        """The text without server paths, except those that the client itself gave in `known`."""
        return self._paths.sub(lambda found: found[0] if found[0] in known else HIDDEN, text)
