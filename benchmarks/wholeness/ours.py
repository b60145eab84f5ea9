"""What this server lists and finds on a page, and which elements these are."""

import re
from collections.abc import Iterable

from playwright.async_api import Error as PlaywrightError

from benchmarks.wholeness.judge import Line
from benchmarks.wholeness.tree import Key, Operable, Tree
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.dom.models import DomNode
from mcp_browser.errors import ActionError, NotFound
from mcp_browser.rendering import render_result
from tests.support.in_page import in_page

MOST_FOUND = 200
DEEPEST = 1_000_000
UNUSABLE = frozenset({"inert", "disabled"})
MARKS = "mcpBrowserMeasured"
_INLINE = re.compile(r"\[(\d+)\](?: ([^|\[\]]*?))?(?= ?(?:\||\[|$))")
_IN_ROW = re.compile(r'\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"([^|\[]*)')
_ELEMENT = re.compile(r'^\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"(.*)$')


class Ours:
    """This server, at work on the page of a session's current tab."""

    def __init__(self, session: BrowserSession, controller: Controller) -> None:
        """Nothing has been asked for yet."""
        self._session = session
        self._controller = controller
        self.listed: dict[int, Line] = {}
        self.found: dict[int, Line] = {}
        self._marked: set[int] = set()
        self.text = ""
        """All parts of `get_state`, as a model reads them."""

    async def list(self) -> None:
        """All parts of `get_state`."""
        part, parts = 1, 1
        while part <= parts:
            result = await self._do("get_state", part=part, screenshot=False)
            assert result.observation is not None
            snapshot = result.observation.snapshot
            assert snapshot is not None
            self.listed |= lines_of(snapshot.nodes)
            self.text += self._text_of(result)
            part, parts = part + 1, snapshot.parts

    async def search(self, *, role: str | None = None, text: str | None = None) -> int:
        """`find_elements`; how many it says there are."""
        query = {name: value for name, value in (("role", role), ("text", text)) if value}
        try:
            result = await self._do("find_elements", limit=MOST_FOUND, **query)
        except NotFound:
            return 0
        for line in (result.page_content or "").splitlines():
            self.found |= _lines_of_text(line)
        assert result.data is not None
        return int(result.data["total"])

    async def search_for(self, nodes: Iterable[Operable]) -> None:
        """One search for the role, the name and both of each of these nodes."""
        for query in dict.fromkeys(
            query
            for node in nodes
            for query in ((None, node.name.strip()[:100]), (node.role, node.name.strip()[:100]))
            if query[1]
        ):
            await self.search(role=query[0], text=query[1])

    @property
    def lines(self) -> dict[int, Line]:
        """All that was listed or found."""
        return {**self.found, **self.listed}

    async def keys(self, tree: Tree) -> dict[int, Key]:
        """Which elements the indexes stand for."""
        for index in self.lines.keys() - self._marked:
            self._marked.add(index)
            try:
                mark = f"(element, index) => (globalThis.{MARKS} ??= new Map()).set(index, element)"
                await in_page(self._session.current_tab.dom, index, mark, index)
            except (ActionError, PlaywrightError):
                continue  # It has left the page, or a page's text looks like an index.
        return await tree.keys_of_marked(MARKS)

    async def _do(self, action: str, **arguments: object) -> ActionResult:
        return await self._controller.execute(action, arguments, self._session)

    def _text_of(self, result: ActionResult) -> str:
        return render_result(result, settings=self._controller.settings)[0]


def lines_of(nodes: Iterable[DomNode]) -> dict[int, Line]:
    """The elements that a snapshot lists, by their indexes; an inert one makes all within it inert."""
    lines: dict[int, Line] = {}
    inert_above = DEEPEST
    for node in nodes:
        if node.depth <= inert_above:
            inert_above = node.depth if "inert" in node.states else DEEPEST
        inert = node.depth > inert_above or bool(UNUSABLE & set(node.states))
        if node.index is None:
            lines |= _inline(node.name, inert)
        elif node.kind != "fold":
            lines[node.index] = Line(node.role, node.name, inert)
        for part in node.parts:
            if part.index is not None:
                lines[part.index] = Line(part.role, part.name, inert or bool(UNUSABLE & set(part.states)))
    return lines


def _lines_of_text(text: str) -> dict[int, Line]:
    element = _ELEMENT.match(text)
    if element is None:
        return _inline(text, inert=False)
    name = re.sub(r"\\(.)", r"\1", element[3])
    return {int(element[1]): Line(element[2], name, bool(UNUSABLE & set(element[4].split())))}


def _inline(text: str, inert: bool) -> dict[int, Line]:
    cells = {int(index): Line("clickable", name, inert) for index, name in _INLINE.findall(text)}
    elements = {
        int(index): Line(role, name, inert or bool(UNUSABLE & set(states.split())))
        for index, role, name, states in _IN_ROW.findall(text)
    }
    return cells | elements
