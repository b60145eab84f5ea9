"""Elements that a caller has named: found when the turn of their action comes."""

import copy
import difflib
import time
from collections.abc import Iterator, Mapping
from typing import Any

import anyio
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel

from mcp_browser.actions.recording import place_of
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.dom.driver_errors import is_context_gone
from mcp_browser.dom.models import DomNode, ElementQuery
from mcp_browser.dom.named import MOST_NEAR, Alike, ElementName, listed
from mcp_browser.dom.worlds import FrameGone
from mcp_browser.errors import DialogOpen, NotFound

FIRST_POLL, LONGEST_POLL = 0.05, 0.4  # Seconds between two looks: a heavy page is not kept busy
MOST_ALIKE = 200


def names_in(params: BaseModel, prefix: str = "") -> Iterator[tuple[str, ElementName]]:
    """The names among the parameters of an action, by their places, as `fields.0.index`."""
    for argument, value in params:
        if isinstance(value, ElementName):
            yield prefix + argument, value
        elif isinstance(value, list | tuple):
            for number, part in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                if isinstance(part, BaseModel):
                    yield from names_in(part, f"{prefix}{argument}.{number}.")


async def with_indexes(
    session: BrowserSession, arguments: Mapping[str, Any], params: BaseModel, *, limit: float
) -> Mapping[str, Any]:
    """The arguments with indexes in the places of names; each is waited for, `limit` seconds at most.

    Raises:
        NotFound: a name means no element, or several; the message lists them, or the nearest.
        DialogOpen: a dialog holds the page.
    """
    found = [(place, await _index_of(session, name, limit)) for place, name in names_in(params)]
    if not found:
        return arguments
    arguments = copy.deepcopy(dict(arguments))
    for place, index in found:
        holder, last = place_of(arguments, place)
        holder[last] = index
    return arguments


async def _index_of(session: BrowserSession, name: ElementName, limit: float) -> int:
    place = name.place
    if isinstance(place, ElementName):
        place = await _index_of(session, place, limit)
    ends, pause = time.monotonic() + limit, FIRST_POLL
    while True:
        tab = session.current_tab
        if tab.held and tab.dialog is not None:
            raise DialogOpen(f"{tab.dialog}.", hint="Answer it with handle_dialog first.")
        same, usable = await _alike(tab, name, place)
        if len(usable) > 1:
            raise NotFound(
                f"{len(usable)} elements are {name}: {listed(usable)}.",
                hint="Name one by its index, by #2 for the second, or by where it is: in [12].",
            )
        is_over = time.monotonic() >= ends
        if usable or (is_over and len(same) == 1):
            (node,) = usable or same  # Why it cannot be used, the action says
            assert node.index is not None
            return node.index
        if is_over:
            near = await _nearest(tab, name)
            raise NotFound(
                f"There is no {name}; it was waited for {limit:g} s.",
                hint=f"The nearest: {listed(near)}." if near else "Look with get_state what there is.",
            )
        await anyio.sleep(pause)
        pause = min(LONGEST_POLL, pause * 1.5)


async def _alike(tab: Tab, name: ElementName, place: int | None) -> tuple[list[DomNode], list[DomNode]]:
    """Those that a name means now, and of these those that can be operated; none on the way to a page."""
    try:
        query = ElementQuery(role=name.role, name=name.name or None)
        return Alike(nodes=await tab.ask(tab.dom.alike(query, place, limit=MOST_ALIKE))).of(name)
    except FrameGone:
        return [], []
    except PlaywrightError as error:
        if is_context_gone(error):
            return [], []
        raise


async def _nearest(tab: Tab, name: ElementName) -> list[DomNode]:
    """The elements that are most like what a name says."""
    ask, find = tab.ask, tab.dom.find
    close = await ask(find(ElementQuery(name=name.name), limit=MOST_ALIKE)) if name.name else None
    same = await ask(find(ElementQuery(role=name.role), limit=MOST_ALIKE))
    nodes = [node for found in (close, same) if found for node in found.nodes if node.kind == "interactive"]
    wanted = f"{name.role} {name.name}".casefold()

    def likeness(node: DomNode) -> float:
        return difflib.SequenceMatcher(None, wanted, f"{node.role} {node.name}".casefold()).ratio()

    return sorted({node.index: node for node in nodes}.values(), key=likeness, reverse=True)[:MOST_NEAR]
