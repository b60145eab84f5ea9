"""The article of a page, without what surrounds it."""

import logging
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from lxml.html import tostring

from mcp_browser.actions.extracting.filling import shown
from mcp_browser.actions.extracting.machine_data import (
    ABOUT_THE_SITE,
    Element,
    items_in,
    listed,
    parse,
    text_of,
    type_of,
)
from mcp_browser.actions.extracting.tables import tables_in

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SHORTEST = 250  # Shortest text that is taken for an article, characters
MOST_LINKS = 0.5  # Up to which share of links a list belongs to the article it stands in
LONGEST_TITLE = 200  # Longest heading that is taken for the title, characters
SHORTEST_PART = 10  # Shortest text of a part of it, such as a small table, that is kept

_AUTHOR = ("author", "article:author", "dc.creator", "citation_author", "parsely-author")
_DATE = ("article:published_time", "date", "dc.date", "citation_publication_date", "parsely-pub-date")

_CELL = "data-cell"  # What the cells of a table are called while the article is looked for


class Article(NamedTuple):
    """An article: its HTML, and what the page says of it, each empty where it says nothing."""

    html: str
    title: str
    by: str  # Author and date


def find_article(page: str) -> Article | None:
    """The article in the detailed HTML of a page; None where it has none."""
    # Imported late: a server need not wait for it before an article is read.
    import readability  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    logging.getLogger("readability").setLevel(logging.CRITICAL)
    root = parse(page)
    items = [item for item in items_in(root) if type_of(item) not in ABOUT_THE_SITE]
    heads = (text_of(heading) for tag in HEADINGS for heading in root.iter(tag))
    head = next((text for text in heads if 0 < len(text) <= LONGEST_TITLE), "")
    title = _said(items, "headline") or head
    author = _said(items, "author", "creator") or _meta(root, *_AUTHOR)
    date = _said(items, "datePublished") or _meta(root, *_DATE)
    for table in root.iter("table"):
        around = table.getparent()
        while around is not None and len(around) == 1:
            # The class of a box that holds a table alone, such as scrolling, says nothing of what it holds.
            around.attrib.pop("class", None)
            around = around.getparent()
    for heading in list(root.iter(*HEADINGS)):
        for link in [below for below in heading.iter("a") if "#" in (below.get("href") or "")]:
            # It leads to itself; headings that lead elsewhere are those of other articles.
            link.drop_tag()
    # A cell would count as a paragraph, and a long table for more than the article that it stands in.
    for cell in [cell for table in tables_in(root) for cell in table.element.iter("td")]:
        cell.tag = _CELL
    document: Any = readability.Document(root, min_text_length=SHORTEST_PART)
    cleared = document.get_preserved_elements

    def preserved(node: Element) -> dict[Element, bool]:
        # It judges a list by its length and its commas; an article's own may be short.
        lists = (one for one in node.iter("ul", "table") if document.class_weight(one) >= 0)
        return {
            **cleared(node),
            **{one: True for one in lists if document.get_link_density(one) <= MOST_LINKS},
        }

    document.get_preserved_elements = preserved
    part = parse(str(document.summary(html_partial=True)))
    for cell in list(part.iter(_CELL)):
        cell.tag = "td"
    if len(_prose(part)) < SHORTEST:
        return None
    by = ", ".join(filter(None, (author, date)))
    return Article(str(tostring(part, encoding="unicode")), title or str(document.short_title()), by)


def _prose(part: Element) -> str:
    """The text of an article, without the cells of its tables that hold no more than a few words."""
    prose = deepcopy(part)
    for row in list(prose.iter("tr")):
        for cell in [cell for cell in row if len(row) > 1 and len(text_of(cell)) < SHORTEST]:
            cell.drop_tree()
    return text_of(prose)


def _said(items: Sequence[dict[str, Any]], *names: str) -> str:
    """What data of the page say under the first of these names; of several values each."""
    given = next((item[name] for name in names for item in items if item.get(name)), "")
    return ", ".join(filter(None, map(shown, listed(given) or [given])))


def _meta(root: Element, *names: str) -> str:
    """What the page's metadata say under the first of these names."""
    said = {
        (meta.get("property") or meta.get("name") or "").casefold(): " ".join(
            (meta.get("content") or "").split()
        )
        for meta in reversed(list(root.iter("meta")))
    }
    # An author may be the address of a profile.
    return next((text for name in names if (text := said.get(name)) and "://" not in text), "")
