"""The saved state of a run, beside its history; detects loops."""

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import takewhile

from pydantic import BaseModel, Field

from mcp_browser.actions.agent import CALL_USER, DONE
from mcp_browser.actions.navigation import go_to_url, open_tab, search_web
from mcp_browser.actions.waiting import wait_for
from mcp_browser.agent.prompting.message_manager import MessageManagerState
from mcp_browser.agent.record.history import ActionRecord

WINDOW = 20  # Within how many of the last moves repeats count
LONGEST_CYCLE = 3  # Moves after which a cycle begins again, at most
WARN_AT = {1: 3, 2: 4, 3: 6}  # How many moves of a cycle of this length the agent is warned of
STOP_AT = 8  # How many moves of a cycle end the run
NUDGES = (5, 8)  # How often the same move within the window is warned of
STOP_AT_REPEATS = 12
SAME_PAGES = 5  # The number of steps on an unchanged page that the agent is warned of
STOP_AT_PAGES = 12

_WAITS = {wait_for.__name__, DONE, CALL_USER}
_ELSEWHERE = {one.__name__ for one in (go_to_url, search_web, open_tab)}
"""What they do does not depend on the page before."""
_MARKS = re.compile(r"\*?\[\d+\]")


class LoopDetector(BaseModel):
    """Remembers the last moves and pages as fingerprints; can be saved.

    A move is the actions of a step on the page as it was: the same action on a changed page is another move.
    """

    moves: list[str] = Field(default_factory=list[str])
    pages: list[str] = Field(default_factory=list[str])
    told: dict[str, int] = Field(default_factory=dict[str, int])

    def record(self, actions: Iterable[ActionRecord], *, page: str) -> None:
        """Note a step: its actions, also failed ones, and the text of the page before it."""
        shown = _digest(_MARKS.sub("", page))
        done = [_described(action) for action in actions if action.call.name not in _WAITS]
        if done:
            here = "" if all(move.split(" ", 1)[0] in _ELSEWHERE for move in done) else shown
            self.moves = [*self.moves, _digest(here + "\n".join(done))][-WINDOW:]
        self.pages = [*self.pages, shown][-WINDOW:]

    @property
    def repeats(self) -> int:
        """How often the most frequent of the last moves was made."""
        return max((self.moves.count(move) for move in set(self.moves)), default=0)

    @property
    def cycle(self) -> tuple[int, int]:
        """The length of the cycle of the last moves, and how many moves it has had; (0, 0) for none."""
        for length in range(1, LONGEST_CYCLE + 1):
            count = length
            while count < len(self.moves) and self.moves[-count - 1] == self.moves[length - count - 1]:
                count += 1
            if count >= WARN_AT[length]:
                return length, count
        return 0, 0

    @property
    def same_pages(self) -> int:
        return sum(1 for _ in takewhile(lambda page: page == self.pages[-1], reversed(self.pages)))

    @property
    def is_stuck(self) -> bool:
        return self.cycle[1] >= STOP_AT or self.repeats >= STOP_AT_REPEATS or self.same_pages >= STOP_AT_PAGES

    def plan_is_due(self) -> bool:
        """Whether to make a new plan now: True once each time the agent begins to go in circles."""
        return self._rises("plan", int(self.cycle[1] > 0 or self.repeats >= NUDGES[0]))

    def nudge(self) -> str | None:
        """Return a warning for the agent, once at each stage."""
        length, count = self.cycle
        if self._rises("cycle", int(length > 0)):
            what = "the same action" if length == 1 else f"the same {length} actions in turn"
            return (
                f"You have done {what} for {count} steps, and the page is as it was. It does not help: try "
                "another way, or end with done and say what stands in the way."
            )
        repeats = self.repeats
        reached = max((stage for stage in NUDGES if repeats >= stage), default=0)
        if self._rises("repeats", reached):
            return (
                f"You have done the same action on the same page {repeats} times in your last "
                f"{len(self.moves)}. It does not help: try another way, or end with done and say what stands "
                "in the way."
            )
        same = self.same_pages
        if same >= SAME_PAGES and same % SAME_PAGES == 0:
            return (
                f"The page has not changed for {same} steps. What you do has no effect: look again, try "
                "another element or another way."
            )
        return None

    def _rises(self, what: str, stage: int) -> bool:
        """Note the stage that something has reached; return whether it is higher than before."""
        before, self.told[what] = self.told.get(what, 0), stage
        return stage > before


def _described(action: ActionRecord) -> str:
    """The action without accidental differences: element numbers, case and order of words."""
    arguments = {
        name: " ".join(sorted(value.lower().split())) if isinstance(value, str) else value
        for name, value in action.given.items()
    }
    elements = " ".join(f"{element} {element.path}" for element in action.elements)
    return f"{action.call.name} {json.dumps(arguments, sort_keys=True, default=str)} {elements}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class AgentState(BaseModel):
    """How far a run has come, and what its model knows."""

    messages: MessageManagerState = Field(default_factory=MessageManagerState)
    loops: LoopDetector = Field(default_factory=LoopDetector)
    step: int = 0
    failures: int = 0
    rejections: int = 0
    started: bool = False
    start_problem: str | None = None  # Why the task's first page could not be opened
    told: list[str] = Field(default_factory=list[str])  # What people have said since the run began
    pictured: bool = False  # Whether the model has had pictures
    instructions: list[str] = Field(default_factory=list[str])  # Not yet given to the model
