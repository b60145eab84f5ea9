"""What a browser session has to share with others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mcp_browser.browser.clipboard import Clipboard
from mcp_browser.browser.fair_semaphore import SessionLock
from mcp_browser.browser.files.artifacts import Artifact
from mcp_browser.browser.files.disk import ClientDisk


def _no_file(_uri: str) -> Artifact | None:
    return None


def _no_limit(_tabs: int) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """On what terms a session works; by default it has the browser for itself.

    `lock` is held while a call works. `why_no_tab` takes how many tabs there are, and says why there may
    not be another one. `find_file` finds the file at an address in any session of the same caller.
    `output_dir` is the caller's own folder for files that stay, `disk` what all its sessions share.
    `tenant` is whose it is: sessions of different ones are in different browser processes.
    `clipboard` is the session's own, where others than its client's sessions work in the same process.
    """

    lock: SessionLock = field(default_factory=SessionLock)
    why_no_tab: Callable[[int], str] = _no_limit
    find_file: Callable[[str], Artifact | None] = _no_file
    output_dir: Path | None = None
    tenant: str = ""
    disk: ClientDisk | None = None
    clipboard: Clipboard | None = None
    logins: "Logins | None" = None


class Logins(Protocol):
    """Named profiles of one caller: storage states as Playwright writes them."""

    def load(self, name: str) -> dict[str, Any]:
        """What is kept under a name.

        Raises:
            InvalidArguments: this cannot be a name.
            NotFound: nothing is.
        """
        ...

    async def save(self, name: str, state: dict[str, Any]) -> None:
        """Keep a state under a name, instead of what was kept there.

        Raises:
            InvalidArguments: this cannot be a name.
            ProfileInUse: a session keeps its logins there.
            OSError: it cannot be written.
        """
