"""Consent: an action waits until a person has said yes to it, if the policy wants that."""

import hashlib
import json
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp_browser.actions.registry import RegisteredAction
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.addresses import check_url
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import ActionError, McpBrowserError, Refused
from mcp_browser.hosts import origin_of
from mcp_browser.policy import Policy, Rule, Target, plain
from mcp_browser.privacy.hiding import cut_address, hide
from mcp_browser.privacy.redaction import Redactor
from mcp_browser.text import clean_text, cut, quoted

LONGEST_NAME = 80  # How much of an element's name a question shows, characters
LONGEST_ARGUMENTS = 600
MOST_NAMED = 5  # How many elements one question names
MOST_ROUNDS = 5  # How many questions one action may ask
_UNSEEN = ("Cf", "Co", "Cn")  # Categories of characters that nobody sees
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


class Act(Protocol):
    """Carries out an action, with the keys that a person has said yes to, or resumes a paused one."""

    def __call__(
        self, *, granted: Collection[str] | None = None, paused: Paused | None = None
    ) -> Awaitable[ActionResult]:
        """Carry it out; raise ConsentNeeded where a person must be asked first."""
        ...


async def with_consent(act: Act, ask: Ask) -> ActionResult:
    """Carry out an action, first asking the person for what needs a yes; raises Refused."""
    granted: set[str] = set()
    paused: Paused | None = None
    rounds = done = 0
    while rounds < MOST_ROUNDS:
        try:
            return await act(granted=granted, paused=paused)
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
    return await act(paused=paused)


async def nobody(_question: str) -> None:
    """Nobody can be asked."""


def refused() -> Refused:
    """The error for an action that a person does not want."""
    hint = "Do not try another way; ask the person what they want instead."
    return Refused("The person was asked and has not said yes; nothing was done.", hint=hint)


@dataclass(slots=True, eq=False)
class PolicyGate:
    """The gate of one action: checks its targets against the policy.

    `granted` are the keys of a person's yes, None if nobody can be asked.
    """

    policy: Policy
    action: RegisteredAction
    session: BrowserSession
    granted: Collection[str] | None
    was_opened: bool = False  # Whether a person's yes was needed, and was there
    _arguments: Mapping[str, Any] = field(init=False, default_factory=dict[str, Any])
    _has_acted: bool = field(init=False, default=False)

    def begin(self, arguments: Mapping[str, Any]) -> None:
        """Check what is known before the action runs; raises ConsentNeeded, Refused."""
        self._arguments = arguments
        if self.action.reach == "elements":
            return
        origin = origin_of(self._url)
        targets = [Target(origin=origin, page=origin, unknown=self.action.reach == "anything")]
        address = arguments.get("url")
        if isinstance(address, str) and self.action.effect == "navigation":
            try:
                address = check_url(address, self.session.settings, base=self._url)
            except ActionError:
                address = ""  # It will not be opened.
            there = origin_of(address)
            targets.append(Target(origin=there, page=there))
        self.check(targets)

    def check(self, targets: Sequence[Target]) -> None:
        """Check whether the action may act on all of these; raises ConsentNeeded if a person has to say yes.

        Raises Refused: the policy forbids it; or nobody can be asked, or not any more.
        """
        asked: dict[str, tuple[Rule, Target]] = {}
        changes = self.action.effect != "read" and self.action.reach != "view"
        for target in targets:
            found = self.policy.decide(self.action.name, target, changes=changes)
            if found is None or found[1].decision == "allow":
                continue
            number, rule = found
            if rule.decision == "deny":
                forbids = f"The policy of this server forbids {self._what(rule, [target])}.{_because(rule)}"
                raise Refused(forbids, hint="Do not try another way; tell the person.")
            key = self._key(number, rule, target)
            if key not in (self.granted or ()):
                asked.setdefault(key, (rule, target))
            else:
                self.was_opened = True
        if not asked:
            return
        rules = [rule for rule, _ in asked.values()]
        what = self._what(rules[0], [target for _, target in asked.values()])
        because = _because(rules[0])
        if self.granted is None:
            needed = f"A person's yes is needed for {what}, and nobody can be asked.{because}"
            raise Refused(needed, hint=HOW_TO_CONFIRM)
        if self._has_acted:
            raise Refused(
                f"A person's yes is needed for {what}: that was not done; what came before it was.{because}",
                hint="Do the rest in a call of its own, for which the person is asked.",
            )
        question = f"Allow {what}?{because}"
        if self.action.reach != "elements" and self._arguments:
            # Of an action that is not about elements the arguments are shown, such as an address or a script.
            text = self._hidden(json.dumps(dict(self._arguments), ensure_ascii=False, default=str))
            question += f"\n{cut(Redactor().text(clean_text(text)), LONGEST_ARGUMENTS)}"
        raise ConsentNeeded(question, frozenset(asked))

    def passed(self) -> None:
        """Input was sent."""
        self._has_acted = True

    @property
    def _url(self) -> str:
        return tab.url if (tab := self.session.tab_in_use) is not None else ""

    def _key(self, number: int, rule: Rule, target: Target) -> str:
        about: list[Any] = [number, self.action.name, self._url, target.origin]
        if rule.is_about_elements:
            about.append(target.shown or (target.role, target.name))
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def _what(self, rule: Rule, targets: Sequence[Target]) -> str:
        names: dict[str, None] = {}
        for target in targets if rule.is_about_elements else ():
            role, name = target.shown or (target.role, target.name)
            if role is not None:
                # The name may differ from the visible text.
                differs = target.text and plain(target.text) not in plain(name)
                seen = f" that shows {self._quoted(target.text)}" if differs else ""
                names[f"{role} {self._quoted(name)}{seen}"] = None
        listed = ", ".join(list(names)[:MOST_NAMED])
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        on = f" on {listed}{more}" if names else ""
        page = cut_address(Redactor().url(self._hidden(self._url))) or "no page"
        return f"{self.action.name}{on} at {page}"

    def _hidden(self, text: str) -> str:
        return hide(text, self.session.hidden)

    def _quoted(self, name: str) -> str:
        """A page's text for a question: one bounded line in quotes, without invisible characters."""
        seen = (c for c in self._hidden(name) if c.isspace() or unicodedata.category(c) not in _UNSEEN)
        return quoted("".join(seen), LONGEST_NAME)


def _because(rule: Rule) -> str:
    return f" {rule.reason}" if rule.reason else ""
