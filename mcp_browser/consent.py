"""Consent: an action waits until a person has said yes to it, if the policy wants that."""

import hashlib
import json
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError, McpBrowserError, Refused
from mcp_browser.hosts import origin_of
from mcp_browser.policy import Policy, Rule, Target, plain
from mcp_browser.privacy.hiding import cut_address, hide
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import clean_text, cut, quoted

T = TypeVar("T")

LONGEST_NAME = 80  # How much of an element's name a question shows, characters
LONGEST_ARGUMENTS = 600
MOST_NAMED = 5  # How many elements one question names
MOST_ROUNDS = 5  # How many questions one action may ask
HOW_TO_CONFIRM = (
    "The person can do it in the browser's window, use a client that can ask its person (MCP's elicitation), "
    "or whoever runs the server can change the policy."
)


class Paused(Protocol):
    """A list of actions that waits for an answer; a no ends it."""

    refused: bool
    outcomes: list[Any]  # Of the actions that were done


class ConsentNeeded(McpBrowserError):
    """A person has to say yes; then the action, of which nothing was done, is repeated with the `keys`.

    They identify rules, elements and the page. A list that was partly done is `paused` instead, and resumes.
    """

    paused: Paused | None = None

    def __init__(self, question: str, keys: frozenset[str]) -> None:
        super().__init__(question)
        self.question = question
        self.keys = keys


Ask = Callable[[str], Awaitable[bool | None]]
"""Asks a person: yes or no; None if nobody can be asked."""

Act = Callable[[Collection[str] | None, Paused | None], Awaitable[T]]
"""Carries out an action, with the keys that a person has said yes to, or resumes a paused one."""


async def with_consent(act: Act[T], ask: Ask) -> T:
    """Carry out an action, first asking the person for what needs a yes; raises Refused."""
    granted: set[str] = set()
    paused: Paused | None = None
    rounds = done = 0
    while rounds < MOST_ROUNDS:
        try:
            return await act(granted, paused)
        except ConsentNeeded as need:
            paused = need.paused
            before, done = done, len(paused.outcomes) if paused is not None else 0
            rounds = rounds + 1 if done == before else 1
            answer = await ask(need.question)
            if answer is None:
                break
            if not answer and paused is None:
                raise refused() from None
            if paused is not None:
                paused.refused = not answer
            granted |= need.keys if answer else set()
    return await act(None, paused)


async def nobody(_question: str) -> None:
    """Nobody can be asked."""


def refused() -> Refused:
    """The error for an action that a person does not want."""
    hint = "Do not try another way; ask the person what they want instead."
    return Refused("The person was asked and has not said yes; nothing was done.", hint=hint)


class PolicyGate:
    """The gate of one action: checks its targets against the policy."""

    def __init__(
        self,
        policy: Policy,
        action: RegisteredAction,
        session: BrowserSession,
        granted: Collection[str] | None,
    ) -> None:
        """Guard an action; `granted` are the keys of a person's yes, None if nobody can be asked."""
        self._policy = policy
        self._action = action
        self._session = session
        self._granted = granted
        self._arguments: Mapping[str, Any] = {}
        self._has_acted = False
        self.was_opened = False  # Whether a person's yes was needed, and was there

    def begin(self, arguments: Mapping[str, Any]) -> None:
        """Check what is known before the action runs; raises ConsentNeeded, Refused."""
        self._arguments = arguments
        if self._action.reach == "elements":
            return
        origin = origin_of(self._url)
        targets = [Target(origin=origin, page=origin, unknown=self._action.reach == "anything")]
        address = arguments.get("url")
        if isinstance(address, str) and self._action.effect == "navigation":
            try:
                address = check_url(address, self._session.settings, base=self._url)
            except ActionError:
                address = ""  # It will not be opened.
            there = origin_of(address)
            targets.append(Target(origin=there, page=there))
        self.check(targets)

    def check(self, targets: Sequence[Target]) -> None:
        """Check whether the action may act on all of these.

        Raises:
            ConsentNeeded: a person has to say yes first.
            Refused: the policy forbids it; or nobody can be asked, or not any more.
        """
        asked: dict[str, tuple[Rule, Target]] = {}
        changes = self._action.effect != "read" and self._action.reach != "view"
        for target in targets:
            found = self._policy.decide(self._action.name, target, changes=changes)
            if found is None or found[1].decision == "allow":
                continue
            number, rule = found
            if rule.decision == "deny":
                raise Refused(
                    f"The policy of this server forbids {self._what(rule, [target])}.{_because(rule)}",
                    hint="Do not try another way; tell the person.",
                )
            key = self._key(number, rule, target)
            if key not in (self._granted or ()):
                asked.setdefault(key, (rule, target))
            else:
                self.was_opened = True
        if not asked:
            return
        rules = [rule for rule, _ in asked.values()]
        what = self._what(rules[0], [target for _, target in asked.values()])
        because = _because(rules[0])
        if self._granted is None:
            raise Refused(
                f"A person's yes is needed for {what}, and nobody can be asked.{because}", hint=HOW_TO_CONFIRM
            )
        if self._has_acted:
            raise Refused(
                f"A person's yes is needed for {what}: that was not done; what came before it was.{because}",
                hint="Do the rest in a call of its own, for which the person is asked.",
            )
        raise ConsentNeeded(f"Allow {what}?{because}{self._details()}", frozenset(asked))

    def passed(self) -> None:
        """Input was sent."""
        self._has_acted = True

    @property
    def _url(self) -> str:
        tab = self._session.tab_in_use
        return tab.url if tab is not None else ""

    def _key(self, number: int, rule: Rule, target: Target) -> str:
        about: list[Any] = [number, self._action.name, self._url, target.origin]
        if rule.is_about_elements:
            about.append(target.shown or (target.role, target.name))
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def _what(self, rule: Rule, targets: Sequence[Target]) -> str:
        names: dict[str, None] = {}
        if rule.is_about_elements:
            for target in targets:
                role, name = target.shown or (target.role, target.name)
                if role is not None:
                    # The name may differ from the visible text.
                    shows = target.text if target.text and plain(target.text) not in plain(name) else ""
                    name, shows = self._hidden(name), self._hidden(shows)
                    seen = f" that shows {_quoted(shows)}" if shows else ""
                    names[f"{role} {_quoted(name)}{seen}"] = None
        listed = ", ".join(list(names)[:MOST_NAMED])
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        on = f" on {listed}{more}" if names else ""
        page = cut_address(Redactor().url(self._hidden(self._url))) or "no page"
        return f"{self._action.name}{on} at {page}"

    def _details(self) -> str:
        """The arguments of an action that is not about elements, such as an address or a script."""
        if self._action.reach == "elements" or not self._arguments:
            return ""
        text = self._hidden(json.dumps(dict(self._arguments), ensure_ascii=False, default=str))
        return f"\n{cut(Redactor().text(clean_text(text)), LONGEST_ARGUMENTS)}"

    def _hidden(self, text: str) -> str:
        return hide(text, self._session.hidden)


def _because(rule: Rule) -> str:
    return f" {rule.reason}" if rule.reason else ""


def _quoted(name: str) -> str:
    """A page's text for a question: one bounded line in quotes, without invisible characters."""
    seen = (c for c in name if c.isspace() or unicodedata.category(c) not in ("Cf", "Co", "Cn"))
    return quoted("".join(seen), LONGEST_NAME)
