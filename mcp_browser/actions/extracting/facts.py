"""What a page says under a name: in labels, cells, lists, headings, classes, and to machines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, cast

from mcp_browser.actions.extracting.tables import Table
from mcp_browser.actions.extracting.tree import Element, elements, is_leaf, text_of, words

LONGEST_LABEL = 40
LONGEST_LABELLED = 1_000  # How long a text may be that begins with its label, characters
MOST_DEEP = 6  # How far data within data are read

DATA, LABEL, STYLE, SHAPE, ABOUT = range(5)
"""Where a fact comes from, the best first: data, a label, a class, a kind of element, metadata."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LABELLED = re.compile(r"([^:\uff1a]{1,40})(?::\s|\uff1a)\s*(.+)", re.DOTALL)
_BOX = re.compile(r"\[([x ])\] (.+)")
_SCHEMA = re.compile(r"https?://schema\.org/")
_ASIDE = frozenset(
    {"BreadcrumbList", "WebSite", "WebPage", "Organization", "SearchAction", "SiteNavigationElement"}
)
_META_BEGIN = re.compile(
    r"^(?:og|article|book|product|profile|twitter|dc|dcterms|citation)[:._]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said under a name; by an element, or as a `value` of JSON. `where` says how it was found."""

    name: tuple[str, ...]
    where: str
    source: int
    element: Element | None = None
    value: Any = None
    inner: bool = False  # Said of a part of the thing, not of the thing itself


def facts_of(element: Element) -> list[Fact]:
    """What the page, or a part of it, says."""
    found: list[Fact] = []
    classes: list[Fact] = []
    for below in elements(element):
        tag = below.tag
        if prop := below.get("itemprop"):
            inner = _item_around(below, element) is not None
            value = below.get("content") or None
            found += (
                Fact(words(name), f"microdata {name}", DATA, below, value, inner) for name in prop.split()
            )
        if tag == "dl":
            found += _definitions(below)
        elif tag == "tr":
            found += _row_facts(below)
        elif tag == "label":
            found += _field(below)
        elif tag in ("p", "li", "td", "dd", "div", "span") and (tag == "li" or below is not element):
            found += _labelled(below)
        if below is not element:
            for name in {*(below.get("class") or "").split(), below.get("id") or ""}:
                # What comes after is a variant, what comes before is the block that it is part of.
                if label := words(name.partition("--")[0].rpartition("__")[2]):
                    classes.append(Fact(label, f"class {name}", STYLE, below))
    return [*found, *classes, *_shapes(element)]


def facts_of_data(data: dict[str, Any], where: str, *, inner: bool = False, deep: int = 0) -> list[Fact]:
    """What an object of JSON says, and what the objects in it say."""
    found: list[Fact] = []
    for key, value in data.items():
        if key.startswith("@") or value in (None, "", []):
            continue
        found.append(Fact(words(key), where, DATA, value=value, inner=inner))
        if isinstance(value, dict) and deep < MOST_DEEP:
            inside = cast("dict[str, Any]", value)
            found += facts_of_data(inside, f"{where} {key}", inner=True, deep=deep + 1)
    return found


def facts_of_row(table: Table, number: int) -> list[Fact]:
    """What a row says, by the names of its columns."""
    found: list[Fact] = []
    for name, cell in zip(table.headers, table.rows[number], strict=False):
        if cell is not None and name:
            # Of headers in several rows, the last says the most.
            for label in dict.fromkeys((words(name), words(name.rpartition(" / ")[2]))):
                found.append(Fact(label, f"column {name}", DATA, cell.element))
    links = (
        link for cell in table.rows[number] if cell for link in cell.element.iter("a") if link.get("href")
    )
    return [*found, *(Fact(("url",), "link", SHAPE, link) for link in islice(links, 1))]


def facts_about(root: Element) -> list[Fact]:
    """What the page says about itself: its metadata and its title."""
    found: list[Fact] = []
    for meta in root.iter("meta"):
        name, content = meta.get("property") or meta.get("name"), meta.get("content")
        if name and content and content.strip():
            label = words(_META_BEGIN.sub("", name))
            found.append(Fact(label, f"metadata {name}", ABOUT, value=" ".join(content.split())))
    title = next(root.iter("title"), None)
    if title is not None and (text := text_of(title)):
        found.append(Fact(("title",), "title of the page", ABOUT, value=text))
    return found


def items_in(data: Any, *, deep: int = 0) -> Iterator[dict[str, Any]]:
    """The things that data of schema.org tell of, those in lists and graphs, too."""
    if deep > MOST_DEEP:
        return
    if isinstance(data, list):
        for part in cast("list[Any]", data):
            yield from items_in(part, deep=deep + 1)
    elif isinstance(data, dict):
        item = cast("dict[str, Any]", data)
        for key in ("@graph", "itemListElement", "mainEntity"):
            yield from items_in(item.get(key), deep=deep + 1)
        if "item" in item and isinstance(item["item"], dict):
            yield from items_in(item["item"], deep=deep + 1)
        elif type_of(item) not in ("", "ItemList", "ListItem"):
            yield item


def type_of(item: dict[str, Any]) -> str:
    """What kind of thing it is, by schema.org."""
    given: Any = item.get("@type", "")
    if isinstance(given, list):
        given = next(iter(cast("list[Any]", given)), "")
    return _SCHEMA.sub("", str(given))


def is_aside(item: dict[str, Any]) -> bool:
    """Whether it is about the site, and not what the page is about."""
    return type_of(item) in _ASIDE


def listed(value: Any) -> list[Any]:
    """A list of JSON; an empty one for any other value."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def entries(value: Any) -> dict[str, Any]:
    """An object of JSON; an empty one for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def plain_value(value: Any) -> Any:
    """The one text of a value of JSON, as that of `{"@type": "Person", "name": "Ann"}`; else the value."""
    if isinstance(value, list):
        several = cast("list[Any]", value)
        return plain_value(several[0]) if len(several) == 1 else several
    if isinstance(value, dict):
        item = cast("dict[str, Any]", value)
        return next((item[key] for key in ("name", "@value", "url", "@id") if item.get(key)), item)
    return _SCHEMA.sub("", value) if isinstance(value, str) else value


def _item_around(element: Element, top: Element) -> Element | None:
    """The item of microdata around an element, within `top`."""
    around = element.getparent()
    while around is not None and around is not top:
        if around.get("itemscope") is not None:
            return around
        around = around.getparent()
    return None


def _label(text: str) -> tuple[str, ...] | None:
    text = text.rstrip(" :\uff1a")
    return words(text) if 0 < len(text) <= LONGEST_LABEL else None


def _definitions(element: Element) -> Iterator[Fact]:
    names: list[str] = []
    last = ""
    for below in element.iter("dt", "dd"):
        if below.tag == "dt":
            names = [*names, text_of(below)] if last == "dt" else [text_of(below)]
        else:
            for name in names:
                if label := _label(name):
                    yield Fact(label, f"definition {name}", LABEL, below)
        last = str(below.tag)


def _row_facts(element: Element) -> Iterator[Fact]:
    """The cells of a row beside their headers; those of a row of two cells, too."""
    cells = [cell for cell in element if cell.tag in ("td", "th")]
    for cell, beside in pairwise(cells):
        labels = cell.tag == "th" and beside.tag == "td"
        if labels or (len(cells) == 2 and cell.tag == "td"):  # noqa: PLR2004
            name = text_of(cell)
            if label := _label(name):
                yield Fact(label, f"row {name}", LABEL, beside)


def _field(element: Element) -> Iterator[Fact]:
    """A label with what stands after it: the text of its field."""
    name = text_of(element)
    beside = element.getnext()
    if label := _label(name):
        if value := " ".join((element.tail or "").split()):
            yield Fact(label, f"label {name}", LABEL, value=value)
        elif beside is not None and beside.tag != "label":
            yield Fact(label, f"label {name}", LABEL, beside)


def _labelled(element: Element) -> Iterator[Fact]:
    """`Label: value` in one text, or in two elements that stand alone in theirs."""
    parts = [below for below in element if isinstance(below.tag, str)]
    if len(parts) == 2 and not (element.text or "").strip() and is_leaf(parts[0]):  # noqa: PLR2004
        name = text_of(parts[0])
        if not (parts[0].tail or "").strip() and (label := _label(name)):
            yield Fact(label, f"label {name.rstrip(' :')}", LABEL, parts[1])
            return
    if element.tag == "span" or not is_leaf(element):
        return
    text = text_of(element)
    if (match := _BOX.fullmatch(text)) and (label := _label(match[2])):
        yield Fact(label, f"box {match[2]}", LABEL, value=match[1] == "x")
    elif (
        len(text) <= LONGEST_LABELLED and (match := _LABELLED.fullmatch(text)) and (label := _label(match[1]))
    ):
        yield Fact(label, f"label {match[1].strip()}", LABEL, value=match[2])


def _shapes(element: Element) -> Iterator[Fact]:
    """What elements say by their kind: a heading names, a link leads, a picture shows, a time dates."""
    heading = next((below for kinds in (("h1",), HEADINGS) for below in element.iter(*kinds)), None)
    link = next((below for below in element.iter("a") if below.get("href")), None)
    if heading is not None:
        # It is what a thing is called, more than what has such a class.
        yield from (Fact((name,), "heading", LABEL, heading) for name in ("name", "title", "headline"))
    elif link is not None and element.tag != "html" and text_of(link):
        yield Fact(("name",), "text of the link", SHAPE, link)
    elif is_leaf(element):
        yield Fact(("name",), "text", SHAPE, element)
    if element.tag != "html":
        at = next((below for below in _links(heading)), link)
        if at is not None:
            yield Fact(("url",), "link", SHAPE, at)
    picture = next((below for below in element.iter("img")), None)
    if picture is not None and element.tag != "html":
        yield Fact(("image",), "picture", SHAPE, picture)
    for time in element.iter("time"):
        yield Fact(("date",), "time", SHAPE, time)
    for link in element.iter("a"):
        kind, _, rest = (link.get("href") or "").partition(":")
        if kind in ("mailto", "tel"):
            yield Fact(
                ("email" if kind == "mailto" else "phone",), "link", SHAPE, value=rest.partition("?")[0]
            )


def _links(heading: Element | None) -> Iterable[Element]:
    """The link in a heading, or around it."""
    if heading is None:
        return []
    return [link for link in (*heading.iter("a"), *heading.iterancestors("a")) if link.get("href")]
