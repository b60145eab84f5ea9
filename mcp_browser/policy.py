"""Which actions need a person's yes: the rules of a policy file.

    [[rule]]
    names = ["Pay", "Delete", "Send"]          # whole words of an element's name; with * of all of it
    roles = ["button", "link"]
    origins = ["https://*.example.com"]
    actions = ["click_element", "mouse_*"]
    decision = "ask"                           # or "deny", or "allow"
    reason = "Orders are placed by people."

What a rule leaves out, it does not ask for; without `actions` it is about all that may change something. Of
each thing that an action acts on the first rule that fits decides, then the strictest of these decisions;
where none fits, the action is allowed.
"""

import fnmatch
import functools
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mcp_browser.destinations import ascii_host
from mcp_browser.errors import SettingsError

Decision = Literal["allow", "ask", "deny"]
Reach = Literal["elements", "page", "view", "anything"]
"""What an action acts on: elements that are known when it does, the page as a whole, only what is seen of it,
or what nobody knows, as a script."""

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_UNSEEN = frozenset({"Cf", "Cc", "Mn", "Co", "Cn"})
_HOST = re.compile(r"(?<=://)[^\[:/]+")
_ORIGIN = re.compile(r"(?:\*|[a-z][a-z0-9+.-]*)://[^/?#@\s]+|null|file://|\*", re.IGNORECASE)


class Target(BaseModel):
    """Something that an action is about to act on.

    `text` is what an element shows, where its name says something else; `origin` that of its frame, `page`
    that of the tab's page, `creators` those that a frame of an opaque origin (`null`) may come from. `role`
    is None for the page as a whole. An `unknown` one cannot be looked into. `shown` is the role and name by
    which a person knows it: that of the control that it is in.
    """

    model_config = ConfigDict(frozen=True)

    role: str | None = None
    name: str = ""
    text: str = ""
    shown: tuple[str, str] | None = None
    origin: str = "null"
    page: str = "null"
    creators: tuple[str, ...] = ()
    unknown: bool = False

    @property
    def origins(self) -> tuple[str, ...]:
        return (self.origin, *self.creators, self.page)


class Rule(BaseModel):
    """One rule; the module's docstring shows it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: tuple[str, ...] = Field((), description="globs of actions' names")
    origins: tuple[str, ...] = Field((), description="globs of origins: https://*.example.com, null")
    roles: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    decision: Decision = "ask"
    reason: str = Field("", max_length=300)

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _ORIGIN.fullmatch(value):
                raise ValueError(f"{value!r} is no origin such as https://*.example.com, or null")
        return tuple(
            _without_port(_HOST.sub(lambda host: ascii_host(host[0]), value.lower())) for value in values
        )

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if "" in (*self.actions, *self.roles, *self.names):
            raise ValueError("an empty text fits nothing: leave it out")
        return self

    @property
    def is_about_elements(self) -> bool:
        return bool(self.roles or self.names)

    def is_about(self, action: str, *, changes: bool) -> bool:
        """Whether it is about this action; one that only reads has to be named."""
        if not self.actions:
            return changes
        return any(fnmatch.fnmatchcase(action, pattern) for pattern in self.actions)

    def fits(self, target: Target) -> bool:
        """Whether it is about this target, whatever the action.

        Of what cannot be looked into anything may be meant: it fits, unless the rule allows. A rule that
        allows is asked of the element's own frame alone.
        """
        allows = self.decision == "allow"
        origins = (target.origin,) if allows else target.origins
        if self.origins and not any(_is_like(origin, self.origins) for origin in origins):
            return False
        if not self.is_about_elements:
            return True
        if target.unknown:
            return not allows
        if target.role is None:
            return False
        if self.roles and target.role.casefold() not in {role.casefold() for role in self.roles}:
            return False
        says = {plain(target.name), *(() if allows else (plain(target.text),))}
        return not self.names or any(_names(pattern, said) for pattern in self.names for said in says)


class Policy(BaseModel):
    """The rules of a policy file, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: tuple[Rule, ...] = Field(min_length=1)

    def decide(self, action: str, target: Target, *, changes: bool = True) -> tuple[int, Rule] | None:
        """The first rule that fits, and its number from 1; None where none does."""
        return next(
            (
                (number, rule)
                for number, rule in enumerate(self.rule, 1)
                if rule.is_about(action, changes=changes) and rule.fits(target)
            ),
            None,
        )

    def check_actions(self, known: tuple[str, ...]) -> None:
        """Refuse a rule about actions that there are not.

        Raises:
            SettingsError: naming it.
        """
        for number, rule in enumerate(self.rule, 1):
            for pattern in rule.actions:
                if not fnmatch.filter(known, pattern):
                    raise SettingsError(
                        f"policy: rule {number}: there is no action {pattern!r}; there are: "
                        f"{', '.join(known)}"
                    )


@functools.cache
def load_policy(path: Path) -> Policy:
    """The policy of a TOML file; it is read once.

    Raises:
        SettingsError: it cannot be read, or a rule is wrong; in one line.
    """
    try:
        return Policy.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SettingsError(f"policy: {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise SettingsError(f"policy: {path}: {_explain(error)}") from None
    except ValueError as error:
        raise SettingsError(f"policy: {path} is no TOML: {' '.join(str(error).split())}") from None


def origin_of(url: str) -> str:
    """The origin of an address, such as `https://example.com:8443`; `null` where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "null"
    if parts.scheme == "file":
        return "file://"
    if parts.scheme not in _PORTS or not parts.hostname:
        return "null"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname.rstrip(".")
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS[parts.scheme]) else "")


def _without_port(origin: str) -> str:
    for scheme, port in _PORTS.items():
        if origin.startswith(f"{scheme}://"):
            return origin.removesuffix(f":{port}")
    return origin


def _is_like(origin: str, patterns: tuple[str, ...]) -> bool:
    for pattern in patterns:
        # As with domains elsewhere, `*.example.com` takes example.com in.
        alike = (pattern, pattern.replace("://*.", "://", 1)) if "://*." in pattern else (pattern,)
        if any(fnmatch.fnmatchcase(origin, one.replace("[", "[[]")) for one in alike):
            return True
    return False


def plain(text: str) -> str:
    """A text as people read it: marks and what cannot be seen do not count, nor does the case."""
    whole = unicodedata.normalize("NFKD", text[:2_000])
    seen = "".join(
        " " if character.isspace() else character
        for character in whole
        if character.isspace() or unicodedata.category(character) not in _UNSEEN
    )
    return " ".join(seen.split()).casefold()


def _names(pattern: str, name: str) -> bool:
    wanted = plain(pattern)
    if "*" in wanted or "?" in wanted:
        return fnmatch.fnmatchcase(name, wanted.replace("[", "[[]"))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", name) is not None


def _explain(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    steps = [str(step + 1) if isinstance(step, int) else step for step in problem["loc"]]
    return f"{' '.join(steps)}: {problem['msg']}".replace("Value error, ", "")
