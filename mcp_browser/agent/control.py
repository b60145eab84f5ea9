"""Control of a run: pause, resume, stop, add instructions, ask the person."""

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Protocol, Self

from pydantic import BaseModel, SecretStr

from mcp_browser.agent.task import TaskStatus
from mcp_browser.browser.concurrency import Condition
from mcp_browser.text import cut

LONGEST_ACTION = 120  # How much of an action progress shows, characters


class Progress(BaseModel):
    """The progress of a run: reported before the model is asked (`looks`), and once it has decided."""

    step: int
    steps: int
    looks: bool = False
    status: TaskStatus = TaskStatus.WORKING
    goal: str = ""
    actions: tuple[str, ...] = ()
    url: str = ""

    def __str__(self) -> str:
        actions = ", ".join(cut(action, LONGEST_ACTION) for action in self.actions)
        parts = [part for part in (self.goal, actions) if part]
        doing = "looks at the page" if self.looks else "; ".join(parts) or self.status.value.replace("_", " ")
        return f"Step {self.step} of at most {self.steps}: {doing} ({self.url or 'no page'})"

    @property
    def amount(self) -> float:
        """The number of finished steps; looking at the page is half a step."""
        return self.step - 0.5 if self.looks else self.step


class Watcher(Protocol):
    """Receives progress, and answers what only a person can answer."""

    async def progressed(self, progress: Progress) -> None:
        """Called when a step is decided, or the status changes."""

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """The person's answer; None if nobody can be asked now."""
        return None

    async def ask_secret(self, question: str, site: str) -> SecretStr | None:
        """The person's password or code for pages of `site`, which no model reads; None if none."""
        return None


class NobodyWatches(Watcher):
    """A watcher that reports and asks nothing."""


class Control:
    """Pauses a run, ends it, and takes instructions for it; safe to use while it works.

    With `stopping`, a run that is broken off counts as stopped, not cancelled. With `closing`, since the
    server closes, it is only interrupted.
    """

    def __init__(self) -> None:
        self.paused = False
        self.stopping = False
        self.closing = False
        self.instructions: list[str] = []
        self.changed = Condition()  # Wakes waiters at each call of a method

    def pause(self) -> None:
        """Wait before the next step."""
        self.paused = True
        self.changed.wake()

    def resume(self) -> None:
        """Go on."""
        self.paused = False
        self.changed.wake()

    def stop(self) -> None:
        """End before the next step, with what has been reached."""
        self.stopping = True
        self.changed.wake()

    def instruct(self, text: str) -> None:
        """Give the agent an instruction before its next step."""
        self.instructions.append(text)
        self.changed.wake()

    def take_instructions(self) -> list[str]:
        """Return the instructions that wait, and forget them."""
        taken, self.instructions = self.instructions, []
        return taken


_ASKED: dict[str, dict[str, list[str]]] = tomllib.loads(
    resources.files("mcp_browser.agent").joinpath("questions.toml").read_text(encoding="utf-8")
)


def _any_of(table: str) -> str:
    return "|".join(one for words in _ASKED[table].values() for one in words)


ASKS_FOR_SECRET = re.compile(f"(?i:{_any_of('words')})|{_any_of('capitals')}")
"""What a question is about whose answer no model may read, whether the model has thought of that or not."""

DONE_IN_BROWSER = re.compile(f"(?i:{_any_of('browser')})")
"""What a question is about that a person does in the browser, not by an answer."""

NO_WAY_FOR_SECRETS = (
    "(It is secret, and the client cannot show its person a page of this server's, which takes elicitation "
    "by URL. Type it into the browser yourself and say so with add_instructions; or name it in the file of "
    "--secrets. Do not write it into a message.)"
)


@dataclass(frozen=True)
class Question:
    """A question; `secret` names its answer if no model may read it."""

    text: str
    choices: tuple[str, ...]
    secret: str | None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """The question of a `call_user`; it is secret also if it only sounds so."""
        text, choices = str(data.get("question", "")), tuple(data.get("choices", ()))
        sounds_so = not choices and ASKS_FOR_SECRET.search(text)
        return cls(text, choices, data.get("secret") or ("answer" if sounds_so else None))

    @property
    def obstacle(self) -> str:
        return self.text if self.secret is None else f"{self.text} {NO_WAY_FOR_SECRETS}"
