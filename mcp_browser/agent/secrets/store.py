"""Named secrets, bound to origins, filled in for `<secret>name</secret>` where they may be typed."""

import base64
import binascii
import copy
import fnmatch
import os
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Error as PlaywrightError
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from mcp_browser.actions.code import PLACEHOLDER, secrets_named
from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.actions.recording import place_of, typed_places
from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.browser.session import BrowserSession
from mcp_browser.dom.driver_errors import FrameGone
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.keys import KeyPlace
from mcp_browser.dom.worlds import World
from mcp_browser.errors import BlockedUrl, InvalidArguments, NotActionable, SettingsError, StaleElement
from mcp_browser.hosts import HostPattern, Origin
from mcp_browser.privacy.hiding import Hidden, hide, redact_addresses
from mcp_browser.text import in_texts

MOST_DIGITS = 8


def one_time_password(key: str, seconds: float) -> str:
    """The time-based code of a moment (RFC 6238), in seconds since 1970; raises ValueError.

    `key` is Base32, or an authenticator's `otpauth://totp/…` address.
    """
    # Imported late: seldom needed.
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.hazmat.primitives.twofactor.totp import TOTP  # noqa: PLC0415

    given: dict[str, str] = {}
    if key.startswith("otpauth:"):
        parts = urlsplit(key)
        if parts.netloc != "totp":
            raise ValueError("only time-based codes can be made (otpauth://totp/…)")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        key = given.get("secret", "")
    letters = "".join(key.split()).replace("-", "").upper().rstrip("=")
    try:
        decoded = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except binascii.Error:
        raise ValueError("the key is not Base32") from None
    if not decoded:
        raise ValueError("the key is empty")
    algorithms = {"SHA1": hashes.SHA1, "SHA256": hashes.SHA256, "SHA512": hashes.SHA512}
    algorithm = algorithms.get(given.get("algorithm", "SHA1").upper())
    digits, period = int(given.get("digits", "6")), int(given.get("period", "30"))
    if algorithm is None or not 6 <= digits <= MOST_DIGITS or period < 1:  # noqa: PLR2004 - as authenticators
        raise ValueError(f"codes have 6 to 8 digits, a period of seconds, and one of {', '.join(algorithms)}")
    # Many sites give out keys of 80 bits, which is less than RFC 4226 asks for.
    codes = TOTP(decoded, digits, algorithm(), period, enforce_key_length=False)
    return codes.generate(int(seconds)).decode()


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
            one_time_password(self.totp.get_secret_value(), 0)
        return self

    def reveal(self) -> str:
        """What is to be typed now."""
        if self.value is not None:
            return self.value.get_secret_value()
        assert self.totp is not None
        return one_time_password(self.totp.get_secret_value(), time.time())

    def allowed_on(self, url: str) -> bool:
        """Whether it may be typed into this page."""
        page = Origin.of(url)
        return page is not None and any(
            HostPattern.parse(origin).matches(page, strict=True) for origin in self.origins
        )


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
        usable = {
            name: secret
            for name, secret in self._secrets.items()
            if any(fnmatch.fnmatchcase(principal, pattern) for pattern in secret.principals)
        }
        return Secrets(usable)

    def only(self, names: Iterable[str]) -> "Secrets":
        """The secrets of these names; raises InvalidArguments, which lists the known names."""
        names = [*names]
        if unknown := [name for name in names if name not in self._secrets]:
            known = ", ".join(self._secrets) or "none"
            raise InvalidArguments(f"There is no secret {unknown[0]!r}.", hint=f"Secrets: {known}.")
        return Secrets({name: self._secrets[name] for name in names})

    def fill_in(self, value: Any, *, url: str) -> Any:
        """Replace the names of secrets in a JSON value, to be typed into the page at `url`.

        Raises InvalidArguments for an unknown name, BlockedUrl if the secret may not be typed into this page.
        """
        return in_texts(value, lambda text: PLACEHOLDER.sub(lambda found: self._reveal(found[1], url), text))

    def _reveal(self, name: str, url: str) -> str:
        secret = self.only([name])._secrets[name]
        if not secret.allowed_on(url):
            where, more = f"{url[:200]}.", ": scheme and port count, too"
            if url == "null":
                where, more = "a sandboxed frame or a data: address, which belong to no site.", ""
            hint = f"It is for {', '.join(secret.origins)}{more}."
            raise BlockedUrl(f"The secret {name!r} may not be used on {where}", hint=hint)
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


_TABLES = TypeAdapter(dict[str, Secret])


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
    try:
        return Secrets(_TABLES.validate_python(content))
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise SettingsError(f"the secret {where} in {path}: {problem['msg']}.") from None


PRESS = "press"  # What `browser_action` does with a text that are keys


