"""Which actions need a person's yes: the rules of a policy file.

    [[rule]]
    names = ["Pay", "Delete", "Send"]          # whole words of an element's name; with * of all of it
    roles = ["button", "link"]
    origins = ["https://*.example.com"]
    actions = ["click_element", "mouse_*"]
    decision = "ask"                           # or "deny", or "allow"
    reason = "Orders are placed by people."

A missing key matches anything; without `actions` a rule is for all actions that may change something. For
each target of an action the first rule that fits decides; the strictest of these decisions applies. Without
any, the action is allowed.
"""

import fnmatch
import functools
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from mcp_browser.errors import SettingsError
from mcp_browser.hosts import HostPattern, Origin

Decision = Literal["allow", "ask", "deny"]
Reach = Literal["elements", "page", "view", "anything"]
"""What an action acts on: known elements, the page as a whole, only what is visible of it, or, as a script,
anything."""

_UNSEEN = frozenset({"Cf", "Cc", "Mn", "Co", "Cn"})
_WORDS = ("null", "file://", "*")  # Origins without a host, and any origin


class Target(BaseModel, frozen=True):
    """A target of an action.

    `text` is an element's visible text, if its name differs; `origin` is that of its frame, `page` that of
    the tab's page, `creators` those that a frame of an opaque origin (`null`) may come from. `role` is None
    for the page as a whole. The content of an `unknown` target is not known. `shown` is the role and name
    for people: those of the control that contains it.
    """

    role: str | None = None
    name: str = ""
    text: str = ""
    shown: tuple[str, str] | None = None
    origin: str = "null"
    page: str = "null"
    creators: tuple[str, ...] = ()
    unknown: bool = False


class Rule(BaseModel, frozen=True, extra="forbid"):
    """One rule; the module's docstring shows it."""

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
            _fits(value, "null")
        return values

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if "" in (*self.actions, *self.roles, *self.names):
            raise ValueError("an empty text fits nothing: leave it out")
        return self

    @property
    def is_about_elements(self) -> bool:
        return bool(self.roles or self.names)

    def fits(self, target: Target) -> bool:
        """Whether it is about this target, whatever the action.

        An unknown target may be anything: it fits, unless the rule allows. A rule that allows is matched with
        the origin of the element's own frame only.
        """
        allows = self.decision == "allow"
        origins = (target.origin,) if allows else (target.origin, *target.creators, target.page)
        if self.origins and not any(_fits(pattern, origin) for pattern in self.origins for origin in origins):
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


class Policy(BaseModel, frozen=True, extra="forbid"):
    """The rules of a policy file, in their order."""

    rule: tuple[Rule, ...] = Field(min_length=1)

    def decide(self, action: str, target: Target, *, changes: bool = True) -> tuple[int, Rule] | None:
        """The first rule that fits, with its number from 1; None if none does.

        An action that changes nothing has to be named.
        """
        for number, rule in enumerate(self.rule, 1):
            named = any(fnmatch.fnmatchcase(action, pattern) for pattern in rule.actions)
            if (named if rule.actions else changes) and rule.fits(target):
                return number, rule
        return None

    def check_actions(self, known: tuple[str, ...]) -> None:
        """Raise SettingsError, which names the rule, if one is about unknown actions."""
        for number, rule in enumerate(self.rule, 1):
            for pattern in rule.actions:
                if not fnmatch.filter(known, pattern):
                    there = f"there is no action {pattern!r}; there are: {', '.join(known)}"
                    raise SettingsError(f"policy: rule {number}: {there}")


@functools.cache
def load_policy(path: Path) -> Policy:
    """The policy in a TOML file, which is read once. Raises SettingsError."""
    try:
        return Policy.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SettingsError(f"policy: {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        steps = [str(step + 1) if isinstance(step, int) else step for step in problem["loc"]]
        explained = f"{' '.join(steps)}: {problem['msg']}".replace("Value error, ", "")
        raise SettingsError(f"policy: {path}: {explained}") from None
    except ValueError as error:
        raise SettingsError(f"policy: {path} is no TOML: {' '.join(str(error).split())}") from None


def _fits(pattern: str, origin: str) -> bool:
    """Whether a rule's pattern matches an origin; a host that ends with `*` includes all ports."""
    if pattern.lower() in _WORDS:
        return pattern == "*" or pattern.lower() == origin
    text, to = re.sub(r"(://[^:]*\*)$", r"\1:*", pattern), Origin.of(origin)
    if "://" not in text:
        raise ValueError(f"{pattern!r} is no origin such as https://*.example.com, or null")
    try:
        parsed = HostPattern.parse(text, any_scheme=True)
    except ValueError as error:
        raise ValueError(f"{pattern!r} is no origin; origins are null, and {error}") from None
    return to is not None and parsed.matches(to, strict=True)


def plain(text: str) -> str:
    """A text as people read it: casefolded, without accents and invisible characters."""
    whole = unicodedata.normalize("NFKD", text[:2_000])
    seen = (c for c in whole if c.isspace() or unicodedata.category(c) not in _UNSEEN)
    return " ".join("".join(seen).split()).casefold()


def _names(pattern: str, name: str) -> bool:
    wanted = plain(pattern)
    if "*" in wanted or "?" in wanted:
        return fnmatch.fnmatchcase(name, wanted.replace("[", "[[]"))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", name) is not None
