"""Paths of this machine, which clients on others have no business with."""

import re
import sys
import tempfile
from pathlib import Path

from mcp_browser.settings import Settings

HIDDEN = "(a file of the server)"


class ServerPaths:
    """Leaves the server's own paths out of what a client on another machine is told."""

    def __init__(self, settings: Settings) -> None:
        browser, files, agent = settings.browser, settings.files, settings.agent
        known = (
            *(Path(tempfile.gettempdir()), Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix)),
            *(files.output_dir, *files.upload_dirs, browser.profile, settings.sessions.profiles),
            *(browser.executable and browser.executable.parent, agent.tasks_dir, agent.secrets),
        )
        roots = {str(path.absolute()) for path in known if path is not None}
        # The longest first, for one may lie in another; `/` alone is none.
        names = [re.escape(root) for root in sorted(roots, key=len, reverse=True) if len(root) > 1]
        self._paths = re.compile(
            rf"(?<![\w.:/-])(?:{'|'.join(names)})(?:[/\\][^\s'\"`]*[^\s'\"`.,;:)])?(?![\w-])"
        )

    def hide(self, text: str, *, known: str) -> str:
        """The text without them; what is in the text `known`, the client has said itself."""
        return self._paths.sub(lambda found: found[0] if found[0] in known else HIDDEN, text)
