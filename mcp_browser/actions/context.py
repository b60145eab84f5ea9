"""What an action is given to work with."""

from dataclasses import dataclass

from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.settings import Settings


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The session that an action works in, its current tab, and the settings in force."""

    session: BrowserSession
    settings: Settings

    @property
    def tab(self) -> Tab:
        """The current tab."""
        return self.session.current_tab
