"""A task: a policy, and whether it has succeeded as seen from outside."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.tasks.hands import Hand
from benchmarks.tasks.stage import Stage

OURS = "mcp-browser"

Policy = Callable[[Hand, Stage], bool]


@dataclass(frozen=True)
class Task:
    """What is to be done, in words; the policy does it and returns whether it is done."""

    name: str
    where: str
    policy: Policy


@dataclass(frozen=True)
class Outcome:
    """One task with one server: everything its tools returned, in characters."""

    task: str
    where: str
    server: str
    characters: int
    calls: int
    done: bool
    why: str = ""
    listed: int = 0
    """Characters of the answer to `tools/list`, apart."""
    seconds: float = 0
    in_lists: bool = False
    """Whether several moves went in one call."""


TASKS: dict[str, Task] = {}


def task(name: str, where: str) -> Callable[[Policy], Policy]:
    """Register a policy as the task `name`, done on `where`."""

    def register(policy: Policy) -> Policy:
        TASKS[name] = Task(name, where, policy)
        return policy

    return register
