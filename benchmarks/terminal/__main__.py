"""`python -m benchmarks.terminal` does ten tasks from a shell with each program; see benchmarks/README.md."""

import argparse
import datetime
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import report, servers
from benchmarks.servers import PEERS
from benchmarks.tasks import applications, components, libraries
from benchmarks.tasks.hands import Hand, NotSeenError
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.playwright_mcp import PlaywrightMcp
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import OURS, TASKS, Task
from benchmarks.terminal import shells
from benchmarks.terminal.hands import AgentBrowserHand, ChromeDevtoolsHand
from mcp_browser import __version__
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings

PROGRAMS: dict[str, tuple[type[shells.Shell], type[Hand], str]] = {
    OURS: (shells.Ours, McpBrowser, __version__.partition("+")[0]),
    "playwright-cli": (shells.PlaywrightCli, PlaywrightMcp, shells.PLAYWRIGHT_CLI[1]),
    "chrome-devtools": (shells.ChromeDevtools, ChromeDevtoolsHand, PEERS["chrome-devtools-mcp"][1]),
    "agent-browser": (shells.AgentBrowser, AgentBrowserHand, PEERS["agent-browser"][1]),
}
SNAPSHOTS: dict[str, tuple[str, dict[str, Any]]] = {
    OURS: ("get_state", {}),
    "playwright-cli": ("browser_snapshot", {}),
    "chrome-devtools": ("take_snapshot", {}),
    "agent-browser": ("snapshot", {"words": ["-i"]}),
}
CHOSEN = (
    *("add a user", "find a user and change the address", "make a group with a permission"),
    *(
        "delete two users of a list",
        "ask an API for a list",
        "send an API a body",
        "write and save a text file",
    ),
    *("order tea", "find a module and read a default", "book a trip"),
)
MODULES = (applications, components, libraries)
"""Where the tasks are registered."""

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "terminal.md"
BEGIN, END = "<!-- measured by benchmarks.terminal -->\n", "<!-- end -->\n"
ROUNDS = 7


@dataclass(frozen=True)
class Done:
    """What one task took with one program, from its first command to its last."""

    task: str
    program: str
    commands: int
    characters: int
    seconds: float
    done: bool
    why: str = ""


def do(task: Task, program: str, stage: Stage, chromium: str, *, sandbox: bool) -> Done:
    """Do a task in a new session of a program."""
    kind, hand_of, _ = PROGRAMS[program]
    stage.reset()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shell = kind(Path(folder), chromium, sandbox=sandbox)
        hand = hand_of(shell)
        why = ""
        try:
            done = task.policy(hand, stage)
        except (servers.ToolError, NotSeenError, TimeoutError) as error:
            done, why = False, " ".join(str(error).split())[:160]
        seconds, commands = shell.seconds, shell.commands
        shell.close()
    return Done(task.name, program, commands, hand.characters, seconds, done, why)


def look_times(program: str, url: str, chromium: str, *, sandbox: bool) -> list[float]:
    """How long a look at a small page takes in a session that is warm, in seconds, again and again."""
    kind, hand_of, _ = PROGRAMS[program]
    tool, arguments = SNAPSHOTS[program]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shell = kind(Path(folder), chromium, sandbox=sandbox)
        hand_of(shell).open(url)
        times: list[float] = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            _, failed = shell.run(shell.words(tool, arguments))
            times.append(time.perf_counter() - started)
            assert not failed
        shell.close()
    return times


def tool_times(url: str, chromium: str, *, sandbox: bool) -> list[float]:
    """How long the tool itself takes over standard input and output."""
    connection = servers.Connection(servers.command(OURS, chromium, sandbox=sandbox))
    connection.answer("go_to_url", url=url)
    times: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        connection.answer("get_state")
        times.append(time.perf_counter() - started)
    connection.close()
    return times


def table(outcomes: list[Done], looks: dict[str, list[float]], tool: list[float]) -> str:
    """The figures as Markdown."""
    names = list(dict.fromkeys(one.program for one in outcomes))
    of = {name: [one for one in outcomes if one.program == name] for name in names}
    count = len(of[names[0]])
    rows = [
        ["", *(f"{name} {PROGRAMS[name][2]}" for name in names)],
        [f"tasks done, of {count}", *(str(sum(one.done for one in of[name])) for name in names)],
        ["commands", *(str(sum(one.commands for one in of[name])) for name in names)],
        ["characters printed", *(f"{sum(one.characters for one in of[name]):,}" for name in names)],
        ["seconds in commands", *(f"{sum(one.seconds for one in of[name]):.0f}" for name in names)],
        ["a look at a small page, ms", *(f"{statistics.median(looks[name]) * 1000:.0f}" for name in names)],
    ]
    failed = [
        f"* {one.task}, {one.program}: {one.why or 'not seen from outside'}"
        for one in outcomes
        if not one.done
    ]
    own = statistics.median(tool) * 1000
    machine = report.machine(str(find_browser(Settings().browser).executable))
    parts = [
        f"{datetime.date.today().isoformat()}: {machine}.",
        report.markdown_table(rows),
        f"The tool `get_state` itself takes {own:.0f} ms on that page, over standard input and output.",
        "\n".join(["Not done:", "", *failed]) if failed else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def main() -> None:
    """Do the tasks and print the table; with `--write`, put it into docs/terminal.md."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.terminal", description=__doc__)
    arguments.add_argument("--programs", default=",".join(PROGRAMS), help="which, separated by commas")
    arguments.add_argument("--only", default="", help="tasks whose names have one of these words")
    arguments.add_argument("--write", action="store_true", help="put the table into docs/terminal.md")
    asked = arguments.parse_args()
    wanted = [word for word in asked.only.split(",") if word]
    names = asked.programs.split(",")
    settings = Settings().browser
    chromium, sandbox = str(find_browser(settings).executable), uses_sandbox(settings)
    outcomes: list[Done] = []
    with Stage() as stage:
        url = stage.site.page("<h1>Teas</h1><label>Name <input></label><button>Order</button>")
        looks = {name: look_times(name, url, chromium, sandbox=sandbox) for name in names}
        tool = tool_times(url, chromium, sandbox=sandbox)
        for task in CHOSEN:
            for name in names if not wanted or any(word in task for word in wanted) else ():
                done = do(TASKS[task], name, stage, chromium, sandbox=sandbox)
                if not done.done:
                    # A busy machine may be the reason.
                    done = do(TASKS[task], name, stage, chromium, sandbox=sandbox)
                outcomes.append(done)
                print(outcomes[-1], flush=True)  # noqa: T201 - a command's output
    text = table(outcomes, looks, tool)
    print(text)  # noqa: T201
    if asked.write:
        page = DOCUMENT.read_text("utf-8")
        before, after = page.partition(BEGIN)[0], page.partition(END)[2]
        DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
