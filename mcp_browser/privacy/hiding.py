"""Keeps secrets out of texts: hidden values in every form in which they may be written; those in addresses.

A secret in an address is redacted in results, and restored when the address is opened again.
"""

import functools
import logging
import re
import sys
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote
from weakref import WeakValueDictionary

from mcp_browser.errors import NavigationError
from mcp_browser.hosts import Origin
from mcp_browser.text import SURROGATES, clean_text, in_texts

SHORTEST_ENCODED = 6  # Bytes of a value that is looked for in base64 and in hexadecimal digits
SHORTEST_PART, SHORTEST_ENCODED_PART = 4, 8  # Characters beside an ellipsis that count as part of a value
MOST_UNITS = 64  # Characters of such a part
LONGEST_REPEATED = 5_000  # Characters of a pattern: compiling it takes long
NAMED = "<secret>{}</secret>"  # What replaces a value, with its name

_PERCENT = "%(?:25)*"
_BACKSLASH = rf"(?:\\|{_PERCENT}5[cC])"
_ESCAPED = r"(?<=[\\cC])"
_ONCE = "+" if sys.version_info >= (3, 11, 5) else ""
"""Makes a repetition possessive if `re` supports that for groups (gh-106052)."""
_SEMICOLON = f"(?:;|{_PERCENT}3[bB])"
_HASH = f"(?:#|{_PERCENT}23)"
_SPACES = " \n\u00a0\u202f"
_VERBATIM = re.compile(r"[A-Za-z0-9]+")
_RUNS = re.compile(rf"{_VERBATIM.pattern}|\s+|\\+|.", re.DOTALL)

MARK = "[redacted]"

LONGEST_USER = 32  # A longer user name before a password may itself be a token, characters
MOST_KEPT = 2_000  # How many originals a session keeps
LONGEST_KEPT = 4_000  # Longest original that is kept, characters

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(("auth", "bearer", "pass", "passcode", "pwd"))
_SECRET_PARTS = tuple(
    (
        "apikey accesskey authorization authtoken credential csrf jwt passphrase passwd password privatekey "
        "secret sessid sessionid sessionkey token xsrf cardnumber"
    ).split()
)
_NO_SECRETS = frozenset(("tokentype", "tokens", "maxtokens", "totaltokens", "tokencount", "sessioncount"))

