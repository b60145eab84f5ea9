"""What an action is given to work with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_browser.settings import Settings

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The session that an action works in, its current tab, and the settings in force."""

    session: "BrowserSession"
    settings: Settings

    @property
    def tab(self) -> "Tab":
        return self.session.current_tab
