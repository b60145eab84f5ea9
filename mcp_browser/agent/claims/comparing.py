"""What an action caused when it was recorded, held against what it causes when it is done again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_browser.agent.record.evidence import NUMBER, Evidence, Sent
from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.record.variables import Variables

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides; `certain` where the second cannot mean the same."""

    what: str
    recorded: str
    now: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.what} differs: recorded {self.recorded}, now {self.now}"


def difference(recorded: ActionRecord, now: ActionRecord, variables: Variables) -> Difference | None:
    """The gravest difference in what an action caused; None where there is none."""
    before, after = recorded.evidence, now.evidence or Evidence()
    if before is None:
        return Difference("Evidence", "none was kept", "the action was done", certain=False)
    before = Evidence.model_validate(variables.put_in(before.model_dump(mode="json")))
    found = [
        *_sent(before, after),
        *_unlike("The address", variables.put_in(recorded.url), now.url),
        # Another value may be the one that was there already.
        *(_changed(recorded, now) if recorded.call.arguments == now.call.arguments else ()),
        *_paired("A dialog", [f"{one.kind} {one.message}" for one in before.dialogs],
                 [f"{one.kind} {one.message}" for one in after.dialogs]),
        *_paired("A download", [f"{one.name} {_ended(one.error)}" for one in before.downloads],
                 [f"{one.name} {_ended(one.error)}" for one in after.downloads]),
    ]  # fmt: skip
    return min(found, key=lambda one: not one.certain, default=None)


def _ended(error: str | None) -> str:
    return "failed" if error else "saved"


def _changed(recorded: ActionRecord, now: ActionRecord) -> Iterator[Difference]:
    if recorded.changed is not None and now.changed is not None and recorded.changed is not now.changed:
        sides = ("the page changed", "it did not")
        first, second = sides if recorded.changed else sides[::-1]
        yield Difference("The effect on the page", first, second, certain=recorded.changed)


def _sent(before: Evidence, after: Evidence) -> Iterator[Difference]:
    """Requests of the same shape belong together, in their order."""
    left = [one for one in after.sent if one.weighs]
    for old in (one for one in before.sent if one.weighs):
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
            yield from _unlike("What was sent", _brief(old), _brief(new))
    for new in left:
        if new.method != "GET" or new.failed:
            yield Difference("What was sent", NOTHING, _brief(new), certain=new.failed)


def _brief(sent: Sent) -> str:
    return f"{sent.method} {sent.url} → {sent.outcome}"


def _paired(what: str, before: list[str], after: list[str]) -> Iterator[Difference]:
    for number in range(max(len(before), len(after))):
        old, new = (side[number] if number < len(side) else NOTHING for side in (before, after))
        yield from _unlike(what, old, new)


def _unlike(what: str, old: str, new: str) -> Iterator[Difference]:
    """A difference, unless both say the same; of numbers and identifiers alone nobody knows what it means."""
    if old != new:
        certain = re.sub(NUMBER, "…", old) != re.sub(NUMBER, "…", new)
        yield Difference(what, old or NOTHING, new or NOTHING, certain)
