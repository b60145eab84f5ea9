"""HTML as Markdown, and long texts in parts.

Written for what the page script gives out: one long, well-formed document. It takes one pass without a tree,
so that neither 20,000 rows nor 5,000 nested elements (where markdownify takes a minute, or runs out of stack)
are a problem. Broken HTML does no harm.
"""

import re
from functools import lru_cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from mcp_browser.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

_IGNORED = frozenset({"script", "style", "noscript", "template", "svg", "canvas", "head", "object", "audio"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("ul", "ol")
_PARAGRAPHS = frozenset({"p", *_HEADINGS, *_LISTS, "pre", "blockquote", "table", "hr"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "body", "dd", "details", "dialog", "div", "dl", "dt", "fieldset"),
        *(
            "figcaption",
            "figure",
            "footer",
            "form",
            "header",
            "html",
            "iframe",
            "legend",
            "li",
            "main",
            "menu",
        ),
        *("nav", "optgroup", "search", "section", "summary", "textarea", "tr", "video", "caption"),
    }
)
_APART = frozenset({"button", "input", "select", "label", "td", "th", "meter", "progress"})
"""Elements with a box of their own in a line: their texts do not run together."""
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "samp": "`"}
_SILENT_INPUTS = frozenset({"password", "hidden", "file", "image"})
_LONGEST_URL = 300
_Attributes = dict[str, str | None]
_SPACE = re.compile(r"\s+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SCRIPTS = re.compile(
    r"<(script|style|noscript|template)\b.*?</\1\s*>|<link\b[^>]*>", re.DOTALL | re.IGNORECASE
)


@lru_cache(maxsize=2)
def to_markdown(html: str, *, base_url: str, links: bool) -> str:
    """The content of HTML as Markdown. What was converted last is kept, since long pages are read in parts.

    Args:
        html: a page or an element, frames and shadow roots in place.
        base_url: what addresses in it are relative to.
        links: keep the addresses of links and pictures; else only their texts.
    """
    converter = _Converter(base_url, links=links)
    converter.feed(_SURROGATES.sub("\ufffd", html))
    converter.close()
    return converter.text()


def without_scripts(html: str) -> str:
    """HTML without scripts, styles and templates."""
    return _SCRIPTS.sub("", html)


def take_part(text: str, *, part: int, size: int) -> tuple[str, int]:
    """One part of a text, counted from 1, and how many there are.

    Raises:
        NotFound: there are fewer parts.
    """
    parts = split_parts(text, size)
    if not 1 <= part <= len(parts):
        raise NotFound(f"There is no part {part}: the text has {len(parts)}.")
    return parts[part - 1], len(parts)


