"""A run as a terminal shows it, step by step."""

import contextlib
import getpass
import sys
import textwrap
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from pydantic import SecretStr
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mcp_browser.agent.control import Progress
from mcp_browser.agent.record.history import AgentHistory, StepRecord
from mcp_browser.agent.task import TaskOutcome, TaskStatus
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.text import clean_text, counted, one_line

if TYPE_CHECKING:
    from mcp_browser.server.view.card import TaskCard

LONGEST_CALL = 200
LONGEST_ERROR = 300


class TerminalWatcher:
    """Shows each step of a run as it goes; asks the person at the terminal."""

    def __init__(self, console: Console, history: AgentHistory, card: "TaskCard | None" = None) -> None:
        """Ask on the `card` as well, where there is one: whichever is answered first."""
        self._card = card
        self._console = console
        self._history = history
        self._ended = len(history.steps)  # How many steps are shown to their end
        self._url = ""
        self._shown = 0  # The number of the step whose goal was shown last
        self._status = console.status("Starting")
        self._asks = console.is_terminal and sys.stdin.isatty()

    def __enter__(self) -> "TerminalWatcher":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()
        self._show_ends()

    async def progressed(self, progress: Progress) -> None:
        """Show the end of the step before, and what this one is about."""
        self._show_ends()
        if (progress.goal or progress.actions) and progress.step != self._shown:
            self._shown = progress.step
            url = progress.url if progress.url != self._url else ""
            self._url = progress.url or self._url
            show_goal(self._console, progress.step, progress.goal, url, progress.actions)
        if self._card is not None:
            self._card.progressed(progress)
        self._status.update(Text(f"Step {progress.step} of at most {progress.steps}"))

    def _show_ends(self) -> None:
        for step in self._history.steps[self._ended :]:
            show_end(self._console, step)
        self._ended = len(self._history.steps)

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """What the person types, or chooses in the view; None where there is neither."""
        here = self._ask_here(question, choices) if self._asks else None
        if self._card is not None:
            return await self._card.ask(question, choices, here)
        return await here if here is not None else None

    async def _ask_here(self, question: str, choices: tuple[str, ...]) -> str | None:
        options = f" [{' / '.join(choices)}]" if choices else ""
        known = {choice.casefold(): choice for choice in choices}
        asked = Text(f"? {clean_text(question)}{options} ", "bold yellow")
        while True:
            read = await self._read(asked)
            if read is None:
                return None
            answer = read.strip()
            if answer and not choices:
                return answer
            if (chosen := known.get(answer.casefold())) is not None:
                return chosen
            if answer:
                asked = Text(f"? choose one of: {', '.join(choices)} ", "bold yellow")

    async def ask_secret(self, question: str, site: str) -> SecretStr | None:
        """What the person types, shown to nobody; None where there is no terminal."""
        if not self._asks:
            return None
        text = Text(f"? {clean_text(question)} (for {site}; not shown, and read by no model)", "bold yellow")
        value = await self._read(text, hidden=True)
        return SecretStr(value) if value else None

    async def _read(self, question: Text, *, hidden: bool = False) -> str | None:
        """A line; None where no more will come."""
        self._status.stop()
        try:
            self._console.print(question, end="")
            line = await read_line(hidden=hidden)
        finally:
            self._status.start()
        return line.rstrip("\n") if line else None


async def read_line(*, hidden: bool = False) -> str:
    """A line from the terminal, "" at its end. Waiting can be cancelled: no thread is left reading."""
    if sys.platform == "win32":  # Only sockets can be waited for there.
        read = (lambda: getpass.getpass(" > ") + "\n") if hidden else sys.stdin.readline
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
    with _unseen() if hidden else contextlib.nullcontext():
        await anyio.wait_readable(sys.stdin)
        return sys.stdin.readline()


if sys.platform != "win32":

    @contextlib.contextmanager
    def _unseen() -> Generator[None]:
        """Show nothing of what is typed; what was typed before is thrown away, lest it be shown."""
        import termios  # noqa: PLC0415 - Windows has none

        before = termios.tcgetattr(sys.stdin)
        silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, silent)
        try:
            sys.stderr.write(" > ")
            sys.stderr.flush()
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)
            sys.stderr.write("\n")


def show_goal(console: Console, number: int, goal: str, url: str, actions: Iterable[object]) -> None:
    """Show what a step is for, its page where one is given, and its actions."""
    head = Text(f"{number:>3}  ", "bold cyan")
    head.append(one_line(goal, LONGEST_ERROR) or "…", "bold")
    console.print(head, soft_wrap=True)
    if url:
        _print_below(console, cut_address(clean_text(url)), "dim")
    for action in actions:
        _print_below(console, one_line(str(action), LONGEST_CALL), "cyan")


def show_end(console: Console, step: StepRecord) -> None:
    """Show what went wrong in a step, and what it has used."""
    errors = [action.error for action in step.actions if action.error]
    for text in (*errors, *step.notes):
        _print_below(console, f"✗ {one_line(text, LONGEST_ERROR)}", "red")
    for point in step.verdict.points if step.verdict is not None else ():
        sign, style = ("✓", "green") if point.met else ("✗", "red")
        _print_below(console, f"{sign} {one_line(str(point), LONGEST_ERROR)}", style)
    used = [f"{step.usage.tokens:,} tokens"] if step.usage.requests else []
    used += [f"${step.usage.cost:.4f}"] if step.usage.cost is not None else []
    _print_below(console, " · ".join((*used, f"{step.seconds:.1f} s")), "dim")


def show_outcome(console: Console, outcome: TaskOutcome) -> None:
    """Show how a run has ended, and what stands in its way."""
    style, sign = ("bold green", "✓") if outcome.succeeded else ("bold red", "✗")
    if outcome.status is TaskStatus.UNCONFIRMED:
        style, sign = "bold yellow", "?"
    used = f", {outcome.usage}" if outcome.usage.requests else ""
    text = Text(f"{sign} {outcome.status.value.replace('_', ' ')}", style)
    text.append(f"  {counted(outcome.steps, 'step')}{used}, {outcome.seconds:.0f} s", "dim")
    console.print(text)
    for line in (
        outcome.obstacle and clean_text(outcome.obstacle),
        *(f"Evidence: {line}" for line in outcome.evidence if outcome.status is TaskStatus.UNCONFIRMED),
        *(f"File: {file}" for file in outcome.files),
    ):
        if line:
            _print_below(console, line)


def _print_below(console: Console, text: str, style: str = "") -> None:
    """Print a line below the one that names the step; whole where no terminal shows it."""
    if console.is_terminal:
        console.print(Padding(Text(text, style), (0, 0, 0, 5), expand=False))
    else:
        console.print(Text(textwrap.indent(text, " " * 5)), soft_wrap=True)
