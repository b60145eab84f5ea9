"""How requests are named by their addresses: a part of it, a glob, or a regular expression."""

import re

from mcp_browser.errors import InvalidArguments

LONGEST = 500  # Longest pattern, characters
LONGEST_URL = 20_000  # How much of an address is looked at, characters


class UrlPattern:
    """Which addresses are meant.

    `/api/` is a part of an address; in `/api/*.json`, a glob, `*` is anything; `re:v\\d+/` is a regular
    expression, found anywhere.
    """

    def __init__(self, text: str) -> None:
        """Read a pattern.

        Raises:
            InvalidArguments: it is empty, too long, or no regular expression.
        """
        if not text or len(text) > LONGEST:
            raise InvalidArguments(f"A URL pattern has 1 to {LONGEST} characters.")
        self.text = text
        try:
            self.regex = re.compile(_source(text))
        except re.error as error:
            raise InvalidArguments(f"{text!r} is not a regular expression: {error}.") from error

    def __str__(self) -> str:
        return self.text

    def matches(self, url: str) -> bool:
        """Whether an address is meant."""
        return self.regex.search(url[:LONGEST_URL]) is not None


def _source(text: str) -> str:
    """The expression for a pattern; Python and JavaScript read it alike."""
    if text.startswith("re:"):
        return text[3:]
    if "*" not in text:
        return re.escape(text)
    glob = ".*".join(re.escape(part) for part in re.split(r"\*+", text))
    return f"^{'' if '://' in text else '.*'}{glob}$"
