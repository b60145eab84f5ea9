"""Does the tasks with each server in turn, a fresh process for each task, and prints the results."""

import argparse
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks import servers
from benchmarks.tasks import applications, components, libraries, report
from benchmarks.tasks.hands import Hand, NotSeenError
from benchmarks.tasks.in_lists import AgentBrowserInBatches, McpBrowserInLists, PlaywrightMcpInForms
from benchmarks.tasks.ours import McpBrowser
from benchmarks.tasks.playwright_mcp import PlaywrightMcp
from benchmarks.tasks.stage import Stage
from benchmarks.tasks.task import OURS, TASKS, Outcome, Task
from benchmarks.terminal import shells
from mcp_browser.browser.process.launch import find_browser, uses_sandbox
from mcp_browser.settings import Settings

HANDS: dict[str, type[Hand]] = {OURS: McpBrowser, "playwright-mcp": PlaywrightMcp}
IN_LISTS: dict[str, type[Hand]] = {
    OURS: McpBrowserInLists,
    "playwright-mcp": PlaywrightMcpInForms,
    shells.AgentBrowser.name: AgentBrowserInBatches,
}
"""In as few calls as a careful reader makes; agent-browser's one by one are `benchmarks.terminal`'s."""
MODULES = (applications, components, libraries)
"""Where the tasks are registered."""

console = Console(stderr=True, soft_wrap=True)


def do(  # noqa: PLR0913 - what the command line says
    task: Task, server: str, stage: Stage, chromium: str, record: Path | None, *, in_lists: bool
) -> Outcome:
    """Do a task with a fresh process of a server; of agent-browser, in a shell of its own.

    Args:
        task: what to do.
        server: a key of HANDS.
        stage: what it is done on; it is put back to its start first.
        chromium: path of the browser.
        record: folder for everything the tools return.
        in_lists: whether several moves go in one call where that can be.
    """
    stage.reset()
    sandbox = uses_sandbox(Settings().browser)
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    if server == shells.AgentBrowser.name:
        connection = shells.AgentBrowser(Path(folder.name), chromium, sandbox=sandbox)
    else:
        connection = servers.Connection(servers.command(server, chromium, sandbox=sandbox))
    hand = (IN_LISTS if in_lists else HANDS)[server](connection)
    why = ""
    begun = time.monotonic()
    try:
        done = task.policy(hand, stage)
    except (servers.ToolError, NotSeenError, TimeoutError) as error:
        done = False
        why = " ".join(str(error).split())[:160]
    finally:
        seconds = time.monotonic() - begun
        connection.close()
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
        name = task.name.replace(" ", "-").replace("'", "")
        (record / f"{name}.{server}{'.lists' * in_lists}.txt").write_text(
            "\n".join(hand.transcript), encoding="utf-8"
        )
    listed = connection.listed
    folder.cleanup()
    return Outcome(
        task.name, task.where, server, hand.characters, len(hand.calls), done, why, listed, seconds, in_lists
    )


def do_all(names: list[str], wanted: list[str], record: Path | None = None) -> list[Outcome]:
    """Every task with every server; only those with one of the `wanted` words, if there are any."""
    chromium = str(find_browser(Settings().browser).executable)
    outcomes: list[Outcome] = []
    ways = [(name, way) for name in names for way in (False, True) if name in (IN_LISTS if way else HANDS)]
    with Stage() as stage:
        for task in TASKS.values():
            if wanted and not any(word in task.name for word in wanted):
                continue
            for name, in_lists in ways:
                # A busy machine may be why a task is not done at first.
                outcome = do(task, name, stage, chromium, record, in_lists=in_lists)
                if not outcome.done:
                    outcome = do(task, name, stage, chromium, record, in_lists=in_lists)
                said = "done" if outcome.done else f"NOT done: {outcome.why}"
                counted = f"{outcome.characters:>9,} characters in {outcome.calls:>2} calls"
                how = " in lists" * in_lists
                console.print(f"{task.name}, {name}{how}: {counted}, {said}", markup=False, highlight=False)
                outcomes.append(outcome)
    return outcomes


def main() -> None:
    """Do the tasks and print what they came to; with `--write`, put it into docs/performance.md."""
    arguments = argparse.ArgumentParser(description="Do whole tasks and count what the tools return.")
    arguments.add_argument("--servers", default=",".join(IN_LISTS), help="which, separated by commas")
    arguments.add_argument("--only", default="", help="tasks whose names have one of these words")
    arguments.add_argument("--record", type=Path, help="folder for everything the tools return")
    arguments.add_argument("--write", action="store_true", help="put the section into docs/performance.md")
    asked = arguments.parse_args()
    wanted = [word for word in asked.only.split(",") if word]
    outcomes = do_all(asked.servers.split(","), wanted, asked.record)
    section = report.section(outcomes)
    Console().print(section, markup=False, highlight=False, soft_wrap=True)
    if asked.write:
        report.write(section)
