"""Named secrets, bound to origins, filled in for `<secret>name</secret>`, never shown to a model."""

import base64
import binascii
import fnmatch
import os
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import parse_qs, urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from mcp_browser.actions.code import PLACEHOLDER
from mcp_browser.errors import BlockedUrl, InvalidArguments, SettingsError
from mcp_browser.hosts import HostPattern, Origin
from mcp_browser.privacy.hiding import Hidden, hide, redact_addresses
from mcp_browser.text import in_texts

Algorithm = Literal["SHA1", "SHA256", "SHA512"]


class OneTimePassword(BaseModel, frozen=True):
    """The parameters of one-time passwords; `period` in seconds."""

    key: bytes = Field(repr=False)
    digits: int = Field(default=6, ge=6, le=8)
    period: int = Field(default=30, ge=1)
    algorithm: Algorithm = "SHA1"

    @classmethod
    def parse(cls, text: str) -> "OneTimePassword":
        """From a key in Base32, or from an authenticator's `otpauth://totp/…` address; raises ValueError."""
        if not text.startswith("otpauth:"):
            return cls(key=_decoded(text))
        parts = urlsplit(text)
        if parts.netloc != "totp":
            raise ValueError("only time-based codes can be made (otpauth://totp/…)")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        return cls(
            key=_decoded(given.get("secret", "")),
            digits=int(given.get("digits", "6")),
            period=int(given.get("period", "30")),
            algorithm=cast("Algorithm", given.get("algorithm", "SHA1").upper()),
        )

    def at(self, seconds: float) -> str:
        """The code of a moment, in seconds since 1970."""
        # Imported late: seldom needed.
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
        from cryptography.hazmat.primitives.twofactor.totp import TOTP  # noqa: PLC0415

        algorithm = {"SHA1": hashes.SHA1, "SHA256": hashes.SHA256, "SHA512": hashes.SHA512}[self.algorithm]()
        # Many sites give out keys of 80 bits, which is less than RFC 4226 asks for.
        codes = TOTP(self.key, self.digits, algorithm, self.period, enforce_key_length=False)
        return codes.generate(int(seconds)).decode()


def _decoded(text: str) -> bytes:
    letters = "".join(text.split()).replace("-", "").upper().rstrip("=")
    try:
        key = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except binascii.Error:
        raise ValueError("the key is not Base32") from None
    if not key:
        raise ValueError("the key is empty")
    return key


SHORTEST_HIDDEN = 3  # Values shorter than this are not looked for in texts: they would be found everywhere

SHORTEST_TYPED = 6
"""The same for what a model has typed as a password: an example's "test" would be found everywhere."""


def _origin(value: str) -> str:
    try:
        HostPattern.parse(value)
    except ValueError as error:
        raise ValueError(f"must be {error}, not {value!r}") from None
    return value


class Secret(BaseModel, frozen=True, extra="forbid"):
    """One secret: either a value, or the key of time-based one-time passwords (RFC 6238).

    `totp` is Base32, or an `otpauth://` address. It may be typed into pages of `origins` only, which
    `HostPattern` reads, strictly. `principals` are globs of the names of those who may use it.
    """

    value: SecretStr | None = None
    totp: SecretStr | None = None
    origins: tuple[Annotated[str, AfterValidator(_origin)], ...] = Field(
        min_length=1, validation_alias=AliasChoices("origins", "domains")
    )
    principals: tuple[str, ...] = Field(default=("*",), min_length=1)

    @model_validator(mode="after")
    def _has_one(self) -> "Secret":
        if (self.value is None) == (self.totp is None):
            raise ValueError("give either value or totp")
        if self.totp is not None:
            OneTimePassword.parse(self.totp.get_secret_value())
        return self

    def reveal(self) -> str:
        """What is to be typed now."""
        if self.value is not None:
            return self.value.get_secret_value()
        assert self.totp is not None
        return OneTimePassword.parse(self.totp.get_secret_value()).at(time.time())

    def allowed_on(self, url: str) -> bool:
        """Whether it may be typed into this page."""
        page = Origin.of(url)
        return page is not None and any(
            HostPattern.parse(origin).matches(page, strict=True) for origin in self.origins
        )

    def usable_by(self, principal: str) -> bool:
        """Whether a principal of this name may use it."""
        return any(fnmatch.fnmatchcase(principal, pattern) for pattern in self.principals)


