"""Passwords and tokens in addresses: redacted in results, restored when an address is opened again."""

import functools
import re
from collections.abc import Callable
from urllib.parse import unquote

from mcp_browser.errors import NavigationError
from mcp_browser.hosts import Origin

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
    return _plain(name) not in _NO_SECRETS and (
        is_plainly_secret(name) or not words.isdisjoint(words_of(name))
    )


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
        if redacted == address or len(address) > LONGEST_KEPT:
            return
        if origin is None or origin != _origin(redacted):
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
