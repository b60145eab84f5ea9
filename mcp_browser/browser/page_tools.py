"""The tools that pages offer by WebMCP, https://webmachinelearning.github.io/webmcp/."""

import contextlib
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.cdp import send
from mcp_browser.errors import ActionError
from mcp_browser.text import counted, cut, one_line, quoted

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab

NAMED = 8  # How many tools a notice names
LONGEST_NAME = 60
MOST_TOOLS = 500  # How many tools of a page are counted

_Key = tuple[str, str]  # A frame and a name


class PageTools(SessionPlugin):
    """Follows which tools the pages of a session offer."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self._offered: dict[int, dict[_Key, None]] = {}
        self._reported: dict[int, frozenset[_Key]] = {}

    async def tab_opened(self, tab: "Tab") -> None:
        """Listen to a tab; a browser without WebMCP offers nothing."""
        self._offered[tab.id] = {}
        listeners = {
            "WebMCP.toolsAdded": self._added,
            "WebMCP.toolsRemoved": self._removed,
            # Tools of a document that is left are not reported as removed.
            "Page.frameNavigated": self._left,
            "Page.frameDetached": self._left,
        }
        with contextlib.suppress(PlaywrightError, ActionError):
            for event, listener in listeners.items():
                tab.cdp.on(cast("Any", event), partial(listener, tab.id))
            await send(tab.cdp, "Page.enable")
            await send(tab.cdp, "WebMCP.enable")

    def tab_closed(self, tab: "Tab") -> None:
        """Forget a tab."""
        self._offered.pop(tab.id, None)
        self._reported.pop(tab.id, None)

    def notices(self) -> Iterable[str]:
        """A sentence if the tools of the current tab have changed."""
        tab = self._session.tab_in_use
        if tab is None:
            return
        offered = frozenset(self._offered.get(tab.id, ()))
        if offered == self._reported.get(tab.id, frozenset()):
            return
        self._reported[tab.id] = offered
        if not offered:
            yield "The page offers no tools any more."
            return
        names = list(dict.fromkeys(name for _, name in self._offered[tab.id]))
        named = ", ".join(quoted(cut(one_line(name, LONGEST_NAME), LONGEST_NAME)) for name in names[:NAMED])
        more = ", …" if len(names) > NAMED else ""
        count = counted(len(offered), "tool")
        yield f"{count} of the page: {named}{more}; list_page_tools has their schemas."

    def _added(self, tab: int, event: Mapping[str, Any]) -> None:
        offered = self._offered.get(tab, {})
        for tool in event.get("tools", ()):
            if len(offered) < MOST_TOOLS:
                offered[_key(tool)] = None

    def _removed(self, tab: int, event: Mapping[str, Any]) -> None:
        for tool in event.get("tools", ()):
            self._offered.get(tab, {}).pop(_key(tool), None)

    def _left(self, tab: int, event: Mapping[str, Any]) -> None:
        """A frame has another document, or is gone; a frame without a parent is the page."""
        frame: Mapping[str, Any] = event.get("frame") or {"id": event["frameId"], "parentId": ""}
        offered = self._offered.get(tab, {})
        for key in [key for key in offered if "parentId" not in frame or key[0] == frame["id"]]:
            del offered[key]


def _key(tool: Mapping[str, Any]) -> _Key:
    return str(tool.get("frameId")), str(tool.get("name"))
