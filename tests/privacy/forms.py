"""The forms in which a value may be written, and what shows that one of them is there."""

import base64
import html
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus

VALUE = "S3c\"r<et>&Va'l/ue+7 7ü%"


def _bytes(text: str, before: int = 0) -> bytes:
    return b"\x00\xff"[:before] + text.encode()


FORMS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "percent-encoded": lambda text: quote(text, safe=""),
    "as a path": quote,
    "in small digits": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text)),
    "percent-encoded twice": lambda text: quote(quote(text)),
    "plus-encoded": quote_plus,
    "plus-encoded on a page that is not in UTF-8": lambda text: quote_plus(
        text, encoding="cp1252", errors="xmlcharrefreplace"
    ),
    "plus-encoded twice": lambda text: quote_plus(quote_plus(text)),
    "HTML": html.escape,
    "HTML without quotes": lambda text: html.escape(text, quote=False),
    "HTML twice": lambda text: html.escape(html.escape(text)),
    "HTML in numbers": lambda text: re.sub(r"\W", lambda found: f"&#{ord(found[0])};", text),
    "HTML in names": lambda text: html.escape(text).replace("ü", "&uuml;").replace(" ", "&nbsp;"),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in Unicode": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "JSON in a script": lambda text: json.dumps(text)[1:-1].replace("<", "\\u003C").replace("/", "\\/"),
    "HTML in JSON": lambda text: json.dumps(html.escape(text))[1:-1],
    "JSON in HTML": lambda text: html.escape(json.dumps(text)[1:-1]),
    "JSON in an address": lambda text: quote(json.dumps(text)[1:-1]),
    "Python": lambda text: repr(text)[1:-1],
    "Python in ASCII": lambda text: ascii(text)[1:-1],
    "a pattern": re.escape,
    "TypeScript": lambda text: text.replace("'", "\\'").replace("ü", "\\u{fc}"),
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "decomposed, percent-encoded": lambda text: quote(unicodedata.normalize("NFD", text)),
    "decomposed, JSON": lambda text: json.dumps(unicodedata.normalize("NFD", text))[1:-1],
    "with a no-break space": lambda text: text.replace(" ", "\u00a0"),
    "with a narrow no-break space": lambda text: text.replace(" ", "\u202f"),
    "with a no-break space, percent-encoded": lambda text: quote(text.replace(" ", "\u00a0")),
    "on two lines": lambda text: text.replace(" ", "\n  "),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
    **{
        f"base64 after {before} bytes": lambda text, before=before: base64.b64encode(
            _bytes(text, before)
        ).decode()
        for before in range(3)
    },
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 in an address": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
}

# Letters and digits are the same in every form but base64 and hexadecimal digits.
_TRACES = (
    # Three characters before an ellipsis may be of many words.
    *(r"S3c(?![A-Za-z0-9]|[^ ]{0,9}…)", r"(?<![A-Za-z0-9])Va(?![A-Za-z0-9])"),
    VALUE[:3].encode().hex(),
    VALUE[:3].encode().hex().upper(),
    # Of base64 what is certain of four bytes, for each alignment.
    *(
        base64.b64encode(_bytes(VALUE[:6], before)).decode()[2 * before - before // 2 : 8]
        for before in range(3)
    ),
)
TRACE = re.compile("|".join(_TRACES))


def trace_of(text: str) -> str | None:
    """What shows that the value is in a text, with what is around it; None where nothing does."""
    found = TRACE.search(text)
    return text[max(0, found.start() - 60) : found.end() + 60] if found else None
