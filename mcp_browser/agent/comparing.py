"""Compare the effects of a recorded action with those of its replay."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from mcp_browser.agent.record.evidence import NUMBER, Evidence, Sent
from mcp_browser.agent.record.history import ActionRecord, AgentHistory
from mcp_browser.agent.record.variables import Variables

NOTHING = "nothing"
CLOCK_SECONDS = 600.0  # So far from now a number is not read from the clock
CREATED = 201  # The HTTP status where a request has made something, which gets a name of its own
_SWITCHED = re.compile(r" (checked|pressed|selected)\b(?!=)")
_NO_STATE = re.compile(r'"(?:[^"\\]|\\.)*"| \(was .*')  # Of an element's line
_BESIDE = re.compile(r"-\d{1,2}(?=(?:\.\w+)* (?:saved|failed)$)")
_STAMP = re.compile(r"\d{10}(?:\d{3})?")  # Seconds or milliseconds since 1970


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides; `certain` if they cannot mean the same."""

    what: str
    recorded: str
    now: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.what} differs: recorded {self.recorded}, now {self.now}"


class Comparison:
    """Compares the actions of a recorded run, in order, with those of its replay.

    A page may save by itself at any time: of requests that the recorded run has `PUT` to an address several
    times, one suffices, and a later action may send it.
    """

    def __init__(self, recorded: AgentHistory, variables: Variables) -> None:
        self._variables = variables
        sent = [one for action in recorded.actions() if action.evidence for one in action.evidence.sent]
        times = Counter(variables.put_in(one.saves) for one in sent if one.saves)
        self._saved = frozenset(address for address, count in times.items() if count > 1)
        self._early: set[str] = set()  # What was saved before it was due
        self._created: set[str] = set()  # Where both runs have made something

    def difference(self, recorded: ActionRecord, now: ActionRecord) -> Difference | None:
        """The most important difference in the effects of an action; None if there is none."""
        after = now.evidence or Evidence()
        if (before := self._recorded(recorded)) is None:
            return Difference("Evidence", "none was kept", "the action was done", certain=False)
        given = recorded.call.arguments
        found = [
            *self._differently_sent(before, after),
            *_elsewhere("The address", self._variables.put_in(recorded.url), now.url),
            # Another value may be the one that was there already.
            *(_changed(recorded, now) if self._variables.put_in(given) == given else ()),
            *_paired("A dialog", [f"{one.kind} {one.message}" for one in before.dialogs],
                     [f"{one.kind} {one.message}" for one in after.dialogs]),
            *_downloaded(before, after),
        ]  # fmt: skip
        return min(found, key=lambda one: not one.certain, default=None)

    def go_on(self, recorded: ActionRecord, after: Evidence | None) -> None:
        """Take in all effects of an action before the next one begins."""
        before, after = self._recorded(recorded) or Evidence(), after or Evidence()
        self._early = (self._early | self._saves(after).keys()) - self._saves(before).keys()
        self._created |= _created(before) & _created(after)

    def _recorded(self, recorded: ActionRecord) -> Evidence | None:
        if recorded.evidence is None:
            return None
        return Evidence.model_validate(self._variables.put_in(recorded.evidence.model_dump(mode="json")))

    def _saves(self, evidence: Evidence) -> dict[str, Sent]:
        return {one.saves: one for one in evidence.sent if one.saves in self._saved}

    def _others(self, sent: Iterable[Sent]) -> list[Sent]:
        """The requests that weigh and are not saves by the page itself."""
        return [one for one in sent if one.weighs and one.saves not in self._saved]

    def _differently_sent(self, before: Evidence, after: Evidence) -> Iterator[Difference]:
        """Match requests of the same shape, in order."""
        left = self._others(after.sent)
        saved = self._early | self._saves(after).keys()
        missing = [one for address, one in self._saves(before).items() if address not in saved]
        created = self._created | (_created(before) & _created(after))
        for old in (*self._others(before.sent), *missing):
            alike = [one for one in left if one.shape == old.shape]
            new = next((one for one in alike if one.outcome == old.outcome), alike[0] if alike else None)
            if new is None:
                others = "; ".join(map(_brief, left)) or f"{NOTHING} was sent"
                yield Difference("What was sent", _brief(old), others, certain=old.method != "GET")
                continue
            left.remove(new)
            if new.outcome != old.outcome and old.status is not None:
                yield Difference("What was sent", _brief(old), _brief(new), certain=new.failed or old.failed)
            else:
                for found in _elsewhere("What was sent", _unnamed(old, created), _unnamed(new, created)):
                    yield replace(found, recorded=_brief(old), now=_brief(new))
        for new in left:
            if new.method != "GET" or new.failed:
                yield Difference("What was sent", NOTHING, _brief(new), certain=new.failed)


