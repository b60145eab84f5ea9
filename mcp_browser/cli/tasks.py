"""`mcp-browser tasks`: the runs of `run` and `run_task` in their folders."""

import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcp_browser.agent.record.history import TaskFolder
from mcp_browser.agent.record.report import export_script, render_report
from mcp_browser.agent.task import TaskStatus
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.progress import show_end, show_goal, show_outcome
from mcp_browser.cli.sources import LoadedSettings
from mcp_browser.errors import SettingsError
from mcp_browser.server.runs.saved import FolderLock, SavedRuns, outcome_of
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.text import clean_text, one_line

LONGEST_TASK = 60
WIDE = 140  # Characters of a line where there is no terminal


def tasks(loaded: LoadedSettings, asked: Arguments) -> int:
    """Do what is asked for with saved runs; the exit code. Raises SettingsError, NotFound, NotActionable."""
    settings, given = loaded.settings, asked.given
    runs = SavedRuns.of(settings.agent)
    do, names = given.get("do", "list"), given.get("names", [])
    if do == "list":
        return _list(runs)
    if (len(names) != 1 and do != "delete") or not names:
        raise SettingsError(f"name one task: mcp-browser tasks {do} TASK; `mcp-browser tasks` lists them.")
    folders = [runs.named(name) for name in names]
    match do:
        case "delete":
            for folder in folders:
                claim = FolderLock(folder)
                claim.take()
                try:
                    shutil.rmtree(folder)
                finally:
                    claim.release()
                sys.stdout.write(f"Deleted {folder}.\n")
        case "resume":
            from mcp_browser.cli.run import resume  # noqa: PLC0415 - imports the browser

            return resume(settings, folders[0], given)
        case "show":
            return _show(folders[0])
        case _:
            history = TaskFolder.read(folders[0]).history()
            registry = load_actions(settings.tools)
            shown = export_script(history, registry) if do == "export" else render_report(history, folders[0])
            sys.stdout.write(shown)
    return 0


def _list(runs: SavedRuns) -> int:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, width in (("task", 22), ("status", 13), ("begun", 16), ("steps", 5), ("what", None)):
        table.add_column(title, no_wrap=True, min_width=width)
    found = sorted(runs.all(), key=lambda history: history.created)
    for history in found:
        outcome = outcome_of(history)
        style = "green" if outcome.succeeded else "red" if outcome.status.is_final else "yellow"
        table.add_row(
            history.id,
            Text(outcome.status.value.replace("_", " "), style),
            f"{history.created.astimezone():%Y-%m-%d %H:%M}",
            str(len(history.steps)),
            Text(one_line(history.task.text, LONGEST_TASK)),
        )
    if found:
        # A program reads whole lines.
        console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
        console.print(table)
    else:
        sys.stdout.write(f"There are no tasks in {runs.folder}.\n")
    return 0


def _show(folder: Path) -> int:
    history = TaskFolder.read(folder).history()
    outcome = outcome_of(history)
    console = Console(highlight=False)
    console.print(Text(clean_text(history.task.text), "bold"))
    for step in history.steps:
        calls = (action.call for action in step.actions)
        show_goal(console, step.number, step.brain.next_goal, step.url, calls)
        show_end(console, step)
    show_outcome(console, outcome)
    if outcome.answer:
        mark = "Not confirmed: " if outcome.status is TaskStatus.UNCONFIRMED else ""
        console.print(Text(f"{mark}{clean_text(outcome.answer)}"))
    console.print(Text(str(folder), "dim"), soft_wrap=True)
    return 0
