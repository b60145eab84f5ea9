"""Text for a model: what may stand in it, and how much."""

import re

CHARACTERS_A_TOKEN = 4  # How budgets in tokens are counted in characters
SURROGATES = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")

LONGEST_ADDRESS = 120  # How much of an address a sentence quotes, characters


def cut_address(url: str) -> str:
    """An address as a sentence quotes it: a long one without its middle."""
    if len(url) <= LONGEST_ADDRESS:
        return url
    half = LONGEST_ADDRESS // 2
    return f"{url[:half]}…{url[1 - half :]}"


def clean_text(text: str) -> str:
    """Text that every client can take: no half characters, no control characters."""
    return _UNPRINTABLE.sub("", SURROGATES.sub("\ufffd", text))


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there are."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"
