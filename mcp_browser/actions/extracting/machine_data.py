"""The tree of a page, and its schema.org data, as JSON-LD and as microdata."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from lxml import etree, html

Element = html.HtmlElement

_INLINE = frozenset(
    "a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var wbr".split()
)
_MARKS = frozenset({"br", "img", "link", "meta"})
_GONE = frozenset({"del", "s", "strike"})  # What holds no longer, such as a former price


def parse(text: str) -> Element:
    """The tree of a page, or of a part of one."""
    parser = html.HTMLParser(huge_tree=True, encoding="utf-8")
    return html.document_fromstring(text.encode("utf-8", "replace") or b"<html></html>", parser=parser)


def text_of(element: Element, *, gone: bool = True) -> str:
    """The text of an element on one line, else of its pictures; without `gone`, not what is struck out."""
    parts: list[str] = []
    pictures: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        parts.append("" if node.tag in _INLINE else " ")
        if event == "end":
            parts.append((node is not element and node.tail) or "")
        elif not gone and node.tag in _GONE and node is not element:
            walk.skip_subtree()
        else:
            parts.append(node.text or "")
            if node.tag == "img":
                pictures.append(node.get("alt") or "")
    return " ".join("".join(parts).split()) or " ".join(" ".join(pictures).split())


def elements(root: Element) -> Iterator[Element]:
    """The elements of a tree, in their order, without comments."""
    return root.iter(etree.Element)


def inside(element: Element, ends: Callable[[Element], bool]) -> Iterator[Element]:
    """The elements in one, in their order, but not those in elements for which `ends` holds."""
    rest = [*reversed(element)]
    while rest:
        below = rest.pop()
        if isinstance(below.tag, str):
            yield below
            if not ends(below):
                rest += reversed(below)


def role(element: Element) -> str:
    """The role that an element has been given, or none."""
    return (element.get("role") or "").partition(" ")[0].lower()


def is_leaf(element: Element) -> bool:
    """Whether it holds text and no blocks of text."""
    return all(
        below.tag in _INLINE or below.tag in _MARKS for below in elements(element) if below is not element
    )


MOST_DEEP = 8  # How far data within data are read

ABOUT_THE_SITE = frozenset(
    {"BreadcrumbList", "WebSite", "WebPage", "Organization", "SearchAction", "SiteNavigationElement"}
)
"""Kinds that data describe even where the page is about something else."""

_SCHEMA = re.compile(r"https?://schema\.org/")
_NAMES = ("name", "@value", "url", "@id")
_ADDRESS = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    "time": "datetime",
    "data": "value",
    "object": "data",
}


def items_in(root: Element) -> list[dict[str, Any]]:
    """The things that the page's data describe; removes the scripts from the tree."""
    found: list[dict[str, Any]] = []
    for script in list(root.iter("script")):
        with contextlib.suppress(ValueError, RecursionError):
            found += _items(json.loads(script.text or ""))
        script.drop_tree()
    microdata = (_item(one) for one in elements(root) if _is_thing(one) and not one.get("itemprop"))
    return [*found, *(item for item in microdata if item.keys() - {"@type"})]


def type_of(item: dict[str, Any]) -> str:
    """What kind of thing it is, by schema.org."""
    given: Any = item.get("@type", "")
    if isinstance(given, list):
        given = next(iter(cast("list[Any]", given)), "")
    return _SCHEMA.sub("", str(given))


def listed(value: Any) -> list[Any]:
    """A list of JSON; an empty one for any other value."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def entries(value: Any) -> dict[str, Any]:
    """An object of JSON; an empty one for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def plain_value(value: Any) -> Any:
    """The one text of a value of JSON, as that of `{"@type": "Person", "name": "Ann"}`; else the value."""
    for _ in range(MOST_DEEP):
        if len(several := listed(value)) == 1:
            value = several[0]
        elif said := next((value[key] for key in _NAMES if entries(value).get(key)), None):
            value = said
        else:
            break
    return _SCHEMA.sub("", value) if isinstance(value, str) else value


def _items(data: Any, deep: int = 0) -> Iterator[dict[str, Any]]:
    """The things in data, those in lists and graphs, too."""
    if deep > MOST_DEEP:
        return
    if isinstance(data, list):
        for part in cast("list[Any]", data):
            yield from _items(part, deep + 1)
    elif isinstance(data, dict):
        item = cast("dict[str, Any]", data)
        for key in ("@graph", "itemListElement", "mainEntity"):
            yield from _items(item.get(key), deep + 1)
        if isinstance(item.get("item"), dict):
            yield from _items(item["item"], deep + 1)
        elif type_of(item) not in ("", "ItemList", "ListItem"):
            yield item


def _item(scope: Element, deep: int = 0) -> dict[str, Any]:
    """A thing of microdata, as JSON-LD would say it."""
    item: dict[str, Any] = {"@type": (scope.get("itemtype") or "").partition(" ")[0]}
    for below in inside(scope, _is_thing) if deep < MOST_DEEP else ():
        if names := (below.get("itemprop") or "").split():
            value = _item(below, deep + 1) if _is_thing(below) else _value(below)
            for name in names:
                item.setdefault(name, []).append(value)
    return item


def _is_thing(element: Element) -> bool:
    return element.get("itemscope") is not None


def _value(element: Element) -> str:
    """The value of a property, by HTML's rules for microdata."""
    name = _ADDRESS.get(str(element.tag), "src")
    return element.get("content") or element.get(name) or text_of(element)
