"""Lets tests follow one another in one tab: a new one costs more than most tests."""

import asyncio
import contextlib

from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab


async def leave_one_tab(session: BrowserSession, *, new: bool = False) -> Tab:
    """Close what a test has left, save for one tab; that one is new where none is fit to be used again."""
    tab = None if new else await _fit(session)
    tab = tab or await session.new_tab()
    for other in [*session.tabs.values()]:
        if other.id != tab.id:
            await session.close_tab(other.id)
    await session.switch_tab(tab.id)
    session.take_notices()
    return tab


async def _fit(session: BrowserSession) -> Tab | None:
    """A tab whose page answers and shows no dialog."""
    for tab in session.tabs.values():
        if not tab.held:
            with contextlib.suppress(PlaywrightError, TimeoutError):
                # The mouse of a new tab is nowhere.
                await asyncio.wait_for(tab.page.mouse.move(-1, -1), 3)
                tab.cursor = None
                return tab
    return None