def _created(evidence: Evidence) -> set[str]:
    """The addresses under which something was created."""
    return {one.location for one in evidence.sent if one.method == "POST" and one.status == CREATED}


def _unnamed(sent: Sent, created: set[str]) -> str:
    """A request's address without the name of what the run itself created."""
    where = next((one for one in created if sent.location.startswith(f"{one}/")), None)
    return sent.url if where is None else re.sub(f"(?<={re.escape(where)}/)[^/?#]+", "…", sent.url)


def _downloaded(before: Evidence, after: Evidence) -> Iterator[Difference]:
    """Downloads and how they ended; a file beside another of its name has a number of its own."""
    old, new = (
        [f"{one.name} {'failed' if one.error else 'saved'}" for one in evidence.downloads]
        for evidence in (before, after)
    )
    bare = {one: _BESIDE.sub("", one) for one in (*old, *new)}
    sides = ([bare[one] if bare[one] in bare else one for one in side] for side in (old, new))
    return _paired("A download", *sides)


def _changed(recorded: ActionRecord, now: ActionRecord) -> Iterator[Difference]:
    if recorded.changed is not None and now.changed is not None and recorded.changed is not now.changed:
        sides = ("the page changed", "it did not")
        first, second = sides if recorded.changed else sides[::-1]
        yield Difference("The effect on the page", first, second, certain=recorded.changed)
    for before, after in zip(_switched(recorded), _switched(now), strict=False):
        for state in sorted(before ^ after):
            sides = (state, f"not {state}")
            first, second = sides if state in before else sides[::-1]
            # A page may still be about to switch it.
            yield Difference(f"The state of {recorded.elements[0]}", first, second, certain=False)


def _switched(action: ActionRecord) -> Iterator[set[str]]:
    """How an action left the switch that it was done on, where the changes show it."""
    for element in action.elements[:1]:
        for passage in action.evidence.passages if action.evidence else ():
            if line := re.search(rf"^[ ~+*]*\[{element.index}\] .*", passage.text, re.MULTILINE):
                yield {*_SWITCHED.findall(_NO_STATE.sub("", line[0]))}


def _elsewhere(what: str, old: str, new: str) -> Iterator[Difference]:
    """The same of addresses, in which a value may be encoded in several ways."""
    for found in _unlike(what, unquote_plus(old), unquote_plus(new)):
        yield replace(found, recorded=old or NOTHING, now=new or NOTHING)


def _brief(sent: Sent) -> str:
    return f"{sent.method} {sent.url} → {sent.outcome}"


def _paired(what: str, before: list[str], after: list[str]) -> Iterator[Difference]:
    for number in range(max(len(before), len(after))):
        old, new = (side[number] if number < len(side) else NOTHING for side in (before, after))
        yield from _unlike(what, old, new)


def _unlike(what: str, old: str, new: str) -> Iterator[Difference]:
    """A difference, unless both are the same; not certain if only numbers and identifiers differ."""
    old_parts, new_parts = NUMBER.findall(old), NUMBER.findall(new)
    certain = NUMBER.sub("…", old) != NUMBER.sub("…", new)
    if certain or not all(map(_says_the_same, old_parts, new_parts)):
        yield Difference(what, old or NOTHING, new or NOTHING, certain)


def _says_the_same(old: str, new: str) -> bool:
    """Whether two numbers are equal, or both are the current time, as in addresses against caches."""
    if old == new:
        return True
    if len(old) != len(new) or not all(map(_STAMP.fullmatch, (old, new))):
        return False
    return abs(int(new[:10]) - time.time()) < CLOCK_SECONDS
