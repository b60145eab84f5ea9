"""What a session has lost with a browser or a tab, and what is said of it."""

from collections.abc import Iterable

from mcp_browser.browser.process.pool import Ended
from mcp_browser.browser.tab import Tab
from mcp_browser.text import cut_address

QUOTED = 4  # How many lost tabs are named in a sentence


class LostTabs:
    """What went without anybody having asked for it.

    `moved` says why the current tab is another one than the last result told: input meant for that one must
    not go to this one. None where it is the same.
    """

    def __init__(self) -> None:
        self.moved: str | None = None
        self._tabs: list[str] = []
        self._url = ""
        self._driver = False

    def tab_closed(self, tab: Tab, *, current: bool) -> None:
        """A tab has closed; whether alone or with its browser shows a moment later."""
        self._tabs.append(f"tab {tab.id} ({cut_address(tab.url)})")
        if current:
            self._url = tab.url

    def tab_alone(self) -> None:
        """The tabs that have closed did so with their browser going on."""
        self._tabs.clear()
        self._url = ""

    def browser_ended(self, tabs: Iterable[Tab], current: Tab | None, what: Ended) -> None:
        """The browser has ended with the tabs that were left, after those that had closed right before."""
        self._driver = what == "driver"
        self._tabs += [f"tab {tab.id} ({cut_address(tab.url)})" for tab in tabs]
        if current is not None:
            self._url = current.url

    def describe(self) -> str:
        """What has ended during an action, and what was lost with it."""
        text = "The browser ended during the action (it was closed, or it crashed)."
        if self._driver:
            text = "Playwright's driver ended during the action, and the browser with it."
        return text + self._lost()

    def _lost(self) -> str:
        more = " and others" if len(self._tabs) > QUOTED else ""
        return f" Lost: {', '.join(self._tabs[:QUOTED])}{more}." if self._tabs else ""

    def take(self, *, connection: bool, isolated: bool) -> str:
        """The sentences about the end of a browser, or a connection to it, once another one is there."""
        text = "The browser had ended (it was closed, or it crashed) and was started again."
        if connection:
            text = "The connection to the browser was lost and has been made again."
        if self._driver:
            text = "Playwright's driver had ended, and the browser with it; both were started again."
        if self._driver and not isolated:
            # A profile's browser stays while other clients use it.
            text = "Playwright's driver had ended, and the tabs with it; it was started again."
        text += self._lost()
        if self._url and self._url != "about:blank":
            text += f" The current page was {cut_address(self._url)}: go_to_url opens it again."
        if isolated:
            text += " Logins and whatever sites had stored are lost, too."
        elif not connection:
            unless = ", unless other clients kept the browser open" if self._driver else ""
            text += (
                " Session cookies are lost, too, and perhaps what sites stored in the last half minute"
                f"{unless}: logins that need them have to be made again."
            )
        self.moved = text
        self._tabs.clear()
        self._url = ""
        return text
