"""Values that nobody is to read are taken out of texts, in all the forms in which they may stand there."""

import functools
import html
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from mcp_browser.text import SHORTEST_IN_BASE64, SURROGATES, in_base64, in_texts

_SAFE = (
    "",
    "/",
    "!'()*~",
    ";,/?:@&=+$-_.!~*'()#",
    "!$%&()*+,-./:;=?@[\\]^_`{|}~",
    "!$%&'()*+,-./:;=@[\\]^_|~",
)
"""What stays as it is in an address: Python's two ways, encodeURIComponent, encodeURI, a query, a path."""


def hide(text: str, secrets: Mapping[str, str]) -> str:
    """Put a secret's name for its value, the longest value first, so that none is left in parts.

    A value is also known as it stands in addresses, JSON, HTML and Python, and a longer one in base64 and as
    hexadecimal digits: so are frames of WebSockets told.
    """
    if not secrets:
        return text
    pattern, names = _sought(tuple(secrets.items()))
    return pattern.sub(lambda found: f"<secret>{names[found[0]]}</secret>", text)


def hide_in(value: Any, secrets: Mapping[str, str]) -> Any:
    """A value of JSON with secrets hidden in all texts in it, keys included."""
    return in_texts(value, lambda text: hide(text, secrets))


@functools.lru_cache(maxsize=32)
def _sought(secrets: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds the values in all their forms, and the name for each form."""
    names: dict[str, str] = {}
    for name, value in sorted(secrets, key=lambda secret: -len(secret[1])):
        for form in forms_of(value):
            names.setdefault(form, name)
    forms = sorted(filter(None, names), key=len, reverse=True)
    # One pass: a value that is found in a name which has just been put in would spoil it.
    return re.compile("|".join(map(re.escape, forms)) or "(?!)"), names


def forms_of(value: str) -> set[str]:
    """The value as it may stand in texts: plain, in addresses, JSON, HTML and Python, and encoded."""
    text = SURROGATES.sub("\ufffd", value)
    return {
        value,
        *(quote(text, safe=safe) for safe in _SAFE),
        *(quote_plus(text, safe=safe) for safe in _SAFE),
        quote_plus(text, safe="*").replace("~", "%7E"),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        html.escape(value),
        html.escape(value, quote=False),
        repr(value)[1:-1],
        *in_base64(value),
        *((value.encode(errors="surrogatepass").hex(),) if len(value) >= SHORTEST_IN_BASE64 else ()),
    }