def split_parts(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters, where a paragraph, line or word ends if it can."""
    parts: list[str] = []
    start = 0
    while len(text) - start > size:
        cut = -1
        for boundary in ("\n\n", "\n", " "):
            cut = text.rfind(boundary, start + size // 2, start + size)
            if cut > 0:
                break
        if cut <= 0:
            cut = start + size
        parts.append(text[start:cut].rstrip())
        start = cut
        while start < len(text) and text[start] == "\n":
            start += 1
    return [*parts, text[start:]]


class _Table:
    """A table whose rows are being collected. One that holds other tables is for layout, and has no rows."""

    def __init__(self) -> None:
        self.row: list[str] = []
        self.rows = 0
        self.in_cell = False
        self.is_layout = False


class _Converter(HTMLParser):
    """Writes Markdown as the tags come."""

    def __init__(self, base_url: str, *, links: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._base_url = base_url
        self._links = links
        self._lines: list[str] = []
        self._line: list[str] = []
        self._blank_before = False
        self._ignored: list[str] = []
        self._quotes = 0
        self._lists: list[int | None] = []
        self._bullet = ""
        self._heading = ""
        self._pre = 0
        self._tables: list[_Table] = []
        self._marks: list[tuple[str, int, int, str]] = []
        self._option: bool | None = None
        self._ended = 0
        self._begins: dict[str, Callable[[str, _Attributes], None]] = {
            **dict.fromkeys(_HEADINGS, self._begin_heading),
            **dict.fromkeys((*_MARKS, "a"), self._begin_mark),
            **dict.fromkeys(_LISTS, self._begin_list),
            **dict.fromkeys(("tr", "td", "th"), self._begin_cell),
            "table": self._begin_table,
            "br": self._begin_break,
            "hr": self._begin_rule,
            "blockquote": self._begin_quote,
            "li": self._begin_item,
            "pre": self._begin_pre,
            "img": self._begin_picture,
            "input": self._begin_field,
            "option": self._begin_option,
        }
        self._ends: dict[str, Callable[[], None]] = {
            **dict.fromkeys(_HEADINGS, self._end_heading),
            **dict.fromkeys(_LISTS, self._end_list),
            "blockquote": self._end_quote,
            "li": self._end_item,
            "pre": self._end_pre,
            "option": self._end_option,
        }

    def text(self) -> str:
        """What has been written."""
        self._end_line()
        return "\n".join(self._lines).strip("\n")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _IGNORED:
            self._ignored.append(tag)
        if self._ignored:
            return
        if tag in _PARAGRAPHS:
            self._end_line(blank=not (tag in _LISTS and self._lists))
        elif tag in _BLOCKS:
            self._end_line()
        elif tag in _APART:
            self._space()
        if begin := self._begins.get(tag):
            begin(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if self._ignored:
            if tag == self._ignored[-1]:
                self._ignored.pop()
            return
        if tag in ("td", "th", "tr", "table"):
            self._end_table_part(tag)
        elif tag in _MARKS or tag == "a":
            self._end_mark(tag)
        if tag in _PARAGRAPHS or tag in _BLOCKS:
            self._end_line(blank=tag in _PARAGRAPHS and not (tag in _LISTS and len(self._lists) > 1))
        elif tag in _APART:
            self._space()
        if end := self._ends.get(tag):
            end()

    def handle_data(self, data: str) -> None:
        if self._ignored or self._option is False:
            return
        if self._pre and not self._cell():
            self._line.append(data)
            return
        text = _SPACE.sub(" ", data)
        if text.startswith(" ") and (not self._line or self._line[-1].endswith((" ", "\n"))):
            text = text[1:]
        if text:
            self._line.append(text)

    def _begin_heading(self, tag: str, _attributes: _Attributes) -> None:
        self._heading = "#" * int(tag[1]) + " "

    def _end_heading(self) -> None:
        self._heading = ""

    def _begin_break(self, _tag: str, _attributes: _Attributes) -> None:
        self._line.append(" " if self._cell() or self._heading else "\n")

    def _begin_rule(self, _tag: str, _attributes: _Attributes) -> None:
        self._line.append("---")
        self._end_line(blank=True)

    def _begin_quote(self, _tag: str, _attributes: _Attributes) -> None:
        self._quotes += 1

    def _end_quote(self) -> None:
        self._quotes = max(0, self._quotes - 1)

    def _begin_list(self, tag: str, _attributes: _Attributes) -> None:
        self._lists.append(1 if tag == "ol" else None)

    def _end_list(self) -> None:
        if self._lists:
            self._lists.pop()

    def _begin_item(self, _tag: str, _attributes: _Attributes) -> None:
        number = self._lists[-1] if self._lists else None
        self._bullet = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1

    def _end_item(self) -> None:
        self._bullet = ""

    def _begin_pre(self, _tag: str, _attributes: _Attributes) -> None:
        self._pre += 1
        if self._pre == 1 and not self._cell():
            self._put_line("```")

    def _end_pre(self) -> None:
        self._pre = max(0, self._pre - 1)
        if not self._pre and not self._cell():
            self._put_line("```")
            self._blank_before = True

    def _begin_picture(self, _tag: str, attributes: _Attributes) -> None:
        alternative = _SPACE.sub(" ", attributes.get("alt") or "").strip()
        address = self._address(attributes.get("src"))
        self._line.append(f"![{alternative}]({address})" if address else alternative)

    def _begin_field(self, _tag: str, attributes: _Attributes) -> None:
        kind = (attributes.get("type") or "text").lower()
        if kind in ("checkbox", "radio"):
            self._line.append("[x] " if "checked" in attributes else "[ ] ")
        elif kind not in _SILENT_INPUTS:
            self._line.append(attributes.get("value") or "")
            self._space()

    def _begin_option(self, _tag: str, attributes: _Attributes) -> None:
        self._option = "selected" in attributes

    def _end_option(self) -> None:
        self._option = None

    def _begin_mark(self, tag: str, attributes: _Attributes) -> None:
        if not self._pre:
            self._marks.append((tag, len(self._line), self._ended, self._address(attributes.get("href"))))

    def _end_mark(self, tag: str) -> None:
        """Put marks around what has been written since the tag began, if that is on one line."""
        for place in range(len(self._marks) - 1, max(-1, len(self._marks) - 20), -1):
            if self._marks[place][0] == tag:
                break
        else:
            return
        _, start, ended, address = self._marks[place]
        del self._marks[place:]
        if ended != self._ended:
            if address:
                self._line.append(f" ({address})")
            return
        written = "".join(self._line[start:])
        text = written.strip()
        if not text or (tag == "a" and not address):
            return
        before, after = written[: len(written) - len(written.lstrip())], written[len(written.rstrip()) :]
        mark = _MARKS.get(tag, "")
        marked = f"[{text}]({address})" if tag == "a" else f"{mark}{text}{mark}"
        self._line[start:] = [before + marked + after]

    def _begin_table(self, _tag: str, _attributes: _Attributes) -> None:
        if self._tables:
            outer = self._tables[-1]
            outer.is_layout = True
            cells, outer.row = outer.row, []
            outer.in_cell = False
            self._line[:0] = [f"{cell} " for cell in cells]
            self._end_line()
        self._tables.append(_Table())

    def _begin_cell(self, tag: str, _attributes: _Attributes) -> None:
        table = self._tables[-1] if self._tables else None
        if table is None or table.is_layout:
            self._end_line()
        elif tag != "tr":
            self._close_cell(table)
            self._line.clear()
            table.in_cell = True

    def _end_table_part(self, tag: str) -> None:
        if not self._tables:
            return
        table = self._tables[-1]
        if tag in ("td", "th"):
            self._close_cell(table)
        else:
            self._close_cell(table)
            self._close_row(table)
        if tag == "table":
            self._tables.pop()
            self._blank_before = True

    def _close_cell(self, table: _Table) -> None:
        if table.in_cell:
            table.row.append(_SPACE.sub(" ", "".join(self._line)).strip().replace("|", "\\|"))
            self._line.clear()
            self._ended += 1
            table.in_cell = False

    def _close_row(self, table: _Table) -> None:
        row, table.row = table.row, []
        if any(row):
            self._put_line(f"| {' | '.join(row)} |")
            table.rows += 1
            if table.rows == 1:
                self._put_line(f"|{' --- |' * len(row)}")

    def _cell(self) -> bool:
        """Whether a cell of a table is being written, which has no lines."""
        return bool(self._tables) and self._tables[-1].in_cell

    def _space(self) -> None:
        if self._line and not self._line[-1].endswith((" ", "\n")):
            self._line.append(" ")

    def _end_line(self, *, blank: bool = False) -> None:
        """End the line, if anything is on it; with `blank`, an empty one parts it from the next."""
        if self._cell():
            self._space()
            return
        text = "".join(self._line)
        self._line.clear()
        self._ended += 1
        if self._pre:
            for line in text.removeprefix("\n").removesuffix("\n").split("\n") if text.strip() else ():
                self._put_line(line)
            return
        for line in text.strip().split("\n"):
            if shown := line.strip():
                self._put_line(self._heading + shown)
        self._blank_before = self._blank_before or (blank and not self._bullet)

    def _put_line(self, line: str) -> None:
        if self._blank_before and self._lines and self._lines[-1]:
            self._lines.append("")
        self._blank_before = False
        deep = max(0, len(self._lists) - 1)
        inside = self._bullet or ("  " if self._lists else "")
        self._bullet = ""
        prefix = "> " * min(self._quotes, 8) + "  " * min(deep, 8) + inside
        self._lines.append((prefix + line).rstrip())

    def _address(self, address: str | None) -> str:
        """The whole address, or nothing where none is wanted, or it is none that a reader could use."""
        if not self._links or not address:
            return ""
        try:
            whole = urljoin(self._base_url, address)
        except ValueError:
            return ""
        usable = whole.startswith(("http:", "https:", "mailto:")) and len(whole) <= _LONGEST_URL
        return whole.replace(" ", "%20").replace(")", "%29") if usable else ""