class Secrets:
    """The secrets of a run, and the values that were filled in, to remove them from texts."""

    def __init__(self, secrets: Mapping[str, Secret] | None = None) -> None:
        self._secrets = dict(secrets or {})
        self._shown: dict[str, set[str]] = {}
        self._typed: list[str] = []
        self.others: Mapping[str, str] = {}
        """More values to hide, by their names: those of the session."""

    def add(self, name: str, secret: Secret) -> None:
        """Add or replace a secret; an earlier value stays hidden."""
        earlier = self._secrets.get(name)
        if earlier is not None and earlier.value is not None:
            self._shown.setdefault(name, set()).add(earlier.value.get_secret_value())
        self._secrets[name] = secret

    def note_typed(self, value: str) -> str:
        """Keep a password that a model has written by itself; returns its placeholder."""
        if value not in self._typed:
            self._typed.append(value)
        return f"<secret>typed_{self._typed.index(value) + 1}</secret>"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._secrets)

    def of(self, principal: str) -> "Secrets":
        """The secrets that a principal of this name may use."""
        return Secrets({name: one for name, one in self._secrets.items() if one.usable_by(principal)})

    def only(self, names: Iterable[str]) -> "Secrets":
        """The secrets of these names; raises InvalidArguments, which lists the known names."""
        chosen: dict[str, Secret] = {}
        for name in names:
            if name not in self._secrets:
                known = ", ".join(self._secrets) or "none"
                raise InvalidArguments(f"There is no secret {name!r}.", hint=f"Secrets: {known}.")
            chosen[name] = self._secrets[name]
        return Secrets(chosen)

    def fill_in(self, value: Any, *, url: str) -> Any:
        """Replace the names of secrets in a JSON value, to be typed into the page at `url`.

        Raises InvalidArguments for an unknown name, BlockedUrl if the secret may not be typed into this page.
        """
        return in_texts(value, lambda text: PLACEHOLDER.sub(lambda found: self._reveal(found[1], url), text))

    def _reveal(self, name: str, url: str) -> str:
        secret = self.only([name])._secrets[name]
        if url == "null":
            raise BlockedUrl(
                f"The secret {name!r} may not be used on a sandboxed frame or a data: address, which belong "
                "to no site.",
                hint=f"It is for {', '.join(secret.origins)}.",
            )
        if not secret.allowed_on(url):
            raise BlockedUrl(
                f"The secret {name!r} may not be used on {url[:200]}.",
                hint=f"It is for {', '.join(secret.origins)}: scheme and port count, too.",
            )
        value = secret.reveal()
        self._shown.setdefault(name, set()).add(value)
        return value

    @property
    def values(self) -> dict[str, str]:
        """The values to hide, each by a label; for `rendering`."""
        found = Hidden()
        for name, secret in self._secrets.items():
            if secret.value is not None and len(secret.value.get_secret_value()) >= SHORTEST_HIDDEN:
                found[name] = secret.value.get_secret_value()
            for number, shown in enumerate(sorted(self._shown.get(name, ())), 1):
                if len(shown) >= SHORTEST_HIDDEN and shown != found.get(name):
                    found[name if name not in found else f"{name}.{number}"] = shown
        for number, typed in enumerate(self._typed, 1):
            if len(typed) >= SHORTEST_TYPED and typed not in found.values():
                found[f"typed_{number}"] = typed
        found.add(self.others)
        return found

    def hide(self, text: str) -> str:
        """A text with names in place of values, and without secrets in addresses."""
        return redact_addresses(hide(text, self.values))

    def hide_in(self, value: Any) -> Any:
        """A JSON value with all texts changed so."""
        values = self.values
        return in_texts(value, lambda text: redact_addresses(hide(text, values)))


def load_secrets(path: Path | None) -> Secrets:
    """Secrets from a TOML file, one table each: `value` or `totp`, `origins`, `principals`. None has none.

    Raises SettingsError: the file cannot be read, is readable for others, or a secret is not complete.
    """
    if path is None:
        return Secrets()
    try:
        with path.open("rb") as file:
            # Of the very file that is read.
            mode = os.fstat(file.fileno()).st_mode
            if sys.platform != "win32" and mode & 0o077:
                raise SettingsError(
                    f"others may read the secrets in {path}: `chmod 600 {path}` keeps it to its owner."
                )
            content = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"cannot read the secrets {path}: {error.strerror}.") from None
    except ValueError as error:
        raise SettingsError(f"cannot read the secrets {path} as TOML: {error}.".replace("\n", " ")) from None
    found: dict[str, Secret] = {}
    for name, table in content.items():
        try:
            found[name] = Secret.model_validate(table)
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]
            where = ".".join([name, *map(str, problem["loc"])])
            raise SettingsError(f"the secret {where} in {path}: {problem['msg']}.") from None
    return Secrets(found)
