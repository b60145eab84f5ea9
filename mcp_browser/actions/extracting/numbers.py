"""Numbers as people write them."""

import math
import re

_NUMBER = re.compile(
    r"(?<![\w.,])[-+\u2212]?(?:\d{1,3}(?:[,. \u00a0\u202f'\u2019]\d{3})+|\d+)(?:[.,]\d+)?"
    r"(?:[eE][-+]?\d{1,3}\b)?(?![^\W_]|[.,]\d)"
)
_LETTER = re.compile(r"[^\W_]")


def numbers_in(text: str) -> list[int | float]:
    """The numbers in a text."""
    return [number for found in _NUMBER.findall(text) if (number := _parsed(found)) is not None]


def one_number(text: str) -> int | float | None:
    """The number that a text consists of, beside signs such as those of currencies; None for another text.

    A word beside it may be a unit, or make it another number, as `million` does.
    """
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1 or _LETTER.search(text.replace(numbers[0], "", 1)):
        return None
    return _parsed(numbers[0])


def _parsed(text: str) -> int | float | None:
    """The number: `1,234.50`, `1.234,50`, `1 234`, `1.5e-3`; None where it is too large."""
    plain = re.sub("[ \u00a0\u202f'\u2019]", "", text).replace("\u2212", "-")
    comma, point = plain.rfind(","), plain.rfind(".")
    if comma >= 0 and point >= 0:
        thousands, decimal = (",", ".") if point > comma else (".", ",")
        plain = plain.replace(thousands, "").replace(decimal, ".")
    elif comma >= 0:
        groups = plain.split(",")
        plain = plain.replace(",", "" if all(len(group) == 3 for group in groups[1:]) else ".")  # noqa: PLR2004
    elif plain.count(".") > 1:
        plain = plain.replace(".", "")
    try:
        number = float(plain) if re.search("[.eE]", plain) else int(plain)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if float(number).is_integer() else number
