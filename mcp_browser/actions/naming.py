"""Find elements that a caller has named, when their action begins."""

import copy
import difflib
import time
from collections.abc import Iterable, Mapping
from typing import Any

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from mcp_browser.actions.recording import element_arguments, place_of
from mcp_browser.browser.seeking import seek
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.driver_errors import is_context_gone
from mcp_browser.dom.models import DomNode, ElementQuery
from mcp_browser.dom.named import ElementName
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import DialogOpen, NotFound

POLL_SECONDS = 0.1
SEEKING_AFTER = 0.5  # Seconds, after which lists are scrolled for what they have not drawn
MOST_ALIKE = 300
MOST_LISTED = 5


async def with_indexes(
    session: BrowserSession, arguments: Mapping[str, Any], params: BaseModel, *, limit: float
) -> Mapping[str, Any]:
    """Replace names by indexes, waiting `limit` seconds for each; raises NotFound, DialogOpen."""
    names = [
        (at, name) for at, name in element_arguments(params.model_dump()) if isinstance(name, ElementName)
    ]
    arguments = copy.deepcopy(dict(arguments)) if names else arguments
    for at, name in names:
        holder, last = place_of(arguments, at)
        holder[last] = await _index_of(session, name, limit)
    return arguments


async def _index_of(session: BrowserSession, name: ElementName, limit: float) -> int:
    place = await _index_of(session, name.place, limit) if isinstance(name.place, ElementName) else name.place
    begins = time.monotonic()
    ends = begins + limit
    was_sought = False
    while True:
        tab = session.current_tab
        if tab.held and tab.dialog is not None:
            raise DialogOpen(f"{tab.dialog}.", hint="Answer it with handle_dialog first.")
        same: list[DomNode] = []
        try:
            query = ElementQuery(role=name.role, name=name.name or None)
            same = name.of(await tab.ask(tab.dom.alike(query, place, limit=MOST_ALIKE)))
        except FrameGone:
            pass
        except PlaywrightError as error:
            if not is_context_gone(error):
                raise
        usable = [
            node
            for node in same
            if not any(state == "disabled" or state.startswith("covered") for state in node.states)
        ]
        is_over = time.monotonic() >= ends
        # Why one cannot be used, the action says.
        found = usable or (same if is_over else [])
        if len(found) > 1:
            raise NotFound(
                f"{len(found)} elements are {name}: {_listed(found)}.",
                hint="Name one by its index, by #2 for the second, or by where it is: in [12].",
            )
        if found and found[0].index is not None:
            return found[0].index
        if not was_sought and (is_over or time.monotonic() >= begins + SEEKING_AFTER):
            was_sought = True
            if await seek(tab, name.name):
                continue
        if is_over:
            lines = await tab.ask(tab.dom.alike(ElementQuery(pattern="."), place, limit=MOST_ALIKE))
            near = _listed(_nearest(name, lines))
            raise NotFound(
                f"There is no {name}; it was waited for {limit:g} s.",
                hint=f"The nearest: {near}." if near else "Look with get_state what there is.",
            )
        await anyio.sleep(POLL_SECONDS)


def _nearest(name: ElementName, lines: Iterable[DomNode]) -> list[DomNode]:
    """The elements most like a name, the best first."""
    wanted = f"{name.role} {name.name}".casefold()

    def likeness(node: DomNode) -> float:
        return difflib.SequenceMatcher(None, wanted, f"{node.role} {node.name}".casefold()).ratio()

    return sorted((node for node in lines if node.kind == "interactive"), key=likeness, reverse=True)


def _listed(nodes: list[DomNode]) -> str:
    return ", ".join(str(node.model_copy(update={"is_new": False})) for node in nodes[:MOST_LISTED])
