"""Whether the agent goes round in circles, and what to say to it then."""

import hashlib
import json
from collections.abc import Iterable

from pydantic import BaseModel, Field

from mcp_browser.agent.decision import ActionCall

WINDOW = 20  # Within how many of the last actions repeats count
NUDGES = (5, 8, 12)  # The number of repeats of one action that the agent is warned of
STOP_AT = 16  # At how many repeats the run is stuck
SAME_PAGES = 5  # The number of steps on an unchanged page that the agent is warned of
STOP_AT_PAGES = 12

REPLAN_AT = 8  # From how many repeats a new plan is wanted
_WAITS = {"wait", "wait_for", "done", "call_user"}
_DETAILS = {"index", "tab_id", "part"}


class LoopDetector(BaseModel):
    """Remembers the last actions and pages as fingerprints; can be saved and read again."""

    actions: list[str] = Field(default_factory=list[str])
    pages: list[str] = Field(default_factory=list[str])
    told: dict[str, int] = Field(default_factory=dict[str, int])

    def record(self, calls: Iterable[ActionCall], *, url: str, page: str) -> None:
        """Note a step: what was done, and what the page showed before it, as text."""
        self.actions += [_fingerprint(call, url) for call in calls if call.name not in _WAITS]
        self.actions = self.actions[-WINDOW:]
        self.pages = [*self.pages, hashlib.sha256(f"{url}\n{page}".encode()).hexdigest()][-WINDOW:]

    @property
    def repeats(self) -> int:
        """How often the most frequent of the last actions was done."""
        return max((self.actions.count(action) for action in set(self.actions)), default=0)

    @property
    def same_pages(self) -> int:
        """For how many steps the page has been the same."""
        last = self.pages[-1] if self.pages else None
        count = 0
        for page in reversed(self.pages):
            if page != last:
                break
            count += 1
        return count

    @property
    def is_stuck(self) -> bool:
        return self.repeats >= STOP_AT or self.same_pages >= STOP_AT_PAGES

    def plan_is_due(self) -> bool:
        """Whether a new plan is to be made now: said once for each time that the agent gets into a circle."""
        due = self.repeats >= REPLAN_AT
        if due and not self.told.get("plan"):
            self.told["plan"] = 1
            return True
        if not due:
            self.told.pop("plan", None)
        return False

    def nudge(self) -> str | None:
        """What to tell the agent, once at each stage."""
        repeats = self.repeats
        reached = max((stage for stage in NUDGES if repeats >= stage), default=0)
        before = self.told.get("repeats", 0)
        self.told["repeats"] = reached
        if reached > before:
            return (
                f"You have done the same action {repeats} times in your last {len(self.actions)}. It does "
                "not help: try another way, or end with done and say what stands in the way."
            )
        same = self.same_pages
        if same >= SAME_PAGES and same % SAME_PAGES == 0:
            return (
                f"The page has not changed for {same} steps. What you do has no effect: look again, try "
                "another element or another way."
            )
        return None


def _fingerprint(call: ActionCall, url: str) -> str:
    """The action without what differs by chance: the case and order of words, the order of arguments."""
    told = {
        name: " ".join(sorted(value.lower().split())) if isinstance(value, str) else value
        for name, value in call.arguments.items()
    }
    place = url if _DETAILS & told.keys() else ""
    return f"{call.name} {json.dumps(told, sort_keys=True, default=str)} {place}"
