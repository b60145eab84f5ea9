"""Named bearer tokens, from a file that may change while the server runs, or from the environment.

Only the SHA-256 of a token is kept. A line of the file may hold that instead of the token itself
(`alice: sha256:…`), as `mcp-browser token` writes it; such a line cannot be used to sign in.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from mcp_browser.errors import SettingsError
from mcp_browser.settings import AccessSettings

logger = logging.getLogger(__name__)

SHORTEST_TOKEN = 16
DEFAULT_NAME = "default"
_LOOK_AGAIN_SECONDS = 1.0
_LONGEST_FILE = 1_000_000

_NAME = re.compile(r"[\w.@+-]{1,64}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


NamedToken = tuple[str, bytes]  # What is kept of a bearer token: its name, and its SHA-256


class TokenSource:
    """The bearer tokens that count now.

    A change of their file counts within a second; the log reports one that cannot be used.
    """

    def __init__(self, settings: AccessSettings) -> None:
        """Read the tokens; raises SettingsError where there are none, and those of `read_tokens`."""
        self._fixed = _from_variable(settings.token.get_secret_value()) if settings.token is not None else ()
        self._in_file: tuple[NamedToken, ...] = ()
        self._path = path = settings.tokens
        if path is not None:
            self._stamp, self._looked_at = _stamp(path), time.monotonic()
            self._in_file = read_tokens(path)
            if not self._in_file:
                adding = f"`mcp-browser token NAME --tokens {path}` adds one"
                raise SettingsError(f"{path} holds no token; {adding}.")

    def name_of(self, token: str) -> str | None:
        """The name of a token; None where it does not count."""
        if self._path is not None:
            self._look_again(self._path)
        given = hashlib.sha256(token.encode()).digest()
        found = None
        # Compare all, so that the time reveals neither which one was right nor how nearly.
        for name, digest in (*self._fixed, *self._in_file):
            if hmac.compare_digest(digest, given):
                found = name
        return found

    def _look_again(self, path: Path) -> None:
        """Read the file if it has changed; the previous tokens count while it cannot be used."""
        if (now := time.monotonic()) - self._looked_at < _LOOK_AGAIN_SECONDS:
            return
        self._looked_at = now
        before, self._stamp = self._stamp, _stamp(path)
        if self._stamp == before:
            return
        try:
            self._in_file = read_tokens(path)
        except SettingsError as error:
            logger.error("The tokens from before go on counting: %s", error)
            return
        names = ", ".join(dict.fromkeys(name for name, _ in self._in_file))
        logger.warning("Read %s again; tokens: %s", path, names or "none")


def read_tokens(path: Path) -> tuple[NamedToken, ...]:
    """The tokens in a file: lines `name: token`, or in a .toml file `name = "token"`.

    A name may have several tokens, so that a new one can take over from the old one. Raises SettingsError:
    the file cannot be read, holds something else, or others may read the tokens in it.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_LONGEST_FILE + 1)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read the tokens in {path}: {_reason(error)}.") from None
    if len(content) > _LONGEST_FILE:
        raise SettingsError(f"cannot read the tokens in {path}: it is longer than 1 MB.")
    pairs = list(_toml(text, path) if path.suffix.lower() == ".toml" else _lines(text, path))
    tokens = tuple(_named(name, token, f"{path}, {place}") for name, token, place in pairs)
    secret = any(not _HASH.fullmatch(token) for _, token, _ in pairs)
    if sys.platform != "win32" and mode & (0o077 if secret else 0o022):
        what = "read the tokens in" if secret else "write"
        raise SettingsError(f"others may {what} {path}: `chmod 600 {path}` keeps it to its owner.")
    return tokens


def new_token() -> str:
    """A token that cannot be guessed, 43 characters that need no quoting anywhere."""
    return secrets.token_urlsafe(32)


def add_token(path: Path, name: str) -> str:
    """Make a token, add its hash to a file, and return it: nothing else has it. Raises SettingsError."""
    token = new_token()
    _, digest = _named(name, token, "the command line")
    if path.suffix.lower() == ".toml":
        raise SettingsError(f"only files of lines are written; add a line `{name} = ...` to {path} yourself.")
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        if before:
            read_tokens(path)
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(opened, "a", encoding="utf-8") as file:
            separator = "\n" if before and not before.endswith("\n") else ""
            file.write(f"{separator}{name}: sha256:{digest.hex()}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot write the token to {path}: {_reason(error)}.") from None
    return token


def _reason(error: OSError | UnicodeDecodeError) -> str | None:
    return error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"


def _from_variable(value: str) -> tuple[NamedToken, ...]:
    """`token`, or `name:token,name:token`."""
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not parts:
        raise SettingsError("MCP_BROWSER_TOKEN holds no token.")
    pairs = (part.split(":", 1) if ":" in part else (DEFAULT_NAME, part) for part in parts)
    return tuple(
        _named(name.strip(), token.strip(), f"MCP_BROWSER_TOKEN, token {number}")
        for number, (name, token) in enumerate(pairs, start=1)
    )


def _lines(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Name, token and place of each line that is neither empty nor a comment."""
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, colon, token = stripped.partition(":")
        if not colon:
            raise SettingsError(f"{path}, line {number} must be `name: token`.")
        yield name.strip(), token.strip(), f"line {number}"


def _toml(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        content: Mapping[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"cannot read the tokens in {path}: {error}.") from None
    for name, value in content.items():
        for token in cast("list[object]", value) if isinstance(value, list) else [value]:
            if not isinstance(token, str):
                raise SettingsError(f"{path}, {name} must be a token, or a list of tokens.")
            yield name, token, name


def _named(name: str, token: str, place: str) -> NamedToken:
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{place}: a token's name is up to 64 letters, digits and any of . _ @ + -")
    hashed = _HASH.fullmatch(token)
    if hashed is not None:
        return name, bytes.fromhex(hashed[1])
    if token.startswith("sha256:") or not _TOKEN.fullmatch(token) or len(token) < SHORTEST_TOKEN:
        raise SettingsError(
            f"{place}: a token is {SHORTEST_TOKEN} or more letters, digits and any of . _ ~ + / - "
            "(or sha256: and its hash); `mcp-browser token NAME` makes one."
        )
    return name, hashlib.sha256(token.encode()).digest()


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when the file does; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode
