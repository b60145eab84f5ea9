"""HTML as Markdown, and long texts in parts."""

import re
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Comment, Tag
from markdownify import MarkdownConverter

from mcp_browser.errors import NotFound

_NOT_CONTENT = (
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "canvas",
    "head",
    "link",
    "meta",
    "object",
    "embed",
)
_SECRET_TYPES = ("password", "hidden")
_LONGEST_URL = 300
_SURROGATES = re.compile("[\ud800-\udfff]")


class _Converter(MarkdownConverter):
    """Markdown with form fields shown by what they hold."""

    def convert_input(self, el: Tag, text: str, parent_tags: Any) -> str:
        """A text field as its value, a checkbox or radio as a tick box."""
        kind = str(el.get("type") or "text").lower()
        if kind in ("checkbox", "radio"):
            return "[x] " if el.has_attr("checked") else "[ ] "
        return str(el.get("value") or "") if kind not in _SECRET_TYPES else ""

    def convert_select(self, el: Tag, text: str, parent_tags: Any) -> str:
        """A list as the options chosen in it."""
        options = el.find_all("option")
        chosen = [option for option in options if option.has_attr("selected")] or options[:1]
        return ", ".join(option.get_text(" ", strip=True) for option in chosen)


def to_markdown(html: str, *, base_url: str, links: bool) -> str:
    """The content of HTML as Markdown.

    Args:
        html: a page or an element, frames and shadow roots in place.
        base_url: what addresses in it are relative to.
        links: keep the addresses of links; else only their texts.
    """
    soup = clean(html)
    for anchor in soup.find_all("a", href=True):
        address = _address(base_url, str(anchor["href"])) if links else ""
        if address.startswith(("http:", "https:", "mailto:")):
            anchor["href"] = address
        else:
            del anchor["href"]
    for image in soup.find_all("img"):
        address = _address(base_url, str(image.get("src") or "")) if links else ""
        if address.startswith(("http:", "https:")):
            image["src"] = address
        else:
            image.replace_with(str(image.get("alt") or ""))
    converter = _Converter(
        heading_style="atx", bullets="-", escape_underscores=False, escape_asterisks=False, escape_misc=False
    )
    text = str(converter.convert_soup(soup))
    text = re.sub(r"[ \t\u00a0]+\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def clean(html: str) -> BeautifulSoup:
    """HTML without scripts, styles, comments and what password fields hold."""
    soup = BeautifulSoup(_SURROGATES.sub("\ufffd", html), "html.parser")
    for element in soup.find_all(_NOT_CONTENT):
        element.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for field in soup.find_all("input"):
        if str(field.get("type") or "").lower() == "password" and field.has_attr("value"):
            del field["value"]
    return soup


def _address(base_url: str, address: str) -> str:
    """The whole address, or nothing where it is no address or too long to be of use to a reader."""
    try:
        whole = urljoin(base_url, address)
    except ValueError:
        return ""
    return whole if len(whole) <= _LONGEST_URL else ""


def split_parts(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters, where a paragraph, line or word ends if it can."""
    parts: list[str] = []
    rest = text
    while len(rest) > size:
        cut = -1
        for boundary in ("\n\n", "\n", " "):
            cut = rest.rfind(boundary, size // 2, size)
            if cut > 0:
                break
        if cut <= 0:
            cut = size
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip("\n")
    return [*parts, rest]


def take_part(text: str, *, part: int, size: int) -> tuple[str, int]:
    """One part of a text, counted from 1, and how many there are.

    Raises:
        NotFound: there are fewer parts.
    """
    parts = split_parts(text, size)
    if not 1 <= part <= len(parts):
        raise NotFound(f"There is no part {part}: the text has {len(parts)}.")
    return parts[part - 1], len(parts)