_WEB = ("http://", "https://", "ws://", "wss://")
_USER = re.compile(
    # Of an address, of one that was cut, and of one within another's query.
    r"(?<=://)(?P<user>[^\s/?#\"'<>\\]+)@"
    r"|(?<=://)(?P<cut>[^\s/?#\"'<>\\@:…]*:[^\s/?#\"'<>\\@…]+)(?=…)"
    r"|(?<=%3A%2F%2F)(?P<within>(?:(?!%2F|%3F|%23|%40)[^\s/?#&\"'<>\\@])+)(?P<at>%40|@)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?P<sign>[?&#;]|\\u0026|%(?:25){0,3}(?:3F|26|23))"
    r"(?P<name>(?:[\w.$:\[\]-]|%(?!(?:25){0,3}(?:3[DF]|2[36]))[0-9A-F]{2}){1,80})(?:=|%(?:25){0,3}3D)",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?:(?!%(?:25){0,3}(?:26|23))[^\s&#\"'<>\\])+", re.IGNORECASE)
_AFTER = ").,;:!…"  # What a sentence puts after an address
_ADDRESS = re.compile(r"\bhttps?://[^\s\"'<>\\…]++(?!…)", re.IGNORECASE)
LONGEST_ADDRESS = 120  # How much of an address a sentence quotes, characters


def hide(text: str, secrets: Mapping[str, str], *, mark: str = NAMED) -> str:
    """Replace values by `mark`, formatted with their names; the longest value first.

    A value is also recognized if escaped, even repeatedly, for addresses, HTML, JSON, Markdown and source
    code; in composed and decomposed Unicode; with other spaces; if longer, in base64 and hexadecimal digits;
    and if an ellipsis cuts it.
    """
    present = [
        (form, name)
        for name, value in secrets.items()
        for verbatim, forms in _forms(value, cut="…" in text)
        if verbatim in text
        for form in forms
    ]
    if not present:
        return text
    present.sort(key=lambda found: (found[0].cut, -len(found[0].text)))
    # In one pass, so that no value is found in an inserted name.
    pattern, forms = _compiled(tuple(form for form, _ in present))
    return pattern.sub(lambda found: mark.format(present[forms[(found.lastindex or 1) - 1]][1]), text)


def hide_in(value: Any, secrets: Mapping[str, str]) -> Any:
    """Replace values in all texts of a JSON value, including keys."""
    return in_texts(value, lambda text: hide(text, secrets))


class Hidden(dict[str, str]):
    """Hidden values by their names; also hidden in logs as long as this object exists."""

    def __init__(self) -> None:
        super().__init__()
        _ALL[id(self)] = self

    def add(self, values: Mapping[str, str]) -> None:
        """Add values that are not hidden yet; a number is added to names that are taken."""
        known = set(self.values())
        for name, value in values.items():
            free = (name, *(f"{name}.{number}" for number in range(2, len(self) + 3)))
            if value not in known:
                self[next(label for label in free if label not in self)] = value
                known.add(value)


_ALL: WeakValueDictionary[int, Hidden] = WeakValueDictionary()


def all_hidden() -> Hidden:
    """Return the hidden values of all sessions."""
    merged = Hidden()
    for hidden in [*_ALL.values()]:
        merged.add({**hidden})
    return merged


class LogFormatter(logging.Formatter):
    """Formats log records, tracebacks included, without hidden values."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return hide(super().format(record), all_hidden())


def spellings(value: str) -> tuple[str, ...]:
    """Return the value composed, decomposed, and as it is."""
    return tuple(dict.fromkeys((*(unicodedata.normalize(form, value) for form in ("NFC", "NFD")), value)))


class _Form(NamedTuple):
    """A text to look for: all of it, or at least `least` characters of its start or end at an ellipsis."""

    text: str
    cut: Literal["", "end", "start"] = ""
    least: int = 0


_Forms = tuple[tuple[str, tuple[_Form, ...]], ...]  # Forms by a part that no encoding changes


@functools.lru_cache(maxsize=4096)
def _forms(value: str, *, cut: bool) -> _Forms:
    """Return the forms of a value, with `cut` also those of its start and its end."""
    composed, *others = spellings(value.strip())
    written = filter(None, (composed, *others[-1:], SURROGATES.sub("\ufffd", value.strip())))
    texts = [(text, SHORTEST_PART) for text in written]
    texts += [(text, SHORTEST_ENCODED_PART) for text in _encoded(value)]
    forms = [(text, _Form(text)) for text, _ in texts]
    for text, least in texts if cut else ():
        if len(text) > least:
            forms += [(text[:least], _Form(text, "end", least)), (text[-least:], _Form(text, "start", least))]
    found: dict[str, dict[_Form, None]] = {}
    for text, form in forms:
        verbatim = max(_VERBATIM.findall(text), key=len, default="")
        found.setdefault(verbatim, {})[form] = None
    return tuple((verbatim, tuple(forms)) for verbatim, forms in found.items())


def _encoded(value: str) -> Iterator[str]:
    """Yield a value in hexadecimal digits, and what base64, in both alphabets, has of it in every text.

    Yields nothing for a short one, which these could contain by chance.
    """
    for each in spellings(value.strip()):
        data = each.encode(errors="surrogatepass")
        if len(data) < SHORTEST_ENCODED:
            continue
        for before in range(3):
            whole = b64encode(bytes(before) + data).decode()
            part = whole[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
            yield from (part, part.replace("+", "-").replace("/", "_"))
        yield from (data.hex(), data.hex().upper())


@functools.lru_cache(maxsize=256)
def _compiled(forms: tuple[_Form, ...]) -> tuple[re.Pattern[str], list[int]]:
    """Return a pattern of all forms, and the number of the form for each of its groups."""
    ways: list[str] = []
    numbers: list[int] = []
    for number, form in enumerate(forms):
        patterns = _patterns(form)
        ways += [f"{pattern}()" for pattern in patterns]
        numbers += [number] * len(patterns)
    return re.compile("|".join(ways)), numbers


def _patterns(form: _Form) -> list[str]:
    runs = _RUNS.findall(form.text)
    if not form.cut:
        after = "".join(map(_run, runs[1:]))
        starts = _starts(runs[0]) if len(after) < LONGEST_REPEATED else [_run(runs[0])]
        return [f"{start}{after}" for start in starts]
    units = [unit for run in runs for unit in (run if _VERBATIM.match(run) else [_run(run)])]
    least, more = form.least, ""
    if form.cut == "end":
        for unit in reversed(units[least:MOST_UNITS]):
            more = f"(?:{unit}{more})?"
        # Part of an escape may stand before the ellipsis.
        return [rf"{''.join(units[:least])}{more}(?:[&%\\][\w#;&%\\{{]{{0,20}})?(?=…)"]
    for unit in units[-MOST_UNITS:-least]:
        more = f"(?:{more}{unit})?"
    return [rf"(?<=…)(?:[\w#;]{{0,16}};|[0-9A-Fa-fu]{{0,5}}){more}{''.join(units[-least:])}"]


@functools.lru_cache(maxsize=4096)
def _run(run: str) -> str:
    """Return a pattern of all ways to write letters, spaces, backslashes or another character."""
    if _VERBATIM.match(run):
        return run
    if run.isspace():
        percent, escaped = f"{_PERCENT}(?:2[bB]|0[9dD])", f"{_BACKSLASH}{{1,64}}{_ONCE}[nrtfv]"
        ways = (r"\s", r"\+", percent, escaped, *map(_character, _SPACES))
        return f"{_any_of(ways)}{{1,100}}"
    if run[0] == "\\":
        return _any_of(f"{_any_of(_ways(run[0]))}{{{times * len(run)}}}" for times in (16, 8, 4, 2, 1))
    # Texts for models lack invisible characters.
    return _character(run) if clean_text(run) else f"{_character(run)}?"


def _starts(run: str) -> list[str]:
    """Return the same as patterns that begin with a literal character, which `re` finds faster."""
    if _VERBATIM.match(run) or run[0] == "\\":
        return [_run(run)]
    ways, entity = _ways(run), _entity(run)
    escaped = f"{_BACKSLASH}{{0,63}}{_ONCE}{_any_of(ways)}"
    literal = (way for way in ways if not way.startswith("("))
    return [rf"\\{escaped}", f"{_PERCENT}5[cC]{escaped}", f"&{entity}", f"{_PERCENT}26{entity}", *literal]


def _character(character: str) -> str:
    # Bounded, since a page may write any number of backslashes.
    return f"(?:{_BACKSLASH}{{0,64}}{_ONCE}{_any_of(_ways(character))})"


@functools.lru_cache(maxsize=4096)
def _ways(character: str) -> list[str]:
    """Return patterns of the ways to write a character after any backslashes."""
    units = re.findall("....", character.encode("utf-16-be", errors="surrogatepass").hex())
    parts = unicodedata.normalize("NFD", character)
    ways = [
        f"(?:&|{_PERCENT}26|{_ESCAPED}u0026){_entity(character)}",
        "".join(f"{_PERCENT}{_any_case(f'{byte:02x}')}" for byte in character.encode(errors="surrogatepass")),
        rf"{_ESCAPED}[uUx]\{{?0*+{_any_case(f'{ord(character):x}')}\}}?",
        re.escape(character),
    ]
    if legacy := "" if character.isascii() else character.encode("cp1252", "ignore").hex():
        ways.append(f"{_PERCENT}{_any_case(legacy)}")  # From a form on a page that is not in UTF-8
    if len(units) > 1:
        ways.append(_ESCAPED + f"{_BACKSLASH}{{1,64}}{_ONCE}".join(f"u{_any_case(unit)}" for unit in units))
    if character == '"':
        ways.append("'")  # It replaces the double quote in attributes of frames.
    if parts != character:
        ways.append("".join(map(_run, _RUNS.findall(parts))))
    return ways


def _entity(character: str) -> str:
    """Return a pattern of HTML's ways to write a character after `&`."""
    code = ord(character)
    names = (*_entities().get(character, ()), f"{_HASH}0*+{code}", f"{_HASH}[xX]0*+{_any_case(f'{code:x}')}")
    return f"(?:amp{_SEMICOLON})*{_any_of(names)}{_SEMICOLON}"


def _any_of(ways: Iterable[str]) -> str:
    return f"(?:{'|'.join(ways)})"


def _any_case(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


@functools.cache
def _entities() -> dict[str, list[str]]:
    """Return HTML's names of characters, without their semicolons."""
    # Imported late: the table is long, and values are rarely found.
    from html.entities import html5  # noqa: PLC0415

    names: dict[str, list[str]] = {}
    for name, character in html5.items():
        if name.endswith(";"):
            names.setdefault(character, []).append(name[:-1])
    return names


def words_of(name: str) -> set[str]:
    """The words in a name, in lower case: `session` and `id` in `sessionId`."""
    return {word.lower() for word in _WORDS.findall(name)}


def is_plainly_secret(name: str) -> bool:
    """Whether a name is almost certainly a secret's: `password`, but not `session`."""
    plain = _plain(name)
    return any(part in plain for part in _SECRET_PARTS)


@functools.lru_cache(maxsize=1024)
def names_secret(name: str, words: frozenset[str]) -> bool:
    """Whether a name is plainly a secret's, or contains one of these words."""
    is_one = is_plainly_secret(name) or not words.isdisjoint(words_of(name))
    return is_one and _plain(name) not in _NO_SECRETS


def redact_addresses(
    text: str,
    *,
    is_secret: Callable[[str], bool] = lambda name: names_secret(name, _SECRET_WORDS),
    take: Callable[[str, str], str] = lambda _name, _value: MARK,
) -> str:
    """A text without the user information, passwords and tokens of addresses in it.

    `is_secret` decides by a parameter's name; `take` returns the replacement of a name's value.
    """
    if not ("=" in text or "@" in text or "%" in text or "…" in text):
        return text

    def user(found: re.Match[str]) -> str:
        held = found["user"] or found["cut"] or found["within"]
        if found["user"] and ":" not in held and not text[: found.start()].lower().endswith(_WEB):
            return found[0]  # ssh://git@…
        name, colon, password = re.sub("%3A", ":", held, flags=re.IGNORECASE).partition(":")
        if MARK in {password, held}:
            return found[0]
        keeps = password and len(name) <= LONGEST_USER
        shown = f"{name}{colon}{take('password', password)}" if keeps else take("user", held)
        return f"{shown}{found['at'] or ('@' if found['user'] else '')}"

    text, pieces, end, seen = _USER.sub(user, text), list[str](), 0, 0
    for found in _NAME.finditer(text):
        name = unquote(found["name"])
        if found.start() < seen or not is_secret(name) or not (value := _VALUE.match(text, found.end())):
            continue
        seen = value.end()
        # A parameter of the path ends where the query begins.
        bare = (value[0].partition("?")[0] if found["sign"] == ";" else value[0]).rstrip(_AFTER)
        if bare and not bare.startswith(MARK[:-1]):
            pieces += (text[end : found.end()], take(name, bare))
            end = found.end() + len(bare)
    return "".join((*pieces, text[end:]))


class SessionAddresses:
    """Redacts the addresses in one session's results, and restores their originals."""

    def __init__(self, *, show: bool = False) -> None:
        """With `show`, redact nothing."""
        self._show = show
        self._originals: dict[str, str | None] = {}  # None if there are several

    def redact(self, text: str) -> str:
        """A text without secrets in its addresses; keeps the originals of complete ones."""
        redacted = text if self._show else redact_addresses(text)
        if redacted != text:
            for address in _ADDRESS.findall(text):
                self.keep(address.rstrip(_AFTER))
        return redacted

    def keep(self, address: str, shown: str | None = None) -> None:
        """Keep the original of an address that is shown redacted, as `shown` or as in texts."""
        redacted, origin = shown or redact_addresses(address), _origin(address)
        is_changed = redacted != address and origin is not None and origin == _origin(redacted)
        if not is_changed or len(address) > LONGEST_KEPT:
            return
        known = self._originals.pop(redacted, address)
        self._originals[redacted] = address if known == address else None
        if len(self._originals) > MOST_KEPT:
            del self._originals[next(iter(self._originals))]

    def restore(self, address: str) -> str:
        """The original of a redacted address, at the same origin; raises NavigationError."""
        shown = redact_addresses(address)
        original = self._originals.get(shown)
        if original is None:
            several = shown in self._originals
            why = "several addresses look like it" if several else "this session has not shown it"
            raise NavigationError(
                f"{shown[:200]} has a secret that was redacted, and cannot be restored: {why}.",
                hint="Click the link that leads there, or give the address with its secret.",
            )
        return original


def _origin(address: str) -> Origin | None:
    """The origin; None if programs may parse it differently."""
    return None if "\\" in address else Origin.of(address.replace(MARK, ""))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def cut_address(url: str) -> str:
    """An address as a sentence quotes it: on one line, without secrets, a long one without its middle."""
    url = redact_addresses("%20".join(clean_text(url).split()))  # One of the kind data: may hold any text
    if len(url) <= LONGEST_ADDRESS:
        return url
    half = LONGEST_ADDRESS // 2
    return f"{url[:half]}…{url[1 - half :]}"