class CheckedTyping:
    """Fills secrets into one action's arguments, and checks where it types; its caller holds the session."""

    def __init__(self, session: BrowserSession, secrets: Secrets, action: RegisteredAction) -> None:
        self._session = session
        self._secrets = secrets
        self._action = action
        # Texts, which are confidential, with the documents that alone may get them.
        self._bound: list[tuple[str, tuple[World, str]]] = []
        # Texts may go into these places' documents only, and into no other password field.
        self._expected: list[KeyPlace] = []

    def apply(self) -> None:
        """Check what the session types from now on, and hide the values of the secrets."""
        self._session.services.typing_rule = self if self._bound or self._expected else None
        self._session.hide(self._secrets.values)

    def check(self, place: KeyPlace | None, text: str) -> None:
        """Raise NotActionable if this text may not be typed there."""
        documents = self._documents_of(text)
        if documents and (place is None or place.page not in documents):
            raise NotActionable("The focus has moved to another document.")
        for expected in self._expected:
            if place is None or place.page != expected.page:
                raise NotActionable("The focus has moved to another document.")
            if place.password and not expected.password:
                raise NotActionable("The focus has moved to a password field.")

    def is_confidential(self, text: str) -> bool:
        """Whether no other document may see a single key of it."""
        return bool(self._documents_of(text))

    def _documents_of(self, text: str) -> list[tuple[World, str]]:
        return [document for bound, document in self._bound if bound in _lines(text)]

    async def fill_in(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the names of secrets in the arguments.

        Raises InvalidArguments for a name that is none, or where nothing is typed; BlockedUrl if the secret
        is not for the document that would get it; ActionError if that document cannot be determined.
        """
        if not any(secrets_named(arguments)):
            return dict(arguments)
        # Read as the action will read them: the index "5" is 5.
        filled = self._action.validate(arguments).model_dump(exclude_unset=True)
        model, rest = self._action.param_model, copy.deepcopy(filled)
        places = [place for place in typed_places(model, filled) if any(secrets_named(place[0][place[1]]))]
        for holder, name in typed_places(model, rest):
            holder[name] = None
        if (misplaced := next(secrets_named(rest), None)) is not None:
            raise InvalidArguments(
                f"The secret {misplaced!r} can only be typed into a page: as text of input_text or "
                "type_text, keys of send_keys, or a value of fill_form.",
                hint="Leave it out of everything else.",
            )
        for holder, name in places:
            place = await self._goes_to(holder.get("index"))
            if not place.watched:
                raise NotActionable(
                    "No secret is typed into a page that was open before the server connected to its tab.",
                    hint="Load it anew with reload, then try again.",
                )
            given = holder[name]
            holder[name] = typed = self._secrets.fill_in(given, url=place.origin)
            texts = {typed} if isinstance(typed, str) else {*typed} - {*given}
            self._bound += [(_lines(text), place.page) for text in texts]
        return filled

    async def note_typed(
        self, arguments: Mapping[str, Any], elements: Sequence[ElementRecord]
    ) -> dict[str, Any]:
        """The arguments with names for passwords that the model writes itself, which may go only there.

        A password is a text that goes into a masked field: the named element, else the one with the keyboard.
        Raises ActionError if it cannot be determined where the keyboard is.
        """
        kept = copy.deepcopy(dict(arguments))
        for record in elements:
            holder, _ = place_of(kept, record.argument)
            texts = {name: _own_text(holder, name) for name in ("text", "value", "keys")}
            if any(text is not None for text in texts.values()):
                place = await self._goes_to(record.index)
                for name, text in texts.items():
                    self._note(holder, name, text, place)
        for holder, name in typed_places(self._action.param_model, kept):
            if holder is kept and holder.get("index") is None and _typed_text(holder, name) is not None:
                place = await self._goes_to(None)
                self._expected.append(place)
                self._note(holder, name, _own_text(holder, name), place)
        return kept

    def _note(self, holder: dict[str, Any], name: str, text: str | None, place: KeyPlace) -> None:
        if text is None or not place.password:
            return
        end = "\n" if text.endswith("\n") else ""
        holder[name] = self._secrets.note_typed(text.rstrip("\n")) + end
        self._bound.append((_lines(text), place.page))

    async def _goes_to(self, index: int | None) -> KeyPlace:
        tab = self._session.current_tab
        try:
            return await tab.ask(tab.dom.typed_at(index))
        except (FrameGone, PlaywrightError) as error:
            raise StaleElement("The frame to be typed into is gone.", hint="Look with get_state.") from error


def _lines(text: str) -> str:
    """A text with one kind of line ends, without those at its end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _own_text(holder: Mapping[str, Any], name: str) -> str | None:
    """A text that the model has written itself; None if it is blank or names a secret, too."""
    text = _typed_text(holder, name)
    return text if text is not None and text.strip() and not any(secrets_named(text)) else None


def _typed_text(holder: Mapping[str, Any], name: str) -> str | None:
    """An argument that is a text; None if it is keys or something else."""
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        return None
    if name != "keys" and holder.get("action") != PRESS:
        return value
    try:
        return value if parse_keys(value) is None else None
    except InvalidArguments:
        return value
