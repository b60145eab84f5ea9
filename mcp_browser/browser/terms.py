"""What a browser session has to share with others."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mcp_browser.browser.turns import SessionLock


def _no_limit(_tabs: int) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTerms:
    """On what terms a session works; by default it has the browser for itself.

    Attributes:
        lock: held while a call works in the session.
        why_no_tab: takes how many tabs the session has; why it may not have another one, or nothing.
    """

    lock: SessionLock = field(default_factory=SessionLock)
    why_no_tab: Callable[[int], str] = _no_limit
