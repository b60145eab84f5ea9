"""Redacts secrets in reports of the network, the console and the storage.

A secret is recognized by its name (`Authorization`, `session_token`, `password`) or its form (a JSON Web
Token, a key with a well-known prefix). A secret that has its name in one part of an exchange is also redacted
in the other parts. Secrets with neither are not recognized.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, cast
from urllib.parse import quote, unquote

from mcp_browser.privacy.hiding import MARK, is_plainly_secret, names_secret, redact_addresses, words_of

SHORTEST = 6  # A shorter secret is redacted only after its name, characters
LONG = 8  # A secret this long is redacted everywhere, even if it could be a word, characters
_SECRET_WORDS = frozenset(
    (
        *("auth", "bearer", "credentials", "cvc", "cvv", "nonce", "otp", "pass", "passcode", "pin", "pwd"),
        *("session", "sess", "sid", "sig", "signature", "ssn"),
    )
)
_QUERY_SECRETS = frozenset(("code", "key"))
_CONTAINERS = frozenset(("session", "auth", "sess"))  # Names of objects that contain secrets and other values

_NUMBERS = frozenset(("pin", "otp", "cvv", "cvc", "ssn", "password", "passcode", "number"))
"""Words in the names of secrets that may be numbers."""

_COOKIE_HEADERS = frozenset(("cookie", "set-cookie", "cookie2", "set-cookie2"))
_COOKIE_ATTRIBUTES = frozenset(
    ("path", "domain", "expires", "max-age", "samesite", "priority", "secure", "httponly", "partitioned")
)

_FORMS = re.compile(
    r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*){1,3}"
    r"|\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abeprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
_SCHEMES = re.compile(r"\b(Bearer|Basic|Digest|Negotiate)(\s+)(?!\[redacted)([\w.~+/=-]{6,})", re.IGNORECASE)
_QUOTED_PAIR = re.compile(
    r"""(?P<name>[\w.-]{2,60}+)(?P<between>\\?["']?\s*[:=]\s*\\?)(?P<quote>["'])(?P<value>[^"'\n\\]+)"""
)
_PAIR = re.compile(r"""(?P<name>[\w.-]{2,60}+)(?P<between>["']?\s*[:=]\s*)(?P<value>[^\s"'&,;<>(){}\[\]]+)""")
_TIGHT_PAIR = re.compile(r"(?P<name>[\w.-]{2,60}+)(?P<between>=)(?P<value>(?=[\w~+/-]*\d)[\w~+/-]{6,})")
_QUERY_PAIR = re.compile(r"(?<![^&;=])([^&;=]++)=([^&;]*)")
_INPUT = re.compile(r"<(?:input|meta)\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(name|id|type|property)\s*=\s*["']?([\w.:\[\]-]+)""", re.IGNORECASE)
_VALUE = re.compile(r"""(\b(?:value|content)\s*=\s*)("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)
_TAG = re.compile(r"(?P<head><(?P<name>[\w:.-]+)(?:\s[^<>]*)?>)(?P<value>[^<>]+)(?=</(?P=name)>)")
_PART = re.compile(
    r"""(?P<head>Content-Disposition:[^\n]*\bname="(?P<name>[^"]*)"[^\n]*\r?\n(?:[^\n]+\n)*?\r?\n)(?P<value>.*?)(?=\r?\n--)""",
    re.IGNORECASE | re.DOTALL,
)


def is_secret_name(name: str) -> bool:
    """Whether a name is a secret's: `accessToken`, `user[password]`, `PHPSESSID`."""
    return names_secret(name, _SECRET_WORDS)


def is_secret_cookie(name: str, *, http_only: bool) -> bool:
    """Whether a cookie is likely to grant access: scripts may not read it, or its name says so."""
    return http_only or is_secret_name(name) or "remember" in name.lower()


class Redactor:
    """Redacts the parts of one thing, such as a request and its response.

    It remembers the secrets; `text`, `body` and `url` also redact them in later parts. Process the parts
    twice if an earlier one may repeat a secret of a later one.
    """

    def __init__(
        self,
        *,
        show: bool = False,
        known: Iterable[str] = (),
        keep: Callable[[str, str], None] = lambda _address, _shown: None,
    ) -> None:
        """`show`: redact nothing; `known`: secrets to redact everywhere; `keep` takes redacted addresses."""
        self._show = show
        self._keep = keep
        self._known: set[str] = set(known)

    @property
    def known(self) -> frozenset[str]:
        """The secrets that are redacted everywhere, as written and as in addresses."""
        return frozenset(self._known)

    def url(self, url: str) -> str:
        """An address without passwords, tokens in its query, and the like."""
        if self._show:
            return url
        redacted = self._formed(url, lambda name: name.lower() in _QUERY_SECRETS or is_secret_name(name))
        shown = self._forget(redacted)
        if shown != url:
            self._keep(url, shown)
        return shown

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Headers as pairs of name and value."""
        return [(name, value if self._show else self._header(name, value)) for name, value in headers]

    def body(self, text: str, mime_type: str = "") -> str:
        """The body of a request or a response; its MIME type helps to parse it."""
        if self._show or not text:
            return text
        kind = mime_type.partition(";")[0].strip().lower()
        if "json" in kind or text.lstrip()[:1] in ("{", "["):
            redacted = self._json(text)
            if redacted is not None:
                return self._forget(redacted)
        if kind == "application/x-www-form-urlencoded":
            return self._forget(self._formed(_QUERY_PAIR.sub(self._query_pair, text)))
        if kind.startswith("multipart/") or "\nContent-Disposition:" in text[:500]:
            text = _PART.sub(self._named, text)
        if kind in ("text/html", "application/xhtml+xml") or "xml" in kind:
            text = _INPUT.sub(self._input, text)
            text = _TAG.sub(self._named, text)
        is_code = any(word in kind for word in ("html", "javascript", "css", "xml"))
        return self.text(text, code=is_code)

    def text(self, text: str, *, code: bool = False) -> str:
        """Any text; in `code`, unquoted text is redacted only if it is unlikely to be a name."""
        if self._show or not text:
            return text
        text = self._formed(text)
        text = _QUOTED_PAIR.sub(self._pair, text)
        text = (_TIGHT_PAIR if code else _PAIR).sub(self._pair, text)
        return self._forget(text)

    def value(self, name: str, value: str) -> str:
        """The value of a name."""
        if self._show or not value:
            return value
        if is_secret_name(name):
            return self._take(value)
        return self.body(value)

    def cookies(self, header: str) -> str:
        """A Cookie or Set-Cookie header, with only names of cookies and attributes."""
        if self._show:
            return header
        return "\n".join(self._cookie_line(line) for line in header.split("\n"))

    # -- parts

    def _header(self, name: str, value: str) -> str:
        lower = name.lower()
        if lower in _COOKIE_HEADERS:
            return self.cookies(value)
        if lower in ("authorization", "proxy-authorization"):
            scheme, space, rest = value.partition(" ")
            return f"{scheme} {self._take(rest)}" if space else self._take(value)
        if is_secret_name(name) and not lower.startswith(("access-control-", "sec-", "content-security")):
            return self._take(value)
        if lower in ("location", "referer", "content-location", "refresh", "link", "origin", ":path"):
            return self.url(value)
        if lower.startswith(("content-security-policy", "sec-", "etag", "if-", "accept", "user-agent")):
            return self._forget(self._formed(value))
        return self.text(value)

    def _cookie_line(self, line: str) -> str:
        pairs: list[str] = []
        for position, pair in enumerate(line.split(";")):
            name, equals, value = pair.partition("=")
            is_attribute = position > 0 and name.strip().lower() in _COOKIE_ATTRIBUTES
            pairs.append(pair if is_attribute or not equals else f"{name}={self._take(value)}")
        return ";".join(pairs)

    def _query_pair(self, found: re.Match[str]) -> str:
        secret = is_secret_name(unquote(found[1]))
        return f"{found[1]}={self._take(found[2])}" if secret else found[0]

    def _json(self, text: str) -> str | None:
        """JSON without its secrets, or None if it is not JSON; unchanged if there are none."""
        try:
            value = json.loads(text)
            clean = self._tree(value, secret=False)
        except (ValueError, RecursionError):
            return None
        return text if clean == value else json.dumps(clean, ensure_ascii=False)

    def _tree(self, value: Any, *, secret: bool) -> Any:
        match value:
            case str():
                if secret:
                    return self._take(value)
                return self.body(value) if value.lstrip()[:1] == "{" else self.text(value)
            case dict():
                named = cast("dict[str, Any]", value)
                return {
                    name: self._tree(part, secret=secret or self._holds_secret(name, part))
                    for name, part in named.items()
                }
            case list():
                return [self._tree(part, secret=secret) for part in cast("list[Any]", value)]
            case bool() | None:
                return value
            case _:
                return MARK if secret else value

    def _holds_secret(self, name: str, value: Any) -> bool:
        if not is_secret_name(name):
            return False
        # A number about tokens or sessions, such as `session_count`, rather than a PIN.
        is_count = isinstance(value, int | float) and _NUMBERS.isdisjoint(words_of(name))
        return isinstance(value, str) or (name.lower() not in _CONTAINERS and not is_count)

    def _input(self, found: re.Match[str]) -> str:
        element = found[0]
        marks = {key.lower(): value for key, value in _ATTRIBUTE.findall(element)}
        is_password = marks.pop("type", "").lower() == "password"
        if is_password or any(map(is_secret_name, marks.values())):
            return _VALUE.sub(lambda value: f'{value[1]}"{self._take(value[2])}"', element)
        return element

    def _pair(self, found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        if not is_secret_name(name) or value.startswith(MARK[:-1]):
            return found[0]
        if not is_plainly_secret(name) and not _is_unlike_a_word(value):
            return found[0]  # "session: started" is a sentence.
        quoted = found.groupdict().get("quote") or ""
        return f"{name}{found['between']}{quoted}{self._take(value)}"

    def _named(self, found: re.Match[str]) -> str:
        secret = is_secret_name(found["name"])
        return found["head"] + (self._take(found["value"]) if secret else found["value"])

    def _formed(self, text: str, is_secret: Callable[[str], bool] = is_secret_name) -> str:
        text = _FORMS.sub(lambda found: self._take(found[0]), text)
        text = _SCHEMES.sub(lambda found: f"{found[1]}{found[2]}{self._take(found[3])}", text)
        return redact_addresses(text, is_secret=is_secret, take=lambda _, value: self._take(value))

    def _take(self, value: str) -> str:
        bare = value.strip().strip("\"'")
        if not bare or bare == MARK:
            return value
        if len(bare) >= LONG or _is_unlike_a_word(bare):
            self._known |= {bare, unquote(bare), quote(unquote(bare), safe="")}
        return MARK

    def _forget(self, text: str) -> str:
        for value in sorted(self._known, key=len, reverse=True):
            if value in text:
                text = text.replace(value, MARK)
        return text


def _is_unlike_a_word(value: str) -> bool:
    return len(value) >= SHORTEST and any(character.isdigit() for character in value)
