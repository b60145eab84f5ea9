"""The readable HTML of a page as a tree: texts as a reader sees them."""

from collections.abc import Iterator

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
    """The text of an element on one line, that of pictures where there is no other.

    Without `gone`, not what is struck out.
    """
    parts: list[str] = []
    pictures: list[str] = []
    skipping: Element | None = None
    for event, node in etree.iterwalk(element, events=("start", "end")):
        tag = node.tag
        if event == "start":
            if skipping is None and not gone and tag in _GONE and node is not element:
                skipping = node
            if skipping is None:
                parts += ("" if tag in _INLINE else " ", node.text or "" if isinstance(tag, str) else "")
                if tag == "img":
                    pictures.append(node.get("alt") or "")
        else:
            if skipping is node:
                skipping = None
            if skipping is None:
                parts.append("" if tag in _INLINE else " ")
                if node is not element:
                    parts.append(node.tail or "")
    return " ".join("".join(parts).split()) or " ".join(" ".join(pictures).split())


def elements(root: Element) -> Iterator[Element]:
    """The elements of a tree, in their order, without comments."""
    return root.iter(etree.Element)


def role(element: Element) -> str:
    """The role that an element has been given, or none."""
    return (element.get("role") or "").partition(" ")[0].lower()


def is_leaf(element: Element) -> bool:
    """Whether it holds text and no blocks of text."""
    return all(
        below.tag in _INLINE or below.tag in _MARKS for below in elements(element) if below is not element
    )
