"""What a policy does its task with: the moves of a reader of text, the same for every server.

A policy knows what a person would say to a model (the names of things) and what the tools have returned. It
opens a page and sees it, acts on what it has seen, looks for what it has not, and reads answers. How a
server is used for each move is the adapter's, as that server's own descriptions advise.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from benchmarks.servers import Connection, ToolError

Name = str | re.Pattern[str]
"""A whole accessible name, or a pattern to be found in it."""


class NotSeenError(Exception):
    """The tools have not shown what the policy looks for."""


@dataclass(frozen=True)
class Seen:
    """An element that a tool has shown: `handle` is the server's name for it, `line` its whole line."""

    role: str
    name: str
    handle: str
    line: str


class Hand(ABC):
    """One server in use for one task."""

    def __init__(self, connection: Connection) -> None:
        """Count from zero what the tools of a server return."""
        self.connection = connection
        self.characters = 0
        self.calls: list[tuple[str, int]] = []
        self.transcript: list[str] = []
        self.seen: dict[str, Seen] = {}

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; its text. Errors count for what they say, too.

        Raises:
            ToolError: the tool failed.
        """
        text, failed = self.connection.answer(tool, **arguments)
        self.characters += len(text)
        self.calls.append((tool, len(text)))
        self.transcript.append(f">>> {tool} {arguments}\n{text}")
        if failed:
            raise ToolError(text)
        return text

    @abstractmethod
    def open(self, url: str) -> None:
        """Open a page and see it."""

    @abstractmethod
    def look(self) -> None:
        """See the page as it is now."""

    @abstractmethod
    def search(self, text: str, role: str) -> None:
        """Look for what has a text in its name, on the whole page; see it where it is there."""

    @abstractmethod
    def read(self, pattern: str, *, near: str) -> re.Match[str]:
        """A pattern in what the page says now, searched for by the words `near` where no tool has shown it.

        Raises:
            NotSeenError: the page does not say it.
        """

    @abstractmethod
    def click(self, role: str, name: Name, *, nth: int = 0, double: bool = False) -> None:
        """Click an element."""

    @abstractmethod
    def fill(self, role: str, name: Name, text: str, *, nth: int = 0, submit: bool = False) -> None:
        """Put a text into a field."""

    @abstractmethod
    def choose(self, role: str, name: Name, options: list[str]) -> None:
        """Choose options of a native list."""

    @abstractmethod
    def press(self, key: str) -> None:
        """Press a key or a combination, named as in KeyboardEvent.key."""

    @abstractmethod
    def wait(self, text: str) -> None:
        """Wait for what has not come yet, then see it."""

    def finish(self) -> None:  # noqa: B027 - most keep nothing back
        """Do what is left to be done, before its outcome is looked at from outside."""

    def all(self, role: str, name: Name) -> list[Seen]:
        """The elements of this role (any of several, `a|b`; `` for any) and name that were shown."""
        roles = role.split("|") if role else []
        return [e for e in self.seen.values() if (not roles or e.role in roles) and matches(name, e.name)]

    def find(self, role: str, name: Name, *, nth: int = 0) -> Seen:
        """An element, among what was shown or else looked for.

        Raises:
            NotSeenError: it is nowhere.
        """
        words = name if isinstance(name, str) else plain(name)
        for more in (lambda: self.search(words, role), self.look, lambda: self.wait(words), None):
            found = self.all(role, name)
            if len(found) > (nth if nth >= 0 else -nth - 1):
                return found[nth]
            if more is not None:
                more()
        raise NotSeenError(f"no {role} {name!r}")


def matches(wanted: Name, name: str) -> bool:
    """Whether a name is the one wanted."""
    return wanted == name if isinstance(wanted, str) else wanted.search(name) is not None


def plain(pattern: re.Pattern[str]) -> str:
    """The longest run of plain words in a pattern: what to search for."""
    return max(re.split(r"\\.|[][^$.*+?{}()|]", pattern.pattern), key=len).strip()
