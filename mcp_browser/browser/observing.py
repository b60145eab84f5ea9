"""Observations: the page, the tabs, and what happened beside them."""

import asyncio
from typing import TYPE_CHECKING

from mcp_browser.browser.observation import DialogInfo, Observation, TabInfo
from mcp_browser.browser.session_plugins import SessionPlugins
from mcp_browser.browser.tab import Tab
from mcp_browser.browser.tabs import Tabs
from mcp_browser.dom.models import DomChanges, DomSnapshot

if TYPE_CHECKING:
    from mcp_browser.browser.egress.proxy import ProxySession

MOST_NOTICES = 50
"""How many different sentences one result tells beside what is bounded already."""


class ObservationBuilder:
    """Remembers what a session has told and what there is still to tell."""

    def __init__(self, tabs: Tabs, plugins: SessionPlugins, egress: "ProxySession | None" = None) -> None:
        self._egress = egress
        self._tabs = tabs
        self._plugins = plugins
        self._notices: dict[str, None] = {}
        self._left_out = 0
        self._told_dialogs: dict[int, DialogInfo] = {}
        self._told_tabs: tuple[int, ...] = ()

    def notice(self, text: str) -> None:
        """Tell a sentence with the next result; there is an end to what pages give reason for."""
        if text in self._notices or len(self._notices) < MOST_NOTICES:
            self._notices[text] = None
        else:
            self._left_out += 1

    def withdraw(self, text: str) -> None:
        """Do not tell a sentence that was told in another way."""
        self._notices.pop(text, None)

    def know_tabs(self) -> None:
        """Take the tabs that there are as known: a new browser's are not news."""
        self._told_tabs = tuple(self._tabs.all)

    def take_notices(self) -> tuple[str, ...]:
        """The sentences that have not been told yet; they count as told now."""
        current = self._tabs.current
        notices, self._notices = list(self._notices), {}
        if self._left_out:
            notices.append(f"{self._left_out:,} more notices are left out.")
            self._left_out = 0
        for tab in self._tabs.all.values():
            dialog = tab.dialog if tab is not current and tab.held else None
            if dialog is not None and dialog != self._told_dialogs.get(tab.id):
                self._told_dialogs[tab.id] = dialog
                notices.append(
                    f"In tab {tab.id}: {dialog}. To answer it, switch_tab there and use handle_dialog."
                )
            if tab.console.news and (complaint := tab.console.take()):
                notices.append(complaint if tab is current else f"Tab {tab.id}: {complaint}")
        notices += [notice for plugin in self._plugins.made for notice in plugin.notices()]
        if self._egress is not None:
            notices += self._egress.notices()
        return tuple(dict.fromkeys(notices))

    async def observation(self, tab: Tab, part: DomSnapshot | DomChanges | None) -> Observation:
        """What the session looks like now, with what was read of its current tab."""
        told = tuple(self._tabs.all)
        several = len(told) > 1 or told != self._told_tabs
        self._told_tabs = told
        if isinstance(part, DomSnapshot):
            part = part.model_copy(update={"status": tab.status})
        read, tab.dom.title = tab.dom.title, None
        if read is not None:
            tab.title = read
        if asked := [
            other
            for other in self._tabs.all.values()
            if (several or other is tab) and (other is not tab or read is None)
        ]:
            await asyncio.gather(*(other.refresh_title() for other in asked))
        infos = [
            TabInfo(
                id=other.id,
                url=other.url,
                title=other.title,
                current=other is tab,
                lent=self._tabs.is_lent(other),
            )
            for other in (self._tabs.all.values() if several else ())
        ]
        return Observation(
            url=tab.url,
            title=tab.title,
            snapshot=part if isinstance(part, DomSnapshot) else None,
            changes=part if isinstance(part, DomChanges) else None,
            tabs=tuple(infos),
            dialog=tab.dialog if tab.held else None,
            notices=self.take_notices(),
        )
