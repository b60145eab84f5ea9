"""HTML as Markdown."""

import re
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any, cast

from mcp_browser.text import SURROGATES

_UNREAD = ["svg", "canvas", "object", "audio", "video", "iframe", "noscript", "template"]
_TOO_DEEP = "(This page is nested too deep to be shown as Markdown. Its plain text:)"
_FAILED = "(This page could not be turned into Markdown. Its plain text:)"
_SCRIPTS = re.compile(
    r"<(script|style|noscript|template)\b.*?</\1\s*>|<link\b[^>]*>", re.DOTALL | re.IGNORECASE
)


@lru_cache(maxsize=2)
def to_markdown(html: str, *, base_url: str, links: bool) -> str:
    """The content of HTML as Markdown. What was converted last is kept, since long pages are read in parts.

    Where it cannot be converted whole, since it is nested too deep for instance, its plain text with a line
    that says so. Without `links`, links and pictures are only their texts.
    """
    # Imported late: a server need not wait for it before a page is extracted.
    from html_to_markdown import (  # noqa: PLC0415
        ConversionError,
        ConversionOptions,
        PreprocessingOptions,
        WarningKind,
        convert,
    )

    html = SURROGATES.sub("\ufffd", html)
    options = ConversionOptions(
        base_url=base_url,
        compact_tables=True,
        bullets="-",
        autolinks=False,
        expand_abbreviations=False,
        include_blockquote_citations=False,
        extract_metadata=False,
        inline_data_media="alt_text_only",
        # The page's script knows what is hidden; navigation and forms are what an agent acts on.
        hidden_content="all",
        preprocessing=PreprocessingOptions(enabled=False),
        exclude_selectors=_UNREAD,
        strip_tags=[] if links else ["a"],
    )
    try:
        result = convert(html, options, visitor=None if links else cast("Any", _AltTexts()))
    except ConversionError:
        return _plain_text(html, _FAILED)
    if any(warning.kind == WarningKind.DEPTH_LIMIT_EXCEEDED for warning in result.warnings):
        return _plain_text(html, _TOO_DEEP)
    return (result.content or "").strip()


def without_scripts(html: str) -> str:
    """HTML without scripts, styles and templates."""
    return _SCRIPTS.sub("", html)


class _AltTexts:
    def visit_image(self, _context: object, _src: str, alt: str, _title: str) -> dict[str, str]:
        return {"type": "custom", "output": alt}


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(" ".join(data.split()))


def _plain_text(html: str, note: str) -> str:
    collector = _TextCollector()
    collector.feed(without_scripts(html))
    collector.close()
    return "\n".join([note, "", *filter(None, collector.texts)])
