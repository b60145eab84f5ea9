"""The article of a page, without what stands around it."""

import logging
from dataclasses import dataclass
from typing import Any

from mcp_browser.actions.extracting.facts import (
    Fact,
    facts_about,
    facts_of,
    facts_of_data,
    is_aside,
    items_in,
)
from mcp_browser.actions.extracting.tree import parse, take_machine_data, words
from mcp_browser.actions.extracting.values import take

SHORTEST = 250  # Shortest text that is taken for an article, characters
SHORTEST_PART = 10  # Shortest text of a part of it, such as a small table, that is kept


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
    document: Any = readability.Document(root, min_text_length=SHORTEST_PART)
    html = str(document.summary(html_partial=True))
    part = parse(html)
    if len(" ".join(part.text_content().split())) < SHORTEST:
        return None
    return Article(html, title or str(document.short_title()), author, date)


def _said(names: str, facts: list[Fact]) -> str:
    for name in names.split():
        value, _ = take([words(name)], {"type": "string"}, facts)
        if value:
            return str(value)
    return ""
