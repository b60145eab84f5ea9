"""How a run goes, told in a terminal as it goes, on standard error."""

import contextlib
import getpass
import sys
from collections.abc import Generator

import anyio
import anyio.to_thread
from pydantic import SecretStr
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from mcp_browser.agent.control import Progress
from mcp_browser.agent.record.history import AgentHistory, StepRecord
from mcp_browser.agent.task import TaskOutcome
from mcp_browser.text import clean_text, counted, cut_address, one_line

LONGEST_CALL = 200
LONGEST_ERROR = 300


class TerminalWatcher:
    """Tells each step: what the agent wants, does and has used; asks the person at the terminal."""

    def __init__(self, console: Console, history: AgentHistory) -> None:
        self._console = console
        self._history = history
        self._told = len(history.steps)  # How many steps are told to their end
        self._url = ""
        self._shown = 0  # The number of the step whose goal was told last
        self._status = console.status("Starting")
        self._asks = console.is_terminal and sys.stdin.isatty()

    def __enter__(self) -> "TerminalWatcher":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()
        self._tell_ends()

    async def progressed(self, progress: Progress) -> None:
        """Tell what has come of the step before, and what this one is about."""
        self._tell_ends()
        if (progress.goal or progress.actions) and progress.step != self._shown:
            self._shown = progress.step
            head = Text(f"{progress.step:>3}  ", "bold cyan")
            head.append(one_line(progress.goal, LONGEST_ERROR) or "…", "bold")
            self._console.print(head, soft_wrap=True)
            if progress.url and progress.url != self._url:
                self._url = progress.url
                self._console.print(below(Text(cut_address(clean_text(progress.url)), "dim")))
            for action in progress.actions:
                self._console.print(below(Text(one_line(action, LONGEST_CALL), "cyan")))
        self._status.update(Text(f"Step {progress.step} of at most {progress.steps}"))

    def _tell_ends(self) -> None:
        for step in self._history.steps[self._told :]:
            self._tell_end(step)
        self._told = len(self._history.steps)

    def _tell_end(self, step: StepRecord) -> None:
        errors = [action.error for action in step.actions if action.error]
        for text in (*errors, *step.notes):
            self._console.print(below(Text(f"✗ {one_line(text, LONGEST_ERROR)}", "red")))
        used = [f"{step.usage.tokens:,} tokens"] if step.usage.requests else []
        used += [f"${step.usage.cost:.4f}"] if step.usage.cost is not None else []
        self._console.print(below(Text(" · ".join((*used, f"{step.seconds:.1f} s")), "dim")))

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """What the person types; None where there is no terminal."""
        if not self._asks:
            return None
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
            line = await _line(hidden=hidden)
        finally:
            self._status.start()
        return line.rstrip("\n") if line else None


async def _line(*, hidden: bool) -> str:
    """A line from the terminal, "" at its end. Whoever waits can be cancelled: no thread is left reading."""
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


def tell_outcome(console: Console, outcome: TaskOutcome) -> None:
    """Tell how a run has ended, and what stands in its way."""
    said = outcome.status.value.replace("_", " ")
    style, sign = ("bold green", "✓") if outcome.succeeded else ("bold red", "✗")
    text = Text(f"{sign} {said}", style)
    used = f", {outcome.usage}" if outcome.usage.requests else ""
    text.append(f"  {counted(outcome.steps, 'step')}{used}, {outcome.seconds:.0f} s", "dim")
    console.print(text)
    if outcome.obstacle:
        console.print(below(Text(clean_text(outcome.obstacle))))
    for file in outcome.files:
        console.print(below(Text(f"File: {file}")))


def below(text: Text) -> Padding:
    """A line below the one that says which step it is of."""
    return Padding(text, (0, 0, 0, 5), expand=False)
