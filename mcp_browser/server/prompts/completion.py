"""Values to complete an argument with, from what the caller's session shows at the moment."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from mcp_browser.actions.context import ActionContext
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.addresses import may_show
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.models import DomNode
from mcp_browser.errors import ActionError
from mcp_browser.privacy.hiding import hide
from mcp_browser.server.resources.catalog import Caller
from mcp_browser.server.resources.pages import SessionPages
from mcp_browser.text import clean_text, one_line

MOST_VALUES = 100  # The protocol allows no more
LONGEST_VALUE = 200  # Characters

FORMS = frozenset({"form", "search", "dialog", "alertdialog", "group", "radiogroup"})
TABLES = frozenset({"table", "grid", "treegrid"})
FIELDS = frozenset(
    "textbox searchbox combobox listbox spinbutton slider checkbox radio switch date time datetime-local "
    "month week color".split()
)


async def values_for(completed: str, pages: SessionPages, caller: Caller, name: str | None) -> list[str]:
    """The values there are; none where nothing is open, or where the page cannot be asked now.

    Args:
        completed: `tabs`, `forms`, `tables`, `elements` or `sessions`.
        pages: where the caller's sessions are.
        caller: who asks.
        name: of which session; by default the current one.
    """
    if completed == "sessions":
        return pages.names(caller)
    session = pages.session(caller, name)
    if session is None:
        return []
    if completed == "tabs":
        found = [tab.url for tab in session.tabs.values() if may_show(tab.url, session.settings)]
    elif completed in ("forms", "tables", "elements"):
        nodes = await _nodes(pages, caller, session)
        found = {"forms": _forms, "tables": _tables, "elements": _elements}[completed](nodes)
    else:
        found = []
    redact = session.addresses.redact
    # Hidden before it is cut, so that no part of a secret is left.
    lines = (one_line(redact(hide(clean_text(value), session.hidden)), LONGEST_VALUE) for value in found)
    return [line for line in dict.fromkeys(lines) if line]


def fitting(values: Sequence[str], begun: str) -> list[str]:
    """Those that begin with what is written so far, then the others that hold it, in any case of letters."""
    begun = begun.strip().casefold()
    holding = [value for value in values if begun in value.casefold()]
    return sorted(holding, key=lambda value: not value.casefold().startswith(begun))


async def _nodes(pages: SessionPages, caller: Caller, session: BrowserSession) -> Sequence[DomNode]:
    """What the page shows, where no call works in the session: a person who types is not kept waiting."""
    if session.lock.locked():
        return ()
    nodes: list[DomNode] = []

    async def look(ctx: ActionContext) -> ActionResult:
        observation = await ctx.session.glance()
        if observation.snapshot is not None:
            nodes.extend(observation.snapshot.nodes)
        return ActionResult()

    try:
        await pages.look(caller, session, "get_state", look, method="completion/complete")
    except ActionError:
        return ()
    return nodes


def _forms(nodes: Iterable[DomNode]) -> Iterator[str]:
    """Named forms and groups, and headings that fields follow."""
    heading = ""
    for node in nodes:
        if node.kind == "heading":
            heading = node.name
        elif node.role in FORMS and node.name:
            yield node.name
            heading = ""
        elif node.role in FIELDS and heading:
            yield heading
            heading = ""


def _tables(nodes: Sequence[DomNode]) -> Iterator[str]:
    """Named tables, and of others the cells of the first row."""
    for before, node in pairwise((DomNode(kind="text"), *nodes)):
        within = before.role in TABLES or (before.kind == "row" and before.depth == node.depth)
        first = node.kind == "row" and not within
        if node.name and (first or node.role in TABLES):
            yield node.name


def _elements(nodes: Iterable[DomNode]) -> Iterator[str]:
    """Headings, and elements by role and name, those within rows too."""
    for node in nodes:
        if node.kind == "heading":
            yield node.name
        for element in (node, *node.parts):
            if element.index is not None and element.name and element.kind != "fold":
                yield f'{element.role} "{clean_text(element.name)}"'
