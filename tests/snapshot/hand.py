"""A hand at a browser session: opens pages, looks, and acts through the controller as every client does."""

import re
from dataclasses import dataclass
from typing import Any

import anyio

from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.session import BrowserSession
from mcp_browser.browser.tab import Tab
from mcp_browser.controller import Controller
from mcp_browser.dom.models import DomChanges, DomNode, DomSnapshot
from mcp_browser.rendering import render_snapshot
from tests.support.site import Site

WHOLE = 2_000_000
"""A budget, in tokens, that leaves nothing out."""

FILLER = "".join(f"<p>Line {number} of a page that is longer than its changes.</p>" for number in range(150))
"""Lines for a page that is to be longer than its changes."""

CLIPPED = (
    "border:0;clip:rect(0 0 0 0);clip-path:inset(50%);height:1px;width:1px;margin:-1px;overflow:hidden;"
    "padding:0;position:absolute;white-space:nowrap"
)
"""A style of what is there for readers of the screen alone."""


def on_go(script: str) -> str:
    """A button that runs a script."""
    return f"<button id=go>Go</button><script>go.onclick = () => {{ {script} }}</script>"


LOG = "<script>window.log = []; const note = word => () => { log.push(word) }</script>"
"""What the handlers of a page note their words with."""


@dataclass(frozen=True)
class View:
    """A snapshot, with questions that tests ask of it."""

    snapshot: DomSnapshot

    @property
    def text(self) -> str:
        return render_snapshot(self.snapshot)

    @property
    def elements(self) -> list[DomNode]:
        """What can be acted on: lines, and what stands in rows."""
        told = [element for node in self.snapshot.nodes for element in (node, *node.parts)]
        return [node for node in told if node.index is not None]

    def all(self, name: str, *, role: str | None = None) -> list[DomNode]:
        return [node for node in self.elements if node.name == name and role in (None, node.role)]

    def one(self, name: str, *, role: str | None = None) -> DomNode:
        found = self.all(name, role=role)
        assert len(found) == 1, f"{len(found)} elements are called {role or ''} {name!r} in:\n{self.text}"
        return found[0]

    def index(self, name: str, *, role: str | None = None) -> int:
        index = self.one(name, role=role).index
        assert index is not None
        return index

    def of_role(self, role: str) -> list[DomNode]:
        return [node for node in self.elements if node.role == role]

    def says(self, words: str) -> bool:
        return any(words in str(node) for node in self.snapshot.nodes)

    def offers(self, name: str) -> bool:
        return bool(self.all(name))


class Hand:
    """One tab of a session, and the actions."""

    def __init__(self, session: BrowserSession, controller: Controller, site: Site) -> None:
        self.session = session
        self.controller = controller
        self.site = site

    @property
    def tab(self) -> Tab:
        return self.session.current_tab

    async def do(self, action: str, **arguments: Any) -> ActionResult:
        return await self.controller.execute(action, arguments, self.session)

    async def visit(self, url: str) -> View:
        """Go to an address and look at the whole page, once its frames have come."""
        activity = self.tab.activity
        mark = activity.watch()
        activity.watched = False
        await self.tab.goto(url)
        with anyio.move_on_after(15):
            while any(request.kind == "document" for request in activity.in_flight(mark)):
                await activity.change(limit=0.5)
            await self.tab.page.wait_for_load_state()  # That of each frame comes before
        view = await self.look()
        with anyio.move_on_after(5):
            while any("loading" in node.states for node in view.snapshot.nodes):
                await anyio.sleep(0.1)
                view = await self.look()
        return view

    def elsewhere(self, body: str) -> str:
        """Publish an HTML body on another site; its address."""
        return self.site.page(body).replace(self.site.url, self.site.other)

    def serve_script(self, path: str, source: str) -> None:
        self.site.publish(source.encode(), path=path, content_type="text/javascript")

    async def show(self, body: str) -> View:
        """Publish an HTML body, go there and look at the whole page."""
        return await self.visit(self.site.page(body))

    async def look(self) -> View:
        """The whole page, nothing left out or folded."""
        return View(await self.tab.dom.snapshot(budget=WHOLE, folded=False))

    async def click(self, index: int | None) -> ActionResult:
        assert index is not None
        return await self.do("click_element", index=index)

    async def opens(self, body: str) -> str:
        """Publish an HTML body and go there; what the result says."""
        return words_of(await self.do("go_to_url", url=self.site.page(body)))

    async def presses(self, body: str, name: str = "Go") -> str:
        """Show an HTML body and click what has this name; what the result says."""
        return words_of(await self.click((await self.show(body)).index(name)))

    async def find(self, **query: Any) -> str:
        """What `find_elements` shows."""
        return (await self.do("find_elements", **query)).page_content or ""

    async def clicks(self, index: int | None) -> list[Any]:
        """Click an element; what the page's handlers have noted by then."""
        await self.click(index)
        return await self.log()

    async def script(self, expression: str, argument: Any = None) -> Any:
        """What an expression gives in the page's own world."""
        return await self.tab.page.evaluate(expression, argument)

    async def log(self) -> list[Any]:
        """What the page's handlers have noted in `window.log`."""
        return await self.script("window.log ?? []")


def changes_of(result: ActionResult) -> DomChanges:
    """The changes that a result tells."""
    assert result.observation is not None
    assert result.observation.changes is not None
    return result.observation.changes


def snapshot_of(result: ActionResult) -> DomSnapshot:
    """The snapshot that a result tells."""
    assert result.observation is not None
    assert result.observation.snapshot is not None
    return result.observation.snapshot


def words_of(result: ActionResult) -> str:
    """What an observation says of the page's changes, one line each, with marks as in results."""
    observation = result.observation
    assert observation is not None
    marks = {"added": "+", "removed": "-", "changed": "~", "replaced": "~", "unlisted": "="}
    changes = observation.changes.changes if observation.changes else ()
    lines = [f"{marks[change.op]} {change.node}" for change in changes]
    nodes = observation.snapshot.nodes if observation.snapshot else ()
    return "\n".join([*lines, *map(str, nodes), *observation.notices])


def number(text: str) -> int:
    """The first whole number in a text, thousands separators allowed."""
    found = re.search(r"\d[\d,]*", text)
    assert found, text
    return int(found[0].replace(",", ""))
