"""What a browser session has to share with others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp_browser.browser.fair_semaphore import SessionLock
from mcp_browser.browser.files.artifacts import Artifact


def _no_file(_uri: str) -> Artifact | None:
    return None


def _no_limit(_tabs: int) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """On what terms a session works; by default it has the browser for itself.

    Attributes:
        lock: held while a call works in the session.
        why_no_tab: takes how many tabs the session has; why it may not have another one, or nothing.
        find_file: takes an address; the file there of any session of the same caller, or None.
        logins: the named profiles of its caller; None where the server keeps none.
    """

    lock: SessionLock = field(default_factory=SessionLock)
    why_no_tab: Callable[[int], str] = _no_limit
    find_file: Callable[[str], Artifact | None] = _no_file
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
