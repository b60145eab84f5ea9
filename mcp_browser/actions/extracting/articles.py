"""The article of a page, without what stands around it."""

import logging
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from lxml.html import tostring

from mcp_browser.actions.extracting.facts import (
    HEADINGS,
    Fact,
    facts_about,
    facts_of,
    facts_of_data,
    is_aside,
    items_in,
)
from mcp_browser.actions.extracting.tables import tables_in
from mcp_browser.actions.extracting.tree import Element, parse, take_machine_data, text_of, words
from mcp_browser.actions.extracting.values import take

SHORTEST = 250  # Shortest text that is taken for an article, characters
MOST_LINKS = 0.5  # Up to which share of links a list belongs to the article it stands in
SHORTEST_PART = 10  # Shortest text of a part of it, such as a small table, that is kept

_CELL = "data-cell"  # What the cells of a table are called while the article is looked for


@dataclass(frozen=True, slots=True)
class Article:
    """An article: its HTML, and what the page says of it, each empty where it says nothing."""

    html: str
    title: str
    author: str
    date: str


def find_article(page: str) -> Article | None:
    """The article in the detailed HTML of a page; None where it has none."""
    # Imported late: a server need not wait for it before an article is read.
    import readability  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    logging.getLogger("readability").setLevel(logging.CRITICAL)
    root = parse(page)
    facts = [
        fact
        for data in take_machine_data(root)
        for item in items_in(data)
        if not is_aside(item)
        for fact in facts_of_data(item, "data")
    ]
    facts += [*facts_about(root), *facts_of(root)]
    title, author, date = (
        _said(name, facts) for name in ("headline", "author byline", "date_published published_time date")
    )
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
    return Article(
        str(tostring(part, encoding="unicode")), title or str(document.short_title()), author, date
    )


def _prose(part: Element) -> str:
    """The text of an article, without the cells of its tables that hold no more than a few words."""
    prose = deepcopy(part)
    for row in list(prose.iter("tr")):
        for cell in [cell for cell in row if len(row) > 1 and len(text_of(cell)) < SHORTEST]:
            cell.drop_tree()
    return text_of(prose)


def _said(names: str, facts: list[Fact]) -> str:
    for name in names.split():
        value, _ = take([words(name)], {"type": "string"}, facts)
        if value:
            return str(value)
    return ""
