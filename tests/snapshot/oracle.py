"""Chromium's own accessibility tree beside our snapshot, element by element."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from mcp_browser.dom.cdp import send
from mcp_browser.dom.models import DomNode
from tests.snapshot.hand import Hand
from tests.support.in_page import in_page

OUR_ROLES = {
    "DisclosureTriangle": "disclosure",
    "ColorWell": "color",
    "Date": "date",
    "InputTime": "time",
    "Canvas": "canvas",
    "Video": "video",
    "Audio": "audio",
    "Iframe": "iframe",
    "image": "img",
    "doc-backlink": "link",
    "doc-noteref": "link",
}
"""Chromium's internal names of roles that ARIA does not have, and ours."""

UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ue000-\uf8ff]")
"""Characters that nobody sees, or only with the font of an icon."""

NO_ROLE = set(
    "generic none LabelText StaticText paragraph Section Legend SvgRoot RootWebArea LayoutTable".split()
)
"""What Chromium calls elements that have no role to agree with."""


@dataclass(frozen=True)
class Pair:
    """One element as we tell it and as Chromium does."""

    ours: DomNode
    role: str
    name: str
    attributes: dict[str, str]

    @property
    def agrees(self) -> bool:
        """Whether role and name are the same, save for white space and letters that CSS has transformed."""
        role = OUR_ROLES.get(self.role, self.role)
        if role == "DateTime":
            role = self.attributes["type"]
        return self.ours.role == role and same_words(self.ours.name, self.name)

    def __str__(self) -> str:
        return f"{self.ours}   Chromium: {self.role} {self.name!r}   {self.attributes}"


def same_words(ours: str, theirs: str) -> bool:
    """Whether two names are the same, white space aside (Chromium puts one where a word may be broken).

    Ours may be cut, with an ellipsis.
    """
    ours, theirs = ("".join(UNSEEN.sub("", name).split()).casefold() for name in (ours, theirs))
    return ours == theirs or (ours.endswith("…") and theirs.startswith(ours[:-1].rstrip()))


async def pairs(hand: Hand) -> list[Pair]:
    """Every indexed element of the current page to which Chromium gives a role, in both tellings."""
    view = await hand.look()
    found: list[Pair] = []
    ours: dict[int, DomNode] = {}
    for node in view.elements:
        assert node.index is not None
        ours[node.index] = node
        mark = "(element, index) => element.setAttribute('data-oracle', index)"
        await in_page(hand.tab.dom, node.index, mark, node.index)
    for frame in targets(hand.tab.page):
        for index, attributes, tree in await _marked(hand.tab.page, frame):
            role = tree.get("role", {}).get("value", "none")
            if not tree.get("ignored", True) and role not in NO_ROLE:
                name = tree.get("name", {}).get("value", "")
                found.append(Pair(ours[index], role, name, attributes))
    return found


def targets(page: Page) -> Iterator[Page | Frame]:
    """What may have a CDP session of its own: the page, then its frames."""
    yield page
    yield from page.frames[1:]


async def _marked(page: Page, target: Page | Frame) -> list[tuple[int, dict[str, str], dict[str, Any]]]:
    """Index, attributes and accessibility node of every marked element that a target's process holds."""
    try:
        session = await page.context.new_cdp_session(target)
    except PlaywrightError:
        return []  # A frame in its parent's process is told with its parent.
    document = await send(session, "DOM.getDocument", depth=-1, pierce=True)
    nodes = list(_walk(document["root"]))
    trees: dict[int, dict[str, Any]] = {}
    for frame in dict.fromkeys([None, *(node["frameId"] for node in nodes if "frameId" in node)]):
        try:
            answer = await send(
                session, "Accessibility.getFullAXTree", **({"frameId": frame} if frame else {})
            )
        except PlaywrightError:
            continue  # The frame lives in another process and has a session of its own.
        trees.update(
            {node["backendDOMNodeId"]: node for node in answer["nodes"] if "backendDOMNodeId" in node}
        )
    found: list[tuple[int, dict[str, str], dict[str, Any]]] = []
    for node in nodes:
        listed: list[str] = node.get("attributes", [])
        attributes = dict(zip(listed[::2], listed[1::2], strict=True))
        if "data-oracle" in attributes:
            found.append(
                (int(attributes.pop("data-oracle")), attributes, trees.get(node["backendNodeId"], {}))
            )
    await session.detach()
    return found


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.get("children", []))
        stack.extend(node.get("shadowRoots", []))
        if "contentDocument" in node:
            stack.append(node["contentDocument"])
