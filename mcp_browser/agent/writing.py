"""What is written into a run's folder when it ends, made from its history alone."""

import logging

from mcp_browser.agent.history import AgentHistory, TaskFolder

logger = logging.getLogger(__name__)


def write_up(history: AgentHistory, folder: TaskFolder) -> None:
    """Write the report of a run, and the script that does the same.

    What goes wrong with it is no failure of the run.
    """
    # Imported late: a template library is wanted only once a run has ended.
    from mcp_browser.agent.export import SCRIPT_FILE, export_script  # noqa: PLC0415
    from mcp_browser.agent.report import REPORT_FILE, render_report  # noqa: PLC0415

    try:
        folder.save_text(REPORT_FILE, render_report(history, folder.path))
        folder.save_text(SCRIPT_FILE, export_script(history))
    except Exception:
        logger.exception("The run %s could not be written up", history.id)
