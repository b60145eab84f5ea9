"""`mcp-browser export-task` and `report-task`: what is made from the history of a run in its folder."""

import sys
from collections.abc import Callable
from pathlib import Path

from mcp_browser.agent.record.history import HISTORY_FILE, AgentHistory, TaskFolder
from mcp_browser.agent.record.report import render_report
from mcp_browser.agent.record.script import export_script
from mcp_browser.errors import NotFound


def export_task(folder: Path) -> int:
    """Print the Playwright script that does what a run has done; the exit code.

    Raises:
        NotFound: there is no history that can be read.
    """
    return _print(folder, export_script)


def report_task(folder: Path) -> int:
    """Print the report of a run, also of one that was killed; the exit code.

    Raises:
        NotFound: there is no history that can be read.
    """
    return _print(folder, lambda history: render_report(history, folder))


def _print(folder: Path, make: Callable[[AgentHistory], str]) -> int:
    if not (folder / HISTORY_FILE).is_file():
        raise NotFound(f"{folder} is no folder of a run: it has no {HISTORY_FILE}.")
    sys.stdout.write(make(TaskFolder(folder).history()))
    return 0
